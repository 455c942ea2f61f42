"""A figure with its interval, computed from the values of problems; and differences of two runs."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice
from operator import itemgetter, ne
from statistics import NormalDist, fmean, pstdev

CONFIDENCE = 0.95

CAUTION = 2
"""Values added to the variance. In simulations of 800 runs over 20 problems, the 95% intervals
covered the true mean in 92–98% of the runs, and without it in 88–98%."""

LARGEST = 1e150
"""The largest amount whose square fits a float, with room for a sum of them."""

Groups = Sequence[Sequence[float]]
"""For each problem, the values of its completions; no group is empty."""

Clusters = Sequence[Hashable] | None
"""For each problem, its cluster; None: the problems don't depend on each other."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Metric:
    """A mean over problems with its 95% interval.

    `count` is the number of completions, or of problems for metrics of k completions.
    """

    value: float
    low: float
    high: float
    count: int


def mean(values: Sequence[float], problems: Sequence[int], clusters: Clusters = None) -> Metric:
    """The mean over problems of each problem's mean value; values are in [0, 1].

    `problems` holds the number of each value's problem; a problem's values are next to each other.
    The trials of the interval are problems, not completions. `clusters` are by the number of the
    problem.
    """
    means = _means(values, problems)
    of_problems = clusters and [clusters[problem] for problem, _ in groupby(problems)]
    low, high = interval_of_group_means(means, values, of_problems)
    return Metric(fmean(means), low, high, len(values))


def cluster_values(means: Sequence[float], clusters: Clusters) -> Sequence[float]:
    """One value for each cluster of problems, which stand for independent trials in an interval.

    Their mean is the mean x̄ of all n problems, and their variance, over the number of clusters, is
    the clustered variance of x̄ without a correction for few clusters (CR0):
    Σ_c (Σ_{i in c} (x_i − x̄))² / n². K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986) 13; for
    evaluations E. Miller, Adding Error Bars to Evals, arXiv:2411.00640 (2024), section 2.2.
    """
    if clusters is None:
        return means
    middle, totals = fmean(means), defaultdict[Hashable, float](float)
    for value, cluster in zip(means, clusters, strict=True):
        totals[cluster] += value - middle
    size = len(means) / len(totals)
    return [middle + total / size for total in totals.values()]


def _means(values: Sequence[float], problems: Sequence[int]) -> Sequence[float]:
    if all(map(ne, problems, islice(problems, 1, None))):  # one value each, the usual case
        return values
    means = array("d")
    for _, pairs in groupby(zip(problems, values, strict=True), key=itemgetter(0)):
        of_problem = [value for _, value in pairs]
        means.append(of_problem[0] if len(of_problem) == 1 else fmean(of_problem))
    return means


def group_means(groups: Groups) -> list[float]:
    """The mean value of each problem."""
    return [group[0] if len(group) == 1 else fmean(group) for group in groups]


def sum_of_squares(values: Sequence[float]) -> float:
    """The sum of squared deviations from the mean."""
    middle = fmean(values)
    return math.fsum((value - middle) ** 2 for value in values)


def wilson(rate: float, count: float) -> Interval:
    """The 95% Wilson score interval of a rate in [0, 1] seen in `count` independent trials (> 0).

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209. It equals scipy.stats's figure and is written
    out because that import takes a second of every run. `count` may be fractional.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    shrink = 1 + z * z / count
    centre = (rate + z * z / (2 * count)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)


def clopper_pearson(errors: int, count: int) -> tuple[float, float]:
    """The exact 95% interval of a rate of independent trials (> 0).

    C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404.
    """
    from scipy.stats import binomtest

    interval = binomtest(errors, count).proportion_ci(CONFIDENCE, method="exact")
    return float(interval.low), float(interval.high)


def clustered_interval(groups: Groups, clusters: Clusters = None) -> Interval:
    """The interval of the mean over groups of each group's mean, for values in [0, 1].

    The values of one group depend on each other; all groups have the same weight.
    """
    values = [value for group in groups for value in group]
    return interval_of_group_means(group_means(groups), values, clusters)


def interval_of_group_means(
    means: Sequence[float], values: Sequence[float], clusters: Clusters = None
) -> Interval:
    """The interval of the mean of groups' means; `values` are the values of all groups.

    The values of a group are not independent trials, so they count for no more trials than
    independent ones would; nor do the groups of a cluster.
    """
    rate = fmean(values)
    spread = math.fsum((value - rate) ** 2 for value in values) / len(values)
    most = rate * (1 - rate) * len(values) / spread if spread else math.inf
    return interval_of_means(means, most, clusters)


def interval_of_means(means: Sequence[float], most: float, clusters: Clusters = None) -> Interval:
    """The interval of the mean of independent values in [0, 1], each a mean or an expectation.

    Wilson's interval for the number of trials that would have the variance of the values, at most
    `most`: n · p(1 − p) / s² for n values of mean p and variance s² (L. Kish, Survey Sampling,
    1965: the effective sample size). For values 0 and 1 this is n, Wilson's own. CAUTION values of
    the largest variance, p(1 − p), are added to s², since a few values may be close by chance.
    With clusters the values are those of `cluster_values`, and the trials no more than without.
    """
    rate = fmean(means)
    trials = min(_trials(rate, means), _trials(rate, cluster_values(means, clusters)))
    return wilson(rate, min(most, trials))


def _trials(rate: float, means: Sequence[float]) -> float:
    count, widest = len(means), rate * (1 - rate)
    if widest == 0:
        return count
    spread = (sum_of_squares(means) + CAUTION * widest) / (count + CAUTION)
    return widest * count / spread


def pooled_mean(groups: Groups, clusters: Clusters = None) -> Metric:
    """The mean of all groups' values, in [0, 1], where a group with more values weighs more.

    The interval is that of a ratio of sums, by linearisation, with groups as trials (W. G. Cochran,
    Sampling Techniques, 1977, section 9A): with groups of one size, that of `clustered_interval`.
    """
    values = [value for group in groups for value in group]
    means = cluster_values(values, [number for number, group in enumerate(groups) for _ in group])
    return Metric(fmean(values), *interval_of_group_means(means, values, clusters), len(values))


def paired_interval(baseline: Groups, other: Groups, clusters: Clusters = None) -> Interval:
    """The 95% interval of the difference of two means in [0, 1] over the same problems.

    It combines the intervals of the two means with their correlation (method of variance estimates
    recovery: G. Y. Zou and A. Donner, Stat. Med. 27 (2008) 1693). With one completion per problem
    it is R. G. Newcombe's method 10 (Stat. Med. 17 (1998) 2635), with his correction. With
    clusters, the correlation is that of the clusters.
    """
    before, after = group_means(baseline), group_means(other)
    first, second = fmean(before), fmean(after)
    first_low, first_high = clustered_interval(baseline, clusters)
    second_low, second_high = clustered_interval(other, clusters)
    correlation = _correlation(
        cluster_values(before, clusters), cluster_values(after, clusters), len(before)
    )

    def reach(down: float, up: float) -> float:
        return math.sqrt(max(0.0, down * down - 2 * correlation * down * up + up * up))

    change = second - first
    low = change - reach(second - second_low, first_high - first)
    high = change + reach(second_high - second, first - first_low)
    return max(-1.0, low), min(1.0, high)


def _correlation(before: Sequence[float], after: Sequence[float], problems: int) -> float:
    """Pearson's correlation; a positive sum of products over the problems is reduced by 1/2, at
    most to 0."""
    count = len(before)
    spread = pstdev(before) * pstdev(after)
    if spread == 0:
        return 0.0
    first, second = fmean(before), fmean(after)
    products = ((old - first) * (new - second) for old, new in zip(before, after, strict=True))
    covariance = math.fsum(products) / count
    if covariance > 0:
        covariance = max(0.0, covariance - count / (2 * problems**2))
    return max(-1.0, min(1.0, covariance / spread))


def amount_interval(groups: Groups, clusters: Clusters = None) -> Interval:
    """The interval of the mean over groups of each group's mean, for values from 0 to `LARGEST`.

    Student's t for the logarithm of the mean m, whose standard error is s / (m √n) by the delta
    method: from m / f to m · f, with f = exp(t · s / (m √n)). It is never below 0, and longer
    above the mean than below, as amounts are. From 0 to infinity for a single group or cluster.
    """
    means = cluster_values(group_means(groups), clusters)
    if len(means) < 2:
        return 0.0, math.inf
    mean = fmean(means)
    if mean == 0:
        return 0.0, 0.0
    factor = math.exp(_reach(means) / mean)
    return mean / factor, mean * factor


def paired_amount_interval(baseline: Groups, other: Groups, clusters: Clusters = None) -> Interval:
    """The interval of the difference of two means over the same groups.

    Student's t over the differences of groups, or of clusters; unbounded for a single one.
    """
    pairs = zip(group_means(baseline), group_means(other), strict=True)
    changes = cluster_values([after - before for before, after in pairs], clusters)
    if len(changes) < 2:
        return -math.inf, math.inf
    change, reach = fmean(changes), _reach(changes)
    return change - reach, change + reach


def _reach(values: Sequence[float]) -> float:
    """Student's t times the standard error of the mean of the values, at least two."""
    from scipy.special import stdtrit

    degrees = len(values) - 1
    variance = sum_of_squares(values) / degrees
    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / len(values))


@dataclass(frozen=True)
class ValueScale:
    """How the means of a kind of value are estimated."""

    largest: float
    """Upper bound of the values."""
    fewest: int
    """Minimum number of problems for an interval."""
    interval: Callable[[Groups, Clusters], Interval]
    """The 95% interval of a mean."""
    paired_interval: Callable[[Groups, Groups, Clusters], Interval]
    """The 95% interval of the difference of two means over the same problems."""
    variance: Callable[[float, int, Sequence[float]], float]
    """The variance of a problem's value, or of its difference between runs: from the sum of squared
    deviations, the number of problems, and the mean of each run."""

    def mean(self, groups: Groups, clusters: Clusters = None) -> Metric:
        """The mean over groups of each group's mean, with its interval."""
        interval = self.interval(groups, clusters)
        return Metric(fmean(group_means(groups)), *interval, sum(map(len, groups)))


def _share_variance(squares: float, count: int, means: Sequence[float]) -> float:
    """With CAUTION values of the variance of independent runs: problems may agree by chance."""
    widest = sum(mean * (1 - mean) for mean in means)
    return (squares + CAUTION * widest) / (count + CAUTION)


SHARES = ValueScale(1.0, 1, clustered_interval, paired_interval, _share_variance)
"""Values in [0, 1]: right or wrong, scores."""

AMOUNTS = ValueScale(
    LARGEST, 2, amount_interval, paired_amount_interval, lambda squares, n, _: squares / (n - 1)
)
"""Values from 0 without an upper bound: errors."""


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
    baseline: Groups, other: Groups, scale: ValueScale, clusters: Clusters = None
) -> PairedDifference:
    """How much higher `other` is; both hold the same problems in the same order, at least one.

    The p-value is two-sided: McNemar's exact test if each problem has one completion in each run
    and all values are 0 or 1; otherwise a permutation test over the problems' mean values. With
    clusters, it exchanges the runs cluster by cluster.
    """
    before, after = group_means(baseline), group_means(other)
    low, high = scale.paired_interval(baseline, other, clusters)
    single = all(len(group) == 1 for group in (*baseline, *other))
    if clusters is not None and len(set(clusters)) < len(before):
        sums = defaultdict[Hashable, float](float)
        for cluster, old, new in zip(clusters, before, after, strict=True):
            sums[cluster] += new - old
        p_value = permutation([0.0] * len(sums), [*sums.values()])
        test = "paired permutation of clusters"
    elif single and set(before) | set(after) <= {0.0, 1.0}:
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


def seed_spread(groups: Groups, scale: ValueScale = SHARES) -> Metric | None:
    """The standard deviation between seeds of the mean of one completion per problem.

    `groups` holds each problem's values. Seeds draw completions independently, so the
    variance of a mean over N problems is Σ s² / N² with each problem's own variance s² between its
    completions (n − 1 in the denominator). Problems with one completion are left out; None if all
    have one. The interval follows from that of the mean of s², over problems.
    """
    variances = [sum_of_squares(group) / (len(group) - 1) for group in groups if len(group) > 1]
    if not variances:
        return None
    count = len(variances)
    # a variance of values in [0, 1] is at most 1/2, so its double is in [0, 1]
    doubles = [[min(scale.largest, 2 * variance)] for variance in variances]
    low, high = scale.interval(doubles, None)
    return Metric(
        math.sqrt(fmean(variances) / count),
        math.sqrt(low / 2 / count),
        math.sqrt(high / 2 / count),
        count,
    )


POWER = 0.8
"""The chance of finding the difference, by convention."""

_REACH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) + NormalDist().inv_cdf(POWER)
"""How many standard errors a difference must be, to be found with this level and power."""


def paired_variance(
    baseline: Groups, other: Groups, scale: ValueScale, clusters: Clusters = None
) -> float:
    """The variance of a problem's difference between two runs over the same problems.

    With clusters it is n times the clustered variance of the mean of n differences.
    """
    before, after = group_means(baseline), group_means(other)
    changes = [new - old for old, new in zip(before, after, strict=True)]
    return _problem_variance(changes, clusters, scale, [fmean(before), fmean(after)])


def _problem_variance(
    values: Sequence[float], clusters: Clusters, scale: ValueScale, means: Sequence[float]
) -> float:
    trials = cluster_values(values, clusters)
    variance = scale.variance(sum_of_squares(trials), len(trials), means)
    return variance * len(values) / len(trials)


def pilot_variance(groups: Groups, scale: ValueScale, clusters: Clusters = None) -> float:
    """The variance of a problem's difference from a run of a model that finds other problems hard.

    This is cautious: two models that find the same problems hard differ less.
    """
    means = group_means(groups)
    return 2 * _problem_variance(means, clusters, scale, [fmean(means)])


def detectable(variance: float, problems: int, largest: float = 1.0) -> float:
    """The smallest difference that is found on this many problems (level 5%, power 80%).

    The normal approximation of a paired test: (z₀.₉₇₅ + z₀.₈) · √(variance / problems), at most
    `largest`.
    """
    return min(largest, _REACH * math.sqrt(variance / problems))


def needed_problems(variance: float, difference: float) -> int:
    """How many problems a difference (not 0) needs to be found; the inverse of `detectable`."""
    return max(1, math.ceil(variance * (_REACH / difference) ** 2))
