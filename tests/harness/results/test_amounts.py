from __future__ import annotations

import math
import random
from statistics import fmean

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.metric import LARGEST, amount_interval, paired_amount_interval

AMOUNTS = st.lists(st.floats(0, 1e9), min_size=2, max_size=30)


def singles(values: list[float]) -> list[list[float]]:
    return [[value] for value in values]


@given(AMOUNTS)
def test_the_interval_of_a_mean_is_around_it_and_never_below_0(values: list[float]) -> None:
    low, high = amount_interval(singles(values))
    mean = fmean(values)
    assert 0 <= low <= mean * (1 + 1e-9)
    assert mean * (1 - 1e-9) <= high < math.inf
    assert low * high == pytest.approx(mean * mean)


@given(AMOUNTS)
def test_the_interval_of_a_difference_is_students_of_the_problems_differences(
    values: list[float],
) -> None:
    moved = [value * 1.5 + 1 for value in values]
    changes = [new - old for old, new in zip(values, moved, strict=True)]
    low, high = paired_amount_interval(singles(values), singles(moved))
    error = scipy.stats.sem(changes)
    reach = float(scipy.stats.t.ppf(0.975, len(values) - 1)) * error
    assert (low, high) == pytest.approx((fmean(changes) - reach, fmean(changes) + reach))


def test_completions_of_a_problem_count_as_one_value() -> None:
    assert amount_interval([[1.0, 3.0], [4.0]]) == pytest.approx(amount_interval([[2.0], [4.0]]))
    assert paired_amount_interval([[1.0, 3.0], [4.0]], [[1.0], [5.0]]) == pytest.approx(
        paired_amount_interval([[2.0], [4.0]], [[1.0], [5.0]])
    )


def test_one_problem_bounds_nothing_and_the_largest_amounts_do_not_overflow() -> None:
    assert amount_interval([[2.0, 3.0]]) == (0.0, math.inf)
    assert paired_amount_interval([[2.0]], [[3.0]]) == (-math.inf, math.inf)
    assert amount_interval([[0.0], [0.0]]) == (0.0, 0.0)
    assert all(map(math.isfinite, amount_interval([[0.0], [LARGEST]])))
    assert all(map(math.isfinite, paired_amount_interval([[0.0], [LARGEST]], [[LARGEST], [0.0]])))


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_intervals_cover_at_about_their_nominal_rate(ratio: float) -> None:
    """600 pairs of runs over 30 problems with squared errors: a share of at least 91%."""
    draw = random.Random(7)
    covered = [0, 0]
    for _ in range(600):
        before = [draw.gauss(0, 1) ** 2 for _ in range(30)]
        after = [ratio * draw.gauss(0, 1) ** 2 for _ in range(30)]
        intervals = (
            amount_interval(singles(before)),
            paired_amount_interval(singles(before), singles(after)),
        )
        for place, (true, (low, high)) in enumerate(zip((1.0, ratio - 1), intervals, strict=True)):
            covered[place] += low <= true <= high
    assert all(0.91 <= count / 600 <= 0.985 for count in covered)
