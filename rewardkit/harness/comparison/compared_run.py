"""A run as a comparison reads it: its problems and the values of their completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.comparison.run_measures import RunMeasures
from rewardkit.harness.store.run_documents import planned_completions
from rewardkit.harness.store.run_folder import RUN, RunFolder
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.store.samples_file import read_samples

QUESTION_COLUMNS = ("question", "problem", "options", "numbers", "points")
"""The columns of the installed tasks' data that hold the question."""


@dataclass(slots=True)
class Problem:
    """One problem in a run."""

    reference: str
    question: Mapping[str, object]
    """The question columns of its row."""
    groups: Mapping[str, str]
    """Its group in each grouping column of the run."""
    values: list[float | None] = field(default_factory=list)
    """The value of each completion, or one value for all; None for a completion without a value."""

    @property
    def group(self) -> list[float]:
        """The values without None."""
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class ComparedRun:
    """A finished run: for each task its problems by id."""

    label: str
    record: Mapping[str, Any]
    tasks: Mapping[str, Mapping[str, Problem]]
    measures: RunMeasures


def read_run(path: Path, metric: str) -> ComparedRun:
    """Read the run in the folder `path`, with the values of a metric.

    RunMismatch if there is none or it is unfinished; UsageError for values that can't be averaged.
    """
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder, or a sweep's")
    task_records = record.get("tasks", {})
    measures = RunMeasures(metric, task_records, str(path))
    rows = {row.key: _light_row(row, measures, task_records) for row in read_samples(path)}
    tasks: dict[str, dict[str, Problem]] = {}
    for row in sorted(rows.values(), key=lambda row: row.index):
        problems = tasks.setdefault(row.task, {})
        problem = problems.setdefault(row.id, Problem(row.reference, row.question, row.groups))
        problem.values.append(row.value)
    _refuse_unfinished(path, record, tasks)
    if measures.at_k:
        for problem in (problem for own in tasks.values() for problem in own.values()):
            problem.values = [measures.at_k.of_problem(problem.group)]
    return ComparedRun(str(path), record, tasks, measures)


@dataclass(frozen=True, slots=True)
class _LightRow:
    """A row without its texts, of which a large run has gigabytes."""

    task: str
    id: str
    index: int
    reference: str
    question: Mapping[str, object]
    groups: Mapping[str, str]
    value: float | None


def _light_row(row: SampleRow, measures: RunMeasures, task_records: Mapping[str, Any]) -> _LightRow:
    columns = row.columns
    group_by = task_records.get(row.task, {}).get("group_by", ())
    return _LightRow(
        row.task,
        row.id,
        row.index,
        row.reference,
        {name: columns[name] for name in QUESTION_COLUMNS if name in columns},
        {name: str(columns.get(name, "")) for name in group_by},
        measures.value_of(row),
    )


def _refuse_unfinished(
    path: Path, record: Mapping[str, Any], tasks: Mapping[str, Mapping[str, Problem]]
) -> None:
    for task, task_record in record.get("tasks", {}).items():
        planned = planned_completions(task_record)
        stored = sum(len(problem.values) for problem in tasks.get(task, {}).values())
        if stored < planned and "shard" in record:
            raise RunMismatch(
                f"{path} is a shard of a run; merge them all first: rewardkit merge {path.parent}"
            )
        if stored < planned:
            raise RunMismatch(
                f"{path} is unfinished: {stored:,} of {planned:,} completions of {task}; the "
                f"command in its {RUN} resumes it"
            )
