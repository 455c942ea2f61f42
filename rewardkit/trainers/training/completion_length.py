"""How many tokens a completion may have in training."""

from __future__ import annotations

import math
from pathlib import Path

from rewardkit.errors import PromptTooLong
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.task_plan import TaskPlan
from rewardkit.harness.store import checkpoint
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.training.training_rows import TrainingRows

MARGIN = 1.25
"""Room for a completion, as a multiple of the longest worked reply."""


def completion_length(
    recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, folder: Path, reporter: Reporter
) -> int:
    """Return the limit of a completion, in tokens.

    It is max_completion_length; else what the longest prompt leaves of data.max_total_length, if
    every worked reply fits there; else the task's default, or more if the longest worked reply
    needs more. The reporter notes which rule applies to data.max_total_length, and warns of
    worked replies that do not fit. PromptTooLong if the model in `folder` has too little room.
    """
    length = recipe.trainer_settings.get("max_completion_length")
    if length is None and recipe.data.max_total_length is not None:
        length = _remainder(recipe.data.max_total_length, rows, reporter)
    if length is None:
        length = max(task_plan.task.max_tokens, math.ceil(MARGIN * rows.longest_reply))
    _check_model_room(rows.longest, length, folder)
    _warn_of_short_limit(length, task_plan.task.name, rows, reporter)
    return int(length)


def _remainder(total: int, rows: TrainingRows, reporter: Reporter) -> int | None:
    """Return what the longest prompt leaves of `total`; None if a worked reply does not fit."""
    left = total - rows.longest
    if left < rows.longest_reply:
        reporter.note(
            f"data.max_total_length {total} doesn't apply: the longest prompt has {rows.longest} "
            f"tokens and the longest worked reply {rows.longest_reply}, so that the limit of a "
            "completion follows from the worked replies"
        )
        return None
    reporter.note(
        f"data.max_total_length {total}: the longest prompt has {rows.longest} tokens, so that a "
        f"completion may have {left}; the longest worked reply has {rows.longest_reply}"
    )
    return left


def _check_model_room(prompt: int, length: int, folder: Path) -> None:
    room = checkpoint.read_json(folder / "config.json").get("max_position_embeddings")
    if isinstance(room, int) and prompt + length > room:
        raise PromptTooLong(
            f"the longest prompt has {prompt} tokens; with max_completion_length {length} "
            f"it needs {prompt + length}, and the model takes {room} in all; set "
            f"max_completion_length={max(room - prompt, 1)} or data.max_prompt_length"
        )


def _warn_of_short_limit(length: int, task: str, rows: TrainingRows, reporter: Reporter) -> None:
    cut_off = sum(tokens > length for tokens in rows.reply_lengths)
    if cut_off:
        reporter.warned(
            f"{cut_off} of {len(rows.reply_lengths)} worked replies of task {task!r} are longer "
            f"than the {length} tokens that a completion may have (the longest has "
            f"{rows.longest_reply}), so that a right completion may be cut off; set "
            f"max_completion_length={rows.longest_reply} or more"
        )
