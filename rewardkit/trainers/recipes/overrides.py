"""`--set KEY=VALUE`: find the setting that KEY names, and read VALUE as that setting's type."""

from __future__ import annotations

import copy
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import UnknownName, UsageError
from rewardkit.settings import read_section, read_value, read_values, types_of
from rewardkit.trainers.recipes.recipe import (
    KEYS,
    OPEN_SECTIONS,
    SECTIONS,
    SFT,
    Recipe,
    RecipeContents,
    trainer_section,
)


def build_recipe(name: str, contents: RecipeContents, trainer_fields: Mapping[str, Any]) -> Recipe:
    """Read a recipe's contents; `trainer_fields` are the types of the trainer's keys.

    UsageError for an unknown key, or a value that its key doesn't take.
    """
    source = f"recipe {name!r}"
    for key in contents:
        if key not in KEYS:
            raise UnknownName.among(f"key of {source}", key, KEYS)
    if "task" not in contents:
        raise UsageError(
            f'{source} names no task; pass --task NAME, or write task = "gsm8k" into its file'
        )
    section = trainer_section(contents)
    trainer = contents.get("trainer")
    if section != SFT and (isinstance(trainer, str) or SFT in contents):
        raise UsageError(
            f'{source}: trainer is {trainer!r}; it must be "sft", with a section [sft], or '
            "a section [trainer] for GRPO"
        )
    settings = contents.get(section, {})
    if not isinstance(settings, Mapping):
        raise UsageError(f"{source}: {section} is a section; set {section}.KEY")
    values = read_values(
        trainer_fields,
        settings,
        among=f"key of [{section}] in {source}",
        spell=lambda key: f"{source}: {section}.{key}",
    )
    recipe = read_section(Recipe, {**contents, section: values, "name": name}, source)
    if contradiction := _contradiction(recipe, contents):
        raise UsageError(f"{source}: {contradiction}")
    return recipe


def _contradiction(recipe: Recipe, contents: RecipeContents) -> str | None:
    """Say which settings contradict each other, if any do."""
    if recipe.is_sft:
        for section in ("rewards", "momentum", "rollouts"):
            if contents.get(section):
                return f'trainer is "sft", which has no [{section}]; leave that section out'
        if recipe.skip_silent_groups:
            return 'trainer is "sft", which has no groups; leave skip_silent_groups out'
    elif recipe.data.long:
        return 'data.long needs solutions, which only trainer = "sft" learns from'
    scaling = recipe.trainer_settings.get("scale_rewards", "group")
    if recipe.momentum is not None and scaling not in ("group", True):
        return (
            f"trainer.scale_rewards is {scaling!r}; [momentum] blends the statistics of "
            "groups, so set scale_rewards=group"
        )
    return None


MOVED = {
    "warmup_ratio": "TRL takes warmup_steps=0.1 for a share now",
    "save_safetensors": "TRL always saves safetensors now",
    "vllm_device": "choose vllm_mode=colocate or vllm_mode=server",
    "output_dir": "pass --output-dir",
    "resume_from_checkpoint": "pass --resume",
    "reward_weights": "set rewards.NAME, a component's weight",
    "trust_remote_code": "pass --trust-remote-code",
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

    UsageError for a name of no setting or of several, or a value of another type.
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
    top = {key: kind for key, kind in types_of(Recipe).items() if key in KEYS}
    sections = {
        "": {key: kind for key, kind in top.items() if key not in (*SECTIONS, *OPEN_SECTIONS)},
        **{name: types_of(group) for name, group in SECTIONS.items()},
        "rewards": dict.fromkeys(contents.get("rewards", {}), float),
        section: trainer_fields,
    }
    return [
        Setting(name, key, kind) for name, types in sections.items() for key, kind in types.items()
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
            f"no setting named {name!r}; rewardkit train RECIPE --check shows those of a recipe, "
            "and TRL's GRPOConfig or SFTConfig those of the trainer"
        )
    return UnknownName.among("setting", name, known)


def _read_value(value: object, setting: Setting) -> Any:
    """The first reading that the setting takes; if it takes none, why not the likeliest one."""
    readings = value.readings() if isinstance(value, CommandLineValue) else [value]
    refusals = []
    for reading in readings:
        try:
            return read_value(setting.kind, reading, setting.name)
        except UsageError as error:
            refusals.append(error)
    raise refusals[0]
