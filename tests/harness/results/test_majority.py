from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rewardkit.harness.results.at_k import majorities

DRAWN = 0.1  # six standard errors of a mean over a thousand drawn choices


def elected(votes: Sequence[object]) -> float:
    """How right the majority of votes is; "right" is the right answer, None no vote."""
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return 0.0
    leading = [vote for vote in counts if counts[vote] == max(counts.values())]
    return ("right" in leading) / len(leading)


@settings(deadline=None)  # a loaded machine takes longer over 2 ** 10 choices
@given(st.integers(0, 4), st.lists(st.integers(1, 3), max_size=4), st.integers(0, 2))
def test_maj_at_k_is_the_mean_over_all_choices(right: int, wrong: list[int], silent: int) -> None:
    assume(1 <= right + sum(wrong) + silent <= 10)
    votes: list[object] = ["right"] * right + [None] * silent
    votes += [index for index, count in enumerate(wrong) for _ in range(count)]
    ks = tuple(range(1, len(votes) + 1))
    expected = [fmean(map(elected, combinations(votes, k))) for k in ks]
    found = majorities(ks, right, tuple(wrong), silent)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("correct", [40, 900, 1001, 1900])
def test_thousands_of_samples(correct: int) -> None:
    ks = (1, 2, 7, 16, 128, 1024, 1999)
    expected = []
    for k in ks:
        ways = [comb(correct, votes) * comb(2000 - correct, k - votes) for votes in range(k + 1)]
        more = sum(ways[k // 2 + 1 :]) + (Fraction(ways[k // 2], 2) if k % 2 == 0 else 0)
        expected.append(float(Fraction(more) / comb(2000, k)))
    found = majorities(ks, correct, (2000 - correct,), 0)
    assert found == pytest.approx(expected, abs=DRAWN)


def test_the_same_votes_give_the_same_figures() -> None:
    first = majorities((1, 2, 3, 9), 4, (3, 2), 0)
    majorities.cache_clear()
    assert majorities((1, 2, 3, 9), 4, (3, 2), 0) == first
