from __future__ import annotations

import random
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.metrics.metric import (
    SHARES,
    Noise,
    detectable,
    needed_completions,
    needed_problems,
    paired_noise,
    pilot_noise,
)


@given(st.floats(0.01, 2), st.floats(0.005, 0.9))
def test_the_problems_that_are_needed_are_the_fewest_that_find_the_difference(
    variance: float, difference: float
) -> None:
    count = needed_problems(variance, difference)
    assert detectable(variance, count) <= difference * (1 + 1e-9)
    if count > 1:
        assert min(1.0, difference) <= detectable(variance, count - 1) * (1 + 1e-9)


@given(st.floats(0, 1), st.floats(0.01, 1), st.floats(0.01, 0.5), st.integers(1, 2000))
def test_the_completions_that_are_needed_are_the_fewest_that_find_the_difference(
    between: float, sampling: float, difference: float, problems: int
) -> None:
    noise = Noise(between, sampling)
    count = needed_completions(noise, difference, problems)
    if count is None:
        assert detectable(noise.variance(1e12), problems) >= difference * (1 - 1e-6)
        return
    assert detectable(noise.variance(count), problems) <= difference * (1 + 1e-9)
    if count > 1:
        assert detectable(noise.variance(count - 1), problems) >= difference * (1 - 1e-9)


def test_a_difference_of_this_size_is_found_in_four_of_five_comparisons() -> None:
    draw = random.Random(3)
    problems, completions = 2_000, 4
    truth = [(rate, min(1.0, rate + 0.1)) for rate in (draw.random() for _ in range(problems))]

    def sampled(side: int) -> list[list[float]]:
        return [[float(draw.random() < rates[side]) for _ in range(completions)] for rates in truth]

    noise = paired_noise(sampled(0), sampled(1), SHARES)
    difference = fmean(after - before for before, after in truth)
    count = needed_problems(noise.variance(completions), difference)
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


def test_more_completions_lessen_only_the_noise_of_sampling() -> None:
    groups = [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]] * 10
    noise = pilot_noise(groups, SHARES)
    assert noise.sampling == pytest.approx(2 * 0.25)
    assert noise.variance(1e9) == pytest.approx(noise.between)
    assert noise.variance(1) == pytest.approx(noise.between + 0.5)


def test_one_completion_a_problem_tells_the_whole_noise_only() -> None:
    groups = [[0.0], [1.0]] * 50
    assert pilot_noise(groups, SHARES).sampling is None
    assert pilot_noise(groups, SHARES).between == pytest.approx(0.5)
    assert needed_completions(pilot_noise(groups, SHARES), 0.01, 100) is None


def test_runs_that_agree_by_chance_are_not_taken_for_noiseless() -> None:
    assert (
        detectable(paired_noise([[1.0], [0.0]] * 5, [[1.0], [0.0]] * 5, SHARES).variance(1), 10)
        > 0.2
    )
