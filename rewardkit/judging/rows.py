"""Judge the completions of a data set's rows: for trainers, adapters and their scores."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rewardkit.errors import DataError, UsageError
from rewardkit.judging.boundary import judge_many
from rewardkit.judging.crashes import Control
from rewardkit.judging.options import JudgingOptions
from rewardkit.protocols import Task, Verifier
from rewardkit.records import REFERENCE_COLUMNS, Sample, Verdict

Row = Mapping[str, object]


@dataclass(frozen=True)
class SampleReader:
    """Reads the sample of a row.

    The reference is in the first of `columns` that the row fills; () reads none. With a `task`, a
    row without a column `reference` is read as evaluation reads it, and from `columns` only if the
    task can't read it.
    """

    columns: Sequence[str] = REFERENCE_COLUMNS
    task: Task | None = None

    def __call__(self, row: Row, index: int = 0, question: str = "") -> Sample | Verdict:
        """Return the row's sample, or an unjudged verdict if its reference is empty.

        `question` is the sample's if the row has none. DataError if no column holds the reference.
        """
        if self.task is None or "reference" in row:
            return self._from_columns(row, index, question)
        try:
            return _task_sample(self.task, row, index, question)
        except DataError:
            if not any(name in row for name in self.columns):
                raise
            return self._from_columns(row, index, question)

    def _from_columns(self, row: Row, index: int, question: str) -> Sample | Verdict:
        filled = [name for name in self.columns if row.get(name) is not None]
        if filled or not self.columns:
            reference = str(row[filled[0]]) if filled else ""
            return Sample(reference, str(row.get("question") or question), columns=row)
        empty = [name for name in self.columns if name in row]
        if empty:
            return Verdict.unjudged(
                f"the column {empty[0]!r} holds neither text nor a number in row {index + 1}"
            )
        raise DataError(
            f"row {index + 1} has no column {' or '.join(map(repr, self.columns))} to read the "
            f"reference from; it has {', '.join(sorted(map(str, row))) or 'none'}. Name the column "
            "with reference="
        )


def _task_sample(task: Task, row: Row, index: int, question: str) -> Sample:
    try:
        return task.sample(row, index)
    except DataError as error:
        with contextlib.suppress(DataError):
            return task.sample({"question": question, **row}, index)
        raise error


def paired_samples(
    completions: Sequence[str],
    references: Sequence[str],
    columns: Sequence[Row] | None,
) -> list[tuple[str, Sample]]:
    """Return completions with their samples. UsageError unless there are as many of each."""
    rows = columns if columns is not None else [{}] * len(completions)
    if not len(completions) == len(references) == len(rows):
        raise UsageError(
            f"{len(completions)} completions, {len(references)} references and {len(rows)} rows "
            "of columns: pass as many of each"
        )
    return [
        (completion, Sample(reference, columns=row))
        for completion, reference, row in zip(completions, references, rows, strict=True)
    ]


def judge_samples(
    verifier: Verifier,
    texts: Sequence[str],
    samples: Sequence[Sample | Verdict],
    options: JudgingOptions,
    control: Control | None = None,
) -> list[Verdict]:
    """Return the verdicts on texts, in order; a verdict in place of a sample stays as it is."""
    items = [
        (text, sample)
        for text, sample in zip(texts, samples, strict=True)
        if isinstance(sample, Sample)
    ]
    verdicts = iter(judge_many(verifier, items, options, control=control))
    return [sample if isinstance(sample, Verdict) else next(verdicts) for sample in samples]


@dataclass(frozen=True)
class Scale:
    """A reward from `low` to `high`, in proportion to a score."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise UsageError(
                f"low is {self.low} and high is {self.high}; both must be finite, and low lower"
            )

    def __call__(self, score: float) -> float:
        """Return the reward of a score in [0, 1]."""
        return self.low + (self.high - self.low) * score
