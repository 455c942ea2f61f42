"""A run's figures, computed from its rows; the order of the rows does not matter."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from operator import attrgetter
from typing import Any

from rewardkit.errors import DataError, UnknownName
from rewardkit.harness.results.at_k import SameAnswers, multi_sample_metrics, same_text, same_to
from rewardkit.harness.results.broken import Example, sign_of_breakage
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.figures import Figure, Table
from rewardkit.harness.results.metric import Metric, mean
from rewardkit.harness.results.rates import (
    Lengths,
    Outcomes,
    lengths_by_outcome,
    rates,
    read_outcomes,
)
from rewardkit.protocols import Task, extras
from rewardkit.records import Failure

__all__ = ["Lengths", "Metric", "TaskSummary", "summarise", "summarise_task", "summarise_tasks"]

MOST_EXAMPLES = 3
"""Maximum number of rows listed for each kind of failure."""


@dataclass(frozen=True)
class TaskSummary:
    """One task's figures; `rates` says which completions each metric is defined for.

    `lengths` are by outcome, `examples` are the keys of a few rows for each kind of failure,
    `figures` the task's own tables and plots.
    """

    problems: int
    completions: int
    judged: int
    unjudged: int
    truncated: int
    metrics: Mapping[str, Metric]
    groups: Mapping[str, Mapping[str, Metric]]
    failures: Mapping[str, int]
    lengths: Mapping[str, Lengths]
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    broken: str = ""
    """What looks broken about the figures, with one reply as an example."""
    cluster: str = ""
    """The column by which the intervals are clustered."""
    clusters: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        plain = asdict(replace(self, figures=()))
        for name in ("broken", "cluster", "clusters"):
            if not plain[name]:
                del plain[name]
        return {**plain, "figures": [figure.as_json() for figure in self.figures]}


def summarise_tasks(
    rows: Sequence[CompletionRow],
    tasks: Mapping[str, Task],
    group_by: Mapping[str, Sequence[str]] | None = None,
    timeouts: Mapping[str, float | None] | None = None,
    cluster: str | None = None,
) -> dict[str, TaskSummary]:
    """The figures of each task in the rows, including those that are not in `tasks`.

    `group_by` holds, for some tasks, the columns to group by instead of the task's own, `timeouts`
    the seconds for a comparison of two answers, `cluster` the column of clusters of problems.
    """
    by_task: dict[str, list[CompletionRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    return {
        name: summarise_task(
            *(tasks[name], task_rows, (group_by or {}).get(name), (timeouts or {}).get(name)),
            cluster,
        )
        if name in tasks
        else summarise(task_rows, cluster=cluster)
        for name, task_rows in by_task.items()
    }


def summarise_task(
    task: Task,
    rows: Sequence[CompletionRow],
    group_by: Sequence[str] | None = None,
    timeout: float | None = None,
    cluster: str | None = None,
) -> TaskSummary:
    """The figures of a task's rows, with the task's own tables and plots."""
    columns = task.group_by if group_by is None else group_by
    summary = summarise(rows, columns, same=same_to(task, timeout), cluster=cluster)
    return replace(summary, figures=task_figures(task, _in_order(rows)))


def task_figures(task: Task, rows: Sequence[CompletionRow]) -> tuple[Figure, ...]:
    """The task's own tables and plots; `rows` are in the order of their problems."""
    figures = extras(task).figures
    if figures is None:
        return ()
    try:
        return tuple(figures(rows))
    except Exception as error:  # a plugin's task may raise anything; the summary must survive
        message = f"{type(error).__name__}: {error}"
        return (Table(f"The figures of task {task.name!r} failed", ("error",), ((message,),)),)


def summarise(
    rows: Sequence[CompletionRow],
    group_by: Sequence[str] = (),
    *,
    same: SameAnswers = same_text,
    example: Example | None = None,
    cluster: str | None = None,
) -> TaskSummary:
    """The figures of one task's rows.

    `same` decides which answers share their votes for maj@k; `example` is a judged row, where the
    rows lack their texts; `cluster` is the column of clusters of problems that depend on each
    other. DataError for a row without that column.
    """
    rows = _in_order(rows)
    for row in rows if cluster is not None else ():
        require_cluster(cluster or "", row.columns, f"the problem {row.id!r}")
    outcomes = read_outcomes(rows, cluster)
    judged = sum(kind.correct is not None for kind in outcomes)
    failures = (kind.failure for kind in outcomes)
    metrics = rates(outcomes)
    if example is None:
        example = next(filter(None, map(Example.of, rows)), None)
    rewards = set(islice(dict.fromkeys(score for score in outcomes.score if score == score), 2))
    return TaskSummary(
        problems=outcomes.problems,
        completions=len(rows),
        judged=judged,
        unjudged=len(rows) - judged,
        truncated=sum(kind.truncated for kind in outcomes),
        metrics=metrics | _multi_sample(rows, outcomes, same, cluster),
        groups={column: _grouped(rows, outcomes, column) for column in group_by},
        failures=dict(sorted(Counter(filter(None, failures)).items())),
        lengths=lengths_by_outcome(rows, outcomes),
        examples=_examples(rows, outcomes),
        broken=sign_of_breakage(metrics, judged, rewards, example),
        cluster=cluster or "",
        clusters=len(set(outcomes.clusters or ())),
    )


def require_cluster(cluster: str, columns: Mapping[str, Any], row: str) -> None:
    """Raise DataError, which names the columns, unless a row has the column of its cluster."""
    if columns.get(cluster) is None:
        named = ", ".join(columns) or "none"
        raise DataError(f"{row} has nothing in the column {cluster!r} of --cluster; it has {named}")


def _in_order(rows: Sequence[CompletionRow]) -> list[CompletionRow]:
    # two sorts, because the pairs of one would take more memory than the rows of a large file
    return sorted(sorted(rows, key=attrgetter("index")), key=attrgetter("id"))


def _multi_sample(
    rows: Sequence[CompletionRow], outcomes: Outcomes, same: SameAnswers, cluster: str | None
) -> dict[str, Metric]:
    if len(rows) == outcomes.problems:
        return {}
    pairs = zip(rows, outcomes, strict=True)
    judged = [row for row, kind in pairs if kind.correct is not None]
    return multi_sample_metrics(judged, same, cluster)


def _grouped(rows: Sequence[CompletionRow], outcomes: Outcomes, column: str) -> dict[str, Metric]:
    """The accuracy of each group of a column."""
    values: dict[str, array[float]] = defaultdict(lambda: array("d"))
    problems: dict[str, array[int]] = defaultdict(lambda: array("I"))
    for row, kind, problem in zip(rows, outcomes, outcomes.problem, strict=True):
        if kind.correct is not None:
            group = str(row.columns.get(column, ""))
            values[group].append(kind.correct)
            problems[group].append(problem)
    return {
        group: mean(numbers, problems[group], outcomes.clusters)
        for group, numbers in sorted(values.items())
    }


def _examples(rows: Sequence[CompletionRow], outcomes: Outcomes) -> dict[str, list[str]]:
    """The keys of the first few rows of each kind of failure, one row per problem."""
    keys: dict[str, dict[str, str]] = defaultdict(dict)
    for row, kind in zip(rows, outcomes, strict=True):
        if kind.failure and len(keys[kind.failure]) < MOST_EXAMPLES:
            keys[kind.failure].setdefault(row.id, row.key)
    return {failure: list(by_id.values()) for failure, by_id in sorted(keys.items())}


def shortcomings(
    tasks: Mapping[str, TaskSummary], *, max_errors: float, fail_under: Mapping[str, float]
) -> list[str]:
    """Why figures count as failed; empty if they don't.

    Nothing is judged, the verifier crashed on every text, a larger share than `max_errors` is
    unjudged, or a metric is below its value in `fail_under` in a task that has it.
    """
    total = sum(summary.completions for summary in tasks.values())
    judged = sum(summary.judged for summary in tasks.values())
    crashed = sum(summary.failures.get(Failure.CRASHED, 0) for summary in tasks.values())
    reasons = []
    if total and not judged:
        reasons.append("nothing was judged")
    elif total and crashed == judged:
        reasons.append("the verifier crashed on every completion")
    elif total - judged > max_errors * total:
        reasons.append(
            f"{total - judged:,} of {total:,} completions ended in errors, more than --max-errors "
            f"{max_errors:g} allows"
        )
    for name, least in fail_under.items():
        values = {task: of_task.metrics.get(name) for task, of_task in tasks.items()}
        if not any(values.values()):
            known = {known for of_task in tasks.values() for known in of_task.metrics}
            reasons.append(f"--fail-under: {UnknownName.among('metric', name, known)}")
        reasons += [
            f"{name} of {task} is {metric.value:.4g}, below --fail-under {name}={least:g}"
            for task, metric in values.items()
            if metric and metric.value < least
        ]
    return reasons


@dataclass(frozen=True)
class Usage:
    """Sums over completions; None if no completion has the number."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    thinking_tokens: int | None = None
    """The completion tokens that are thinking."""
    cost: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The sums that aren't None."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        """One line for a person; empty if nothing is known."""
        forms = {
            "prompt_tokens": "{:,} tokens in prompts",
            "completion_tokens": "{:,} in completions",
            "thinking_tokens": "{:,} of them thinking",
            "cost": "cost {:,.4g}",
        }
        return ", ".join(forms[name].format(value) for name, value in self.as_json().items())


def usage_of(rows: Sequence[CompletionRow]) -> Usage:
    """The sums over these rows."""
    sums: dict[str, Any] = {}
    for name in Usage.__dataclass_fields__:
        values = [value for row in rows if (value := getattr(row, name)) is not None]
        if values:
            sums[name] = math.fsum(values) if name == "cost" else sum(values)
    return Usage(**sums)
