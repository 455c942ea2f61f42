"""The options of `rewardkit train`, and the recipe and folder that they choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from rewardkit.errors import UsageError
from rewardkit.harness.run.default_folder import RUNS, file_name
from rewardkit.trainers.recipes.overrides import apply_overrides
from rewardkit.trainers.recipes.recipe import Recipe, trainer_section
from rewardkit.trainers.recipes.recipe_file import find_recipe
from rewardkit.trainers.recipes.validation import build_recipe
from rewardkit.trainers.training.trainer_fields import trainer_fields


class TrainValues(TypedDict, total=False):
    """The options of `train()`, except recipe, model and settings."""

    data: str | Path | None
    output_dir: str | Path | None
    resume: bool
    seed: int | None
    rollouts: float | None


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `rewardkit train`, under the same names; `settings` are its --set pairs."""

    recipe: str
    model: str | Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    data: str | Path | None = None
    output_dir: str | Path | None = None
    resume: bool = False
    seed: int | None = None
    rollouts: float | None = None


def resolve_recipe(options: TrainOptions) -> Recipe:
    """The recipe with every setting of the command applied."""
    name, contents = find_recipe(options.recipe)
    section = trainer_section(contents)
    values = {
        "model.name": options.model and str(options.model),
        "data.file": options.data and str(options.data),
        f"{section}.seed": options.seed,
        "rollouts.share": options.rollouts,
    }
    settings = {
        **options.settings,
        **{key: value for key, value in values.items() if value is not None},
    }
    fields = trainer_fields(section)
    recipe = build_recipe(name, apply_overrides(contents, settings, fields), fields)
    if recipe.model.name is None:
        raise UsageError(f"recipe {name!r} has no model of its own; pass --model")
    return recipe


def output_folder(options: TrainOptions, recipe: Recipe) -> Path:
    """The folder that the options name; else one named for the recipe and the model."""
    if options.output_dir:
        return Path(options.output_dir)
    model = str(recipe.model.name).rstrip("/").rpartition("/")[2]
    return Path(f"{RUNS}/train-{recipe.name}-{file_name(model)}")
