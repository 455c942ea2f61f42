"""The difference between two runs over the same problems, and the differences that can be found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist, fmean

from rewardkit.harness.metrics.metric import (
    LEVEL,
    SHARES,
    Groups,
    Interval,
    Metric,
    Scale,
    group_means,
    sum_of_squares,
)

RESAMPLES = 9_999
"""Random exchanges of the two runs, if there are too many to try all."""


@dataclass(frozen=True)
class PairedDifference:
    """Another run's mean minus the baseline's, with its 95% interval and p-value."""

    value: float
    low: float
    high: float
    p_value: float
    test: str


def difference(
    baseline: Groups, other: Groups, interval: Callable[[Groups, Groups], Interval]
) -> PairedDifference:
    """How much higher `other` is; both hold the same problems in the same order, at least one.

    `interval` computes the 95% interval. The p-value is two-sided: McNemar's exact test if each
    problem has one completion in each run and all values are 0 or 1; otherwise a permutation test
    over the problems' mean values.
    """
    before, after = group_means(baseline), group_means(other)
    low, high = interval(baseline, other)
    single = all(len(group) == 1 for group in (*baseline, *other))
    if single and set(before) | set(after) <= {0.0, 1.0}:
        p_value, test = mcnemar(before, after), "McNemar, exact"
    else:
        p_value, test = permutation(before, after), "paired permutation"
    return PairedDifference(fmean(after) - fmean(before), low, high, p_value, test)


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float:
    """The exact two-sided p-value of right and wrong in two runs, 1.0 or 0.0 for each problem.

    Q. McNemar, Psychometrika 12 (1947) 153: by chance, half of the problems that changed would
    have changed each way. It is 1 if none changed.
    """
    won = sum(old < new for old, new in zip(before, after, strict=True))
    lost = sum(old > new for old, new in zip(before, after, strict=True))
    if won + lost == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue)


def permutation(before: Sequence[float], after: Sequence[float]) -> float:
    """The two-sided p-value of the mean difference, by exchanging the runs problem by problem.

    It tries all exchanges if there are few, else `RESAMPLES` random ones from a fixed seed, so
    that the same values give the same figure.
    """
    if before == after or len(before) == 1:  # one exchange only changes the difference's sign
        return 1.0
    from scipy.stats import permutation_test

    result = permutation_test(
        (after, before),
        lambda new, old, axis: (new - old).mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=max(1, 10**6 // len(before)),
        rng=0,
    )
    return float(result.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several comparisons, so that they hold for all together.

    S. Holm, Scand. J. Stat. 6 (1979) 65.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    scaled = [(len(order) - rank) * p_values[index] for rank, index in enumerate(order)]
    adjusted = dict(zip(order, accumulate(scaled, max), strict=True))
    return [min(1.0, adjusted[index]) for index in range(len(p_values))]


def seed_spread(groups: Groups, scale: Scale = SHARES) -> Metric | None:
    """The standard deviation between seeds of the mean of one completion per problem.

    `groups` holds each problem's values. Seeds draw completions independently, so the
    variance of a mean over N problems is Σ s² / N² with each problem's own variance s² between its
    completions (n − 1 in the denominator). Problems with one completion are left out; None if all
    have one. The interval follows from that of the mean of s², over problems.
    """
    variances = _sampling_variances(groups)
    if not variances:
        return None
    count = len(variances)
    # a variance of values in [0, 1] is at most 1/2, so its double is in [0, 1]
    low, high = scale.interval([[min(scale.largest, 2 * variance)] for variance in variances])
    return Metric(
        math.sqrt(fmean(variances) / count),
        math.sqrt(low / 2 / count),
        math.sqrt(high / 2 / count),
        count,
    )


def _sampling_variances(groups: Groups) -> list[float]:
    """The unbiased variance between the completions of each problem that has several."""
    return [sum_of_squares(group) / (len(group) - 1) for group in groups if len(group) > 1]


POWER = 0.8
"""The chance of finding the difference, by convention."""

_REACH = NormalDist().inv_cdf((1 + LEVEL) / 2) + NormalDist().inv_cdf(POWER)
"""How many standard errors a difference must be, to be found with this level and power."""


@dataclass(frozen=True)
class Noise:
    """The variance of one problem's difference between two runs, by its cause."""

    between: float
    """Variance that no number of completions removes: problems differ in their difference."""
    sampling: float | None
    """Variance that one completion per problem and run adds; None if the data can't separate it:
    then `between` is the sum of both."""

    def variance(self, completions: float) -> float:
        """The variance of a problem's difference with this many completions in each run."""
        return self.between + (self.sampling or 0.0) / completions


def paired_noise(baseline: Groups, other: Groups, scale: Scale) -> Noise:
    """The noise of two runs over the same problems."""
    pairs = zip(group_means(baseline), group_means(other), strict=True)
    return _noise([after - before for before, after in pairs], (baseline, other), scale)


def pilot_noise(groups: Groups, scale: Scale) -> Noise:
    """The noise beside a similar run of a model that finds other problems hard.

    This is cautious: two models that find the same problems hard differ less.
    """
    single = _noise(group_means(groups), (groups,), scale)
    return Noise(2 * single.between, None if single.sampling is None else 2 * single.sampling)


def _noise(values: Sequence[float], runs: Sequence[Groups], scale: Scale) -> Noise:
    """The noise of the problems' `values`, which are computed from the runs."""
    means = [fmean(group_means(run)) for run in runs]
    total = scale.variance(sum_of_squares(values), len(values), means)
    variances = [_sampling_variances(run) for run in runs]
    if not all(variances):
        return Noise(total, None)
    sampling = math.fsum(map(fmean, variances))
    drawn = fmean(1 / len(group) for run in runs for group in run)
    return Noise(max(0.0, total - sampling * drawn), sampling)


def detectable(variance: float, problems: int, largest: float = 1.0) -> float:
    """The smallest difference that is found on this many problems (level 5%, power 80%).

    The normal approximation of a paired test: (z₀.₉₇₅ + z₀.₈) · √(variance / problems), at most
    `largest`.
    """
    return min(largest, _REACH * math.sqrt(variance / problems))


def needed_problems(variance: float, difference: float) -> int:
    """How many problems a difference (not 0) needs to be found; the inverse of `detectable`."""
    return max(1, math.ceil(variance * (_REACH / difference) ** 2))


def needed_completions(noise: Noise, difference: float, problems: int) -> int | None:
    """How many completions per problem and run a difference (not 0) needs on these problems.

    None where the noise between problems alone hides it, or where sampling's share isn't known.
    """
    if noise.sampling is None:
        return None
    room = problems * (difference / _REACH) ** 2 - noise.between
    if room <= 0:
        return None
    return max(1, math.ceil(noise.sampling / room))
