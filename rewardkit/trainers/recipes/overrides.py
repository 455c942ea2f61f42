"""`--set KEY=VALUE`: which setting KEY names, and what VALUE is there."""

from __future__ import annotations

import copy
import difflib
import tomllib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import UnknownName, UsageError
from rewardkit.trainers.recipes.recipe import OPEN_SECTIONS, SECTIONS, TOP, Raw, Recipe, checked
from rewardkit.trainers.recipes.typed import Unfit, fitted

GONE = {
    "warmup_ratio": "TRL takes warmup_steps=0.1 for a share now",
    "save_safetensors": "weights are always saved so now",
    "vllm_device": "choose vllm_mode=colocate or vllm_mode=server",
    "output_dir": "pass --output-dir",
    "resume_from_checkpoint": "pass --resume",
    "reward_weights": "set rewards.NAME, a component's weight",
    "model_init_kwargs": "set model.dtype or model.attn_implementation",
}
"""Settings of old, and those that stand elsewhere."""


@dataclass(frozen=True)
class Setting:
    """A place in a recipe and the type of its value. `section` "" is the top."""

    section: str
    key: str
    hint: Any

    @property
    def name(self) -> str:
        """The dotted name."""
        return f"{self.section}.{self.key}".lstrip(".")


def overridden(raw: Raw, values: Mapping[str, object], trainer_fields: Mapping[str, Any]) -> Raw:
    """The recipe with `values` set, by leaf or dotted name. UsageError for what can't be."""
    settings = _settings(raw, trainer_fields)
    changed = copy.deepcopy(dict(raw))
    for name, value in values.items():
        setting = _named(name, settings)
        place = changed.setdefault(setting.section, {}) if setting.section else changed
        place[setting.key] = _read(value, setting)
    return changed


def pairs(texts: Sequence[str]) -> dict[str, object]:
    """`KEY=VALUE` arguments, the values as they were typed."""
    found: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {text!r} isn't KEY=VALUE")
        found[key.strip()] = Typed(value.strip())
    return found


class Typed(str):
    """Text from a command line: a TOML value, or text where it is none."""

    __slots__ = ()

    def readings(self) -> list[object]:
        """What it may mean, the likeliest first."""
        try:
            return [tomllib.loads(f"value = {self}")["value"], str(self)]
        except tomllib.TOMLDecodeError:
            return [str(self)]


def _settings(raw: Raw, trainer_fields: Mapping[str, Any]) -> list[Setting]:
    top = typing.get_type_hints(Recipe)
    found = [Setting("", key, top[key]) for key in TOP]
    for section, kind in SECTIONS.items():
        found += [Setting(section, *one) for one in typing.get_type_hints(kind).items()]
    found += [Setting("rewards", key, float) for key in raw.get("rewards", {})]
    return found + [Setting("trainer", *one) for one in trainer_fields.items()]


def _named(name: str, settings: Sequence[Setting]) -> Setting:
    section, _, key = name.rpartition(".")
    if key in GONE and section in ("", "trainer"):
        raise UsageError(f"{key} can't be set: {GONE[key]}")
    if section == "rewards":  # its keys are the task's to know
        return Setting(section, key, float)
    if name in SECTIONS or name in OPEN_SECTIONS:
        keys = [one.name for one in settings if one.section == name]
        raise UsageError(f"{name} is a section; set one of {', '.join(keys[:20])}")
    found = [one for one in settings if name in (one.name, one.key)]
    exact = [one for one in found if one.name == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise UsageError(f"{name} is ambiguous: set {' or '.join(one.name for one in found)}")
    raise _unknown(name, settings)


def _unknown(name: str, settings: Sequence[Setting]) -> UnknownName:
    known = {one.name for one in settings} | {one.key for one in settings}
    if not difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5):
        return UnknownName(
            f"no setting named {name!r}; see rewardkit train RECIPE --check for a recipe's, and "
            "TRL's GRPOConfig for the trainer's"
        )
    return UnknownName.among("setting", name, known)


def _read(value: object, setting: Setting) -> Any:
    readings = value.readings() if isinstance(value, Typed) else [value]
    for reading in readings:
        try:
            return fitted(reading, setting.hint)
        except Unfit:
            continue
    return checked(setting.name, readings[0], setting.hint)
