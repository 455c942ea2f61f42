"""maj@k: how likely the majority of k completions is right."""

from __future__ import annotations

from functools import lru_cache
from math import comb, lcm


@lru_cache(maxsize=10_000)
def majorities(correct: int, wrong: tuple[int, ...], silent: int) -> tuple[float, ...]:
    """maj@k for k = 1 … n: the expected correctness of the majority's answer among k completions.

    Of a problem's n completions, `correct` give the right answer, `wrong[i]` the i-th wrong one,
    `silent` none, and these don't vote. Taken is the mean over all C(n, k) choices of k, exactly:
    in each, the answer with the most votes is the majority's, and t answers tied with the right
    one share its 1 as 1 / (t + 1); without a vote it is 0. Majority voting: X. Wang et al.,
    Self-Consistency Improves Chain of Thought Reasoning, arXiv:2203.11171 (2022).

    Counted by the number v of right answers among the k. The choices in which no wrong answer has
    more than v votes, t have v, are the coefficients in x of

        C(correct, v) x^v · (1 + x)^silent · Π_i (Σ_{j<v} C(wrong_i, j) x^j + C(wrong_i, v) x^v y)

    at y^t. A polynomial is kept as its value at a power of two beyond every coefficient, from
    whose digits they are read (Kronecker's substitution): integers multiply faster than lists.
    """
    count = correct + sum(wrong) + silent
    shares = lcm(*range(1, len(wrong) + 2))
    digit = count + shares.bit_length() + 1
    x = 1 << digit
    total = sum(
        comb(correct, votes) * x**votes * (1 + x) ** silent * _won(votes, wrong, shares, x)
        for votes in range(1, correct + 1)
    )
    return tuple(
        (total >> (k * digit) & (x - 1)) / (shares * comb(count, k)) for k in range(1, count + 1)
    )


def _won(votes: int, wrong: tuple[int, ...], shares: int, x: int) -> int:
    """The choices from the wrong answers in which none has more than `votes`; each counts for
    `shares` / (t + 1), where t of them have as many."""
    tied = [1]  # by how many tie, the polynomial in x
    for size in wrong:
        if size < votes:
            below, equal = (1 + x) ** size, 0
        else:
            below = sum(comb(size, chosen) * x**chosen for chosen in range(votes))
            equal = comb(size, votes) * x**votes
        grown = [one * below for one in tied]
        if equal:
            grown.append(0)
            for index, one in enumerate(tied):
                grown[index + 1] += one * equal
        tied = grown
    return sum(shares // (ties + 1) * ways for ties, ways in enumerate(tied))
