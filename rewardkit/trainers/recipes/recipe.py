"""A recipe: what a training is made of, as a TOML file holds it."""

from __future__ import annotations

import dataclasses
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import UnknownName, UsageError
from rewardkit.trainers.objectives import EPS
from rewardkit.trainers.recipes.typed import Unfit, fitted

Raw = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Where the prompts come from, and which are left out."""

    file: str | None = None
    split: str = "train"
    limit: int | None = None
    seed: int = 0
    """Of the task's draw, in training and evaluation: two seeds may share problems."""
    max_prompt_length: int | None = None
    """Tokens; longer prompts are left out."""
    max_total_length: int | None = None
    """Tokens of prompt and completion, where max_completion_length isn't set."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """The model, and how its weights are loaded."""

    name: str | None = None
    dtype: str = "float32"
    attn_implementation: str | None = None


@dataclass(frozen=True, kw_only=True)
class MomentumSettings:
    """MomentumGRPOTrainer's arguments."""

    m0: float = 0.0
    increment: float = 0.01
    m_max: float = 0.2
    eps: float = EPS


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """EvaluationCallback's arguments; `every` 0 evaluates never."""

    every: int = 10
    data: str | None = None
    split: str | None = None
    limit: int | None = None
    num_fewshot: int | None = None
    fewshot_data: str | None = None
    num_samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int | None = None
    stop: list[str] = field(default_factory=list)
    batch_size: int = 64
    metric: str = "accuracy"
    keep_best: bool = True
    truncation_share: float = 0.2


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that a training is asked for. `momentum` None: TRL's own advantages."""

    name: str
    task: str
    about: str = ""
    prompt: str | None = None
    system_prompt: str | None = None
    chat_template: bool = True
    data: DataSettings = DataSettings()
    model: ModelSettings = ModelSettings()
    rewards: Mapping[str, float] = field(default_factory=dict)
    """Weights by a component's name; the others keep the task's."""
    trainer: Mapping[str, Any] = field(default_factory=dict)
    """GRPOConfig's fields by their own names."""
    momentum: MomentumSettings | None = None
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def settings(self) -> dict[str, Any]:
        """All settings, section by section, without those that are not set."""
        return typing.cast("dict[str, Any]", _without_none(dataclasses.asdict(self)))


SECTIONS: Mapping[str, type] = {
    "data": DataSettings,
    "model": ModelSettings,
    "momentum": MomentumSettings,
    "evaluation": EvaluationSettings,
}
OPEN_SECTIONS = ("rewards", "trainer")
TOP = ("about", "task", "prompt", "system_prompt", "chat_template")


def find(name: str) -> tuple[str, Raw]:
    """A recipe's name and contents, by its name or the path of a TOML file."""
    if name.endswith(".toml") or "/" in name:
        return Path(name).stem, read(Path(name))
    return name, read(Path(registry.installed().recipe(name)))


def build(name: str, raw: Raw, trainer_fields: Mapping[str, Any]) -> Recipe:
    """The recipe in `raw`. UsageError for a key that isn't one, or a value of another type."""
    known = (*TOP, *SECTIONS, *OPEN_SECTIONS)
    for key in raw:
        if key not in known:
            raise UnknownName.among(f"key of recipe {name!r}", key, known)
    if "task" not in raw:
        raise UsageError(f'recipe {name!r} names no task; write task = "gsm8k", or another')
    for section in (*SECTIONS, *OPEN_SECTIONS):
        if not isinstance(raw.get(section, {}), dict):
            raise UsageError(f"{section} is a section; set {section}.KEY")
    top = {key: value for key, value in raw.items() if key in TOP}
    built = {
        section: kind(**_checked(section, raw[section], typing.get_type_hints(kind)))
        for section, kind in SECTIONS.items()
        if section in raw
    }
    rewards = raw.get("rewards", {})
    return Recipe(
        name=name,
        rewards=_checked("rewards", rewards, dict.fromkeys(rewards, float)),
        trainer=_checked("trainer", raw.get("trainer", {}), trainer_fields),
        **_checked("", top, typing.get_type_hints(Recipe)),
        **built,
    )


def checked(key: str, value: object, hint: Any) -> Any:
    """`value`, of the type that `key` wants. UsageError says which that is."""
    try:
        return fitted(value, hint)
    except Unfit as error:
        raise UsageError(f"{key} is {_written(value)}; it must be {error}") from None


def _checked(section: str, values: Raw, hints: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in values.items():
        if key not in hints:
            raise UnknownName.among(f"setting in [{section}]", key, hints)
        found[key] = checked(f"{section}.{key}".lstrip("."), value, hints[key])
    return found


def read(path: Path) -> Raw:
    """The contents of a recipe's file. UsageError where it is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"there is no recipe file {str(path)!r}; see: rewardkit list recipes"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the recipe {str(path)!r} can't be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the recipe {str(path)!r} isn't TOML: {error}") from error


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return value
