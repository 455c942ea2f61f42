"""pass@k, pass^k, G-Pass@k, maj@k and avg@n, for several completions per problem."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, combinations, groupby
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.metric import Clusters, Metric, interval_of_means, seed_spread
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.protocols import Task, extras
from rewardkit.records import Failure
from rewardkit.registry import timeout_of


@lru_cache(maxsize=100_000)
def pass_at(k: int, correct: int, count: int) -> float:
    """The chance that at least one of k completions is right, where `correct` of `count` are.

    1 − C(n − c, k) / C(n, k) for 1 ≤ k ≤ n, the unbiased estimator of pass@k; M. Chen et al.,
    Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021), equation 1. The
    quotient is Π (1 − k / (n − i)) over i = 0 … c − 1, which can't overflow, and the same with k
    and c exchanged; the shorter product is computed.
    """
    fewer, more = sorted((k, correct))
    if more + fewer > count:
        return 1.0
    return 1.0 - math.prod(1.0 - more / (count - i) for i in range(fewer))


THRESHOLDS = (0.25, 0.5, 0.75, 1.0)
"""The shares τ of right completions for which G-Pass@k is reported."""


def all_right(k: int, correct: int, count: int) -> float:
    """pass^k: the chance that all of k completions are right, where `correct` of `count` are.

    C(c, k) / C(n, k) for 1 ≤ k ≤ n; S. Yao et al., τ-bench, arXiv:2406.12045 (2024). It is 1 minus
    the chance that at least one is wrong.
    """
    return 1.0 - pass_at(k, count - correct, count)


@lru_cache(maxsize=100_000)
def g_pass_at(k: int, threshold: float, correct: int, count: int) -> float:
    """G-Pass@k_τ: the chance that at least ⌈τ k⌉ of k completions are right.

    Σ C(c, j) C(n − c, k − j) / C(n, k) over j = max(1, ⌈τ k⌉) … k, for 1 ≤ k ≤ n. J. Liu et al.,
    Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147 (2024).
    """
    needed = max(1, math.ceil(Fraction(str(threshold)) * k))
    return _at_least(k, correct, count)[needed]


def mean_g_pass_at(k: int, correct: int, count: int) -> float:
    """mG-Pass@k: the mean of G-Pass@k_τ over τ = i / k for i = ⌈k / 2⌉ + 1 … k, for k ≥ 2.

    As in the same paper, which divides by k / 2: for an even k, the number of terms.
    """
    return fmean(_at_least(k, correct, count)[-(-k // 2) + 1 :])


@lru_cache(maxsize=1000)
def _at_least(k: int, correct: int, count: int) -> array[float]:
    """For j = 0 … k, the chance that at least j of k are right, drawn without replacement.

    The numbers of ways are exact: each follows from the one before by a product and a quotient.
    """
    ways = [0] * (k + 1)
    first = max(0, k - (count - correct))
    ways[first] = math.comb(correct, first) * math.comb(count - correct, k - first)
    for right in range(first, min(k, correct)):
        left = (correct - right) * (k - right)
        ways[right + 1] = ways[right] * left // ((right + 1) * (count - correct - k + right + 1))
    total = math.comb(count, k)
    return array("d", [some / total for some in reversed(list(accumulate(reversed(ways))))])


DRAWS = 1000
"""The number of random choices of a problem's completions for maj@k, if there are more choices."""


@lru_cache(maxsize=10_000)
def majorities(
    ks: tuple[int, ...], correct: int, wrong: tuple[int, ...], silent: int
) -> tuple[float, ...]:
    """maj@k for each k: the expected correctness of the majority's answer among k completions.

    Of a problem's n completions, `correct` give the right answer, `wrong[i]` the i-th wrong
    answer, and `silent` give none and don't vote. The answer with the most votes wins, t answers
    tied with the right one share its 1 as 1 / (t + 1), and a choice without votes counts 0.
    Majority voting: X. Wang et al., Self-Consistency Improves Chain of Thought Reasoning,
    arXiv:2203.11171 (2022).

    The result is the mean over all C(n, k) choices, or over `DRAWS` random ones if there are more:
    the same in every run, with a standard error of at most 0.016.
    """
    import numpy as np

    sizes = [correct, *wrong, silent]
    answers = np.repeat(np.arange(len(sizes)), sizes)
    orders = np.random.default_rng(sizes).permuted(np.tile(answers, (DRAWS, 1)), axis=1)
    values = []
    for k in ks:
        every = math.comb(len(answers), k) <= DRAWS
        chosen = answers[list(combinations(range(len(answers)), k))] if every else orders[:, :k]
        rows = len(sizes) * np.arange(len(chosen))[:, None]
        votes = np.bincount((rows + chosen).ravel(), minlength=len(sizes) * len(chosen))
        right, others = np.split(votes.reshape(len(chosen), -1)[:, :-1], [1], axis=1)
        wins = (right[:, 0] > 0) & (others <= right).all(axis=1)
        values.append(float(np.mean(wins / (1 + (others == right).sum(axis=1)))))
    return tuple(values)


AnswerPair = tuple[str, str]
SameAnswers = Callable[[Sequence[AnswerPair]], Sequence[bool]]
"""For pairs of answers that differ as text, whether they are the same answer."""


class Ballot(NamedTuple):
    """How a problem's judged completions vote."""

    correct: int
    wrong: tuple[int, ...]
    """The votes for each wrong answer, most first."""
    silent: int
    """Completions without a vote."""

    @property
    def completions(self) -> int:
        """All completions."""
        return self.correct + sum(self.wrong) + self.silent


def same_text(pairs: Sequence[AnswerPair]) -> list[bool]:
    """All False: answers that differ as text are different answers."""
    return [False] * len(pairs)


def same_to(task: Task, timeout: float | None = None) -> SameAnswers:
    """Compare answers with the task's verifier, or as text if the task can't compare them.

    If the second answer of a pair can't be read as a reference, the first one is the reference.
    A comparison has `timeout` seconds, by default the seconds of the task or its verifier.
    """
    posed = extras(task).posed
    if posed is None:
        return same_text
    options = JudgingOptions(timeout or timeout_of(task))

    def judged(pairs: Sequence[AnswerPair]) -> dict[AnswerPair, bool | None]:
        verdicts = judge_many(task.verifier(), [posed(*pair) for pair in pairs], options)
        return {pair: verdict.correct for pair, verdict in zip(pairs, verdicts, strict=True)}

    def same(pairs: Sequence[AnswerPair]) -> list[bool]:
        equal = judged(pairs)
        reverse = judged([pair[::-1] for pair in pairs if equal[pair] is None])
        return [bool(equal[pair] or reverse.get(pair[::-1])) for pair in pairs]

    return same


def ballots(problems: Sequence[Sequence[CompletionRow]], same: SameAnswers) -> list[Ballot]:
    """The ballot of each problem, from its judged rows.

    All right completions vote for one answer, the reference. Wrong ones vote for their answer's
    text, and texts that are the `same` answer share their votes; a problem with nothing right is
    not compared, since its majority is wrong in any case. A completion without an answer in the
    requested form, or that ran out of time, has no vote.
    """
    right = [sum(bool(row.verdict.correct) for row in rows) for rows in problems]
    wrong = [
        Counter(
            row.verdict.answer.strip()
            for row in rows
            if row.verdict.failure in COMPARED and row.verdict.answer is not None
        )
        for rows in problems
    ]
    contested = {
        index: [answer for answer, _ in votes.most_common()]
        for index, votes in enumerate(wrong)
        if right[index] and len(votes) > 1 and same is not same_text
    }
    representatives = _representatives(contested, same)
    result = []
    for index, (rows, correct, votes) in enumerate(zip(problems, right, wrong, strict=True)):
        chosen = representatives.get(index, {})
        sizes = Counter(chosen.get(answer, answer) for answer in votes.elements())
        by_size = tuple(sorted(sizes.values(), reverse=True))
        result.append(Ballot(correct, by_size, len(rows) - correct - votes.total()))
    return result


COMPARED = (Failure.WRONG, Failure.ARITHMETIC, Failure.REASONING, Failure.WRONG_STEPS)
"""Failures of completions whose answer was read and compared; such an answer has a vote."""


MOST_COMPARED = 1000
"""Pairs of a problem's wrong answers that are compared: all pairs of 45 answers."""


def _representatives(
    problems: Mapping[int, Sequence[str]], same: SameAnswers
) -> dict[int, dict[str, str]]:
    """For each problem, each of its answers with the first answer that is the same.

    Each round takes the first remaining answer of every problem, the most frequent one, and
    compares it with that problem's others. A round is one batch, in which no pair occurs twice. A
    problem's rounds end with `MOST_COMPARED` pairs: rare answers beyond them vote as texts.
    """
    chosen: dict[int, dict[str, str]] = {index: {} for index in problems}
    compared: Counter[int] = Counter()
    remaining = dict(problems)
    while remaining:
        pairs = sorted({(other, first) for first, *rest in remaining.values() for other in rest})
        equal = {pair for pair, is_same in zip(pairs, same(pairs), strict=True) if is_same}
        for index, (first, *rest) in remaining.items():
            alike = [other for other in rest if (other, first) in equal]
            chosen[index] |= dict.fromkeys([first, *alike], first)
            compared[index] += len(rest)
        remaining = {
            index: left
            for index, answers in remaining.items()
            if compared[index] < MOST_COMPARED
            and (left := [answer for answer in answers if answer not in chosen[index]])
        }
    return chosen


def multi_sample_metrics(
    judged: Sequence[CompletionRow], same: SameAnswers, cluster: str | None = None
) -> dict[str, Metric]:
    """The metrics of k completions, for problems of which some have several; else none.

    With n the most judged completions of any problem: pass@k, pass^k and maj@k for the k of
    `reported_k`, G-Pass@k for k = 2, 4, 8 … n, avg@n, cons@n (maj@n by another name), and
    `seed_spread`. Each is a mean over problems with its interval over problems. Problems with
    fewer than k judged completions are left out of it; its `count` is the number of problems in
    it. avg@n is the accuracy over the problems with n, with its interval. A problem's rows
    are next to each other in `judged`; `cluster` is the column of the problems' clusters.
    """
    problems = [list(rows) for _, rows in groupby(judged, key=attrgetter("id"))]
    most = max(map(len, problems), default=0)
    if most < 2:
        return {}
    clusters = None if cluster is None else [str(rows[0].columns[cluster]) for rows in problems]
    counts = [(sum(bool(row.verdict.correct) for row in rows), len(rows)) for rows in problems]
    metrics = dict(_over_choices(counts, most, clusters))
    metrics[f"avg@{most}"] = _metric(
        {number: correct / most for number, (correct, count) in enumerate(counts) if count == most},
        *(1, [count for _, count in counts], clusters),
    )
    # a verifier that judges answers without naming them has no votes; where no completion has an
    # answer, the majority is wrong
    is_named = any(row.verdict.answer is not None for row in judged)
    if is_named or all(row.verdict.failure not in (None, *COMPARED) for row in judged):
        metrics |= _majority_at_k(ballots(problems, same), most, clusters)
        metrics[f"cons@{most}"] = metrics[f"maj@{most}"]
    spread = seed_spread([[float(bool(row.verdict.correct)) for row in rows] for rows in problems])
    return metrics if spread is None else metrics | {"seed_spread": spread}


Counts = Sequence[tuple[int, int]]
"""For each problem, how many of its judged completions are right, and how many there are."""


EVERY_K = 16
"""The largest k up to which each k is reported."""


def reported_k(most: int) -> list[int]:
    """The k of the metrics of k completions: each up to 16, then powers of 2, and `most`.

    >>> reported_k(100)[14:]
    [15, 16, 32, 64, 100]
    """
    small = range(1, min(most, EVERY_K) + 1)
    return list(dict.fromkeys([*small, *_powers_of_two(EVERY_K, most), most]))


def _powers_of_two(first: int, last: int) -> list[int]:
    return [2**power for power in range(first.bit_length() - 1, last.bit_length())]


def _over_choices(
    counts: Counts, most: int, clusters: Clusters = None
) -> Iterator[tuple[str, Metric]]:
    """The metrics of k completions that follow from how many are right."""

    def metric(k: int, estimator: Callable[[int, int], float]) -> Metric:
        enough = {
            at: estimator(*of_problem) for at, of_problem in enumerate(counts) if of_problem[1] >= k
        }
        return _metric(enough, k, [count for _, count in counts], clusters)

    for k in reported_k(most):
        yield f"pass@{k}", metric(k, partial(pass_at, k))
    for k in reported_k(most):
        yield f"pass^{k}", metric(k, partial(all_right, k))
    for k in dict.fromkeys([*_powers_of_two(2, most), most]):
        for share in THRESHOLDS:
            yield f"g-pass@{k}_{share:g}", metric(k, partial(g_pass_at, k, share))
        yield f"mg-pass@{k}", metric(k, partial(mean_g_pass_at, k))


def _majority_at_k(
    votes: Sequence[Ballot], most: int, clusters: Clusters = None
) -> Iterator[tuple[str, Metric]]:
    ks = tuple(reported_k(most))
    values = [
        majorities(tuple(k for k in ks if k <= ballot.completions), *ballot) for ballot in votes
    ]
    for place, k in enumerate(ks):
        enough = {
            at: of_problem[place] for at, of_problem in enumerate(values) if len(of_problem) > place
        }
        yield f"maj@{k}", _metric(enough, k, [ballot.completions for ballot in votes], clusters)


def _metric(
    values: Mapping[int, float], k: int, counts: Sequence[int], clusters: Clusters
) -> Metric:
    """The mean over the problems with a value, by number; n completions of a problem count for at
    most n / k trials of k."""
    most, means = sum(counts[problem] for problem in values) / k, [*values.values()]
    clusters_of_values = clusters and [clusters[problem] for problem in values]
    return Metric(fmean(means), *interval_of_means(means, most, clusters_of_values), len(means))
