"""Merge the shards of a run into the folder that one machine would have written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.cluster.merged_record import merged_record
from rewardkit.cluster.merged_rows import evaluated_rows, scored_rows
from rewardkit.cluster.shard_set import FinishedShard, finished_shards
from rewardkit.harness.metrics.summary import summarise_task
from rewardkit.harness.metrics.usage import usage_of
from rewardkit.harness.report.page import render
from rewardkit.harness.report.report_run import ReportRun
from rewardkit.harness.run.run import RunSummary
from rewardkit.harness.scoring.run_plan import resolve_task
from rewardkit.harness.scoring.scoring_summary import summarise_with_figures
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.atomic_write import replaced_file
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.store.samples_file import SAMPLES, as_line
from rewardkit.protocols import Task


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
    errors = sum(summary.errors for summary in summaries.values())
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
