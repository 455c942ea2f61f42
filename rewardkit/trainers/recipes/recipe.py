"""A recipe: every setting of a training, typed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from rewardkit import registry
from rewardkit.harness.run.options import EvaluationOptions, OptionField, option_fields
from rewardkit.harness.store.files import read_toml
from rewardkit.trainers.objectives import EPS, Schedule

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)

SFT = "sft"
"""The trainer of supervised recipes, and the section of its settings."""

Count = Annotated[int, Field(ge=1)]


class DataSettings(BaseModel):
    """Where the prompts come from, and which are left out."""

    model_config = STRICT

    file: str | None = None
    split: str = "train"
    limit: Count | None = None
    seed: int = 0
    """Of the task's draw, in training and evaluation: two seeds may share problems."""
    max_prompt_length: Count | None = None
    """Tokens; longer prompts are left out."""
    max_total_length: Count | None = None
    """Tokens of prompt and completion, where max_completion_length isn't set and the worked
    replies fit. Of SFT, longer rows are left out."""
    long: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Of SFT: the share of long solutions."""


class ModelSettings(BaseModel):
    """The model, and how its weights are loaded."""

    model_config = STRICT

    name: str | None = None
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "float32"
    attn_implementation: str | None = None


class MomentumSettings(BaseModel):
    """MomentumGRPOTrainer's arguments."""

    model_config = STRICT

    m0: float = 0.0
    increment: float = 0.01
    m_max: float = 0.2
    eps: Annotated[float, Field(gt=0)] = EPS

    @model_validator(mode="after")
    def _check_schedule(self) -> MomentumSettings:
        Schedule(self.m0, self.increment, self.m_max)
        return self


class RolloutSettings(BaseModel):
    """RolloutsCallback's arguments; with `share` 0 no completion is kept."""

    model_config = STRICT

    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Of the groups: those whose text is kept."""
    max_megabytes: Count = 1000


class CallbackSettings(BaseModel):
    """EvaluationCallback's own arguments; with `every` 0 there is no evaluation."""

    model_config = STRICT

    every: Annotated[int, Field(ge=0)] = 10
    batch_size: int = 64
    metric: str = "accuracy"
    keep_best: bool = True
    truncation_share: float = 0.2


def _pydantic_field(field: OptionField) -> Any:
    """An option of an evaluation as a field of a recipe."""
    kind: Any = list[str] if field.kind is tuple else field.kind
    option = field.option
    default = list(option.default) if field.kind is tuple else option.default
    bounds = {"ge": option.low, "le": option.high}
    annotated = Annotated[kind, Field(description=option.help, **bounds)]
    return (annotated | None if field.optional else annotated, default)


EvaluationSettings = create_model(
    "EvaluationSettings",
    __base__=CallbackSettings,
    **{name: _pydantic_field(field) for name, field in option_fields(EvaluationOptions).items()},
)


class Recipe(BaseModel):
    """Every setting of a training. Without `momentum`, advantages are TRL's own."""

    model_config = STRICT

    name: str
    task: str
    verifier: str | None = None
    """What judges the completions of training; None: the task's own for the prompt."""
    about: str = ""
    prompt: str | None = None
    system_prompt: str | None = None
    chat_template: bool = True
    skip_silent_groups: bool = False
    """Whether groups whose rewards are all equal have no share in a step."""
    data: DataSettings = DataSettings()
    model: ModelSettings = ModelSettings()
    rewards: dict[str, float] = {}
    """Weights by a component's name; the other components keep the task's weights."""
    trainer: dict[str, Any] | Literal["sft"] = {}
    """GRPOConfig's fields by their own names; or "sft", with SFTConfig's in `sft`."""
    sft: dict[str, Any] = {}
    momentum: MomentumSettings | None = None
    rollouts: RolloutSettings = RolloutSettings()
    evaluation: CallbackSettings = CallbackSettings()
    """An `EvaluationSettings`, once a recipe is validated."""

    @property
    def is_sft(self) -> bool:
        """Whether it trains on worked solutions, not by rewards."""
        return self.trainer == SFT

    @property
    def trainer_settings(self) -> Mapping[str, Any]:
        """The fields of TRL's config."""
        return self.trainer if isinstance(self.trainer, dict) else self.sft

    @model_validator(mode="after")
    def _check_sft(self) -> Recipe:
        of_grpo = [
            section
            for section in ("rewards", "momentum", "rollouts")
            if section in self.model_fields_set and getattr(self, section)
        ]
        if self.is_sft and of_grpo:
            raise ValueError(
                f'trainer is "sft", which has no [{of_grpo[0]}]; leave that section out'
            )
        if self.is_sft and self.skip_silent_groups:
            raise ValueError('trainer is "sft", which has no groups; leave skip_silent_groups out')
        if not self.is_sft and self.data.long:
            raise ValueError('data.long is of solutions, which only trainer = "sft" learns from')
        return self

    @model_validator(mode="after")
    def _check_scaling(self) -> Recipe:
        scaling = self.trainer_settings.get("scale_rewards", "group")
        if self.momentum is not None and scaling not in ("group", True):
            raise ValueError(
                f"trainer.scale_rewards is {scaling!r}; [momentum] blends the statistics of "
                "groups, so set scale_rewards=group"
            )
        return self

    def settings(self) -> dict[str, Any]:
        """All settings, section by section, without those that are not set."""
        unused = {"rewards", "rollouts", "skip_silent_groups"} if self.is_sft else {SFT}
        return self.model_dump(exclude_none=True, exclude=unused)


SECTIONS: Mapping[str, type[BaseModel]] = {
    "data": DataSettings,
    "model": ModelSettings,
    "momentum": MomentumSettings,
    "rollouts": RolloutSettings,
    "evaluation": EvaluationSettings,
}
OPEN_SECTIONS = ("rewards", "trainer", SFT)
"""Sections whose keys the task and TRL define."""
KEYS = tuple(name for name in Recipe.model_fields if name != "name")
"""What a recipe's file may hold at the top: plain keys and sections."""


def trainer_section(contents: Mapping[str, Any]) -> str:
    """The section of the trainer's settings in a recipe's contents."""
    return SFT if contents.get("trainer") == SFT else "trainer"


RecipeContents = Mapping[str, Any]
"""What a recipe's TOML file holds, not yet validated."""


def find_recipe(name: str) -> tuple[str, RecipeContents]:
    """Return a recipe's name and contents; `name` is a registered name or a TOML file's path."""
    if name.endswith(".toml") or "/" in name:
        return Path(name).stem, read_recipe(Path(name))
    return name, read_recipe(Path(registry.installed().recipe(name)))


def read_recipe(path: Path) -> RecipeContents:
    """Read a recipe's file. UsageError if it is missing, unreadable or not TOML."""
    return read_toml(path, "recipe", "`rewardkit list recipes`")
