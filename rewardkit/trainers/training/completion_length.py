"""How many tokens a completion may have in training."""

from __future__ import annotations

from pathlib import Path

from rewardkit.errors import PromptTooLong
from rewardkit.harness.run.task_plan import TaskPlan
from rewardkit.harness.store import checkpoint
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.training.training_rows import TrainingRows


def completion_length(recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, folder: Path) -> int:
    """The limit of a completion, in tokens, by the recipe or else the task.

    PromptTooLong if the longest prompt leaves too little room in data.max_total_length or in the
    model in `folder`.
    """
    length = recipe.trainer.get("max_completion_length")
    if length is None and recipe.data.max_total_length is not None:
        length = _remainder(recipe.data.max_total_length, rows.longest)
    length = length or task_plan.task.max_tokens
    room = checkpoint.read_json(folder / "config.json").get("max_position_embeddings")
    if isinstance(room, int) and rows.longest + length > room:
        raise PromptTooLong(
            f"the longest prompt has {rows.longest} tokens; with max_completion_length {length} "
            f"it needs {rows.longest + length}, and the model takes {room} in all; set "
            f"max_completion_length={max(room - rows.longest, 1)} or data.max_prompt_length"
        )
    return int(length)


def _remainder(total: int, longest: int) -> int:
    if longest >= total:
        raise PromptTooLong(
            f"the longest prompt has {longest} tokens, and data.max_total_length is "
            f"{total}, completion included; raise it, or set data.max_prompt_length"
        )
    return total - longest
