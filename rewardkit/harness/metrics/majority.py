"""maj@k: how likely the majority of k completions is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import comb, lcm
from typing import Any

Polynomial = Any  # flint.fmpz_poly, which has no annotations


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


def _won(votes: int, rivals: Mapping[int, int], shares: int) -> Polynomial:
    """Count the choices, with `votes` right answers, in which no wrong answer has more votes.

    `rivals` maps the sizes of wrong answers, each at least `votes`, to how many are that large. A
    choice in which t of them have `votes` counts `shares` / (t + 1).
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
