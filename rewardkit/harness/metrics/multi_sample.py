"""pass@k and maj@k, for several completions per problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean

from rewardkit.harness.metrics.intervals import interval_of_means
from rewardkit.harness.metrics.majority import majorities
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.pass_at_k import pass_at
from rewardkit.harness.metrics.votes import Ballot, SameAnswers, ballots
from rewardkit.harness.store.sample_row import JudgedRow
from rewardkit.records import Failure


def multi_sample_metrics(judged: Sequence[JudgedRow], same: SameAnswers) -> dict[str, Metric]:
    """pass@k and maj@k for k up to the most judged completions of any problem; none if that is 1.

    Each is a mean over problems with its interval over problems. Problems with fewer than k judged
    completions are left out of it; its `count` is the number of problems in it. A problem's rows
    are next to each other in `judged`.
    """
    problems = [list(rows) for _, rows in groupby(judged, key=attrgetter("id"))]
    most = max(map(len, problems), default=0)
    if most < 2:
        return {}
    metrics = dict(_pass_at_k(problems, most))
    if _has_votes(judged):
        metrics |= _majority_at_k(ballots(problems, same), most)
    return metrics


def _has_votes(judged: Sequence[JudgedRow]) -> bool:
    """Whether maj@k means something: not if the verifier judges answers without naming them.

    If no completion has an answer, there is nothing to name, and the majority is wrong.
    """
    if any(row.verdict.answer is not None for row in judged):
        return True
    return all(row.verdict.failure not in (None, Failure.WRONG) for row in judged)


def _pass_at_k(problems: Sequence[Sequence[JudgedRow]], most: int) -> Iterator[tuple[str, Metric]]:
    counts = [(sum(bool(row.verdict.correct) for row in rows), len(rows)) for rows in problems]
    for k in range(1, most + 1):
        enough = [(correct, count) for correct, count in counts if count >= k]
        values = [pass_at(k, correct, count) for correct, count in enough]
        yield f"pass@{k}", _metric(values, k, [count for _, count in enough])


def _majority_at_k(votes: Sequence[Ballot], most: int) -> Iterator[tuple[str, Metric]]:
    by_problem = [majorities(ballot.correct, ballot.wrong, ballot.silent) for ballot in votes]
    for k in range(1, most + 1):
        enough = [values for values in by_problem if len(values) >= k]
        yield f"maj@{k}", _metric([values[k - 1] for values in enough], k, list(map(len, enough)))


def _metric(values: Sequence[float], k: int, counts: Sequence[int]) -> Metric:
    """The mean over problems; n completions of a problem count for at most n / k trials of k."""
    low, high = interval_of_means(values, sum(counts) / k)
    return Metric(fmean(values), low, high, len(values))
