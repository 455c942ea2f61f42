"""The difference between two runs over the same problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev

from rewardkit.harness.metrics.metric import (
    CAUTION,
    LARGEST,
    LEVEL,
    Groups,
    Metric,
    amount_interval,
    clustered_interval,
    paired_amount_interval,
)

RESAMPLES = 9_999
"""Random exchanges of the two runs, if there are too many to try all."""


@dataclass(frozen=True)
class Difference:
    """Another run's mean minus the baseline's, with its 95% interval and p-value."""

    value: float
    low: float
    high: float
    p_value: float
    test: str


def difference(
    baseline: Groups,
    other: Groups,
    interval: Callable[[Groups, Groups], tuple[float, float]],
) -> Difference:
    """How much higher `other` is; both hold the same problems in the same order, at least one.

    `interval` computes the 95% interval. The p-value is two-sided: McNemar's exact test if each
    problem has one completion in each run and all values are 0 or 1; otherwise a permutation test
    over the problems' mean values.
    """
    before, after = [fmean(group) for group in baseline], [fmean(group) for group in other]
    low, high = interval(baseline, other)
    single = all(len(group) == 1 for group in (*baseline, *other))
    if single and set(before) | set(after) <= {0.0, 1.0}:
        p_value, test = mcnemar(before, after), "McNemar, exact"
    else:
        p_value, test = permutation(before, after), "paired permutation"
    return Difference(fmean(after) - fmean(before), low, high, p_value, test)


def paired_interval(baseline: Groups, other: Groups) -> tuple[float, float]:
    """The 95% interval of the difference of two means in [0, 1] over the same problems.

    It combines the intervals of the two means with their correlation (method of variance estimates
    recovery: G. Y. Zou and A. Donner, Stat. Med. 27 (2008) 1693). With one completion per problem
    it is R. G. Newcombe's method 10 (Stat. Med. 17 (1998) 2635), with his correction.
    """
    before, after = [fmean(group) for group in baseline], [fmean(group) for group in other]
    first, second = fmean(before), fmean(after)
    first_low, first_high = clustered_interval(baseline)
    second_low, second_high = clustered_interval(other)
    correlation = _correlation(before, after)

    def reach(down: float, up: float) -> float:
        return math.sqrt(max(0.0, down * down - 2 * correlation * down * up + up * up))

    change = second - first
    low = change - reach(second - second_low, first_high - first)
    high = change + reach(second_high - second, first - first_low)
    return max(-1.0, low), min(1.0, high)


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
    if before == after:
        return 1.0
    if len(before) == 1:  # the exchange changes only the difference's sign
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
    adjusted = [0.0] * len(p_values)
    lower_bound = 0.0
    ordered = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank, index in enumerate(ordered):
        lower_bound = max(lower_bound, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = lower_bound
    return adjusted


def _correlation(before: Sequence[float], after: Sequence[float]) -> float:
    """Pearson's correlation; a positive covariance is reduced by 1/(2n), at most to 0."""
    spread = pstdev(before) * pstdev(after)
    if spread == 0:
        return 0.0
    first, second = fmean(before), fmean(after)
    covariance = fmean(
        (old - first) * (new - second) for old, new in zip(before, after, strict=True)
    )
    if covariance > 0:
        covariance = max(0.0, covariance - 1 / (2 * len(before)))
    return max(-1.0, min(1.0, covariance / spread))


@dataclass(frozen=True)
class Scale:
    """How the means of a kind of value are estimated."""

    largest: float
    """Upper bound of the values."""
    fewest: int
    """Minimum number of problems for an interval."""
    interval: Callable[[Groups], tuple[float, float]]
    """The 95% interval of a mean."""
    paired_interval: Callable[[Groups, Groups], tuple[float, float]]
    """The 95% interval of the difference of two means over the same problems."""
    variance: Callable[[float, int, Sequence[float]], float]
    """The variance of a problem's value, or of its difference between runs: from the sum of squared
    deviations, the number of problems, and the mean of each run."""


def _share_variance(squares: float, count: int, means: Sequence[float]) -> float:
    """With CAUTION values of the variance of independent runs: problems may agree by chance."""
    widest = sum(mean * (1 - mean) for mean in means)
    return (squares + CAUTION * widest) / (count + CAUTION)


def _amount_variance(squares: float, count: int, means: Sequence[float]) -> float:
    return squares / (count - 1)


SHARES = Scale(1.0, 1, clustered_interval, paired_interval, _share_variance)
"""Values in [0, 1]: right or wrong, scores."""

AMOUNTS = Scale(LARGEST, 2, amount_interval, paired_amount_interval, _amount_variance)
"""Values from 0 without an upper bound: errors."""


def seed_spread(groups: Groups, scale: Scale = SHARES) -> Metric | None:
    """The standard deviation between seeds of the mean of one completion per problem.

    `groups` holds each problem's values. Seeds draw completions independently, so the
    variance of a mean over N problems is Σ s² / N² with each problem's own variance s² between its
    completions (n − 1 in the denominator). Problems with one completion are left out; None if all
    have one. The interval follows from that of the mean of s², over problems.
    """
    variances = [sampling_variance(group) for group in groups if len(group) > 1]
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


def sampling_variance(values: Sequence[float]) -> float:
    """The unbiased variance between a problem's completions, of which there are at least two."""
    middle = fmean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


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
    before, after = list(map(fmean, baseline)), list(map(fmean, other))
    changes = [new - old for old, new in zip(before, after, strict=True)]
    change = fmean(changes)
    squares = math.fsum((value - change) ** 2 for value in changes)
    total = scale.variance(squares, len(changes), (fmean(before), fmean(after)))
    parts = [_sampling(groups) for groups in (baseline, other)]
    if None in parts:
        return Noise(total, None)
    drawn = fmean(1 / len(group) for group in (*baseline, *other))
    sampling = math.fsum(part or 0.0 for part in parts)
    return Noise(max(0.0, total - sampling * drawn), sampling)


def pilot_noise(groups: Groups, scale: Scale) -> Noise:
    """The noise of this run beside another like it, of a model that finds other problems hard.

    Two models that find the same problems hard differ less from each other; this is caution.
    """
    means = list(map(fmean, groups))
    rate = fmean(means)
    squares = math.fsum((mean - rate) ** 2 for mean in means)
    total = scale.variance(squares, len(means), (rate,))
    part = _sampling(groups)
    if part is None:
        return Noise(2 * total, None)
    drawn = fmean(1 / len(group) for group in groups)
    return Noise(2 * max(0.0, total - part * drawn), 2 * part)


def _sampling(groups: Groups) -> float | None:
    """The mean variance between a problem's completions; None where no problem has several."""
    several = [sampling_variance(group) for group in groups if len(group) > 1]
    return fmean(several) if several else None


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
