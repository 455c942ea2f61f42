from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.at_k import THRESHOLDS, all_right, g_pass_at, mean_g_pass_at

COMPLETIONS = st.lists(st.booleans(), min_size=1, max_size=9)


def share_of_choices(right: list[bool], k: int, holds: Callable[[int], bool]) -> float:
    """How many choices of k completions have a number of right ones for which `holds`."""
    return fmean(holds(sum(chosen)) for chosen in combinations(right, k))


@given(COMPLETIONS, st.data())
def test_pass_hat_k_is_the_share_of_choices_that_are_all_right(
    right: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(right)))
    expected = share_of_choices(right, k, lambda count: count == k)
    assert all_right(k, sum(right), len(right)) == pytest.approx(expected, abs=1e-12)


@given(COMPLETIONS, st.sampled_from(THRESHOLDS), st.data())
def test_g_pass_is_the_share_of_choices_with_enough_right_ones(
    right: list[bool], threshold: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(right)))
    expected = share_of_choices(right, k, lambda count: count >= max(1, threshold * k))
    assert g_pass_at(k, threshold, sum(right), len(right)) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.booleans(), min_size=2, max_size=9), st.data())
def test_the_mean_of_g_pass_is_over_the_thresholds_above_a_half(
    right: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(2, len(right)))
    first = (k + 1) // 2 + 1
    expected = fmean(
        fmean(sum(chosen) >= needed for chosen in combinations(right, k))
        for needed in range(first, k + 1)
    )
    assert mean_g_pass_at(k, sum(right), len(right)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.25, 1.0), (0.5, 65 / 70), (0.75, 35 / 70), (1.0, 5 / 70)]
)
def test_four_of_eight_with_five_right(threshold: float, expected: float) -> None:
    assert g_pass_at(4, threshold, 5, 8) == pytest.approx(expected, abs=1e-12)


def test_a_threshold_is_a_decimal_number_not_the_nearest_float() -> None:
    assert g_pass_at(10, 0.7, 7, 10) == 1.0  # 0.7 * 10 as floats is above 7
