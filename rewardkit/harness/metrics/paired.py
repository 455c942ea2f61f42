"""The difference between two runs over the same problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from rewardkit.harness.metrics.intervals import clustered

Groups = Sequence[Sequence[float]]
"""For each problem the values, in [0, 1], of its completions."""

RESAMPLES = 9_999
"""Sign changes drawn where there are too many to try all."""


@dataclass(frozen=True)
class Difference:
    """Another run's mean minus the baseline's, its 95% interval, and how likely chance is."""

    value: float
    low: float
    high: float
    p_value: float
    test: str


def difference(baseline: Groups, other: Groups) -> Difference:
    """How much better `other` does on the same problems, in the same order; at least one.

    The p-value is two-sided: McNemar's exact test where each problem has one completion in each
    run, right or wrong; otherwise a permutation test over the problems' mean values.
    """
    before, after = [fmean(group) for group in baseline], [fmean(group) for group in other]
    low, high = paired_interval(baseline, other)
    single = all(len(group) == 1 for group in (*baseline, *other))
    if single and set(before) | set(after) <= {0.0, 1.0}:
        p_value, test = mcnemar(before, after), "McNemar, exact"
    else:
        p_value, test = permutation(before, after), "paired permutation"
    return Difference(fmean(after) - fmean(before), low, high, p_value, test)


def paired_interval(baseline: Groups, other: Groups) -> tuple[float, float]:
    """The 95% interval of the difference of two means in [0, 1] over the same problems.

    Each mean's own interval, joined by their correlation (method of variance estimates recovery:
    G. Y. Zou and A. Donner, Stat. Med. 27 (2008) 1693). With one completion a problem it is
    R. G. Newcombe's method 10 (Stat. Med. 17 (1998) 2635), its correlation corrected likewise.
    """
    before, after = [fmean(group) for group in baseline], [fmean(group) for group in other]
    first, second = fmean(before), fmean(after)
    first_low, first_high = clustered(baseline)
    second_low, second_high = clustered(other)
    together = _correlation(before, after)

    def reach(down: float, up: float) -> float:
        return math.sqrt(max(0.0, down * down - 2 * together * down * up + up * up))

    change = second - first
    low = change - reach(second - second_low, first_high - first)
    high = change + reach(second_high - second, first - first_low)
    return max(-1.0, low), min(1.0, high)


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float:
    """The exact two-sided p-value of right and wrong in two runs, 1.0 or 0.0 for each problem.

    Q. McNemar, Psychometrika 12 (1947) 153: of the problems that changed sides, half would have
    gone each way. 1 where none changed.
    """
    won = sum(old < new for old, new in zip(before, after, strict=True))
    lost = sum(old > new for old, new in zip(before, after, strict=True))
    if won + lost == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue)


def permutation(before: Sequence[float], after: Sequence[float]) -> float:
    """The two-sided p-value of the mean difference, by exchanging the runs problem by problem.

    All exchanges where there are few, else `RESAMPLES` of them by a fixed seed: the same values
    give the same figure.
    """
    if before == after:
        return 1.0
    if len(before) == 1:  # exchanged or not, the difference is as large
        return 1.0
    from scipy.stats import permutation_test

    found = permutation_test(
        (after, before),
        lambda new, old, axis: (new - old).mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=max(1, 10**6 // len(before)),
        rng=0,
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, adjusted so that all hold together.

    S. Holm, Scand. J. Stat. 6 (1979) 65.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    ordered = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank, index in enumerate(ordered):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted


def _correlation(before: Sequence[float], after: Sequence[float]) -> float:
    """Pearson's, less 1/(2n) in the covariance where it is positive, but not below 0."""
    spread = pstdev(before) * pstdev(after)
    if spread == 0:
        return 0.0
    first, second = fmean(before), fmean(after)
    together = fmean((old - first) * (new - second) for old, new in zip(before, after, strict=True))
    if together > 0:
        together = max(0.0, together - 1 / (2 * len(before)))
    return max(-1.0, min(1.0, together / spread))
