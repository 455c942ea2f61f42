from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rewardkit.harness.results.at_k import pass_at
from rewardkit.harness.results.metric import (
    clustered_interval,
    interval_of_means,
    pooled_mean,
    wilson,
)


@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_equals_scipys(count: int, share: float) -> None:
    hits = round(share * count)
    expected = stats.binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson(hits / count, count) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_samples_of_one_problem_are_no_independent_trials() -> None:
    alike = [[1.0] * 8] * 10 + [[0.0] * 8] * 10
    low, high = clustered_interval(alike)
    assert (low, high) == pytest.approx(wilson(0.5, 20), abs=1e-9)
    single_low, single_high = wilson(0.5, 160)
    assert high - low > 2 * (single_high - single_low)


def test_a_pooled_mean_weighs_every_value_and_takes_groups_as_trials() -> None:
    alike = [[1.0] * 8] * 10 + [[0.0] * 8] * 10
    assert pooled_mean(alike).value == 0.5
    pooled = pooled_mean(alike)
    assert (pooled.low, pooled.high) == pytest.approx(clustered_interval(alike), abs=1e-9)
    assert pooled_mean([[1.0], [0.0, 0.0, 1.0, 1.0]]).value == 0.6


def test_the_interval_of_a_pooled_mean_covers_at_about_its_rate() -> None:
    """Of 1,000 runs over 50 groups of 1 to 3 values, in which larger groups are harder."""
    draw = random.Random(4)
    chances = {1: (2, 1), 2: (1, 1), 3: (1, 2)}
    truth = (1 * 2 / 3 + 2 * 1 / 2 + 3 * 1 / 3) / 6
    covered = 0
    for _ in range(1000):
        groups = []
        for _ in range(50):
            size = draw.randint(1, 3)
            chance = draw.betavariate(*chances[size])
            groups.append([float(draw.random() < chance) for _ in range(size)])
        pooled = pooled_mean(groups)
        covered += pooled.low <= truth <= pooled.high
    assert 0.925 <= covered / 1000 <= 0.975


def test_values_that_do_not_differ_still_leave_doubt() -> None:
    low, high = interval_of_means([0.5] * 20, 20)
    assert (low, high) == pytest.approx(wilson(0.5, 20), abs=1e-9)


def test_graded_scores_may_be_worth_more_than_shares() -> None:
    low, high = clustered_interval([[0.4], [0.5], [0.6]] * 20)
    assert wilson(0.5, 60)[0] < low < 0.5 < high < wilson(0.5, 60)[1]


@pytest.mark.parametrize(
    ("samples", "k"),
    [(1, 1), (8, 1), (8, 2), (8, 8)],
    ids=["accuracy, one sample", "accuracy, eight that go together", "pass@2", "pass@8"],
)
def test_an_interval_covers_what_it_estimates_at_about_its_rate(samples: int, k: int) -> None:
    """Of 1,000 runs over 50 problems, whose chances of a right sample are drawn from Beta(1/2, 1):
    95% within 2.5 points, which is 3.6 standard errors."""
    draw = random.Random(1)
    truth = 1 - math.prod((1 + i) / (1.5 + i) for i in range(k))
    covered = 0
    for _ in range(1000):
        right = [
            [draw.random() < chance for _ in range(samples)]
            for chance in (draw.betavariate(0.5, 1) for _ in range(50))
        ]
        if k == 1:
            low, high = clustered_interval([[float(one) for one in group] for group in right])
        else:
            low, high = interval_of_means(
                [pass_at(k, sum(group), samples) for group in right], 50 * samples / k
            )
        covered += low <= truth <= high
    assert abs(covered / 1000 - 0.95) <= 0.025


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_one_sample_a_problem_has_wilsons_own_interval(right: list[bool]) -> None:
    rate = sum(right) / len(right)
    assert clustered_interval([[float(one)] for one in right]) == pytest.approx(
        wilson(rate, len(right)), abs=1e-9
    )
