"""The examples that a prompt shows: a task's own, or rows drawn from its train split."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.fewshot_source import FewshotSource
from rewardkit.harness.prompts.wording import (
    Kind,
    TaskWording,
    WordedProblem,
    example_rows,
    word_example,
)
from rewardkit.harness.store.data_files import IDENTIFIERS
from rewardkit.protocols import Task
from rewardkit.records import Sample

OWN_EXAMPLES = {"example": 3, "long": 1}
"""How many of a task's own examples are shown; its file may hold more, as substitutes."""

_MOST_EXCLUDED = 2
"""Distinct rows that can be the problem itself: one by its id, one by its words."""


@dataclass(frozen=True)
class FewshotExamples:
    """The samples to show, the first `count` that aren't the problem itself.

    `enough` False: fewer will do, as with a task's own examples, of which there are few.
    """

    samples: Sequence[Sample]
    count: int
    enough: bool = True

    @cached_property
    def _sample_identities(self) -> Sequence[set[tuple[str, ...]]]:
        return [_identities(sample) for sample in self.samples]

    def beside(self, problem: Sample) -> list[int]:
        """The indices of the samples to show with this problem: never one with its id or words."""
        identities = _identities(problem)
        others = [
            index
            for index, other in enumerate(self._sample_identities)
            if identities.isdisjoint(other)
        ]
        if self.enough and len(others) < self.count:
            raise UsageError(
                f"--num-fewshot {self.count}: only {len(others)} rows are there to show beside "
                f"the sample {problem.id!r}, which is never among them; ask for fewer, or give "
                "more rows with --fewshot-data FILE"
            )
        return others[: self.count]


def draw_examples(task: Task, source: FewshotSource) -> FewshotExamples:
    """Rows drawn by seed: the same for every problem, except that none is shown itself."""
    rows = _pool(task, source) if source.count else []
    random.Random(f"shots/{source.seed}").shuffle(rows)
    return FewshotExamples(_unrepeated(rows)[: source.count + _MOST_EXCLUDED], source.count)


def own_examples(task: Task, wording: TaskWording, kind: Kind) -> FewshotExamples:
    """The task's own examples, in the order of its file."""
    rows = example_rows(wording, kind)
    samples = [task.sample(row, place) for place, row in enumerate(rows)]
    return FewshotExamples(samples, OWN_EXAMPLES[kind], enough=False)


def solved_problems(
    wording: TaskWording, samples: Iterable[Sample], reading: str | None
) -> list[WordedProblem]:
    """Samples as a template shows them."""
    return [word_example(wording, sample, reading) for sample in samples]


def _pool(task: Task, source: FewshotSource) -> list[Sample]:
    if source.data is not None:
        return _of_file(task, source.data, source.seed)
    try:
        return list(task.load(data=None, split="train", seed=source.seed))
    except DataError as error:
        raise DataError(
            f"--num-fewshot draws from the train split of task {task.name!r}, which isn't "
            f"available here ({error.__cause__ or error}); give rows to draw from with "
            "--fewshot-data FILE"
        ) from error


def _of_file(task: Task, data: str, seed: int) -> list[Sample]:
    try:
        return list(task.load(data=data, split=None, seed=seed))
    except DataError as error:
        raise DataError(f"--fewshot-data {data}: {error}") from error


def _unrepeated(samples: Iterable[Sample]) -> list[Sample]:
    """The samples without those that repeat an earlier one's id or words."""
    distinct: list[Sample] = []
    seen: set[object] = set()
    for sample in samples:
        identities = _identities(sample)
        if identities.isdisjoint(seen):
            distinct.append(sample)
        seen |= identities
    return distinct


def _identities(sample: Sample) -> set[tuple[str, ...]]:
    """What identifies a row: its words in any order, since 4 7 8 8 is 8 4 8 7, and the id in its
    data. Its line in a file doesn't: another file has another row there."""
    identities = {("words", *sorted(sample.question.casefold().split()))}
    given = next((sample.columns[name] for name in IDENTIFIERS if sample.columns.get(name)), None)
    return identities if given is None else identities | {("id", str(given))}
