"""What runs can be compared by: values of single completions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.metric import AMOUNTS, SHARES, Metric, ValueScale
from rewardkit.harness.results.names import PART
from rewardkit.harness.results.rates import RATES, components, kind_of
from rewardkit.protocols import Task, extras
from rewardkit.text.printable import get_logger

logger = get_logger(__name__)


@dataclass(frozen=True)
class Measure:
    """A figure of one completion; its mean over the problems is a metric to compare runs by.

    A "share" is in [0, 1]; an "amount", such as an error, is from 0 without an upper bound.
    """

    value_of: Callable[[CompletionRow], float | None]
    """The completion's value; None if it has none."""
    kind: Literal["share", "amount"] = "share"
    lower_is_better: bool = False
    defined_for: str = "judged completions"
    """Which completions have a value, in a few words."""


def scale_of(measure: Measure) -> ValueScale:
    """The statistics of a measure's values."""
    return SHARES if measure.kind == "share" else AMOUNTS


def values_by_problem(measure: Measure, rows: Iterable[CompletionRow]) -> list[list[float]]:
    """The values of each problem that has any."""
    by_problem: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        value = measure.value_of(row)
        if value is not None:
            by_problem[row.id].append(value)
    return list(by_problem.values())


def estimate(measure: Measure, rows: Iterable[CompletionRow]) -> Metric | None:
    """The mean over the problems of each problem's mean value, with its interval.

    None without any value; infinite where a value is too large to be averaged.
    """
    groups, scale = values_by_problem(measure, rows), scale_of(measure)
    if not groups:
        return None
    if any(value > scale.largest for group in groups for value in group):
        return Metric(math.inf, 0.0, math.inf, sum(map(len, groups)))
    return scale.mean(groups)


def general_measures(parts: Iterable[str]) -> dict[str, Measure]:
    """The measures that any task has; `parts` are the names of its score's components."""
    rates = {
        name: Measure(
            partial(lambda rate, row: rate.value_of(kind_of(row)), rate),
            lower_is_better=rate.lower_is_better,
            defined_for=rate.defined_for,
        )
        for name, rate in RATES.items()
    }
    of_parts = {PART + part: Measure(partial(_part, part)) for part in sorted(parts)}
    return {**rates, "score": Measure(lambda row: row.verdict.score), **of_parts}


def _part(part: str, row: CompletionRow) -> float | None:
    """The component's score, as the summary counts it: 0 in a judged completion without any."""
    if row.verdict.correct is None:
        return None
    return components(row.verdict.parts).get(part) if row.verdict.parts else 0.0


def task_amounts(
    tasks: Iterable[Task], rows: Iterable[CompletionRow]
) -> dict[str, dict[str, Metric]]:
    """The estimates by task and name; of the tasks that declare amounts and have rows."""
    by_task: dict[str, list[CompletionRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    amounts: dict[str, dict[str, Metric]] = defaultdict(dict)
    for task in tasks:
        try:
            for name, measure in amounts_of(task).items():
                if metric := estimate(measure, by_task[task.name]):
                    amounts[task.name][name] = metric
        except Exception as error:  # a plugin's measure may raise anything; the run must survive
            amounts.pop(task.name, None)
            logger.warning(
                "the measures of task %r failed, and the curve lacks them: %s: %s",
                task.name,
                type(error).__name__,
                error,
            )
    return dict(amounts)


def amounts_of(task: Task) -> Mapping[str, Measure]:
    """The amounts among the task's measures."""
    return {
        name: measure for name, measure in extras(task).measures.items() if measure.kind == "amount"
    }
