"""A recipe: every setting of a training, typed; `--set KEY=VALUE` replaces settings."""

from __future__ import annotations

import copy
import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from rewardkit import registry
from rewardkit.config import (
    NonNegativeInt,
    PositiveInt,
    Seconds,
    Share,
    parameter_types,
    read_section,
    read_value,
    read_values,
    section_of,
    types_of,
)
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.options import CALLBACK_OPTIONS, DEFAULTS
from rewardkit.harness.results.files import read_toml
from rewardkit.trainers.objectives import EPS, Schedule, WeightSchedule

SFT = "sft"
"""The trainer of supervised recipes, and the section of its settings."""


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Where the prompts come from, and which prompts are left out."""

    file: str | None = None
    split: str = "train"
    limit: PositiveInt | None = None
    seed: int = 0
    """Seed of the task's problems, in training and evaluation: two seeds may share problems."""
    max_prompt_length: PositiveInt | None = None
    """Tokens; longer prompts are left out."""
    max_total_length: PositiveInt | None = None
    """Tokens of prompt and completion, if max_completion_length isn't set and the worked replies
    fit. SFT leaves out longer rows."""
    long: Share = 0.0
    """The share of long solutions in SFT."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """The model, and how its weights are loaded."""

    name: str | None = None
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "float32"
    attn_implementation: str | None = None
    trust_remote_code: bool = False
    """Whether code of the checkpoint may run; a recipe's file can't set it."""


@dataclass(frozen=True, kw_only=True)
class RewardSettings:
    """A reward's weight, which may change at given steps, and its gate."""

    weight: float | None = None
    """None: the task's own weight, or 1 for a reward that the task doesn't have."""
    weights: tuple[tuple[NonNegativeInt, float], ...] = ()
    """(step, weight) pairs; each weight applies from its step on, and the first step is 0."""
    gate: dict[str, Share] = field(default_factory=dict)
    """Other rewards by name: below one of these scores, the reward is 0."""

    def __post_init__(self) -> None:
        steps = [step for step, _ in self.weights]
        if self.weights and (steps[0] != 0 or steps != sorted(set(steps))):
            raise ValueError(f"weights has the steps {steps}; begin at 0, and let the steps rise")
        if self.weights and self.weight is not None:
            raise ValueError("weight and weights are both set; leave one of them out")

    def schedule(self, default: float) -> WeightSchedule:
        """The weights by step; `default` applies if none is set."""
        return self.weights or ((0, default if self.weight is None else self.weight),)


@dataclass(frozen=True)
class MomentumSettings(Schedule):
    """MomentumGRPOTrainer's arguments."""

    eps: Annotated[float, Meta(gt=0)] = EPS


@dataclass(frozen=True, kw_only=True)
class CallbackSettings:
    """The arguments that only EvaluationCallback has; `every` 0 means no evaluation."""

    every: NonNegativeInt = 10
    batch_size: int = 64
    metric: str = "accuracy"
    keep_best: bool = True
    truncation_share: float = 0.2


_SET_BY_TRAINING = ("system_prompt", "chat_template", "chat_template_args", "seed", "timeout")
if TYPE_CHECKING:
    EvaluationSettings = CallbackSettings
else:
    EvaluationSettings = make_dataclass(
        "EvaluationSettings",
        [
            (name, kind, field(default=DEFAULTS[name]))
            for name, kind in CALLBACK_OPTIONS.items()
            if name not in _SET_BY_TRAINING
        ],
        bases=(CallbackSettings,),
        namespace={"__module__": __name__},
        frozen=True,
        kw_only=True,
    )
    """The arguments of EvaluationCallback, without the arguments that the training sets too."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Every setting of a training. Without `momentum`, TRL computes the advantages."""

    name: str
    task: str
    verifier: str | None = None
    """The verifier of the training's completions; None: the task's verifier for the prompt."""
    rescue: str | None = None
    """"judge": a model judges the answers that the verifier calls wrong."""
    confirm: str | None = None
    """"judge": a model judges the answers that the verifier calls right."""
    timeout: Seconds | None = None
    """Seconds for a verdict, also in evaluations; None: the verifier's deadline, or 1."""
    about: str = ""
    prompt: str | None = None
    system_prompt: str | None = None
    chat_template: bool = True
    skip_silent_groups: bool = False
    """Whether groups whose rewards are all equal are left out of a step."""
    baseline: Literal["group", "none"] = "group"
    """What is subtracted from a reward: the mean of its group, or nothing."""
    data: DataSettings = DataSettings()
    task_args: dict[str, Any] = field(default_factory=dict)
    """The parameters of the task."""
    verifier_args: dict[str, Any] = field(default_factory=dict)
    """The parameters of `verifier`, and of the judge: judge.KEY."""
    model: ModelSettings = ModelSettings()
    peft: dict[str, Any] = field(default_factory=dict)
    """The arguments of peft's LoraConfig; without any, all weights are trained."""
    rewards: dict[str, RewardSettings] = field(default_factory=dict)
    """By name; the other rewards of the task keep their weights."""
    trainer: dict[str, Any] | Literal["sft"] = field(default_factory=dict)
    """The fields of GRPOConfig; or "sft", with the fields of SFTConfig in `sft`."""
    sft: dict[str, Any] = field(default_factory=dict)
    momentum: MomentumSettings | None = None
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    @property
    def is_sft(self) -> bool:
        """Whether the recipe trains on worked solutions, without rewards."""
        return self.trainer == SFT

    @property
    def trainer_settings(self) -> Mapping[str, Any]:
        """The fields of TRL's config."""
        return self.trainer if isinstance(self.trainer, dict) else self.sft

    def settings(self) -> dict[str, Any]:
        """All settings that are set, section by section."""
        unused = GRPO_ONLY if self.is_sft else (SFT,)
        return {name: value for name, value in plain_section(self).items() if name not in unused}


def plain_section(section: Any) -> dict[str, Any]:
    """The settings of a section that are set, as a file would have them."""
    return {
        name: _plain(value)
        for name, value in vars(section).items()
        if value is not None and value not in ({}, ())
    }


def _plain(value: Any) -> Any:
    if isinstance(value, RewardSettings) and value == RewardSettings(weight=value.weight):
        return value.weight
    if is_dataclass(value):
        return plain_section(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value


SECTIONS: Mapping[str, type] = {
    name: section
    for name, kind in types_of(Recipe).items()
    if (section := section_of(kind)) is not None
}
ARGUMENTS = ("task_args", "verifier_args", "peft")
OPEN_SECTIONS = ("rewards", "trainer", SFT, *ARGUMENTS)
"""Sections whose keys come from the task, the verifier, peft and TRL."""
GRPO_ONLY = (
    *("rewards", "momentum", "verifier_args", "rescue", "confirm"),
    *("skip_silent_groups", "baseline"),
)
"""Keys and sections that SFT doesn't have."""
KEYS = tuple(name for name in Recipe.__dataclass_fields__ if name != "name")
"""Keys and sections of a recipe's file."""


def trainer_section(contents: Mapping[str, Any]) -> str:
    """The section of the trainer's settings in a recipe's contents."""
    return SFT if contents.get("trainer") == SFT else "trainer"


ANY = "any"
"""The recipe for any task; the command names the task."""

RecipeContents = Mapping[str, Any]
"""What a recipe's TOML file holds, not yet validated."""


def find_recipe(name: str) -> tuple[str, RecipeContents]:
    """Return a recipe's name and contents; `name` is an installed name or the path of a file."""
    if name.endswith(".toml") or "/" in name:
        return Path(name).stem, read_recipe(Path(name))
    return name, read_recipe(Path(registry.installed().recipe(name)))


def read_recipe(path: Path) -> RecipeContents:
    """Read a recipe's file. UsageError if it is missing, unreadable or not TOML."""
    return read_toml(path, "recipe", "`rewardkit list recipes`")


def build_recipe(name: str, contents: RecipeContents, trainer_fields: Mapping[str, Any]) -> Recipe:
    """Read a recipe's contents; `trainer_fields` are the types of the trainer's keys.

    UsageError for an unknown key, a value of another type, or settings that exclude each other.
    """
    source = f"recipe {name!r}"
    for key in contents:
        check_moved(key, f"{source}: ")
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
    rewards = contents.get("rewards", {})
    if isinstance(rewards, Mapping):
        rewards = {key: _read_reward(value, key, source) for key, value in rewards.items()}
    read = {**contents, section: values, "rewards": rewards, "name": name}
    recipe = read_section(Recipe, read, source)
    contradictions = (
        _contradictions_of_sft(contents) if recipe.is_sft else _contradictions_of_grpo(recipe)
    )
    for contradiction in contradictions:
        raise UsageError(f"{source}: {contradiction}")
    return recipe


def _read_reward(value: object, name: str, source: str) -> RewardSettings:
    if isinstance(value, Mapping):
        return read_section(RewardSettings, value, source, f"rewards.{name}")
    return RewardSettings(weight=read_value(float, value, f"{source}: rewards.{name}"))


def _contradictions_of_sft(contents: RecipeContents) -> Iterator[str]:
    for name in filter(contents.get, GRPO_ONLY):
        if name in (*SECTIONS, *OPEN_SECTIONS):
            yield f'trainer is "sft", which has no [{name}]; leave that section out'
        elif contents[name] != Recipe.__dataclass_fields__[name].default:
            yield f'trainer is "sft", which has no groups; leave {name} out'


def _contradictions_of_grpo(recipe: Recipe) -> Iterator[str]:
    scaling = recipe.trainer_settings.get("scale_rewards", "group")
    if recipe.data.long:
        yield 'data.long needs solutions, which only trainer = "sft" learns from'
    # with m_max 0, [momentum] sets only eps, and unscaled advantages have no eps
    blends = recipe.momentum is not None and (recipe.momentum.m_max or scaling == "batch")
    if blends and scaling not in ("group", True):
        yield (
            f"trainer.scale_rewards is {scaling!r}; [momentum] blends the statistics of "
            "groups, so set scale_rewards=group"
        )
    if recipe.baseline == "none" and scaling not in ("none", False):
        yield (
            f"trainer.scale_rewards is {scaling!r}; without a baseline the advantage is the reward "
            "itself, so set scale_rewards=none"
        )
    if recipe.baseline == "none" and recipe.skip_silent_groups:
        yield (
            "without a baseline, a group whose rewards are all equal teaches too; leave "
            "skip_silent_groups out"
        )


MOVED = {
    "warmup_ratio": "set warmup_steps; in TRL a value below 1, such as 0.1, is a share now",
    "save_safetensors": "TRL always saves safetensors now",
    "vllm_device": "choose vllm_mode=colocate or vllm_mode=server",
    "output_dir": "pass --output-dir",
    "resume_from_checkpoint": "pass --resume",
    "reward_weights": "set rewards.NAME, a component's weight",
    "trust_remote_code": "pass --trust-remote-code",
    "rollouts": "all completions are kept; set log_completions=false to keep none",
    "model_init_kwargs": "set model.dtype or model.attn_implementation",
}
"""Settings that were removed or moved."""


def check_moved(key: str, place: str = "") -> None:
    """Raise UsageError for a setting that was removed or moved."""
    if key in MOVED:
        raise UsageError(f"{place}{key} can't be set: {MOVED[key]}")


class CommandLineValue(str):
    """Text of a command line: a TOML value, or plain text if it isn't TOML."""

    __slots__ = ()

    def readings(self) -> list[object]:
        """The possible values, the likeliest first."""
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
    """Return the recipe with `values`, each under its key or its dotted name.

    UsageError for a name that no setting or several settings have, or a value of another type.
    """
    types = _types(contents, trainer_fields)
    changed = copy.deepcopy(dict(contents))
    # the task and the verifier first: the other values may be their parameters
    for given in sorted(values, key=lambda name: name not in ("task", "verifier")):
        name, kind = _find_setting(given, types, changed)
        section, _, key = name.rpartition(".")
        place = changed
        for part in filter(None, section.split(".")):
            if not isinstance(place.setdefault(part, {}), dict):
                place[part] = {"weight": place[part]}  # a reward whose weight alone is set
            place = place[part]
        if section.startswith("rewards."):
            place.pop({"weight": "weights", "weights": "weight"}.get(key, ""), None)
        place[key] = _read_value(values[given], kind, name)
    return changed


def _types(contents: RecipeContents, trainer_fields: Mapping[str, Any]) -> dict[str, Any]:
    sections = {
        **{name: types_of(group) for name, group in SECTIONS.items()},
        "rewards": dict.fromkeys(contents.get("rewards", {}), float | dict[str, Any]),
        trainer_section(contents): trainer_fields,
    }
    top = {key: kind for key, kind in types_of(Recipe).items() if key in KEYS}
    return {
        **{key: kind for key, kind in top.items() if key not in (*SECTIONS, *OPEN_SECTIONS)},
        **{f"{name}.{key}": kind for name, keys in sections.items() for key, kind in keys.items()},
    }


def _find_setting(name: str, types: Mapping[str, Any], contents: RecipeContents) -> tuple[str, Any]:
    """The dotted name and the type of the setting that a user calls `name`."""
    section, _, key = name.rpartition(".")
    check_moved(key if section in ("", "trainer", "sft") else section)
    if section == "rewards":  # only the task and the installed plugins know which keys there are
        return name, float | dict[str, Any]
    if section.startswith("rewards.") and key in types_of(RewardSettings):
        return name, types_of(RewardSettings)[key]
    if section in ARGUMENTS:
        return name, _parameters(section, contents).get(key, Any)
    if name in SECTIONS or name in OPEN_SECTIONS:
        keys = [dotted for dotted in types if dotted.startswith(f"{name}.")]
        raise UsageError(f"{name} is a section; set one of {', '.join(keys[:20])}")
    by_key = {dotted: kind for dotted, kind in types.items() if dotted.rpartition(".")[2] == name}
    matches = {name: types[name]} if name in types else by_key
    for place in () if matches else ("task_args", "verifier_args"):
        parameters = _parameters(place, contents)
        matches |= {f"{place}.{name}": parameters[name]} if name in parameters else {}
    if not matches:
        raise _unknown(name, types)
    if len(matches) > 1:
        raise UsageError(f"{name} is ambiguous: set {' or '.join(matches)}")
    return next(iter(matches.items()))


def _parameters(section: str, contents: RecipeContents) -> Mapping[str, Any]:
    """The types of the parameters of the recipe's task or verifier."""
    kind, _, _ = section.partition("_args")
    if not isinstance(contents.get(kind), str):
        return {}
    return parameter_types(getattr(registry.installed(), kind)(contents[kind]))


def _unknown(name: str, names: Iterable[str]) -> UnknownName:
    known = {*names, *(dotted.rpartition(".")[2] for dotted in names)}
    if not difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5):
        return UnknownName(
            f"no setting named {name!r}; rewardkit train RECIPE --check shows the settings of a "
            "recipe, and TRL's GRPOConfig or SFTConfig the settings of the trainer"
        )
    return UnknownName.among("setting", name, known)


def _read_value(value: object, kind: Any, name: str) -> Any:
    """The first reading of the right type. UsageError about the likeliest reading if none is."""
    readings = value.readings() if isinstance(value, CommandLineValue) else [value]
    refusals = []
    for reading in readings:
        try:
            return read_value(kind, reading, name)
        except UsageError as error:
            refusals.append(error)
    raise refusals[0]
