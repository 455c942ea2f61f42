"""A run's figures, from its rows. The same rows give the same summary, in any order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rewardkit.harness.metrics.figures import Plot, ShowsFigures, Table
from rewardkit.harness.metrics.lengths import Lengths, lengths_by_outcome
from rewardkit.harness.metrics.metric import Metric, Row, mean
from rewardkit.harness.metrics.rates import correct, rates
from rewardkit.harness.metrics.several import several
from rewardkit.harness.metrics.truncation import is_truncated
from rewardkit.harness.metrics.votes import SameAnswers, same_text, same_to
from rewardkit.protocols import Task

__all__ = ["Lengths", "Metric", "TaskSummary", "summarise", "summarise_task", "summarise_tasks"]

MOST_EXAMPLES = 3
"""Rows named for each kind of failure."""


@dataclass(frozen=True)
class TaskSummary:
    """One task's figures. Rates are over judged completions, unfinished and errors over all.

    `lengths` are by outcome, `examples` the keys of a few rows for each kind of failure,
    `figures` the task's own tables and plots.
    """

    samples: int
    completions: int
    judged: int
    metrics: Mapping[str, Metric]
    groups: Mapping[str, Mapping[str, Metric]]
    failures: Mapping[str, int]
    truncated: int
    errors: int
    lengths: Mapping[str, Lengths]
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Sequence[Table | Plot] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        plain = asdict(replace(self, figures=()))
        return {**plain, "figures": [figure.as_json() for figure in self.figures]}


def summarise_tasks(
    rows: Sequence[Row],
    tasks: Mapping[str, Task],
    group_by: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, TaskSummary]:
    """The figures of each task that the rows name, also of one that `tasks` doesn't hold.

    `group_by` are the columns, by task, where a run's record has others than the task.
    """
    by_task: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_task[row["task"]].append(row)
    return {
        name: summarise_task(tasks[name], of_task, (group_by or {}).get(name))
        if name in tasks
        else summarise(of_task)
        for name, of_task in by_task.items()
    }


def summarise_task(
    task: Task, rows: Sequence[Row], group_by: Sequence[str] | None = None
) -> TaskSummary:
    """The figures of a task's rows, those of its own included."""
    columns = task.group_by if group_by is None else group_by
    summary = summarise(rows, columns, same=same_to(task))
    return replace(summary, figures=_own_figures(task, _in_order(rows)))


def summarise(
    rows: Sequence[Row], group_by: Sequence[str] = (), *, same: SameAnswers = same_text
) -> TaskSummary:
    """The figures of one task's rows, as samples.jsonl holds them.

    `same` says which answers vote together for maj@k.
    """
    rows = _in_order(rows)
    judged = [row for row in rows if row["verdict"]["correct"] is not None]
    return TaskSummary(
        samples=len({row["id"] for row in rows}),
        completions=len(rows),
        judged=len(judged),
        metrics=rates(rows) | several(judged, same),
        groups={column: _grouped(judged, column) for column in group_by},
        failures=dict(sorted(Counter(_failed(rows)).items())),
        truncated=sum(map(is_truncated, rows)),
        errors=len(rows) - len(judged),
        lengths=lengths_by_outcome(rows),
        examples=_examples(rows),
    )


def _own_figures(task: Task, rows: Sequence[Row]) -> tuple[Table | Plot, ...]:
    if not isinstance(task, ShowsFigures):
        return ()
    try:
        return tuple(task.figures(rows))
    except Exception as error:  # a plugin's may raise anything; hours of generation stay summed up
        said = f"{type(error).__name__}: {error}"
        return (Table(f"The figures of task {task.name!r} failed", ("error",), ((said,),)),)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["id"], row["index"]))


def _grouped(judged: Sequence[Row], column: str) -> dict[str, Metric]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in judged:
        groups[str(row["columns"].get(column, ""))].append(row)
    return {name: mean(rows, correct) for name, rows in sorted(groups.items())}


def _failed(rows: Sequence[Row]) -> list[str]:
    return [row["verdict"]["failure"] for row in rows if row["verdict"]["failure"]]


def _examples(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The first few rows of each kind of failure, no two of one problem where that can be."""
    keys: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        failure = row["verdict"]["failure"]
        if failure:
            keys[failure].setdefault(row["id"], row["key"])
    return {name: list(found.values())[:MOST_EXAMPLES] for name, found in sorted(keys.items())}
