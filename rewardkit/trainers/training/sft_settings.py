"""Build TRL's SFTConfig from a recipe, for this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rewardkit.harness.store import checkpoint
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.training.trainer_config import Note, base_values, build_config
from rewardkit.trainers.training.trainer_fields import sft_config


def row_limit(recipe: Recipe, model_folder: Path) -> int | None:
    """The most tokens of a prompt with its completion: of the recipe and of the model."""
    limits = (
        recipe.data.max_total_length,
        recipe.trainer_settings.get("max_length"),
        checkpoint.read_json(model_folder / "config.json").get("max_position_embeddings"),
    )
    return min((limit for limit in limits if isinstance(limit, int)), default=None)


def configure(recipe: Recipe, output_dir: Path, *, longest: int, note: Note) -> Any:
    """Build the SFTConfig. UsageError, with the settings' names, for those that TRL refuses.

    Loss is on the completion alone, and no row is cut, unless the recipe says otherwise.
    """
    values = base_values(recipe, output_dir, note)
    values.setdefault("completion_only_loss", True)
    values.setdefault("max_length", longest)
    return build_config(sft_config(), values)
