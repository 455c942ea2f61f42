"""The completions that a training generated: their record, rows, files and writer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Protocol

import msgspec

from rewardkit.errors import DataError
from rewardkit.harness.store.data_files import (
    ROWS_IN_GROUP,
    load_pyarrow,
    storable,
    stream_to_parquet,
)
from rewardkit.harness.store.documents import FORMAT, Count, Number, check_format, read_document
from rewardkit.harness.store.files import replace_text
from rewardkit.records import Verdict

ROLLOUTS, RECORD = "rollouts", "rollouts.json"
"""The folder of a training's completions, in the training's folder; and their record in it."""


@dataclass(frozen=True, slots=True)
class RecordedReward:
    """A reward function: its name, its weight, and the call that makes it again, if known."""

    name: str
    weight: Number
    origin: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRecord:
    """How a training computed its rewards and advantages, and how many texts it kept."""

    share: Number
    """The share of groups that keep their text."""
    trainer: str
    """The trainer's class."""
    num_generations: Count
    scale_rewards: str
    multi_objective_aggregation: str
    momentum: Mapping[str, float] | None
    """The arguments of MomentumGRPOTrainer; None for another trainer."""
    rewards: Sequence[RecordedReward]
    shaping: Mapping[str, Any] = field(default_factory=dict)
    """The gates, the weights by step and the baseline of RecipeGRPOTrainer."""

    def write(self, folder: Path) -> None:
        """Write the record. Raises WriteError."""
        document = {"format": FORMAT, **asdict(self)}
        replace_text(folder / RECORD, json.dumps(document, indent=2) + "\n")


def read_record(folder: Path) -> RolloutRecord:
    """Read the record of the rollouts in `folder`. DataError if it is missing or damaged, and
    RunMismatch if its format is newer."""
    path = folder / RECORD
    try:
        document = read_document(path)
        check_format(path, document)
        return msgspec.convert(document, RolloutRecord)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} can't be read as the record of a training's completions: {error}"
        ) from error


def find_rollouts(training: Path) -> Path | None:
    """The folder of a training's completions: `training` itself or the one in it, if any."""
    for folder in (training, training / ROLLOUTS):
        if (folder / RECORD).is_file():
            return folder
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRow:
    """One completion of a training.

    Without its text, `prompt`, `completion`, `messages` and `columns` are None, and there are no
    verdicts; the numbers are always there.
    """

    step: int
    """The optimiser step that first learns from the completion, from 1."""
    batch: int
    """The number of the generated batch within its step, from 0."""
    group: int
    """The number of the prompt within its batch, from 0."""
    index: int
    """The completion's number within its batch, from 0."""
    finish_reason: str
    completion_tokens: int
    rewards: Sequence[tuple[str, float | None]]
    """Each reward function's name and reward; None is unjudged."""
    reward: float | None
    """The weighted sum of the rewards; None if no function judged."""
    advantage: float | None
    prompt: str | None = None
    completion: str | None = None
    messages: str | None = None
    """Prompt and completion as JSON, if they are conversations."""
    columns: Mapping[str, Any] | None = None
    """The other columns of the data set's row."""
    verdicts: Mapping[str, Verdict] | None = None
    """By the name of the verifier or task."""

    @property
    def has_text(self) -> bool:
        """Whether the text is kept."""
        return self.completion is not None

    def conversation(self) -> tuple[Any, Any]:
        """Prompt and completion as TRL passed them to the reward functions."""
        if self.messages is None:
            return self.prompt, self.completion
        turns = json.loads(self.messages)
        return turns["prompt"], turns["completion"]

    def as_record(self) -> dict[str, Any]:
        """Plain values for Parquet; lone surrogates, which it can't store, are escaped.

        In `columns`, a value that JSON lacks, such as a Decimal, becomes text.
        """
        record = {name: getattr(self, name) for name in self.__slots__} | {
            "columns": None if self.columns is None else json.dumps(self.columns, default=str),
            "rewards": [{"name": name, "reward": reward} for name, reward in self.rewards],
            "verdicts": None
            if self.verdicts is None
            else [_verdict_record(name, verdict) for name, verdict in self.verdicts.items()],
        }
        return {name: storable(value) for name, value in record.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> RolloutRow:
        """Convert a row of the Parquet files."""
        columns, verdicts = record["columns"], record["verdicts"]
        return cls(
            **{
                **record,
                "rewards": [(pair["name"], pair["reward"]) for pair in record["rewards"]],
                "columns": None if columns is None else json.loads(columns),
                "verdicts": None
                if verdicts is None
                else {verdict["name"]: _verdict(verdict) for verdict in verdicts},
            }
        )


def _verdict_record(name: str, verdict: Verdict) -> dict[str, Any]:
    parts = [{"name": part, "score": score} for part, score in verdict.parts.items()]
    return {"name": name, **verdict.as_json(), "parts": parts}


def _verdict(record: Mapping[str, Any]) -> Verdict:
    parts = {part["name"]: part["score"] for part in record["parts"]}
    return Verdict.from_json({**record, "parts": parts})


def write_rows(rows: Iterable[RolloutRow], path: Path) -> None:
    """Write a file, whole or not at all; with no rows, an empty table. Raises WriteError."""
    pyarrow, _ = load_pyarrow(str(path))
    stream_to_parquet(map(RolloutRow.as_record, rows), _schema(pyarrow), path)


def read_rows(path: Path) -> Iterator[RolloutRow]:
    """Read a file's rows, in order. DataError if it can't be read."""
    pyarrow, parquet = load_pyarrow(str(path))
    try:
        with parquet.ParquetFile(path) as file:
            for table in file.iter_batches(ROWS_IN_GROUP):
                yield from map(RolloutRow.from_record, table.to_pylist())
    except (OSError, pyarrow.ArrowException, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} can't be read as completions of a training: {error}; move it away to go on "
            "without its steps"
        ) from error


def _schema(pyarrow: Any) -> Any:
    text, number, figure = pyarrow.string(), pyarrow.int32(), pyarrow.float32()
    score = pyarrow.float64()

    def records(*fields: tuple[str, Any]) -> Any:
        # not a map: `datasets` reads no file that has one
        return pyarrow.list_(pyarrow.struct(fields))

    return pyarrow.schema(
        [
            *((name, number) for name in ("step", "batch", "group", "index")),
            *((name, text) for name in ("prompt", "completion", "messages", "columns")),
            ("finish_reason", text),
            ("completion_tokens", number),
            ("rewards", records(("name", text), ("reward", figure))),
            ("reward", figure),
            ("advantage", figure),
            (
                "verdicts",
                records(
                    ("name", text),
                    ("correct", pyarrow.bool_()),
                    ("score", score),
                    ("answer", text),
                    ("failure", text),
                    ("message", text),
                    ("parts", records(("name", text), ("score", score))),
                ),
            ),
        ]
    )


_NAME = re.compile(r"(step|steps)-(\d+)-(\d+)\.parquet")


@dataclass(frozen=True, order=True)
class RolloutFile:
    """A file with the generated batch `batch` of step `first`, or all of `first` to `last`."""

    first: int
    last: int
    batch: int | None
    path: Path

    def is_inside(self, other: RolloutFile) -> bool:
        """Whether the merged file `other` has all of this file's steps."""
        return (
            other.batch is None
            and other.first <= self.first
            and self.last <= other.last
            and (self.batch is not None or (self.first, self.last) != (other.first, other.last))
        )


def merged_name(first: int, last: int) -> str:
    """The name of a file with the steps `first` to `last`."""
    return f"steps-{first:06d}-{last:06d}.parquet"


def all_files(folder: Path) -> list[RolloutFile]:
    """Every file in the folder, in the order of steps."""
    return sorted(filter(None, map(_parsed, folder.glob("step*.parquet"))))


def current_files(folder: Path) -> list[RolloutFile]:
    """The files that count: those whose steps no merged file has too.

    A kill between the writing of a merged file and the removal of its sources leaves both.
    """
    files = all_files(folder)
    return [file for file in files if not any(file.is_inside(other) for other in files)]


def read_batches(folder: Path) -> Iterator[list[RolloutRow]]:
    """The generated batches of a training, in order; each batch's rows in order."""
    rows = (row for file in current_files(folder) for row in read_rows(file.path))
    for _, batch in groupby(rows, key=lambda row: (row.step, row.batch)):
        yield sorted(batch, key=lambda row: row.index)


def _parsed(path: Path) -> RolloutFile | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    first, second = int(match[2]), int(match[3])
    if match[1] == "step":
        return RolloutFile(first, first, second, path)
    return RolloutFile(first, second, None, path)


MERGED = 100
"""Files of one batch that are merged into one file."""

SMALLEST_SHARE = 1 / 1024
"""Below this share no text is kept."""


class RolloutWriter:
    """Write a file for each generated batch, and merge many of them into one.

    A training that resumes at `step` loses the rows of later steps. Of the groups, `share` keep
    their text. When the files need more than `max_bytes`, half of these lose their text, evenly
    over all steps; `on_less` is called with the share that is left. If the numbers alone need
    more, nothing more is written, and the share is 0.
    """

    def __init__(
        self,
        folder: Path,
        *,
        step: int,
        share: float,
        max_bytes: int,
        on_less: Callable[[float], None],
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._share = share
        self._max_bytes = max_bytes
        self._on_less = on_less
        self._is_full = False
        remove_steps_after(folder, step)

    def add(self, rows: Sequence[RolloutRow]) -> None:
        """Write a generated batch. Raises WriteError."""
        if self._is_full or not rows:
            return
        step, batch = rows[0].step, rows[0].batch
        path = self._folder / f"step-{step:06d}-{batch:03d}.parquet"
        write_rows(_thinned(rows, self._share), path)
        # a merged file of the current step would hide the step's next batches
        files = current_files(self._folder)
        loose = [file for file in files if file.batch is not None and file.last < step]
        is_too_large = _size(self._folder) > self._max_bytes
        if len(loose) >= (2 if is_too_large else MERGED):
            self._merge(loose)
        if is_too_large:
            self._shrink()

    def _merge(self, files: Sequence[RolloutFile]) -> None:
        path = self._folder / merged_name(files[0].first, files[-1].last)
        write_rows(chain.from_iterable(read_rows(file.path) for file in files), path)
        for file in files:
            file.path.unlink()

    def _shrink(self) -> None:
        while _size(self._folder) > self._max_bytes and self._share:
            halved = self._share / 2
            self._share = halved if halved >= SMALLEST_SHARE else 0.0
            for file in current_files(self._folder):
                write_rows(_thinned(read_rows(file.path), self._share), file.path)
        self._is_full = _size(self._folder) > self._max_bytes
        self._on_less(self._share)


def keeps_text(row: RolloutRow, share: float) -> bool:
    """Whether the row's group is among the `share` of groups that keep their text.

    The groups of a smaller share are among those of a larger one.
    """
    name = f"{row.step}/{row.batch}/{row.group}".encode()
    drawn = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest())
    return drawn < share * 2**64


def _thinned(rows: Iterable[RolloutRow], share: float) -> Iterator[RolloutRow]:
    text = ("prompt", "completion", "messages", "columns", "verdicts")
    without: dict[str, Any] = dict.fromkeys(text)
    return (row if keeps_text(row, share) else replace(row, **without) for row in rows)


def remove_steps_after(folder: Path, step: int) -> None:
    """Remove the rows of later steps, and files whose rows a merged file has."""
    current = current_files(folder)
    for file in all_files(folder):
        if file not in current or file.first > step:
            file.path.unlink()
        elif file.last > step:
            kept = (row for row in read_rows(file.path) if row.step <= step)
            write_rows(kept, folder / merged_name(file.first, step))
            file.path.unlink()


def _size(folder: Path) -> int:
    return sum(file.path.stat().st_size for file in all_files(folder))


class HasAdvantage(Protocol):
    """A completion's weighted reward and its advantage; None: unjudged."""

    @property
    def reward(self) -> float | None:
        """The weighted reward."""

    @property
    def advantage(self) -> float | None:
        """The advantage."""


def advantage_signs(
    record: RolloutRecord, rows: Sequence[RolloutRow], numbers: Sequence[HasAdvantage]
) -> list[int]:
    """The sign of the advantage of each of a batch's rows in `numbers`: 1, 0 or -1; 0: unjudged.

    A group whose judged rewards are all equal carries no signal, but its advantages may be rounding
    errors of either sign: their sign is 0, where a group's weighted rewards and its mean decide.
    """
    rewards: dict[int, set[float]] = {row.group: set() for row in rows}
    for row, own in zip(rows, numbers, strict=True):
        if own.reward is not None:
            rewards[row.group].add(own.reward)
    summed = record.multi_objective_aggregation == "sum_then_normalize"
    by_group = summed and record.shaping.get("baseline") != "none"
    return [
        0
        if not own.advantage or (by_group and len(rewards[row.group]) < 2)
        else (1 if own.advantage > 0 else -1)
        for row, own in zip(rows, numbers, strict=True)
    ]
