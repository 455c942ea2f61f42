"""A run's figures, from its rows. The same rows give the same summary, in any order."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from rewardkit.harness.metrics.intervals import clustered

Row = Mapping[str, Any]
UNFORMED = ("no_answer", "format", "no_reasoning", "truncated")


@dataclass(frozen=True)
class Metric:
    """A mean over `count` completions of values in [0, 1], with its 95% interval."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Lengths:
    """Completion lengths in tokens."""

    mean: float
    median: float
    p95: float
    maximum: int


@dataclass(frozen=True)
class TaskSummary:
    """One task's figures. Rates are over judged completions, unfinished and errors over all."""

    samples: int
    completions: int
    judged: int
    metrics: Mapping[str, Metric]
    groups: Mapping[str, Mapping[str, Metric]]
    failures: Mapping[str, int]
    truncated: int
    errors: int
    lengths: Lengths | None

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        return asdict(self)


def summarise(rows: Sequence[Row], group_by: Sequence[str] = ()) -> TaskSummary:
    """The figures of one task's rows, as samples.jsonl holds them."""
    rows = sorted(rows, key=lambda row: (row["id"], row["index"]))
    judged = [row for row in rows if row["verdict"]["correct"] is not None]
    return TaskSummary(
        samples=len({row["id"] for row in rows}),
        completions=len(rows),
        judged=len(judged),
        metrics=_metrics(judged, rows),
        groups={column: _grouped(judged, column) for column in group_by},
        failures=dict(sorted(Counter(_failures(rows)).items())),
        truncated=sum(row["finish_reason"] == "length" for row in rows),
        errors=sum(row["verdict"]["correct"] is None for row in rows),
        lengths=_lengths(rows),
    )


def summarise_tasks(rows: Sequence[Row]) -> dict[str, TaskSummary]:
    """The figures of each task that the rows name."""
    by_task: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_task[row["task"]].append(row)
    return {name: summarise(of_task) for name, of_task in by_task.items()}


def _metrics(judged: Sequence[Row], rows: Sequence[Row]) -> dict[str, Metric]:
    figures: dict[str, tuple[Sequence[Row], Callable[[Row], float]]] = {
        "accuracy": (judged, _correct),
        "accuracy_flexible": (
            [row for row in judged if row.get("flexible") is not None],
            lambda row: float(bool(row["flexible"]["correct"])),
        ),
        "score": (judged, lambda row: float(row["verdict"]["score"])),
        "format_rate": (
            judged, lambda row: float(row["verdict"]["failure"] not in UNFORMED)
        ),
        "unfinished_rate": (
            rows, lambda row: float(row["finish_reason"] == "length")
        ),
    }  # fmt: skip
    for part in sorted({part for row in judged for part in row["verdict"]["parts"]}):
        figures[f"part_{part}"] = (judged, functools.partial(_part, part))
    return {name: mean(of, value) for name, (of, value) in figures.items() if of}


def mean(rows: Sequence[Row], value: Callable[[Row], float]) -> Metric:
    """The mean of a value in [0, 1] over rows, problems weighing alike, with its interval."""
    by_problem: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_problem[row["id"]].append(value(row))
    groups = list(by_problem.values())
    low, high = clustered(groups)
    return Metric(fmean(fmean(group) for group in groups), low, high, len(rows))


def _grouped(judged: Sequence[Row], column: str) -> dict[str, Metric]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in judged:
        groups[str(row["columns"].get(column, ""))].append(row)
    return {name: mean(rows, _correct) for name, rows in sorted(groups.items())}


def _part(name: str, row: Row) -> float:
    return float(row["verdict"]["parts"].get(name, 0.0))


def _correct(row: Row) -> float:
    return float(row["verdict"]["correct"])


def _failures(rows: Iterable[Row]) -> Iterable[str]:
    return (row["verdict"]["failure"] for row in rows if row["verdict"]["failure"])


def _lengths(rows: Sequence[Row]) -> Lengths | None:
    lengths = sorted(
        row["completion_tokens"] for row in rows if row["completion_tokens"] is not None
    )
    if not lengths:
        return None
    p95 = lengths[math.ceil(0.95 * len(lengths)) - 1]
    return Lengths(fmean(lengths), float(median(lengths)), float(p95), lengths[-1])
