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

from rewardkit.harness.metrics.at_k import majority_at


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
    for k in range(1, len(votes) + 1):
        expected = fmean(elected(chosen) for chosen in combinations(votes, k))
        assert majority_at(k, right, tuple(wrong), silent) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("right", "wrong", "silent", "expected"),
    [
        (1, (), 0, [1.0]),
        (0, (2,), 1, [0.0, 0.0, 0.0]),
        (1, (1,), 0, [0.5, 0.5]),
        (2, (1,), 0, [2 / 3, 2 / 3, 1.0]),
        (1, (2,), 0, [1 / 3, 1 / 3, 0.0]),
        (1, (1, 1), 0, [1 / 3, 1 / 3, 1 / 3]),
        (1, (), 3, [0.25, 0.5, 0.75, 1.0]),
        (0, (), 2, [0.0, 0.0]),
    ],
)
def test_ties_are_shared_and_no_answer_is_no_vote(
    right: int, wrong: tuple[int, ...], silent: int, expected: list[float]
) -> None:
    found = [majority_at(k, right, wrong, silent) for k in range(1, len(expected) + 1)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_hundred_samples_of_two_answers_are_counted_exactly() -> None:
    for k in range(1, 101):
        ways = [comb(60, votes) * comb(40, k - votes) for votes in range(k + 1)]
        more = sum(ways[k // 2 + 1 :]) + (Fraction(ways[k // 2], 2) if k % 2 == 0 else 0)
        exact = float(Fraction(more) / comb(100, k))
        assert majority_at(k, 60, (40,), 0) == pytest.approx(exact, abs=1e-12)
