"""Judge the completions of a data set's rows, for trainers and adapters."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rewardkit.errors import DataError, UsageError
from rewardkit.judging.crashes import Control
from rewardkit.judging.judge_items import judge_many
from rewardkit.judging.options import JudgingOptions
from rewardkit.protocols import (
    Task,
    VerifierCallable,
    needs_reference,
    reads_objects,
    reference_columns,
)
from rewardkit.records import (
    Failure,
    Sample,
    Verdict,
    plain_columns,
    references_of,
    refuse_object,
)
from rewardkit.text.transcripts import last_calls, last_message, last_reasoning

Row = Mapping[str, object]

NO_COMPLETION = "there is no completion"
NO_REFERENCE = "there is no reference"
"""The start of the message of a verdict on a row without a completion or a reference."""


def references_in(
    row: Row,
    names: Sequence[str],
    verifier: VerifierCallable | None,
    value_of: Callable[[Row, str], object] = lambda row, name: row[name],
) -> tuple[str, ...]:
    """The references in the first of the columns that the row fills; () if it fills none.

    An empty text, such as an empty cell of a CSV file, is a reference only if no later column is
    filled. A column `reference` that is null or an empty list counts. True or false in `label` is
    no reference: it tells whether a completion is right.

    DataError names the column if `verifier` can't take its value: an object, if the verifier
    compares with an answer, or a value that is neither text, a number nor a list of them.
    """
    named = row.get("reference", "")
    if "reference" in names and not (isinstance(named, str) and named == ""):
        names = ["reference"]
    empty: tuple[str, ...] = ()
    for name in names:
        value = value_of(row, name)
        if name == "label" and isinstance(value, bool):
            continue
        try:
            if not (isinstance(value, str) or verifier is None or reads_objects(verifier, row)):
                refuse_object(value)
            references = references_of(value)
        except TypeError as error:
            raise DataError(
                f"the reference in the column {name!r} is {error}; it must be text, a number, or "
                "a list of them, of which the answer must meet one"
            ) from error
        if any(references):
            return references
        empty = empty or references
    return empty


@dataclass(frozen=True)
class SampleReader:
    """Reads the sample of a row for `verifier`.

    The reference is in the column `reference` if the row has it, else in the first of `columns`
    that the row fills. None means the verifier's usual columns, () means no column. With a `task`,
    the task reads a row without a column `reference`, as in an evaluation; if the task can't read
    the row, the reference is read from `columns`.
    """

    columns: Sequence[str] | None = None
    task: Task | None = None
    verifier: VerifierCallable | None = None

    def __call__(self, row: Row, index: int = 0, question: str = "") -> Sample | Verdict:
        """Return the row's sample, or an unjudged verdict if its reference is empty.

        The sample gets `question` if the row has no question. DataError if no column holds the
        reference, or if the column holds anything but text, numbers and lists of them.
        """
        if self.task is None or "reference" in row:
            return self._from_columns(row, index, question)
        try:
            return _task_sample(self.task, plain_columns(row), index, question)
        except DataError:
            if not any(name in row for name in self._names):
                raise
            return self._from_columns(row, index, question)

    @property
    def _names(self) -> Sequence[str]:
        return reference_columns(self.verifier) if self.columns is None else self.columns

    def _from_columns(self, row: Row, index: int, question: str) -> Sample | Verdict:
        columns = self._names
        names = [name for name in columns if name in row]
        try:
            references = references_in(row, names, self.verifier)
        except DataError as error:
            raise DataError(f"row {index + 1}: {error}") from error
        if not references:
            needed = self.verifier is None or needs_reference(self.verifier, row)
            if columns and (needed or self.columns) and not names:
                raise DataError(
                    f"row {index + 1} has no column {' or '.join(map(repr, columns))} to read the "
                    f"reference from; it has {', '.join(sorted(map(str, row))) or 'none'}. Name "
                    "the column with reference="
                )
            if names and needed:
                return Verdict.unjudged(
                    f"the column {names[0]!r} holds neither text nor a number in row {index + 1}"
                )
        question = str(row.get("question") or question)
        first, *others = references or ("",)
        return Sample(first, question, columns=plain_columns(row), references=tuple(others))


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
    """Return completions with their samples. UsageError if the numbers differ."""
    rows = columns if columns is not None else [{}] * len(completions)
    if not len(completions) == len(references) == len(rows):
        raise UsageError(
            f"{len(completions)} completions, {len(references)} references and {len(rows)} rows "
            "of columns: pass the same number of each"
        )
    return [
        (completion, Sample(reference, columns=row))
        for completion, reference, row in zip(completions, references, rows, strict=True)
    ]


def judge_samples(
    verifier: VerifierCallable,
    completions: Sequence[object],
    samples: Sequence[Sample | Verdict],
    options: JudgingOptions,
    control: Control | None = None,
) -> list[Verdict]:
    """Return the verdicts on completions, in order.

    A completion is a text, None, or a list of messages, of which the assistant's last one counts. A
    verdict in place of a completion or a sample stays as it is. If the completion is a list of
    messages, the sample gets the columns `conversation`, all messages, and `tool_calls`, the calls
    of the last message. A column `tool_calls` of the data is dropped: the model didn't make them.
    """
    pairs = [_item(*pair) for pair in zip(completions, samples, strict=True)]
    items = [pair for pair in pairs if not isinstance(pair, Verdict)]
    verdicts = iter(judge_many(verifier, items, options, control=control))
    return [pair if isinstance(pair, Verdict) else next(verdicts) for pair in pairs]


def _item(completion: object, sample: Sample | Verdict) -> tuple[str, Sample] | Verdict:
    if isinstance(sample, Verdict):
        return sample
    if isinstance(completion, Verdict):
        return completion
    if completion is None:
        return Verdict.wrong(Failure.NO_ANSWER, message=NO_COMPLETION)
    if isinstance(completion, str) and "tool_calls" not in sample.columns:
        return completion, sample
    columns = {name: value for name, value in sample.columns.items() if name != "tool_calls"}
    if not isinstance(completion, str):
        columns |= plain_columns({"conversation": completion})
    if calls := last_calls(completion):
        columns["tool_calls"] = list(calls)
    text = last_message(completion)
    if not text.strip() and (reasoning := last_reasoning(completion)):
        text = f"<think>{reasoning}</think>"  # so that a verifier that keeps thinking reads it
    return text, replace(sample, columns=columns)


@dataclass(frozen=True)
class RewardScale:
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
