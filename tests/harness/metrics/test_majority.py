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

from rewardkit.harness.metrics.at_k import majorities


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
    assert found == pytest.approx(expected, abs=1e-12)


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
    found = majorities(tuple(range(1, len(expected) + 1)), right, wrong, silent)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_hundred_samples_of_two_answers_are_counted_exactly() -> None:
    found = majorities(tuple(range(1, 101)), 60, (40,), 0)
    for k in range(1, 101):
        ways = [comb(60, votes) * comb(40, k - votes) for votes in range(k + 1)]
        more = sum(ways[k // 2 + 1 :]) + (Fraction(ways[k // 2], 2) if k % 2 == 0 else 0)
        exact = float(Fraction(more) / comb(100, k))
        assert found[k - 1] == pytest.approx(exact, abs=1e-12)


def exactly(ks: Sequence[int], correct: int, wrong: Sequence[int], silent: int) -> list[float]:
    """maj@k from the numbers of choices, which are counted one wrong answer after another."""
    count = correct + sum(wrong) + silent
    won = [Fraction()] * (count + 1)
    for votes in range(1, correct + 1):
        ways: Counter[tuple[int, int]] = Counter()  # by completions chosen and ties
        for chosen in range(silent + 1):
            ways[votes + chosen, 0] = comb(correct, votes) * comb(silent, chosen)
        for size in wrong:
            grown: Counter[tuple[int, int]] = Counter()
            for (chosen, ties), number in ways.items():
                for more in range(min(size, votes) + 1):
                    grown[chosen + more, ties + (more == votes)] += number * comb(size, more)
            ways = grown
        for (chosen, ties), number in ways.items():
            won[chosen] += Fraction(number, ties + 1)
    return [float(won[k] / comb(count, k)) for k in ks]


@pytest.mark.parametrize(
    ("correct", "wrong", "silent"),
    [(20, (18, 9, 9, 3, 1, 1, 1), 2), (3, (1,) * 20, 9), (50, (4, 4, 4), 2), (1, (29, 2), 0)],
)
def test_many_answers_are_counted_as_exact_integers_count_them(
    correct: int, wrong: tuple[int, ...], silent: int
) -> None:
    ks = tuple(range(1, correct + sum(wrong) + silent + 1))
    assert majorities(ks, correct, wrong, silent) == pytest.approx(
        exactly(ks, correct, wrong, silent), abs=1e-12
    )


@pytest.mark.parametrize("correct", [40, 900, 1001, 1900])
def test_thousands_of_samples_are_counted_exactly(correct: int) -> None:
    ks = (1, 2, 7, 16, 128, 1024, 1999)
    expected = []
    for k in ks:
        ways = [comb(correct, votes) * comb(2000 - correct, k - votes) for votes in range(k + 1)]
        more = sum(ways[k // 2 + 1 :]) + (Fraction(ways[k // 2], 2) if k % 2 == 0 else 0)
        expected.append(float(Fraction(more) / comb(2000, k)))
    found = majorities(ks, correct, (2000 - correct,), 0)
    assert found == pytest.approx(expected, abs=1e-11)
