"""pass@k, pass^k, G-Pass@k, maj@k and avg@n, for several completions per problem."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import groupby
from math import comb, lcm
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple, Protocol, runtime_checkable

from rewardkit.harness.metrics.metric import Metric, interval_of_means
from rewardkit.harness.metrics.paired import seed_spread
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.judging import judge_many
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Failure, Sample


@lru_cache(maxsize=100_000)
def pass_at(k: int, correct: int, count: int) -> float:
    """The chance that at least one of k completions is right, where `correct` of `count` are.

    1 − C(n − c, k) / C(n, k) for 1 ≤ k ≤ n, the unbiased estimator of pass@k; M. Chen et al.,
    Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021), equation 1. Computed
    as 1 − Π (1 − k / i) over i = n − c + 1 … n, which can't overflow.
    """
    if count - correct < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(count - correct + 1, count + 1))


THRESHOLDS = (0.25, 0.5, 0.75, 1.0)
"""The shares τ of right completions for which G-Pass@k is reported."""


def all_right(k: int, correct: int, count: int) -> float:
    """pass^k: the chance that all of k completions are right, where `correct` of `count` are.

    C(c, k) / C(n, k) for 1 ≤ k ≤ n; S. Yao et al., τ-bench, arXiv:2406.12045 (2024). It is 1 minus
    the chance that at least one is wrong.
    """
    return 1.0 - pass_at(k, count - correct, count)


def g_pass_at(k: int, threshold: float, correct: int, count: int) -> float:
    """G-Pass@k_τ: the chance that at least ⌈τ k⌉ of k completions are right.

    Σ C(c, j) C(n − c, k − j) / C(n, k) over j = max(1, ⌈τ k⌉) … k, for 1 ≤ k ≤ n. J. Liu et al.,
    Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147 (2024).
    """
    needed = max(1, math.ceil(Fraction(str(threshold)) * k))
    return _at_least(needed, k, correct, count)


def mean_g_pass_at(k: int, correct: int, count: int) -> float:
    """mG-Pass@k: the mean of G-Pass@k_τ over τ = i / k for i = ⌈k / 2⌉ + 1 … k, for k ≥ 2.

    As in the same paper, which divides by k / 2: for an even k, the number of terms.
    """
    first = -(-k // 2) + 1
    return fmean(_at_least(needed, k, correct, count) for needed in range(first, k + 1))


@lru_cache(maxsize=100_000)
def _at_least(needed: int, k: int, correct: int, count: int) -> float:
    """The chance that at least `needed` of k are right, drawn without replacement."""
    ways = sum(
        math.comb(correct, right) * math.comb(count - correct, k - right)
        for right in range(needed, min(k, correct) + 1)
    )
    return ways / math.comb(count, k)


@lru_cache(maxsize=10_000)
def majorities(correct: int, wrong: tuple[int, ...], silent: int) -> tuple[float, ...]:
    """maj@k for k = 1 … n: the expected correctness of the majority's answer among k completions.

    Of a problem's n completions, `correct` give the right answer, `wrong[i]` the i-th wrong
    answer, and `silent` give none and don't vote. The result is the exact mean over all C(n, k)
    choices of k: in each choice the answer with the most votes wins, t answers tied with the right
    one share its 1 as 1 / (t + 1), and a choice without votes counts 0. Majority voting: X. Wang
    et al., Self-Consistency Improves Chain of Thought Reasoning, arXiv:2203.11171 (2022).

    Choices are counted by the number v of right answers among the k. Those in which t wrong
    answers have v votes and the others fewer are the coefficients, at y^t and by size k in x, of

        C(correct, v) x^v · (1 + x)^silent · Π_i (Σ_{j<v} C(wrong_i, j) x^j + C(wrong_i, v) x^v y)
    """
    from flint import fmpz_poly  # takes 40 ms, and only several completions a problem need it

    count, largest = correct + sum(wrong) + silent, max(wrong, default=0)
    shares = lcm(*range(1, len(wrong) + 2))
    either = fmpz_poly([1, 1])  # a completion is chosen or it isn't
    unrivalled = [comb(correct, votes) for votes in range(largest + 1, correct + 1)]
    total = fmpz_poly([0] * (largest + 1) + unrivalled) * either ** (count - correct) * shares
    for votes in range(1, min(largest, correct) + 1):
        rivals = Counter(size for size in wrong if size >= votes)
        free = either ** (count - correct - sum(rivals.elements()))
        total += comb(correct, votes) * free * _won(votes, rivals, shares)
    return tuple(int(total[k]) / (shares * comb(count, k)) for k in range(1, count + 1))


def _won(votes: int, rivals: Mapping[int, int], shares: int) -> Any:
    """Count the choices, with `votes` right answers, in which no wrong answer has more votes.

    `rivals` maps the sizes of wrong answers, each at least `votes`, to how many are that large. A
    choice in which t of them have `votes` counts `shares` / (t + 1). The result is a polynomial,
    flint.fmpz_poly, which has no annotations.
    """
    from flint import fmpz_poly

    by_ties = [fmpz_poly([1])]  # the factor (x^v)^t is left to the sum at the end
    for size, answers in rivals.items():
        *ways, equal = (comb(size, chosen) for chosen in range(votes + 1))
        fewer = fmpz_poly(ways)
        grown = [fmpz_poly()] * (len(by_ties) + answers)
        for ties in range(answers + 1):
            chosen = comb(answers, ties) * equal**ties * fewer ** (answers - ties)
            for before, polynomial in enumerate(by_ties):
                grown[before + ties] += polynomial * chosen
        by_ties = grown
    won = fmpz_poly()
    right = fmpz_poly([0] * votes + [1])
    for ties, polynomial in reversed(list(enumerate(by_ties))):
        won = (won + shares // (ties + 1) * polynomial) * right
    return won


Pair = tuple[str, str]
SameAnswers = Callable[[Sequence[Pair]], Sequence[bool]]
"""For pairs of answers that differ as text, whether they are the same answer."""


@runtime_checkable
class ComparesAnswers(Protocol):
    """A task whose own verifier can tell whether two answers are equal."""

    def verifier(self, reading: str | None = None) -> Verifier:
        """The strict verifier, as in `Task`."""

    def posed(self, answer: str, other: str) -> tuple[str, Sample]:
        """A completion that gives `answer`, and a sample with the reference `other`.

        `verifier()` finds the completion right when the answers are equal.
        """


class Ballot(NamedTuple):
    """How a problem's judged completions vote."""

    correct: int
    wrong: tuple[int, ...]
    """The votes for each wrong answer, most first."""
    silent: int
    """Completions without a vote."""


def same_text(pairs: Sequence[Pair]) -> list[bool]:
    """All False: answers that differ as text are different answers."""
    return [False] * len(pairs)


def same_to(task: Task) -> SameAnswers:
    """Compare answers with the task's verifier, or as text if the task can't compare them.

    If the second answer of a pair can't be read as a reference, the first one is the reference.
    """
    if not isinstance(task, ComparesAnswers):
        return same_text

    def judged(pairs: Sequence[Pair]) -> dict[Pair, bool | None]:
        verdicts = judge_many(task.verifier(), [task.posed(*pair) for pair in pairs])
        return {pair: verdict.correct for pair, verdict in zip(pairs, verdicts, strict=True)}

    def same(pairs: Sequence[Pair]) -> list[bool]:
        equal = judged(pairs)
        reverse = judged([pair[::-1] for pair in pairs if equal[pair] is None])
        return [bool(equal[pair] or reverse.get(pair[::-1])) for pair in pairs]

    return same


def ballots(problems: Sequence[Sequence[SampleRow]], same: SameAnswers) -> list[Ballot]:
    """The ballot of each problem, from its judged rows.

    All right completions vote for one answer, the reference. Wrong ones vote for their answer's
    text, and texts that are the `same` answer share their votes; a problem with nothing right is
    not compared, since its majority is wrong in any case. A completion without an answer in the
    requested form, or that ran out of time, has no vote.
    """
    right = [sum(bool(row.verdict.correct) for row in rows) for rows in problems]
    wrong = [Counter(_wrong_answers(rows)) for rows in problems]
    contested = {
        index: list(votes) for index, votes in enumerate(wrong) if right[index] and len(votes) > 1
    }
    representatives = _representatives(contested, same)
    result = []
    for index, (rows, correct, votes) in enumerate(zip(problems, right, wrong, strict=True)):
        chosen = representatives.get(index, {})
        sizes = Counter(chosen.get(answer, answer) for answer in votes.elements())
        by_size = tuple(sorted(sizes.values(), reverse=True))
        result.append(Ballot(correct, by_size, len(rows) - correct - votes.total()))
    return result


def _wrong_answers(rows: Sequence[SampleRow]) -> Iterator[str]:
    for row in rows:
        if row.verdict.failure == Failure.WRONG and row.verdict.answer is not None:
            yield row.verdict.answer.strip()


def _representatives(
    problems: Mapping[int, Sequence[str]], same: SameAnswers
) -> dict[int, dict[str, str]]:
    """For each problem, each of its answers with the first answer that is the same.

    Each round takes the first remaining answer of every problem and compares it with that
    problem's others. A round is one batch, in which no pair occurs twice.
    """
    chosen: dict[int, dict[str, str]] = {index: {} for index in problems}
    remaining = dict(problems)
    while remaining:
        pairs = sorted({(other, first) for first, *rest in remaining.values() for other in rest})
        equal = {pair for pair, is_same in zip(pairs, same(pairs), strict=True) if is_same}
        for index, (first, *rest) in remaining.items():
            alike = [other for other in rest if (other, first) in equal]
            chosen[index] |= dict.fromkeys([first, *alike], first)
        remaining = {
            index: left
            for index, answers in remaining.items()
            if (left := [answer for answer in answers if answer not in chosen[index]])
        }
    return chosen


def multi_sample_metrics(judged: Sequence[SampleRow], same: SameAnswers) -> dict[str, Metric]:
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


def _has_votes(judged: Sequence[SampleRow]) -> bool:
    """Whether maj@k means something: not if the verifier judges answers without naming them.

    If no completion has an answer, there is nothing to name, and the majority is wrong.
    """
    if any(row.verdict.answer is not None for row in judged):
        return True
    return all(row.verdict.failure not in (None, Failure.WRONG) for row in judged)


Counts = Sequence[tuple[int, int]]
"""For each problem, how many of its judged completions are right, and how many there are."""


def _over_choices(counts: Counts, most: int) -> Iterator[tuple[str, Metric]]:
    """The metrics of k completions that follow from how many are right."""
    for k in range(1, most + 1):
        yield f"pass@{k}", _metric_at_k(counts, k, partial(pass_at, k))
    for k in range(1, most + 1):
        yield f"pass^{k}", _metric_at_k(counts, k, partial(all_right, k))
    for k in dict.fromkeys([*(2**power for power in range(1, most.bit_length())), most]):
        for share in THRESHOLDS:
            yield f"g-pass@{k}_{share:g}", _metric_at_k(counts, k, partial(g_pass_at, k, share))
        yield f"mg-pass@{k}", _metric_at_k(counts, k, partial(mean_g_pass_at, k))


def _metric_at_k(counts: Counts, k: int, estimator: Callable[[int, int], float]) -> Metric:
    """`estimator` computes a problem's value from how many are right and how many there are."""
    enough = [(correct, count) for correct, count in counts if count >= k]
    return _metric([estimator(*one) for one in enough], k, [count for _, count in enough])


def _majority_at_k(votes: Sequence[Ballot], most: int) -> Iterator[tuple[str, Metric]]:
    by_problem = [majorities(*ballot) for ballot in votes]
    for k in range(1, most + 1):
        enough = [values for values in by_problem if len(values) >= k]
        yield f"maj@{k}", _metric([values[k - 1] for values in enough], k, list(map(len, enough)))


def _metric(values: Sequence[float], k: int, counts: Sequence[int]) -> Metric:
    """The mean over problems; n completions of a problem count for at most n / k trials of k."""
    low, high = interval_of_means(values, sum(counts) / k)
    return Metric(fmean(values), low, high, len(values))
