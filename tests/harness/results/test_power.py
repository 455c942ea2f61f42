from __future__ import annotations

import random
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.metric import (
    SHARES,
    detectable,
    needed_problems,
    paired_variance,
    pilot_variance,
)


@given(st.floats(0.01, 2), st.floats(0.005, 0.9))
def test_the_problems_that_are_needed_are_the_fewest_that_find_the_difference(
    variance: float, difference: float
) -> None:
    count = needed_problems(variance, difference)
    assert detectable(variance, count) <= difference * (1 + 1e-9)
    if count > 1:
        assert min(1.0, difference) <= detectable(variance, count - 1) * (1 + 1e-9)


def test_a_difference_of_this_size_is_found_in_four_of_five_comparisons() -> None:
    draw = random.Random(3)
    problems, completions = 2_000, 4
    truth = [(rate, min(1.0, rate + 0.1)) for rate in (draw.random() for _ in range(problems))]

    def sampled(side: int) -> list[list[float]]:
        return [[float(draw.random() < rates[side]) for _ in range(completions)] for rates in truth]

    variance = paired_variance(sampled(0), sampled(1), SHARES)
    difference = fmean(after - before for before, after in truth)
    count = needed_problems(variance, difference)
    found = 0
    for _ in range(400):
        changes = []
        for before, after in draw.choices(truth, k=count):
            old, new = (
                fmean(draw.random() < rate for _ in range(completions)) for rate in (before, after)
            )
            changes.append(new - old)
        error = stdev(changes) / len(changes) ** 0.5
        found += abs(fmean(changes)) / error > NormalDist().inv_cdf(0.975)
    assert 0.72 < found / 400 < 0.88


def test_another_run_of_other_problems_doubles_the_variance_of_one() -> None:
    assert pilot_variance([[0.0], [1.0]] * 50, SHARES) == pytest.approx(0.5)


def test_runs_that_agree_by_chance_are_not_taken_for_noiseless() -> None:
    groups = [[1.0], [0.0]] * 5
    assert detectable(paired_variance(groups, groups, SHARES), 10) > 0.2
