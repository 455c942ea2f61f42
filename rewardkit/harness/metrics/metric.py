"""A figure with its interval, from rows of problems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rewardkit.harness.metrics.intervals import clustered, means_of

Row = Mapping[str, Any]
Value = Callable[[Row], float]


@dataclass(frozen=True)
class Metric:
    """A mean of values in [0, 1] with its 95% interval.

    `count` is the completions that it is over; for pass@k and maj@k, the problems.
    """

    value: float
    low: float
    high: float
    count: int


def mean(rows: Sequence[Row], value: Value) -> Metric:
    """The mean of a value in [0, 1] over rows: of each problem's mean, problems weighing alike.

    Its interval takes problems, not completions, for the trials.
    """
    by_problem: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_problem[row["id"]].append(value(row))
    groups = list(by_problem.values())
    low, high = clustered(groups)
    return Metric(fmean(means_of(groups)), low, high, len(rows))
