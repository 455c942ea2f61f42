"""The arguments of one TRL reward call: prompts, completions and the data set's columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rewardkit.errors import DataError, UsageError
from rewardkit.judging.rows import SampleReader
from rewardkit.records import Sample, Verdict, plain_columns
from rewardkit.transcripts import last_message

TRL_ARGUMENTS = (
    "completion_ids",
    "completions",
    "environments",
    "log_extra",
    "log_metric",
    "prompts",
    "trainer_state",
)
"""TRL's own keyword arguments: a column of such a name ends the training or is overwritten."""

TRL_COLUMNS = ("completion", "prompt")
"""Columns that TRL never passes to a reward function."""


@dataclass(frozen=True, slots=True, eq=False)
class RewardBatch:
    """The completions of one call, as text, with the questions and the columns of their rows."""

    completions: Sequence[object]
    texts: Sequence[str]
    questions: Sequence[str]
    columns: Mapping[str, Sequence[object]]

    def samples(self, reader: SampleReader) -> list[Sample | Verdict]:
        """The sample of each row, or an unjudged verdict for a row that a task can't read.

        DataError when the batch has none of the reader's columns.
        """
        rows = zip(self._rows(), self.questions, strict=True)
        return [_sample(reader, row, at, question) for at, (row, question) in enumerate(rows)]

    def rows(self) -> list[dict[str, object]]:
        """The data set's row of each completion: its plain columns except `prompt`."""
        return [plain_columns(row) for row in self._rows()]

    def _rows(self) -> Iterator[dict[str, object]]:
        for index in range(len(self.texts)):
            yield {name: values[index] for name, values in self.columns.items()}

    def is_same(self, other: RewardBatch) -> bool:
        """Whether both hold TRL's same batch: the same objects, unchanged since."""
        return (
            self.completions is other.completions
            and self.texts == other.texts
            and self.columns.keys() == other.columns.keys()
            and all(values is other.columns[name] for name, values in self.columns.items())
        )


def _sample(
    reader: SampleReader, row: Mapping[str, object], index: int, question: str
) -> Sample | Verdict:
    try:
        return reader(row, index, question)
    except DataError as error:
        if reader.task is None:
            raise
        return Verdict.unjudged(str(error))


def read_batch(
    completions: Sequence[object],
    prompts: Sequence[object] | None,
    columns: Mapping[str, object],
) -> RewardBatch:
    """A batch from TRL's arguments. DataError for a column of another length."""
    questions = [last_message(prompt, "user") for prompt in prompts or [""] * len(completions)]
    if len(questions) != len(completions):
        raise DataError(
            f"{len(completions)} completions, but {len(questions)} prompts: pass one for each"
        )
    lists = {
        name: values
        for name, values in columns.items()
        if name not in TRL_ARGUMENTS and isinstance(values, (list, tuple))
    }
    for name, values in lists.items():
        if len(values) != len(completions):
            raise DataError(
                f"column {name!r} has {len(values)} values for {len(completions)} completions: "
                "pass one for each"
            )
    texts = [last_message(completion, "assistant") for completion in completions]
    return RewardBatch(completions, texts, questions, lists)


def check_columns(names: Iterable[str]) -> None:
    """UsageError for a data set with a column whose name TRL reserves for its own arguments."""
    reserved = sorted(set(names) & set(TRL_ARGUMENTS))
    if reserved:
        raise UsageError(
            f"the data set has a column {reserved[0]!r}, a name that TRL uses for an argument of "
            f"its own; rename it: dataset.rename_column({reserved[0]!r}, …)"
        )


def check_reference_columns(names: Iterable[str]) -> None:
    """UsageError for a column that TRL doesn't pass to a reward function."""
    for name in names:
        if name in TRL_ARGUMENTS or name in TRL_COLUMNS:
            raise UsageError(
                f"the reference can't be in a column {name!r}: TRL keeps that name for itself; "
                "rename the column"
            )
