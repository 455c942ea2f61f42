"""Several completions a problem: pass@k and maj@k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean

from rewardkit.harness.metrics.intervals import over_means
from rewardkit.harness.metrics.majority import majorities
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.pass_at_k import pass_at
from rewardkit.harness.metrics.votes import Ballot, SameAnswers, ballots
from rewardkit.harness.store.sample_row import JudgedRow


def several(judged: Sequence[JudgedRow], same: SameAnswers) -> dict[str, Metric]:
    """pass@k and maj@k for each k up to the most judged completions that a problem has, if > 1.

    Each is a mean over problems with its interval over problems. A problem with fewer than k
    judged completions, after errors, is left out of it; `count` says how many are in. Rows of a
    problem stand together.
    """
    problems = [list(rows) for _, rows in groupby(judged, key=attrgetter("id"))]
    most = max(map(len, problems), default=0)
    if most < 2:
        return {}
    passed = dict(_passed(problems, most))
    if not _tells_answers(judged):
        return passed
    return passed | dict(_voted(ballots(problems, same), most))


def _tells_answers(judged: Sequence[JudgedRow]) -> bool:
    """A verifier that judges answers and never says which leaves nothing to vote with; where there
    was nothing to read, the majority is wrong."""
    if any(row.verdict.answer is not None for row in judged):
        return True
    return all(row.verdict.failure not in (None, "wrong") for row in judged)


def _passed(problems: Sequence[Sequence[JudgedRow]], most: int) -> Iterator[tuple[str, Metric]]:
    counts = [(sum(bool(row.verdict.correct) for row in rows), len(rows)) for rows in problems]
    for k in range(1, most + 1):
        of = [(correct, count) for correct, count in counts if count >= k]
        yield f"pass@{k}", _metric([pass_at(k, *one) for one in of], k, [one[1] for one in of])


def _voted(votes: Sequence[Ballot], most: int) -> Iterator[tuple[str, Metric]]:
    values = [majorities(one.correct, one.wrong, one.silent) for one in votes]
    for k in range(1, most + 1):
        of = [one for one in values if len(one) >= k]
        yield f"maj@{k}", _metric([one[k - 1] for one in of], k, [len(one) for one in of])


def _metric(values: Sequence[float], k: int, counts: Sequence[int]) -> Metric:
    """The mean over problems; n completions of one are worth at most n / k trials of k."""
    low, high = over_means(values, sum(counts) / k)
    return Metric(fmean(values), low, high, len(values))
