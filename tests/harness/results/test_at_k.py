"""pass@k, pass^k and G-Pass@k are shares of the choices of k completions."""

from __future__ import annotations

from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.at_k import (
    THRESHOLDS,
    all_right,
    g_pass_at,
    mean_g_pass_at,
    pass_at,
)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_each_is_the_share_of_choices_with_enough_right_ones(
    right: list[bool], data: st.DataObject
) -> None:
    k, correct, count = data.draw(st.integers(1, len(right))), sum(right), len(right)
    drawn = [sum(chosen) for chosen in combinations(right, k)]

    def share(needed: float) -> object:
        return pytest.approx(fmean(number >= needed for number in drawn), abs=1e-12)

    assert pass_at(k, correct, count) == share(1)
    assert all_right(k, correct, count) == share(k)
    for threshold in THRESHOLDS:
        assert g_pass_at(k, threshold, correct, count) == share(max(1, threshold * k))
    above_half = range((k + 1) // 2 + 1, k + 1)
    if k > 1:
        expected = fmean(fmean(number >= needed for number in drawn) for needed in above_half)
        assert mean_g_pass_at(k, correct, count) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "correct", "count", "expected"),
    [
        (4, 5, 8, 1.0),
        (100, 3, 10_000, 1 - comb(9_997, 100) / comb(10_000, 100)),
        (5_000, 1, 10_000, 0.5),
    ],
)
def test_pass_at_k_is_exact_for_many_samples(
    k: int, correct: int, count: int, expected: float
) -> None:
    assert pass_at(k, correct, count) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_threshold_is_a_decimal_number_not_the_nearest_float() -> None:
    assert g_pass_at(10, 0.7, 7, 10) == 1.0  # 0.7 * 10 as floats is above 7
