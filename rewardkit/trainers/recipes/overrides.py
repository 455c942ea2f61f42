"""`--set KEY=VALUE`: find the setting that KEY names, and read VALUE as that setting's type."""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
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
    RecipeContents,
    trainer_section,
)

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


MOVED = {
    "warmup_ratio": "TRL takes warmup_steps=0.1 for a share now",
    "save_safetensors": "TRL always saves safetensors now",
    "vllm_device": "choose vllm_mode=colocate or vllm_mode=server",
    "output_dir": "pass --output-dir",
    "resume_from_checkpoint": "pass --resume",
    "reward_weights": "set rewards.NAME, a component's weight",
    "model_init_kwargs": "set model.dtype or model.attn_implementation",
}
"""Settings that were removed or moved."""


@dataclass(frozen=True)
class Setting:
    """A place in a recipe and the type of its value; `section` is "" at the top."""

    section: str
    key: str
    kind: Any

    @property
    def name(self) -> str:
        """The dotted name."""
        return f"{self.section}.{self.key}".lstrip(".")


class CommandLineValue(str):
    """Text from a command line: a TOML value, or plain text if it isn't TOML."""

    __slots__ = ()

    def readings(self) -> list[object]:
        """What the text may mean, the likeliest first."""
        try:
            return [tomllib.loads(f"value = {self}")["value"], str(self)]
        except tomllib.TOMLDecodeError:
            return [str(self)]


def parse_pairs(texts: Sequence[str]) -> dict[str, object]:
    """Split `KEY=VALUE` arguments; UsageError for an argument without a key or `=`."""
    values: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {text!r} isn't KEY=VALUE")
        values[key.strip()] = CommandLineValue(value.strip())
    return values


def apply_overrides(
    contents: RecipeContents, values: Mapping[str, object], trainer_fields: Mapping[str, Any]
) -> RecipeContents:
    """Return the recipe with `values` set, each by its key or its dotted name.

    UsageError for a name that is no setting or several, or a value of another type.
    """
    settings = _settings(contents, trainer_fields)
    changed = copy.deepcopy(dict(contents))
    for name, value in values.items():
        setting = _find_setting(name, settings)
        place = changed.setdefault(setting.section, {}) if setting.section else changed
        place[setting.key] = _read_value(value, setting)
    return changed


def _settings(contents: RecipeContents, trainer_fields: Mapping[str, Any]) -> list[Setting]:
    section = trainer_section(contents)
    rewards = dict.fromkeys(contents.get("rewards", {}), float)
    return [
        *_fields("", Recipe, [key for key in KEYS if key not in (*SECTIONS, *OPEN_SECTIONS)]),
        *(setting for name, kind in SECTIONS.items() for setting in _fields(name, kind)),
        *(Setting("rewards", key, kind) for key, kind in rewards.items()),
        *(Setting(section, key, kind) for key, kind in trainer_fields.items()),
    ]


def _fields(
    section: str, model: type[BaseModel], keys: Sequence[str] | None = None
) -> list[Setting]:
    return [
        Setting(section, key, model.model_fields[key].rebuild_annotation())
        for key in keys or model.model_fields
    ]


def _find_setting(name: str, settings: Sequence[Setting]) -> Setting:
    section, _, key = name.rpartition(".")
    if key in MOVED and section in ("", "trainer", "sft"):
        raise UsageError(f"{key} can't be set: {MOVED[key]}")
    if section == "rewards":  # only the task knows which keys there are
        return Setting(section, key, float)
    if name in SECTIONS or name in OPEN_SECTIONS:
        keys = [setting.name for setting in settings if setting.section == name]
        raise UsageError(f"{name} is a section; set one of {', '.join(keys[:20])}")
    by_key = [setting for setting in settings if name in (setting.name, setting.key)]
    by_name = [setting for setting in by_key if setting.name == name]
    candidates = by_name or by_key
    if not candidates:
        raise _unknown(name, settings)
    if len(candidates) > 1:
        names = " or ".join(setting.name for setting in candidates)
        raise UsageError(f"{name} is ambiguous: set {names}")
    return candidates[0]


def _unknown(name: str, settings: Sequence[Setting]) -> UnknownName:
    known = {setting.name for setting in settings} | {setting.key for setting in settings}
    if not difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5):
        return UnknownName(
            f"no setting named {name!r}; see rewardkit train RECIPE --check for a recipe's, and "
            "TRL's GRPOConfig or SFTConfig for the trainer's"
        )
    return UnknownName.among("setting", name, known)


def _read_value(value: object, setting: Setting) -> Any:
    """The first reading that the setting takes; if it takes none, why not the likeliest one."""
    readings = value.readings() if isinstance(value, CommandLineValue) else [value]
    refusals = []
    for reading in readings:
        try:
            return validated(setting.kind, reading, setting=setting.name)
        except UsageError as error:
            refusals.append(error)
    raise refusals[0]
