"""Validate recipes and settings with pydantic; say in plain words why one is refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError, create_model
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict  # pydantic refuses typing's before Python 3.12

from rewardkit.errors import UnknownName, UsageError
from rewardkit.trainers.recipes.recipe import (
    KEYS,
    OPEN_SECTIONS,
    SECTIONS,
    SFT,
    STRICT,
    EvaluationSettings,
    Recipe,
    trainer_section,
)
from rewardkit.trainers.recipes.recipe_file import RecipeContents

_EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "dict_type": "a table",
    "float_type": "a number",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "less_than_equal": "at most {le:g}",
    "list_type": "a list",
    "string_type": "text",
}
"""What a setting must be, by pydantic's error types."""


def build_recipe(name: str, contents: RecipeContents, trainer_fields: Mapping[str, Any]) -> Recipe:
    """Validate a recipe's contents; `trainer_fields` are the types of the trainer's keys.

    UsageError for an unknown key, or a value that its key doesn't take.
    """
    for key in contents:
        if key not in KEYS:
            raise UnknownName.among(f"key of recipe {name!r}", key, KEYS)
    if "task" not in contents:
        raise UsageError(f'recipe {name!r} names no task; write task = "gsm8k", or another')
    section = trainer_section(contents)
    trainer = contents.get("trainer")
    if section != SFT and (isinstance(trainer, str) or SFT in contents):
        raise UsageError(
            f'recipe {name!r}: trainer is {trainer!r}; it must be "sft", with a section [sft], or '
            "a section [trainer] for GRPO"
        )
    try:
        return _model(section, trainer_fields).model_validate({**contents, "name": name})
    except ValidationError as error:
        raise _usage_error(name, contents, error.errors(), trainer_fields) from None


def validated(kind: Any, value: object, *, setting: str) -> Any:
    """Return `value` as the type `kind`, strictly: a whole number becomes a float, no more.

    UsageError names the setting, the value and what the setting takes.
    """
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        raise UsageError(_refusal(setting, value, error.errors())) from None


def _model(section: str, trainer_fields: Mapping[str, Any]) -> type[Recipe]:
    """Recipe with a typed [trainer] or [sft], of which a recipe sets only some keys."""
    fields = dict(trainer_fields)
    trainer = TypedDict("trainer", fields, total=False)  # type: ignore[misc]
    trainer.__pydantic_config__ = STRICT  # type: ignore[attr-defined]
    kind: Any = Literal["sft"] if section == SFT else trainer
    return create_model(
        "Recipe",
        __base__=Recipe,
        trainer=(kind, {}),
        sft=(trainer, {}),
        evaluation=(EvaluationSettings, EvaluationSettings()),
    )


def _usage_error(
    name: str,
    contents: RecipeContents,
    errors: Sequence[ErrorDetails],
    trainer_fields: Mapping[str, Any],
) -> UsageError:
    """The first refused setting, as a UsageError; a setting may have several errors."""
    place, details = next(groupby(errors, key=lambda error: error["loc"][:2]))
    first, *rest = details
    if first["type"] == "value_error":
        within = "".join(f"[{section}]: " for section in place)
        return UsageError(f"recipe {name!r}: {within}{first['ctx']['error']}")
    section, *keys = place
    if first["type"] == "extra_forbidden":
        known = (
            trainer_fields if section in ("trainer", SFT) else SECTIONS[str(section)].model_fields
        )
        return UnknownName.among(f"setting in [{section}]", str(keys[0]), known)
    if not keys and section in (*SECTIONS, *OPEN_SECTIONS):
        return UsageError(f"recipe {name!r}: {section} is a section; set {section}.KEY")
    value = contents[str(section)]
    for key in keys:
        value = value[key]
    setting = ".".join(map(str, (section, *keys)))
    return UsageError(f"recipe {name!r}: {_refusal(setting, value, [first, *rest])}")


def _refusal(setting: str, value: object, errors: Sequence[ErrorDetails]) -> str:
    """Say what a setting must be. A union of types has an error for each of its types."""
    expected = dict.fromkeys(_expected(error) for error in errors)
    return (
        f"{setting} is {_written(value)}; it must be {' or '.join(expected)}"
        f"{_nearest(value, errors)}"
    )


def _expected(error: ErrorDetails) -> str:
    if error["type"] != "literal_error":
        return _EXPECTED.get(error["type"], error["msg"]).format(**error.get("ctx", {}))
    choices = _choices(error)
    return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"


def _nearest(value: object, errors: Sequence[ErrorDetails]) -> str:
    choices = [choice for error in errors for choice in _choices(error)]
    close = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def _choices(error: ErrorDetails) -> list[str]:
    """The values of a Literal, as pydantic lists them: 'linear', 'cosine' or 'constant'."""
    return re.findall(r"'([^']*)'", error.get("ctx", {}).get("expected", ""))


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
