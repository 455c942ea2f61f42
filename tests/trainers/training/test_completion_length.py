"""The limit of a completion: from the recipe, the total length or the longest worked reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.errors import PromptTooLong
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.runs.plan import TaskPlan
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.protocols import Prompt
from rewardkit.trainers.recipes.recipe import DataSettings, Recipe
from rewardkit.trainers.training.training_plan import completion_length
from rewardkit.trainers.training.training_rows import TrainingRows

TASK = MotionTask(train=3)


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def warned(self, text: str) -> None:
        self.warnings.append(text)


def limit(
    folder: Path,
    replies: list[int],
    *,
    prompt: int = 525,
    total: int | None = None,
    length: int | None = None,
) -> tuple[int, Notes]:
    samples = TASK.load(data=None, split="train", seed=0)
    recipe = Recipe(
        name="mine",
        task="motion",
        data=DataSettings(max_total_length=total),
        trainer={} if length is None else {"max_completion_length": length},
    )
    rows = TrainingRows(
        samples=samples,
        prompts=[Prompt(text="", token_ids=(1,) * prompt)] * len(samples),
        conversational=False,
        left_out=0,
        reply_lengths=replies,
    )
    plan = TaskPlan(TASK, samples, resolve_prompt(TASK))
    notes = Notes()
    return completion_length(recipe, plan, rows, folder, notes), notes


@pytest.mark.parametrize(
    ("total", "replies", "expected", "note"),
    [
        (800, [239, 250, 251], 275, "so that a completion may have 275 tokens; the longest"),
        (800, [239, 250, 275], 275, "the longest worked reply has 275"),
        (800, [239, 250, 276], 512, "doesn't apply: the longest prompt has 525 tokens"),
        (800, [239, 250, 600], 750, "doesn't apply"),
        (500, [239, 250, 251], 512, "doesn't apply"),
        (None, [1, 2, 3], 512, ""),
        (None, [1, 2, 409], 512, ""),
        (None, [1, 2, 500], 625, ""),
    ],
)
def test_the_total_length_applies_if_every_reply_fits_else_the_default_or_the_longest_reply(
    tmp_path: Path, total: int | None, replies: list[int], expected: int, note: str
) -> None:
    length, notes = limit(tmp_path, replies, total=total)
    assert length == expected
    assert (note in notes.notes[0]) if note else (notes.notes == [])
    assert notes.warnings == []


def test_a_limit_below_the_worked_replies_is_warned_of(tmp_path: Path) -> None:
    length, notes = limit(tmp_path, [199, 200, 201], length=200)
    assert length == 200
    (warning,) = notes.warnings
    assert "1 of 3 worked replies of task 'motion' are longer than the 200 tokens" in warning
    assert "max_completion_length=201" in warning
    assert limit(tmp_path, [199, 200, 200], length=200)[1].warnings == []


def test_a_model_without_room_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 700}')
    with pytest.raises(PromptTooLong, match="the model takes 700 in all"):
        limit(tmp_path, [10, 10, 10])
