"""Merge the shards of a run into the folder that one machine would have written."""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewardkit.cluster.shards import FinishedShard, finished_shards, whole_command
from rewardkit.harness.metrics.summary import summarise_task, usage_of
from rewardkit.harness.report.page import render
from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.run.run import RunSummary
from rewardkit.harness.scoring.rescore_plan import resolve_task
from rewardkit.harness.scoring.score import summarise_with_figures
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.files import replaced_file
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.sample_row import SAMPLES, SampleRow, as_line, read_samples
from rewardkit.harness.store.shard import SOURCE_ROW
from rewardkit.protocols import Task

_Numbered = tuple[int, int, SampleRow]
"""A row after the number of its source row and its own index."""


def evaluated_rows(shards: Sequence[FinishedShard], tasks: Sequence[str]) -> list[SampleRow]:
    """The rows of an evaluation's shards, by task and in the order of the data."""
    place = {task: number for number, task in enumerate(tasks)}
    numbered: list[_Numbered] = []
    for shard in shards:
        rows = RunFolder(shard.path).rows().values()
        numbered += [_numbered(shard, row, line) for line, row in enumerate(rows, 1)]
        shard.check_count(len(rows))
    numbered.sort(key=lambda one: (place[one[2].task], one[:2]))
    return [row for _, _, row in numbered]


def scored_rows(shards: Sequence[FinishedShard]) -> Iterator[SampleRow]:
    """The rows of a scoring's shards in the order of the file; none stays in memory."""
    streams = [_in_file_order(shard) for shard in shards]
    return (row for _, _, row in heapq.merge(*streams, key=lambda one: one[:2]))


def _in_file_order(shard: FinishedShard) -> Iterator[_Numbered]:
    before = (-1, -1)
    lines = 0
    for lines, row in enumerate(read_samples(shard.path), 1):
        numbered = _numbered(shard, row, lines)
        if numbered[:2] <= before:
            shard.refuse(f"line {lines} of its {SAMPLES}, {row.key!r}, is there twice or misplaced")
        before = numbered[:2]
        yield numbered
    shard.check_count(lines)


def _numbered(shard: FinishedShard, row: SampleRow, line: int) -> _Numbered:
    shard.check_row(row, line)
    number = row.others.get(SOURCE_ROW)
    if not isinstance(number, int):
        shard.refuse(f"line {line} of its {SAMPLES} has no {SOURCE_ROW}")
    return number, row.index, replace(row, others=_without_number(row.others))


def _without_number(others: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in others.items() if name != SOURCE_ROW}


_PER_SHARD = ("backend", "versions", "hardware")


def merged_record(shards: Sequence[FinishedShard]) -> dict[str, Any]:
    """The record as one machine would have written it, with what each shard ran on."""
    first = shards[0].record
    sessions = [
        {"shard": str(shard.shard), **session}
        for shard in shards
        for session in shard.record.get("sessions", ())
    ]
    record = {name: value for name, value in first.items() if name != "shard"}
    return record | {
        "command": whole_command(first),
        "started": min(str(shard.record.get("started", "")) for shard in shards),
        "sessions": sorted(sessions, key=lambda session: str(session.get("started"))),
        "shards": {
            str(shard.shard): {
                name: shard.record[name] for name in _PER_SHARD if name in shard.record
            }
            for shard in shards
        },
    }


@dataclass(frozen=True)
class _Tasks:
    """The tasks of a run by name, and the columns to group by."""

    installed: Mapping[str, Task]
    group_by: Mapping[str, tuple[str, ...]]


def merge(run: Path, *, overwrite: bool = False) -> RunSummary:
    """Write the rows, the record, the summary and the report of all shards into `run`.

    RunMismatch if the shards are not the whole of one run, or if `run` holds another run.
    """
    shards = finished_shards(run)
    folder = RunFolder(run)
    with contextlib.ExitStack() as locks:
        for shard in shards:
            locks.enter_context(RunFolder(shard.path).locked())
        fingerprint = shards[0].record["fingerprint"]
        locks.enter_context(folder.opened(fingerprint, overwrite=overwrite))
        tasks = _tasks(run, shards[0].record)
        folder.write_record(merged_record(shards))
        if shards[0].record["shard"]["command"] == "score":
            return _merge_scoring(folder, shards, tasks)
        return _merge_evaluation(folder, shards, tasks)


def _tasks(run: Path, record: Mapping[str, Any]) -> _Tasks:
    records: Mapping[str, Any] = record.get("tasks", {})
    resolved = {name: resolve_task(run, name, of_task)[1] for name, of_task in records.items()}
    return _Tasks(
        {name: task for name, task in resolved.items() if task is not None},
        {name: tuple(of_task.get("group_by", ())) for name, of_task in records.items()},
    )


def _merge_scoring(folder: RunFolder, shards: Sequence[FinishedShard], tasks: _Tasks) -> RunSummary:
    tally = Tally()

    def counted() -> Iterator[SampleRow]:
        for row in scored_rows(shards):
            tally.add(row, tasks.group_by[row.task])
            yield row

    _replace_rows(folder, counted())
    samples = folder.path / SAMPLES
    summaries = summarise_with_figures(tally, tasks.installed, tasks.group_by, samples)
    summary = RunSummary(summaries, folder.path, failed=False)
    folder.write_summary(summary.as_json())
    return summary


def _merge_evaluation(
    folder: RunFolder, shards: Sequence[FinishedShard], tasks: _Tasks
) -> RunSummary:
    rows = evaluated_rows(shards, list(tasks.group_by))
    _replace_rows(folder, rows)
    summaries = {
        name: summarise_task(
            tasks.installed[name], [row for row in rows if row.task == name], columns
        )
        for name, columns in tasks.group_by.items()
    }
    errors = sum(summary.unjudged for summary in summaries.values())
    allowed = shards[0].max_errors * len(rows)
    summary = RunSummary(
        summaries, folder.path, errors > allowed, usage_of(rows), shards[0].set_by_tasks
    )
    plain = summary.as_json()
    folder.write_summary(plain)
    shown = ReportRun(folder.path.name, plain["tasks"], rows, folder.read_record())
    folder.write_report(render([shown]))
    return summary


def _replace_rows(folder: RunFolder, rows: Iterable[SampleRow]) -> None:
    with replaced_file(folder.path / SAMPLES) as partial, partial.open("wb") as file:
        file.writelines(as_line(row.as_json()).encode() for row in rows)
