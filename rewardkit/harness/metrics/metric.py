"""A figure with its interval, computed from the values of problems."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter, ne
from statistics import NormalDist, fmean


@dataclass(frozen=True)
class Metric:
    """A mean over problems with its 95% interval.

    `count` is the number of completions; for those of k completions, of problems.
    """

    value: float
    low: float
    high: float
    count: int


def mean(values: Sequence[float], problems: Sequence[int]) -> Metric:
    """The mean over problems of each problem's mean value; values are in [0, 1].

    `problems` holds the problem of each value; a problem's values are next to each other. The
    trials of the interval are problems, not completions.
    """
    means = _means(values, problems)
    low, high = interval_of_group_means(means, values)
    return Metric(fmean(means), low, high, len(values))


def _means(values: Sequence[float], problems: Sequence[int]) -> Sequence[float]:
    if all(map(ne, problems, islice(problems, 1, None))):  # one value each, the usual case
        return values
    means = array("d")
    for _, pairs in groupby(zip(problems, values, strict=True), key=itemgetter(0)):
        of_problem = [value for _, value in pairs]
        means.append(of_problem[0] if len(of_problem) == 1 else fmean(of_problem))
    return means


LEVEL = 0.95

Groups = Sequence[Sequence[float]]
"""For each problem, the values of its completions; no group is empty."""

CAUTION = 2
"""Values added to the variance. In simulations of 800 runs over 20 problems, the 95% intervals
covered the true mean in 92–98% of the runs, and without it in 88–98%."""


def wilson(rate: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """The Wilson score interval of a rate in [0, 1] seen in `count` independent trials (> 0).

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209. It equals scipy.stats's figure and is written
    out because that import takes a second of every run. `count` may be fractional.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + z * z / count
    centre = (rate + z * z / (2 * count)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)


def clustered_interval(groups: Groups, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean over groups of each group's mean, for values in [0, 1].

    The values of one group depend on each other. No group is empty; all have the same weight.
    """
    means = [group[0] if len(group) == 1 else fmean(group) for group in groups]
    return interval_of_group_means(means, [value for group in groups for value in group], level)


def interval_of_group_means(
    means: Sequence[float], values: Sequence[float], level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the mean of groups' means; `values` are the values of all groups.

    The values of a group are not independent trials, so they count for no more trials than
    independent ones would.
    """
    rate = fmean(values)
    spread = math.fsum((value - rate) ** 2 for value in values) / len(values)
    most = rate * (1 - rate) * len(values) / spread if spread else math.inf
    return interval_of_means(means, most, level)


def interval_of_means(
    means: Sequence[float], most: float, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the mean of independent values in [0, 1], each a mean or an expectation.

    Wilson's interval for the number of trials that would have the variance of the values, at most
    `most`: n · p(1 − p) / s² for n values of mean p and variance s² (L. Kish, Survey Sampling,
    1965: the effective sample size). For values 0 and 1 this is n, Wilson's own. CAUTION values of
    the largest variance, p(1 − p), are added to s², since a few values may be close by chance.
    """
    rate, count = fmean(means), len(means)
    widest = rate * (1 - rate)
    if widest == 0:
        return wilson(rate, count, level)
    squares = sum((mean - rate) ** 2 for mean in means)
    spread = (squares + CAUTION * widest) / (count + CAUTION)
    return wilson(rate, min(most, widest * count / spread), level)


LARGEST = 1e150
"""The largest amount whose square fits a float, with room for a sum of them."""


def amount_interval(groups: Groups, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean over groups of each group's mean, for values from 0 to `LARGEST`.

    Student's t for the logarithm of the mean m, whose standard error is s / (m √n) by the delta
    method: from m / f to m · f, with f = exp(t · s / (m √n)). It is never below 0, and longer
    above the mean than below, as amounts are. From 0 to infinity for a single group.
    """
    means = list(map(fmean, groups))
    if len(means) < 2:
        return 0.0, math.inf
    mean = fmean(means)
    if mean == 0:
        return 0.0, 0.0
    factor = math.exp(_reach(means, level) / mean)
    return mean / factor, mean * factor


def paired_amount_interval(
    baseline: Groups, other: Groups, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the difference of two means over the same groups.

    Student's t over the groups' own differences, unbounded for a single group.
    """
    changes = [fmean(new) - fmean(old) for old, new in zip(baseline, other, strict=True)]
    if len(changes) < 2:
        return -math.inf, math.inf
    change, reach = fmean(changes), _reach(changes, level)
    return change - reach, change + reach


def _reach(values: Sequence[float], level: float) -> float:
    """Student's t times the standard error of the mean of the values, at least two."""
    from scipy.special import stdtrit

    count, mean = len(values), fmean(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return float(stdtrit(count - 1, (1 + level) / 2)) * math.sqrt(variance / count)
