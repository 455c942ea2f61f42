"""The examples that a prompt shows: a task's own, or rows drawn from its train split."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.fewshot_source import FewshotSource
from rewardkit.harness.prompts.wording import Kind, TaskWording, WordedProblem, example_rows, solved
from rewardkit.harness.store.data_files import IDENTIFIERS
from rewardkit.protocols import Task
from rewardkit.records import Sample

BUILT_IN = {"example": 3, "long": 1}
"""How many of a task's own examples are shown; its file may hold more, as substitutes."""

_MOST_EXCLUDED = 2
"""Rows of a pool without repetitions that can be the row asked: one by id, one by its words."""


@dataclass(frozen=True)
class FewshotExamples:
    """The samples to show, the first `count` that aren't the row asked.

    `enough` False: fewer will do, as with a task's own examples, of which there are few.
    """

    samples: Sequence[Sample]
    count: int
    enough: bool = True

    def beside(self, asked: Sample) -> list[Sample]:
        """The samples to show with the row `asked`: never one with its id or its words."""
        marks = _marks(asked)
        others = [one for one in self.samples if marks.isdisjoint(_marks(one))]
        if self.enough and len(others) < self.count:
            raise UsageError(
                f"--num-fewshot {self.count}: only {len(others)} rows are there to show beside "
                f"the sample {asked.id!r}, which is never among them; ask for fewer, or give "
                "more rows with --fewshot-data FILE"
            )
        return others[: self.count]


def drawn(task: Task, drawing: FewshotSource) -> FewshotExamples:
    """Rows drawn by seed, the same for every sample but where one is the row asked."""
    rows = _source(task, drawing) if drawing.count else []
    random.Random(f"shots/{drawing.seed}").shuffle(rows)
    return FewshotExamples(_unrepeated(rows)[: drawing.count + _MOST_EXCLUDED], drawing.count)


def built_in(task: Task, wording: TaskWording, kind: Kind) -> FewshotExamples:
    """The task's own examples, in the order of its file."""
    rows = example_rows(wording, kind)
    samples = [task.sample(row, place) for place, row in enumerate(rows)]
    return FewshotExamples(samples, BUILT_IN[kind], enough=False)


def shown(
    wording: TaskWording, shots: Iterable[Sample], reading: str | None
) -> list[WordedProblem]:
    """Samples as a template shows them."""
    return [solved(wording, sample, reading) for sample in shots]


def _source(task: Task, drawing: FewshotSource) -> list[Sample]:
    if drawing.data is not None:
        return _of_file(task, drawing.data, drawing.seed)
    try:
        return list(task.load(data=None, split="train", seed=drawing.seed))
    except DataError as error:
        raise DataError(
            f"--num-fewshot draws from the train split of task {task.name!r}, which can't be "
            f"had here ({error.__cause__ or error}); give rows to draw from with "
            "--fewshot-data FILE"
        ) from error


def _of_file(task: Task, data: str, seed: int) -> list[Sample]:
    try:
        return list(task.load(data=data, split=None, seed=seed))
    except DataError as error:
        raise DataError(f"--fewshot-data {data}: {error}") from error


def _unrepeated(samples: Iterable[Sample]) -> list[Sample]:
    """The samples without those that repeat an earlier one's id or words."""
    kept: list[Sample] = []
    seen: set[object] = set()
    for sample in samples:
        marks = _marks(sample)
        if marks.isdisjoint(seen):
            kept.append(sample)
        seen |= marks
    return kept


def _marks(sample: Sample) -> set[tuple[str, ...]]:
    """What a row is known by: its words in no order, since 4 7 8 8 is 8 4 8 7, and the id that
    its data give it. Its place in a file is none: another file has other rows there."""
    marks = {("words", *sorted(sample.question.casefold().split()))}
    given = next((sample.columns[name] for name in IDENTIFIERS if sample.columns.get(name)), None)
    return marks if given is None else marks | {("id", str(given))}
