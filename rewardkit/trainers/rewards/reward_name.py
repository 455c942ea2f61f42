"""The names by which rewards appear in the logs."""

from __future__ import annotations

import dataclasses
import functools
import re
import weakref
from collections.abc import Iterator, Mapping

from rewardkit.errors import UsageError
from rewardkit.verifiers.rubric import Rubric

_last_calls: dict[str, tuple[object, weakref.ref[object]]] = {}
"""The last call by a trainer, by name: the completions and the function."""


def check_distinct(name: str, function: object, completions: object) -> None:
    """UsageError if a trainer calls two functions of one name with the same completions."""
    last_completions, last_function = _last_calls.get(name, (None, None))
    if (
        last_completions is completions
        and last_function is not None
        and last_function() not in (None, function)
    ):
        raise UsageError(
            f"two reward functions are named {name!r}, and TRL would log the mean of both; name "
            "them: reward_func(…, name='…')"
        )
    _last_calls[name] = (completions, weakref.ref(function))


def reward_name(verifier: object) -> str:
    """A name that differs between verifiers and their parameters: TRL averages equal names.

    `gsm8k_reading_boxed` is Gsm8k(reading="boxed"); a rubric is named after its parts.
    """
    if isinstance(verifier, str):
        return verifier
    if isinstance(verifier, Rubric):
        return "_".join(verifier.parts)
    if isinstance(verifier, functools.partial):
        return _joined(reward_name(verifier.func), verifier.keywords)
    function_name = getattr(verifier, "__name__", None)
    if function_name is not None:
        return _identifier(function_name)
    base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(verifier).__name__).lower()
    return _joined(base, dict(_changed_fields(verifier)))


def _changed_fields(verifier: object) -> Iterator[tuple[str, object]]:
    """The fields of a dataclass instance that differ from their defaults."""
    if not dataclasses.is_dataclass(verifier):
        return
    for field in dataclasses.fields(verifier):
        value = getattr(verifier, field.name)
        if field.init and isinstance(value, (str, int, float)) and value != field.default:
            yield field.name, value


def _joined(base: str, parameters: Mapping[str, object]) -> str:
    return "_".join([base, *(_identifier(f"{name}_{value}") for name, value in parameters.items())])


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower() or "verifier"
