"""What a comparison reads of a run: its verdicts, and what they were about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.store.run_folder import RUN, RunFolder, read_samples
from rewardkit.harness.store.sample_row import SampleRow

POSED_IN = ("question", "problem", "options", "numbers", "points")
"""The columns of our tasks' data that hold what is asked."""


@dataclass(slots=True)
class Problem:
    """One problem's completions in a run; a value is None where the completion is unjudged."""

    reference: str
    question: Mapping[str, object]
    """The columns that it is posed in, of those that the data have."""
    groups: Mapping[str, str]
    """Its group in each column that the run's figures are grouped by."""
    values: dict[str, list[float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparedRun:
    """A finished run: for each task its problems by id."""

    label: str
    record: Mapping[str, Any]
    tasks: Mapping[str, Mapping[str, Problem]]


def read_run(path: Path, metric: str) -> ComparedRun:
    """The run in the folder `path`; RunMismatch where there is none, or it isn't finished."""
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder, or a sweep's")
    told = record.get("tasks", {})
    rows = {row.key: _light(row, metric, told) for row in read_samples(path)}
    tasks: dict[str, dict[str, Problem]] = {}
    for row in sorted(rows.values(), key=lambda row: int(row["index"])):
        problems = tasks.setdefault(row["task"], {})
        problem = problems.setdefault(
            row["id"], Problem(row["reference"], row["question"], row["groups"])
        )
        problem.values.setdefault(metric, []).append(row["value"])
    _refuse_unfinished(path, record, tasks, metric)
    return ComparedRun(str(path), record, tasks)


def value_of(row: SampleRow, metric: str) -> float | None:
    """A row's value by a metric: "accuracy", "accuracy_flexible" or "score"; None: unjudged."""
    verdict = row.verdict
    if verdict.correct is None:
        return None
    if metric == "score":
        return verdict.score
    if metric == "accuracy":
        return float(verdict.correct)
    flexible = row.flexible
    return None if flexible is None else float(bool(flexible.correct))


def _light(row: SampleRow, metric: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its texts, of which a large run has gigabytes; `told` is of its tasks."""
    columns = row.columns
    group_by = told.get(row.task, {}).get("group_by", ())
    return {
        "task": row.task,
        "id": row.id,
        "index": row.index,
        "reference": row.reference,
        "question": {name: columns[name] for name in POSED_IN if name in columns},
        "groups": {name: str(columns.get(name, "")) for name in group_by},
        "value": value_of(row, metric),
    }


def _refuse_unfinished(
    path: Path,
    record: Mapping[str, Any],
    tasks: Mapping[str, Mapping[str, Problem]],
    metric: str,
) -> None:
    for task, told in record.get("tasks", {}).items():
        wanted = int(told.get("samples", 0)) * int(told.get("num_samples", 1))
        there = sum(len(problem.values[metric]) for problem in tasks.get(task, {}).values())
        if there < wanted:
            raise RunMismatch(
                f"{path} is unfinished: {there:,} of {wanted:,} completions of {task}; the command "
                f"in its {RUN} carries on"
            )
