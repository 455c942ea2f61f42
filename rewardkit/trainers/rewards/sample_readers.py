"""How a row of TRL's batch becomes the sample that a verifier reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rewardkit.errors import DataError, UsageError
from rewardkit.protocols import Task
from rewardkit.records import Sample, Verdict
from rewardkit.trainers.rewards.batch import PASSED, WITHHELD, Batch

REFERENCE_COLUMNS = ("reference", "answer", "solution", "ground_truth")
"""Where the reference is looked for when nobody says; the first that the data set has."""


class Reader(Protocol):
    """Reads the samples of a batch."""

    def __call__(self, batch: Batch, /) -> list[Sample | Verdict]:
        """The sample of each row; for a row that can't be read, the verdict that it is unjudged."""
        ...


@dataclass(frozen=True)
class ByColumn:
    """The reference is the first of the columns `names` that there is; () reads none."""

    names: Sequence[str]

    def __post_init__(self) -> None:
        for name in self.names:
            if name in PASSED or name in WITHHELD:
                raise UsageError(
                    f"the reference can't stand in a column {name!r}: TRL keeps that name for "
                    "itself; rename the column"
                )

    def __call__(self, batch: Batch, /) -> list[Sample | Verdict]:
        """The samples. DataError when the batch has none of the columns."""
        if not self.names:
            return [
                Sample("", question, columns=row)
                for question, row in zip(batch.questions, batch.rows(), strict=True)
            ]
        name = next((name for name in self.names if name in batch.columns), None)
        if name is None:
            raise DataError(
                f"the data set has no column {' or '.join(map(repr, self.names))} to read the "
                f"reference from; it has {', '.join(sorted(batch.columns)) or 'none'}. Name it: "
                "reference='…', or reference=None for a verifier that reads no reference"
            )
        return [
            _sample(row, name, question)
            for question, row in zip(batch.questions, batch.rows(), strict=True)
        ]


@dataclass(frozen=True)
class ByTask:
    """The rows are read as evaluation reads them; a column `reference` holds the reference itself.

    A row without a question gets its prompt's text for one.
    """

    task: Task

    def __call__(self, batch: Batch, /) -> list[Sample | Verdict]:
        """The samples."""
        return [
            self._sample(row, index, question)
            for index, (question, row) in enumerate(zip(batch.questions, batch.rows(), strict=True))
        ]

    def _sample(self, row: Mapping[str, object], index: int, question: str) -> Sample | Verdict:
        if "reference" in row:
            return _sample(row, "reference", question)
        try:
            return self.task.sample(row, index)
        except DataError as error:
            try:
                return self.task.sample({"question": question, **row}, index)
            except DataError:
                return Verdict.unjudged(str(error))


def _sample(row: Mapping[str, object], name: str, question: str) -> Sample | Verdict:
    if row.get(name) is None:
        return Verdict.unjudged(f"the column {name!r} holds neither text nor a number in this row")
    return Sample(str(row[name]), question=str(row.get("question") or question), columns=row)
