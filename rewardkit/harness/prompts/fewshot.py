"""The examples of a prompt: a task's examples, or rows drawn from the train split."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.wording import Kind, TaskWording
from rewardkit.harness.results.data_files import IDENTIFIERS
from rewardkit.protocols import Task, extras
from rewardkit.records import Sample

OWN_EXAMPLES = {"example": 3, "long": 1}
"""The number of a task's examples in a prompt; the other examples are substitutes."""

_MOST_EXCLUDED = 2
"""The most rows that can be the problem itself: one with its id, one with its words."""


@dataclass(frozen=True)
class FewshotExamples:
    """The samples that a prompt shows: the first `count` that aren't the problem itself.

    With `exact` False, fewer samples are accepted, because a task has few examples. `by` names a
    column: a problem's examples have the problem's value in this column. Without `by`, all
    samples are examples of all problems.
    """

    samples: Sequence[Sample] = ()
    count: int = 0
    exact: bool = True
    by: str = ""

    def beside(self, problem: Sample) -> list[int]:
        """The indices of the samples to show with a problem: never the problem itself."""
        identities, group = _identities(problem), _group(problem, self.by)
        others = [
            index
            for index, sample in enumerate(self.samples)
            if _group(sample, self.by) == group and identities.isdisjoint(_identities(sample))
        ]
        if self.exact and len(others) < self.count:
            where = f" whose {self.by} is {group!r}" if self.by else ""
            raise UsageError(
                f"--num-fewshot {self.count}: only {len(others)} rows{where} can be examples for "
                f"the sample {problem.id!r}, which can't be its own example; lower the number, or "
                "give more rows with --fewshot-data FILE"
            )
        return others[: self.count]


def draw_examples(task: Task, options: EvalOptions, count: int) -> FewshotExamples:
    """Draw `count` distinct rows by seed. All problems share the rows; none is its own example.

    For a task with a column `fewshot_by`, rows are drawn for each value of the column.
    """
    by = extras(task).fewshot_by
    rows: list[Sample] = []
    if count:
        file = options.fewshot_data
        split = extras(task).fewshot_split if file is None else None
        try:
            rows = list(task.load(data=file, split=split, seed=options.seed))
        except DataError as error:
            if file is not None:
                raise DataError(f"--fewshot-data {file}: {error}") from error
            raise DataError(
                f"--num-fewshot draws from the {split} split of task {task.name!r}, which isn't "
                f"available here ({error.__cause__ or error}); give rows to draw from with "
                "--fewshot-data FILE"
            ) from error
    random.Random(f"shots/{options.seed}").shuffle(rows)
    drawn: dict[str, list[Sample]] = {}
    seen: set[object] = set()
    for row in rows:
        identities = _identities(row)
        if identities.isdisjoint(seen):
            drawn.setdefault(_group(row, by), []).append(row)
        seen |= identities
    most = count + _MOST_EXCLUDED
    samples = [row for rows_of_group in drawn.values() for row in rows_of_group[:most]]
    return FewshotExamples(samples, count, by=by)


def own_examples(task: Task, wording: TaskWording, kind: Kind) -> FewshotExamples:
    """The task's own examples, in the order of its file. Raises DataError."""
    rows = []
    if wording.examples is not None:
        try:
            rows = tomllib.loads(wording.examples.read_text(encoding="utf-8")).get(kind, [])
        except (OSError, ValueError) as error:
            raise DataError(f"the examples in {wording.examples} can't be read: {error}") from error
    samples = [
        task.sample({"id": f"{kind}-{place + 1}", **row}, place) for place, row in enumerate(rows)
    ]
    return FewshotExamples(samples, OWN_EXAMPLES[kind], exact=False)


def _group(sample: Sample, by: str) -> str:
    """The sample's value in the column `by`. DataError for a sample without the column."""
    if not by:
        return ""
    if by not in sample.columns:
        raise DataError(
            f"the sample {sample.id!r} has no column {by!r}, which names the group of its "
            f"few-shot examples; it has {', '.join(sorted(sample.columns))}"
        )
    return str(sample.columns[by])


def _identities(sample: Sample) -> set[tuple[str, ...]]:
    """The keys that identify a row: its sorted words (4 7 8 8 is 8 4 8 7), and the id in its data.

    A line number is no key: another file has another row there.
    """
    identities = {("words", *sorted(sample.question.casefold().split()))}
    identifier = next(
        (sample.columns[name] for name in IDENTIFIERS if sample.columns.get(name)), None
    )
    return identities if identifier is None else identities | {("id", str(identifier))}
