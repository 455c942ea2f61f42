"""A run's figures, from its rows. The same rows give the same summary, in any order."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeVar

from rewardkit.harness.metrics.figures import Plot, ShowsFigures, Table
from rewardkit.harness.metrics.lengths import Lengths, lengths_by_outcome
from rewardkit.harness.metrics.metric import Metric, mean
from rewardkit.harness.metrics.multi_sample import several
from rewardkit.harness.metrics.outcomes import Outcomes, read_outcomes
from rewardkit.harness.metrics.rates import accuracy, rates
from rewardkit.harness.metrics.votes import SameAnswers, same_text, same_to
from rewardkit.harness.store.sample_row import JudgedRow, SampleRow
from rewardkit.protocols import Task

Row = TypeVar("Row", bound=JudgedRow)

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
    rows: Sequence[SampleRow],
    tasks: Mapping[str, Task],
    group_by: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, TaskSummary]:
    """The figures of each task that the rows name, also of one that `tasks` doesn't hold.

    `group_by` are the columns, by task, where a run's record has others than the task.
    """
    by_task: dict[str, list[SampleRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    return {
        name: summarise_task(tasks[name], of_task, (group_by or {}).get(name))
        if name in tasks
        else summarise(of_task)
        for name, of_task in by_task.items()
    }


def summarise_task(
    task: Task, rows: Sequence[SampleRow], group_by: Sequence[str] | None = None
) -> TaskSummary:
    """The figures of a task's rows, those of its own included."""
    columns = task.group_by if group_by is None else group_by
    summary = summarise(rows, columns, same=same_to(task))
    return replace(summary, figures=_own_figures(task, _in_order(rows)))


def summarise(
    rows: Sequence[JudgedRow], group_by: Sequence[str] = (), *, same: SameAnswers = same_text
) -> TaskSummary:
    """The figures of one task's rows, as samples.jsonl holds them.

    `same` says which answers vote together for maj@k.
    """
    rows = _in_order(rows)
    outcomes = read_outcomes(rows)
    judged = sum(one.correct is not None for one in outcomes)
    return TaskSummary(
        samples=outcomes.problems,
        completions=len(rows),
        judged=judged,
        metrics=rates(outcomes) | _of_several(rows, outcomes, same),
        groups={column: _grouped(rows, outcomes, column) for column in group_by},
        failures=dict(sorted(Counter(one.failure for one in outcomes if one.failure).items())),
        truncated=sum(one.truncated for one in outcomes),
        errors=len(rows) - judged,
        lengths=lengths_by_outcome(rows, outcomes),
        examples=_examples(rows, outcomes),
    )


def _own_figures(task: Task, rows: Sequence[SampleRow]) -> tuple[Table | Plot, ...]:
    if not isinstance(task, ShowsFigures):
        return ()
    try:
        return tuple(task.figures(rows))
    except Exception as error:  # a plugin's may raise anything; hours of generation stay summed up
        said = f"{type(error).__name__}: {error}"
        return (Table(f"The figures of task {task.name!r} failed", ("error",), ((said,),)),)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    # twice, for pairs to sort by would take more room than the rows of a large file
    return sorted(sorted(rows, key=attrgetter("index")), key=attrgetter("id"))


def _of_several(
    rows: Sequence[JudgedRow], outcomes: Outcomes, same: SameAnswers
) -> dict[str, Metric]:
    if len(rows) == outcomes.problems:
        return {}
    return several(
        [row for row, one in zip(rows, outcomes, strict=True) if one.correct is not None], same
    )


def _grouped(rows: Sequence[JudgedRow], outcomes: Outcomes, column: str) -> dict[str, Metric]:
    values: dict[str, array[float]] = defaultdict(lambda: array("d"))
    problems: dict[str, array[int]] = defaultdict(lambda: array("I"))
    for row, one, problem in zip(rows, outcomes, outcomes.problem, strict=True):
        value = accuracy(one)
        if value is not None:
            group = str(row.columns.get(column, ""))
            values[group].append(value)
            problems[group].append(problem)
    return {name: mean(of, problems[name]) for name, of in sorted(values.items())}


def _examples(rows: Sequence[JudgedRow], outcomes: Outcomes) -> dict[str, list[str]]:
    """The first few rows of each kind of failure, no two of one problem."""
    keys: dict[str, dict[str, str]] = defaultdict(dict)
    for row, one in zip(rows, outcomes, strict=True):
        if one.failure and len(keys[one.failure]) < MOST_EXAMPLES:
            keys[one.failure].setdefault(row.id, row.key)
    return {name: list(found.values()) for name, found in sorted(keys.items())}
