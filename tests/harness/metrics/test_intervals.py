from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rewardkit.harness.metrics.intervals import clustered, wilson


@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_equals_scipys(count: int, share: float) -> None:
    hits = round(share * count)
    expected = stats.binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson(hits / count, count) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_none_of_two_hundred_is_not_surely_zero() -> None:
    low, high = wilson(0.0, 200)
    assert low == 0.0
    assert high == pytest.approx(0.0188, abs=1e-4)


def test_samples_of_one_problem_are_no_independent_trials() -> None:
    alike = [[1.0] * 8] * 10 + [[0.0] * 8] * 10
    low, high = clustered(alike)
    assert (low, high) == pytest.approx(wilson(0.5, 20), abs=1e-9)
    single_low, single_high = wilson(0.5, 160)
    assert high - low > 2 * (single_high - single_low)


def test_the_interval_covers_at_about_its_rate() -> None:
    draw = random.Random(1)
    covered = 0
    for _ in range(400):
        chances = [draw.betavariate(1, 2) for _ in range(60)]
        groups = [[float(draw.random() < chance) for _ in range(4)] for chance in chances]
        low, high = clustered(groups)
        covered += low <= 1 / 3 <= high
    assert 0.92 <= covered / 400 <= 0.98
