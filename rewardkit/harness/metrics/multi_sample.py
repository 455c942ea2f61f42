"""pass@k, pass^k, G-Pass@k, maj@k and avg@n, for several completions per problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from statistics import fmean

from rewardkit.harness.metrics.intervals import interval_of_means
from rewardkit.harness.metrics.majority import majorities
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.pass_at_k import pass_at
from rewardkit.harness.metrics.reliability import (
    THRESHOLDS,
    all_right,
    g_pass_at,
    mean_g_pass_at,
)
from rewardkit.harness.metrics.seed_spread import seed_spread
from rewardkit.harness.metrics.votes import Ballot, SameAnswers, ballots
from rewardkit.harness.store.judged_row import JudgedRow
from rewardkit.records import Failure


def multi_sample_metrics(judged: Sequence[JudgedRow], same: SameAnswers) -> dict[str, Metric]:
    """The metrics of k completions, for problems of which some have several; else none.

    With n the most judged completions of any problem: pass@k, pass^k and maj@k for k = 1 … n,
    G-Pass@k for k = 2, 4, 8 … n, avg@n, cons@n (maj@n by another name), and `seed_spread`. Each is
    a mean over problems with its interval over problems. Problems with fewer than k judged
    completions are left out of it; its `count` is the number of problems in it. A problem's rows
    are next to each other in `judged`.
    """
    problems = [list(rows) for _, rows in groupby(judged, key=attrgetter("id"))]
    most = max(map(len, problems), default=0)
    if most < 2:
        return {}
    counts = [(sum(bool(row.verdict.correct) for row in rows), len(rows)) for rows in problems]
    metrics = dict(_over_choices(counts, most))
    metrics[f"avg@{most}"] = _metric_at_k(counts, most, lambda correct, count: correct / count)
    if _has_votes(judged):
        metrics |= _majority_at_k(ballots(problems, same), most)
        metrics[f"cons@{most}"] = metrics[f"maj@{most}"]
    spread = seed_spread([[float(bool(row.verdict.correct)) for row in rows] for rows in problems])
    return metrics if spread is None else metrics | {"seed_spread": spread}


def _has_votes(judged: Sequence[JudgedRow]) -> bool:
    """Whether maj@k means something: not if the verifier judges answers without naming them.

    If no completion has an answer, there is nothing to name, and the majority is wrong.
    """
    if any(row.verdict.answer is not None for row in judged):
        return True
    return all(row.verdict.failure not in (None, Failure.WRONG) for row in judged)


Counts = Sequence[tuple[int, int]]
"""For each problem, how many of its judged completions are right, and how many there are."""

Estimator = Callable[[int, int], float]
"""A problem's value, from how many completions are right and how many there are."""


def _over_choices(counts: Counts, most: int) -> Iterator[tuple[str, Metric]]:
    """The metrics of k completions that follow from how many are right."""
    for k in range(1, most + 1):
        yield f"pass@{k}", _metric_at_k(counts, k, partial(pass_at, k))
    for k in range(1, most + 1):
        yield f"pass^{k}", _metric_at_k(counts, k, partial(all_right, k))
    for k in _doubling(most):
        for share in THRESHOLDS:
            yield f"g-pass@{k}_{share:g}", _metric_at_k(counts, k, partial(g_pass_at, k, share))
        yield f"mg-pass@{k}", _metric_at_k(counts, k, partial(mean_g_pass_at, k))


def _doubling(most: int) -> list[int]:
    """2, 4, 8 and so on up to `most`, and `most` itself."""
    powers = [2**exponent for exponent in range(1, most.bit_length())]
    return list(dict.fromkeys([*powers, most]))


def _metric_at_k(counts: Counts, k: int, estimator: Estimator) -> Metric:
    enough = [(correct, count) for correct, count in counts if count >= k]
    return _metric([estimator(*one) for one in enough], k, [count for _, count in enough])


def _majority_at_k(votes: Sequence[Ballot], most: int) -> Iterator[tuple[str, Metric]]:
    by_problem = [majorities(ballot.correct, ballot.wrong, ballot.silent) for ballot in votes]
    for k in range(1, most + 1):
        enough = [values for values in by_problem if len(values) >= k]
        yield f"maj@{k}", _metric([values[k - 1] for values in enough], k, list(map(len, enough)))


def _metric(values: Sequence[float], k: int, counts: Sequence[int]) -> Metric:
    """The mean over problems; n completions of a problem count for at most n / k trials of k."""
    low, high = interval_of_means(values, sum(counts) / k)
    return Metric(fmean(values), low, high, len(values))
