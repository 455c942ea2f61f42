from __future__ import annotations

from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.at_k import pass_at


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_right_one(
    right: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(right)))
    expected = fmean(any(chosen) for chosen in combinations(right, k))
    assert pass_at(k, sum(right), len(right)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "correct", "count", "expected"),
    [
        (1, 0, 8, 0.0),
        (1, 2, 8, 0.25),
        (8, 1, 8, 1.0),
        (4, 5, 8, 1.0),
        (100, 3, 10_000, 1 - comb(9_997, 100) / comb(10_000, 100)),
        (5_000, 1, 10_000, 0.5),
    ],
)
def test_pass_at_k_is_exact_at_the_edges_and_for_many_samples(
    k: int, correct: int, count: int, expected: float
) -> None:
    assert pass_at(k, correct, count) == pytest.approx(expected, rel=1e-9, abs=1e-12)
