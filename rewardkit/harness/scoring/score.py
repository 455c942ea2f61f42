"""Score a file or a run: judge its completions as a stream, count them, store them in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from rewardkit.available_cores import available_cores
from rewardkit.errors import DataError, RunMismatch
from rewardkit.harness.metrics.at_k import same_text, same_to
from rewardkit.harness.metrics.figures import ShowsFigures
from rewardkit.harness.metrics.summary import TaskSummary, summarise, task_figures
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.scoring.jobs import ChunkResult, FileJob, RunJob
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.harness.scoring.sources import Chunk
from rewardkit.harness.scoring.tally import Agreement, Tally
from rewardkit.harness.scoring.worker_processes import judge_in_processes
from rewardkit.harness.store.environment import hardware, versions
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.sample_row import SAMPLES, SampleRow, read_samples
from rewardkit.harness.store.shard import SOURCE_ROW, Shard
from rewardkit.judging import LimitCounts, take_limit_counts
from rewardkit.protocols import Task


class Numbering:
    """Counts the completions of each id, in the order of the rows.

    A row whose id is its own number, as for rows without an id, takes one byte; any other id takes
    about a hundred.
    """

    def __init__(self, completions_a_row: int) -> None:
        self._per_row = completions_a_row
        self._is_own_number = bytearray()
        self._counts: dict[str, int] = {}

    def first(self, identifier: str) -> int:
        """The index of the first completion of the next row, which has this id."""
        row = len(self._is_own_number)
        counted = self._counts.get(identifier, 0)
        index = counted + self._count_of_row(identifier)
        is_own_number = identifier == str(row)
        self._is_own_number.append(is_own_number)
        if not is_own_number:
            self._counts[identifier] = counted + self._per_row
        return index

    def _count_of_row(self, identifier: str) -> int:
        """The completions of the row whose number is this id, if its id is its own number."""
        if not identifier.isdecimal() or len(identifier) > 18:
            return 0
        row = int(identifier)
        if row >= len(self._is_own_number) or str(row) != identifier:
            return 0
        return self._per_row if self._is_own_number[row] else 0


def stored_rows(samples: Path, task: str) -> list[SampleRow]:
    """A task's rows in a samples.jsonl, in the order of their problems."""
    places = []
    with samples.open("rb") as lines:
        start = 0
        for line in lines:
            row = json.loads(line)
            if row["task"] == task:
                places.append((row["id"], row["index"], start))
            start += len(line)

    @lru_cache(maxsize=1)
    def read(start: int) -> SampleRow:
        with samples.open("rb") as file:
            file.seek(start)
            return SampleRow.from_json(json.loads(file.readline()), str(samples))

    return [cast("SampleRow", _StoredRow(read, start)) for _, _, start in sorted(places)]


class _StoredRow:
    """A row on disk: reading an attribute reads its line."""

    __slots__ = ("_read", "_start")

    def __init__(self, read: Callable[[int], SampleRow], start: int) -> None:
        self._read = read
        self._start = start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(self._start), name)


def summarise_tally(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]]
) -> dict[str, TaskSummary]:
    """Summarise each task with rows, without the task's own figures, which need the texts."""
    rows = tally.rows()
    return {
        name: summarise(
            rows[name], columns, same=same_to(tasks[name]) if name in tasks else same_text
        )
        for name, columns in group_by.items()
        if name in rows
    }


def summarise_with_figures(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]], samples: Path
) -> dict[str, TaskSummary]:
    """Summarise with each task's own tables and plots; `samples` is the samples.jsonl."""
    summaries = summarise_tally(tally, tasks, group_by)
    for name, summary in summaries.items():
        task = tasks.get(name)
        if isinstance(task, ShowsFigures):
            figures = task_figures(task, stored_rows(samples, name))
            summaries[name] = replace(summary, figures=figures)
    return summaries


@dataclass
class Totals:
    """The counts of all chunks so far."""

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)
    limits: LimitCounts = field(default_factory=LimitCounts)

    def add(self, result: ChunkResult) -> None:
        """Add the counts of one more chunk."""
        self.tally.extend(result.tally)
        self.agreement.extend(result.agreement)
        self.limits.add(result.limits)


@dataclass(frozen=True)
class Position:
    """Where a scoring is in its file: the rows to skip, and the numbering of their completions."""

    skip: int
    numbering: Numbering


def completions_a_row(job: FileJob | RunJob) -> int:
    """The number of completions in each row of the job's file."""
    return job.columns.completions_a_row if isinstance(job, FileJob) else 1


def carry_on(plan: ScorePlan, folder: RunFolder, totals: Totals) -> Position:
    """Count the stored rows, and return the position after them."""
    per_row = completions_a_row(plan.job)
    numbering = Numbering(per_row)
    folder.keep(lambda rows: rows - rows % per_row)
    others: Mapping[str, Any] = {SOURCE_ROW: -1}
    for number, row in enumerate(read_samples(folder.path)):
        if row.task not in plan.group_by:
            raise RunMismatch(
                f"{folder.path / SAMPLES}, line {number + 1} is of the task {row.task!r}, which "
                "this scoring doesn't judge; use --overwrite to start anew"
            )
        if number % per_row == 0:
            numbering.first(row.id)
        totals.tally.add(row, plan.group_by[row.task])
        totals.agreement.add(row)
        others = row.others
    if plan.job.shard:
        return Position(_after(others, folder), numbering)
    skip = len(totals.tally) // per_row
    if isinstance(plan.job, RunJob):
        for dropped in sorted(plan.job.dropped):
            skip += dropped < skip
    return Position(skip, numbering)


def _after(others: Mapping[str, Any], folder: RunFolder) -> int:
    """The number of the source row after a shard's last."""
    number = others.get(SOURCE_ROW)
    if not isinstance(number, int):
        raise RunMismatch(
            f"the last line of {folder.path / SAMPLES} has no {SOURCE_ROW}; use --overwrite to "
            "start anew"
        )
    return number + 1


SPREAD_FROM = 16 * 2**20
"""Bytes of rows from which more processes pay off: about two seconds of judging."""


@dataclass(frozen=True)
class ScoreResult:
    """A scoring's figures, and how its verdicts agree with labels or earlier verdicts."""

    summaries: Mapping[str, TaskSummary]
    agreement: Agreement
    limits: LimitCounts
    """Verdicts of this session that had more time than their deadline."""


class Spread(Protocol):
    """Judges chunks on other machines."""

    def __call__(
        self, job: FileJob | RunJob, chunks: Iterator[Chunk], /
    ) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result, in order."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Which machines judged, for the record."""
        ...


def score(plan: ScorePlan, reporter: Reporter, spread: Spread | None = None) -> ScoreResult:
    """Judge what isn't judged yet and summarise all of it; memory does not grow with the texts.

    With a folder, rows are appended to its samples.jsonl in the order of the file, and an
    interrupted scoring resumes after the last whole row. Raises RunMismatch if the folder
    belongs to something else, and DataError for a file without rows or a row that can't be read;
    the rows before it are stored.
    """
    take_limit_counts()  # those of other work in this process
    totals = Totals()
    if plan.output_dir is None:
        start = Position(0, Numbering(completions_a_row(plan.job)))
        _judge(plan, totals, start, None, reporter, spread)
        summaries = summarise_tally(_filled(totals), plan.tasks, plan.group_by)
        return ScoreResult(summaries, totals.agreement, totals.limits)
    folder = RunFolder(plan.output_dir)
    with folder.opened(plan.fingerprint, overwrite=plan.overwrite):
        record = _open_record(plan, folder.read_record())
        folder.write_record(record)
        position = carry_on(plan, folder, totals)
        if len(totals.tally):
            reporter.resumed(len(totals.tally))
        try:
            _judge(plan, totals, position, folder, reporter, spread)
        finally:
            record["sessions"][-1] |= {"ended": _now(), "deadlines": asdict(totals.limits)}
            if spread is not None:
                record["sessions"][-1] |= {"cluster": dict(spread.describe())}
            folder.write_record(record)
        summaries = summarise_with_figures(
            _filled(totals, plan.job.shard), plan.tasks, plan.group_by, folder.path / SAMPLES
        )
        tasks = {name: summary.as_json() for name, summary in summaries.items()}
        folder.write_summary({"tasks": tasks, "failed": False})
    return ScoreResult(summaries, totals.agreement, totals.limits)


def _filled(totals: Totals, shard: Shard | None = None) -> Tally:
    if not len(totals.tally) and shard is None:
        raise DataError("there is nothing to judge: the file holds no rows")
    return totals.tally


def _judge(
    plan: ScorePlan,
    totals: Totals,
    position: Position,
    folder: RunFolder | None,
    reporter: Reporter,
    spread: Spread | None,
) -> None:
    reporter.started(plan.job.source.size)
    try:
        for chunk, result in _results(plan, plan.job.source.chunks(position.skip), spread):
            _number(plan.job, result, position.numbering)
            if folder is not None:
                folder.append_lines(result.lines)
            totals.add(result)
            reporter.judged(len(result.tally), chunk.end)
    finally:
        reporter.ended()


def _results(
    plan: ScorePlan, chunks: Iterator[Chunk], spread: Spread | None
) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Each chunk with its result, in order; a large file is judged on all cores."""
    if spread is not None:
        return spread(replace(plan.job, workers=1), chunks)
    large = plan.job.source.size >= SPREAD_FROM
    processes = plan.processes or (available_cores() if large else 1)
    if processes == 1:
        return ((chunk, plan.job(chunk)) for chunk in chunks)
    return judge_in_processes(replace(plan.job, workers=1), chunks, processes)


def _number(job: FileJob | RunJob, result: ChunkResult, numbering: Numbering) -> None:
    if isinstance(job, FileJob):
        offsets = range(job.columns.completions_a_row)
        firsts = (numbering.first(identifier) for identifier in result.ids)
        result.number(job.name, [first + offset for first in firsts for offset in offsets])


def _open_record(plan: ScorePlan, earlier: Mapping[str, Any]) -> dict[str, Any]:
    started = _now()
    return {
        **plan.record,
        "fingerprint": dict(plan.fingerprint),
        "versions": versions(),
        "hardware": hardware(),
        "started": earlier.get("started", started),
        "sessions": [*earlier.get("sessions", []), {"started": started, "ended": None}],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
