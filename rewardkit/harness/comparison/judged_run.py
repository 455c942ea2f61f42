"""What a comparison reads of a run: its verdicts, and what they were about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.folder import RUN, Row, RunFolder, read_samples


@dataclass(slots=True)
class Problem:
    """One problem's completions in a run; a value is None where the completion is unjudged."""

    reference: str
    question: object
    values: dict[str, list[float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedRun:
    """A finished run: for each task its problems by id."""

    label: str
    record: Mapping[str, Any]
    tasks: Mapping[str, Mapping[str, Problem]]


def read_run(path: Path, metric: str) -> JudgedRun:
    """The run in the folder `path`; RunMismatch where there is none, or it isn't finished."""
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}{_instead(path)}")
    rows = {row["key"]: _light(row, metric) for row in read_samples(path)}
    tasks: dict[str, dict[str, Problem]] = {}
    for row in sorted(rows.values(), key=lambda row: int(row["index"])):
        problems = tasks.setdefault(row["task"], {})
        problem = problems.setdefault(row["id"], Problem(row["reference"], row["question"]))
        problem.values.setdefault(metric, []).append(row["value"])
    _refuse_unfinished(path, record, tasks, metric)
    return JudgedRun(str(path), record, tasks)


def value_of(row: Row, metric: str) -> float | None:
    """A row's value by a metric: "accuracy", "accuracy_flexible" or "score"; None: unjudged."""
    verdict = row["verdict"]
    if verdict["correct"] is None:
        return None
    if metric == "score":
        return float(verdict["score"])
    if metric == "accuracy":
        return float(verdict["correct"])
    flexible = row.get("flexible")
    return None if flexible is None else float(bool(flexible["correct"]))


def _light(row: Row, metric: str) -> dict[str, Any]:
    """A row without its texts, of which a large run has gigabytes."""
    return {
        "task": row["task"], "id": row["id"], "index": row["index"],
        "reference": row["reference"], "question": row["columns"].get("question"),
        "value": value_of(row, metric),
    }  # fmt: skip


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


def _instead(path: Path) -> str:
    """Where the runs are, if the folder holds several."""
    inner: Sequence[Path] = sorted(found.parent for found in path.glob(f"*/{RUN}"))
    if not inner:
        return "; give a run's folder"
    return f"; it holds several runs, name them: {' '.join(map(str, inner))}"
