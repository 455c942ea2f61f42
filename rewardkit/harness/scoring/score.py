"""Score a file or a run: judge its completions as a stream, count them, store them in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from rewardkit.available_resources import available_cores
from rewardkit.errors import DataError, RunMismatch
from rewardkit.harness.results.agreement import Agreement
from rewardkit.harness.results.at_k import same_text, same_to
from rewardkit.harness.results.completion_row import (
    SAMPLES,
    CompletionRow,
    read_rows_from,
    read_samples,
)
from rewardkit.harness.results.data_files import Chunk
from rewardkit.harness.results.documents import hardware, new_session, now
from rewardkit.harness.results.run_folder import SOURCE_ROW, RunFolder
from rewardkit.harness.results.summary import TaskSummary, summarise, task_figures
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import (
    COMPLETIONS_OF_ROW,
    ChunkResult,
    Job,
    judge_in_processes,
)
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.harness.scoring.tally import Gaps, Tally
from rewardkit.judging import LimitCounts, take_limit_counts
from rewardkit.protocols import Task, extras
from rewardkit.verifiers.judge.use import judges_record, run_totals, take_judge_uses

SPREAD_FROM = 16 * 2**20
"""Bytes of rows from which more processes pay off: about two seconds of judging."""


@dataclass(frozen=True)
class ScoreResult:
    """A scoring's figures, and how its verdicts agree with labels or earlier verdicts."""

    summaries: Mapping[str, TaskSummary]
    agreement: Agreement
    limits: LimitCounts
    """Verdicts of this session that took more time than their deadline."""
    first_error: str = ""
    """The first completion that is unjudged or crashed the verifier, and why."""
    gaps: Gaps = field(default_factory=Gaps)
    judges: Sequence[Mapping[str, Any]] = ()
    """What each judge cost, over all sessions."""


class Spread(Protocol):
    """Judges chunks on other machines."""

    def __call__(self, job: Job, chunks: Iterator[Chunk], /) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result, in order."""

    def describe(self) -> Mapping[str, Any]:
        """Which machines judged, for the record."""


def score(plan: ScorePlan, reporter: Reporter, spread: Spread | None = None) -> ScoreResult:
    """Judge what isn't judged yet and summarise all of it; memory does not grow with the texts.

    With a folder, rows are appended to its samples.jsonl in the order of the file, and an
    interrupted scoring resumes after the last whole row. Raises RunMismatch if the folder
    belongs to something else, and DataError for a file without rows or a row that can't be read;
    the rows before the unreadable row are stored.
    """
    take_limit_counts()  # those of other work in this process
    take_judge_uses()
    scoring = _Scoring(plan, reporter, spread)
    if plan.output_dir is None:
        scoring.judge()
        summaries = scoring.summaries()
    else:
        folder = RunFolder(plan.output_dir)
        with folder.opened(plan.fingerprint, overwrite=plan.overwrite):
            summaries = scoring.judge_into(folder)
    tally, limits = scoring.totals.tally, scoring.totals.limits
    return ScoreResult(
        summaries, tally.agreement, limits, tally.first_error, tally.gaps, scoring.judges()
    )


class _Scoring:
    """A scoring in progress: what was counted, and how many rows of the file are done."""

    def __init__(self, plan: ScorePlan, reporter: Reporter, spread: Spread | None) -> None:
        self._plan = plan
        self._reporter = reporter
        self._spread = spread
        self._numbering = Numbering()
        self._done = 0
        self.totals = ChunkResult()
        self._record: dict[str, Any] = {"sessions": [{}]}

    def judges(self) -> list[dict[str, Any]]:
        """What each judge cost, over all sessions."""
        if self.totals.judges:
            self._record["sessions"][-1]["judges"] = judges_record(self.totals.judges)
        return run_totals(self._record)

    def judge_into(self, folder: RunFolder) -> dict[str, TaskSummary]:
        """Judge what the folder lacks, and write its rows, record and summary."""
        record = self._record = {
            **self._plan.record,
            "fingerprint": dict(self._plan.fingerprint),
            "hardware": hardware(),
            **new_session(folder.read_record()),
        }
        folder.write_record(record)
        self._resume(folder)
        try:
            self.judge(folder.append_lines)
        finally:
            record["sessions"][-1] |= {"ended": now(), "deadlines": asdict(self.totals.limits)}
            judges = self.judges()
            if self._spread is not None:
                record["sessions"][-1] |= {"cluster": dict(self._spread.describe())}
            folder.write_record(record)
        summaries = self.summaries(folder.path / SAMPLES)
        tasks = {name: summary.as_json() for name, summary in summaries.items()}
        more = {"judges": judges} if judges else {}
        folder.write_summary({"tasks": tasks, "failed": False, **more})
        return summaries

    def judge(self, write: Callable[[Sequence[bytes]], None] = lambda lines: None) -> None:
        """Judge the rows that aren't done; a large file on all cores."""
        job = self._plan.job
        chunks = job.source.chunks(self._done)
        large = job.source.size >= SPREAD_FROM
        processes = self._plan.processes or (available_cores() if large else 1)
        if self._spread is not None:
            results = self._spread(replace(job, workers=1), chunks)
        elif processes == 1:
            results = ((chunk, job(chunk)) for chunk in chunks)
        else:
            results = judge_in_processes(replace(job, workers=1), chunks, processes)
        self._reporter.started(job.source.size)
        try:
            for chunk, result in results:
                if not job.is_numbered:
                    firsts = [(self._numbering.first(*row), row[1]) for row in result.ids]
                    result.number([first + at for first, count in firsts for at in range(count)])
                write(result.lines)
                self.totals.extend(result)
                self._reporter.judged(len(result.tally), chunk.end)
        finally:
            self._reporter.ended()

    def summaries(self, samples: Path | None = None) -> dict[str, TaskSummary]:
        """The figures of all rows. DataError if there are none; only a shard may be empty."""
        job, tally = self._plan.job, self.totals.tally
        if not len(tally) and job.shard is None:
            raise DataError("there is nothing to judge: the file holds no rows")
        return summarise_tally(
            *(tally, self._plan.tasks, job.group_by, job.timeouts),
            samples=samples,
            cluster=job.cluster,
        )

    def _resume(self, folder: RunFolder) -> None:
        """Count the stored rows, and skip the rows of the file that they came from.

        A row of the file whose completions aren't all stored is judged again.
        """
        job, place = self._plan.job, folder.path / SAMPLES
        known, of_row = job.timeouts.keys(), list[CompletionRow]()
        for line, row in enumerate(read_samples(folder.path), 1):
            if row.task not in known:
                raise RunMismatch(
                    f"{place}, line {line} belongs to the task {row.task!r}, which this scoring "
                    "doesn't judge; use --overwrite to start again"
                )
            of_row.append(row)
            if len(of_row) != row.others.get(COMPLETIONS_OF_ROW, job.completions_a_row):
                continue
            number = row.others.get(SOURCE_ROW) if job.leaves_out_rows else self._done
            if not isinstance(number, int):
                raise RunMismatch(
                    f"{place}, line {line} has no {SOURCE_ROW}; use --overwrite to start again"
                )
            self._done = number + 1
            self._numbering.first(row.id, len(of_row))
            for stored in of_row:
                self.totals.tally.add(stored, job.columns_of(stored.task))
            of_row = []
        folder.keep_rows(len(self.totals.tally))
        if self._done:
            self._reporter.resumed(len(self.totals.tally))


class Numbering:
    """Counts the completions of each id, in the order of the rows.

    A row whose id is the row's number, such as a row without an id, takes one byte; any other id
    takes about a hundred bytes.
    """

    def __init__(self) -> None:
        self._of_own_number = bytearray()
        """For each row the number of its completions, or 0 if the id isn't the row's number."""
        self._counts: dict[str, int] = {}

    def first(self, identifier: str, completions: int = 1) -> int:
        """The index of the first completion of the next row, which has this id."""
        row = len(self._of_own_number)
        counted = index = self._counts.get(identifier, 0)
        if identifier.isdecimal() and len(identifier) <= 18:
            named = int(identifier)  # may be a row whose id is its own number
            if named < row and str(named) == identifier:
                index += self._of_own_number[named]
        is_own_number = identifier == str(row) and completions < 256
        self._of_own_number.append(completions if is_own_number else 0)
        if not is_own_number:
            self._counts[identifier] = counted + completions
        return index


def stored_rows(samples: Path, task: str) -> list[CompletionRow]:
    """A task's rows in a samples.jsonl, in the order of their problems."""
    places, start = [], 0
    for end, row in read_rows_from(samples):
        if row.task == task:
            places.append((row.id, row.index, start))
        start = end

    @lru_cache(maxsize=1)
    def read(start: int) -> CompletionRow:
        return next(read_rows_from(samples, start))[1]

    return [cast("CompletionRow", _StoredRow(read, start)) for _, _, start in sorted(places)]


class _StoredRow:
    """A row on disk: reading an attribute reads its line."""

    __slots__ = ("_read", "_start")

    def __init__(self, read: Callable[[int], CompletionRow], start: int) -> None:
        self._read = read
        self._start = start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(self._start), name)


def summarise_tally(
    tally: Tally,
    tasks: Mapping[str, Task],
    group_by: Mapping[str, Sequence[str]],
    timeouts: Mapping[str, float | None],
    *,
    samples: Path | None = None,
    cluster: str | None = None,
) -> dict[str, TaskSummary]:
    """Summarise each task with rows; `cluster` is the column of clusters of problems.

    The tasks' own tables and plots need the texts: the file `samples` has them.
    """
    summaries = {}
    for name, rows in tally.rows().items():
        task = tasks.get(name)
        same = same_to(task, timeouts[name]) if task else same_text
        example = tally.examples.get(name)
        columns = group_by.get(name, ())
        summaries[name] = summarise(rows, columns, same=same, example=example, cluster=cluster)
        if samples and task and extras(task).figures:
            figures = task_figures(task, stored_rows(samples, name))
            summaries[name] = replace(summaries[name], figures=figures)
    for (name, second), agreement in tally.seconds.items():
        figures = (*summaries[name].figures, *agreement.tables(name, second))
        summaries[name] = replace(summaries[name], figures=figures)
    return {name: summaries[name] for name in timeouts if name in summaries}
