"""Scoring: a file's or a run's completions judged as a stream, counted, and kept in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rewardkit.available_cores import available_cores
from rewardkit.errors import DataError
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.scoring.chunk_result import Agreement, ChunkResult
from rewardkit.harness.scoring.chunks import Chunk
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.numbering import Numbering
from rewardkit.harness.scoring.processes import spread
from rewardkit.harness.scoring.scoring_summary import sum_up, sum_up_with_figures
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.environment import hardware, versions
from rewardkit.harness.store.run_folder import RunFolder, read_samples
from rewardkit.protocols import Task

SPREAD_FROM = 16 * 2**20
"""Bytes of rows from which starting more processes pays: about two seconds of judging."""


@dataclass(frozen=True)
class ScorePlan:
    """Everything that decides a scoring, resolved."""

    job: FileJob | RunJob
    group_by: Mapping[str, tuple[str, ...]]
    """The tasks, in the order of their figures, and the columns their figures are grouped by."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """Those of them that are tasks, and not verifiers alone."""
    output_dir: Path | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    overwrite: bool = False
    processes: int | None = None
    """None: one a core for a large file, this one for a small one."""


@dataclass
class Scored:
    """What a scoring has found so far."""

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)

    def take(self, judged: ChunkResult) -> None:
        """Count one more chunk."""
        self.tally.extend(judged.tally)
        self.agreement.extend(judged.agreement)


def score(plan: ScorePlan, reporter: Reporter) -> tuple[dict[str, TaskSummary], Agreement]:
    """Judge what isn't judged yet, and sum up all of it, in memory that doesn't grow with texts.

    With a folder, rows are appended to its samples.jsonl in the order of the file, and a scoring
    that was cut off carries on after the last whole one. Raises RunMismatch where the folder is
    another's, DataError for a row that can't be read, before which all is safe, or for no row.
    """
    scored = Scored()
    if plan.output_dir is None:
        _judge(plan, scored, _Place(0, Numbering(_each(plan))), None, reporter)
        _refuse_none(scored)
        return sum_up(scored.tally, plan.tasks, plan.group_by), scored.agreement
    folder = RunFolder(plan.output_dir)
    with folder.opened(plan.fingerprint, overwrite=plan.overwrite):
        record = _opened_record(plan, folder.read_record())
        folder.write_record(record)
        place = _carry_on(plan, folder, scored)
        if len(scored.tally):
            reporter.resumed(len(scored.tally))
        try:
            _judge(plan, scored, place, folder, reporter)
        finally:
            record["sessions"][-1]["ended"] = _now()
            folder.write_record(record)
        _refuse_none(scored)
        summaries = sum_up_with_figures(scored.tally, plan.tasks, plan.group_by, folder.path)
        plain = {"tasks": {name: summary.as_json() for name, summary in summaries.items()}}
        folder.write_summary({**plain, "failed": False})
    return summaries, scored.agreement


def _refuse_none(scored: Scored) -> None:
    if not len(scored.tally):
        raise DataError("there is nothing to judge: the file holds no rows")


@dataclass(frozen=True)
class _Place:
    """Where in its file a scoring is: the rows to skip, and the completions numbered so far."""

    skip: int
    numbering: Numbering


def _judge(
    plan: ScorePlan, scored: Scored, place: _Place, folder: RunFolder | None, reporter: Reporter
) -> None:
    reporter.started(plan.job.source.size)
    try:
        for chunk, judged in _judged(plan, plan.job.source.chunks(place.skip)):
            _number(plan.job, judged, place.numbering)
            if folder is not None:
                folder.append_lines(judged.lines)
            scored.take(judged)
            reporter.judged(len(judged.tally), chunk.end)
    finally:
        reporter.ended()


def _judged(plan: ScorePlan, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Each chunk judged, in order: here where there is little to do, else on all cores."""
    processes = plan.processes or (available_cores() if plan.job.source.size >= SPREAD_FROM else 1)
    if processes == 1:
        return ((chunk, plan.job(chunk)) for chunk in chunks)
    return spread(replace(plan.job, workers=1), chunks, processes)


def _number(job: FileJob | RunJob, judged: ChunkResult, numbering: Numbering) -> None:
    if isinstance(job, FileJob):
        each = range(job.columns.completions_a_row)
        firsts = (numbering.first(identifier) for identifier in judged.ids)
        judged.number(job.name, [first + place for first in firsts for place in each])


def _each(plan: ScorePlan) -> int:
    return plan.job.columns.completions_a_row if isinstance(plan.job, FileJob) else 1


def _carry_on(plan: ScorePlan, folder: RunFolder, scored: Scored) -> _Place:
    """Count the rows that are safe, and find the place after them."""
    each = _each(plan)
    numbering = Numbering(each)
    folder.keep(lambda rows: rows - rows % each)
    for number, row in enumerate(read_samples(folder.path)):
        if number % each == 0:
            numbering.first(row.id)
        scored.tally.add(row, plan.group_by[row.task])
        scored.agreement.add(row)
    skip = len(scored.tally) // each
    if isinstance(plan.job, RunJob):
        for dropped in sorted(plan.job.dropped):
            skip += dropped < skip
    return _Place(skip, numbering)


def _opened_record(plan: ScorePlan, earlier: Mapping[str, Any]) -> dict[str, Any]:
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
