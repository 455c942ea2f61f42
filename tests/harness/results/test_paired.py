from __future__ import annotations

import itertools
import math
import random
from statistics import fmean

import pytest
import scipy.stats  # noqa: F401  # its import would count in the first example's time
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.metric import (
    SHARES,
    difference,
    holm,
    mcnemar,
    paired_interval,
    permutation,
)

SIDES = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1)


# the mean of min(1, x + 0.05) − x over Beta(1, 1.5), where P(X > x) = (1 − x)^1.5: 0.05 less what
# is cut off, the integral of P(X > x) from 0.95 to 1
GAINED = 0.05 - 0.05**2.5 / 2.5


def singles(values: list[float]) -> list[list[float]]:
    return [[value] for value in values]


@given(SIDES)
def test_mcnemar_counts_the_coin_tosses_at_least_as_lopsided(
    sides: list[tuple[float, float]],
) -> None:
    won = sum(old < new for old, new in sides)
    lost = sum(old > new for old, new in sides)
    tosses = won + lost
    lopsided = [
        k for k in range(tosses + 1) if math.comb(tosses, k) <= math.comb(tosses, min(won, lost))
    ]
    expected = sum(math.comb(tosses, k) for k in lopsided) / 2**tosses
    assert mcnemar(*zip(*sides, strict=True)) == pytest.approx(expected)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=2, max_size=8))
def test_a_permutation_test_tries_every_exchange(pairs: list[tuple[float, float]]) -> None:
    changes = [new - old for old, new in pairs]
    seen = abs(fmean(changes))
    means = [
        abs(fmean(sign * change for sign, change in zip(signs, changes, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(changes))
    ]
    expected = fmean(mean >= seen - 1e-12 for mean in means)
    before, after = zip(*pairs, strict=True)
    assert permutation(list(before), list(after)) == pytest.approx(expected)


def test_many_problems_give_the_same_figure_twice() -> None:
    draw = random.Random(5).random
    before, after = [draw() for _ in range(300)], [draw() for _ in range(300)]
    assert permutation(before, after) == permutation(before, after)


@given(SIDES)
def test_exchanging_the_runs_turns_the_difference_round(
    sides: list[tuple[float, float]],
) -> None:
    before, after = (singles(list(values)) for values in zip(*sides, strict=True))
    one, other = (difference(old, new, SHARES) for old, new in ((before, after), (after, before)))
    assert one.value == pytest.approx(-other.value)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p_value == pytest.approx(other.p_value)
    assert -1 <= one.low <= one.value <= one.high <= 1


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.9], [1.0, 1.0]),
    ],
    ids=["none", "one is itself", "the smallest counts most", "never above 1"],
)
def test_holm_adjusts_in_order(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@pytest.mark.parametrize("test", ["McNemar, exact", "paired permutation"])
def test_the_test_is_mcnemars_only_for_one_right_or_wrong_completion_each(test: str) -> None:
    values = [[0.0], [1.0], [1.0]] if test.startswith("McNemar") else [[0.0, 1.0], [1.0], [0.5]]
    assert difference(values, values, SHARES).test == test


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 4])
def test_the_interval_covers_the_true_difference_at_its_nominal_rate(samples: int) -> None:
    """400 pairs of runs over 150 problems of varying difficulty; a share between 92% and 98.5%."""
    draw = random.Random(samples)
    covered = 0
    for _ in range(400):
        easy = [draw.betavariate(1.0, 1.5) for _ in range(150)]
        better = [min(1.0, ease + 0.05) for ease in easy]
        before = [[float(draw.random() < ease) for _ in range(samples)] for ease in easy]
        after = [[float(draw.random() < ease) for _ in range(samples)] for ease in better]
        low, high = paired_interval(before, after)
        covered += low <= GAINED <= high
    assert 0.92 <= covered / 400 <= 0.985
