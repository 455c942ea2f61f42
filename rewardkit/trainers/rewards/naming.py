"""A reward's name in the logs, from its verifier."""

from __future__ import annotations

import dataclasses
import functools
import re
import weakref
from collections.abc import Iterator, Mapping

from rewardkit.errors import UsageError
from rewardkit.verifiers.rubric import Rubric

_last_asked: dict[str, tuple[object, weakref.ref[object]]] = {}
"""By name: the completions that a trainer asked for last, and the function."""


def check_distinct(name: str, function: object, completions: object) -> None:
    """UsageError where a trainer asks two functions of one name for the same completions."""
    asked, other = _last_asked.get(name, (None, None))
    if asked is completions and other is not None and other() not in (None, function):
        raise UsageError(
            f"two reward functions are named {name!r}, and TRL would log the mean of both; name "
            "them: reward_func(…, name='…')"
        )
    _last_asked[name] = (completions, weakref.ref(function))


def name_of(verifier: object) -> str:
    """A name that tells verifiers, and their parameters, apart: TRL averages namesakes together.

    `gsm8k_reading_boxed` is Gsm8k(reading="boxed"); a rubric is named after its parts.
    """
    if isinstance(verifier, str):
        return verifier
    if isinstance(verifier, Rubric):
        return "_".join(verifier.parts)
    if isinstance(verifier, functools.partial):
        return _joined(name_of(verifier.func), verifier.keywords)
    written = getattr(verifier, "__name__", None)
    if written is not None:
        return _word(written)
    base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(verifier).__name__).lower()
    return _joined(base, dict(_set_fields(verifier)))


def _set_fields(verifier: object) -> Iterator[tuple[str, object]]:
    """The fields of a dataclass's instance that differ from their defaults."""
    if not dataclasses.is_dataclass(verifier):
        return
    for field in dataclasses.fields(verifier):
        value = getattr(verifier, field.name)
        if field.init and isinstance(value, (str, int, float)) and value != field.default:
            yield field.name, value


def _joined(base: str, parameters: Mapping[str, object]) -> str:
    return "_".join([base, *(_word(f"{name}_{value}") for name, value in parameters.items())])


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower() or "verifier"
