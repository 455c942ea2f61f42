"""A figure with its interval, from values of problems."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter, ne
from statistics import fmean

from rewardkit.harness.metrics.intervals import of_means


@dataclass(frozen=True)
class Metric:
    """A mean of values in [0, 1] with its 95% interval.

    `count` is the completions that it is over; for pass@k and maj@k, the problems.
    """

    value: float
    low: float
    high: float
    count: int


def mean(values: Sequence[float], problems: Sequence[int]) -> Metric:
    """The mean of values in [0, 1]: of each problem's mean, problems weighing alike.

    `problems` says whose each value is; those of one stand together. The interval takes problems,
    not completions, for the trials.
    """
    means = _means(values, problems)
    low, high = of_means(means, values)
    return Metric(fmean(means), low, high, len(values))


def _means(values: Sequence[float], problems: Sequence[int]) -> Sequence[float]:
    if all(map(ne, problems, islice(problems, 1, None))):  # one each, as most often
        return values
    means = array("d")
    for _, found in groupby(zip(problems, values, strict=True), key=itemgetter(0)):
        of_problem = [value for _, value in found]
        means.append(of_problem[0] if len(of_problem) == 1 else fmean(of_problem))
    return means
