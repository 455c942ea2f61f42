from __future__ import annotations

import math
from itertools import product
from statistics import fmean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.metric import seed_spread


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=3), min_size=1, max_size=4
    )
)
def test_the_spread_is_that_of_all_runs_that_draw_one_completion_a_problem(
    groups: list[list[float]],
) -> None:
    runs = [fmean(drawn) for drawn in product(*groups)]
    spread = seed_spread(groups)
    # every problem's variance is scaled to an unbiased one; alike sizes scale alike
    if len({len(group) for group in groups}) == 1:
        count = len(groups[0])
        expected = math.sqrt(pvariance(runs) * count / (count - 1))
        assert spread is not None
        assert spread.value == pytest.approx(expected, abs=1e-9)
        assert spread.low <= spread.value + 1e-9
        assert spread.value <= spread.high + 1e-9


def test_problems_with_one_completion_are_left_out() -> None:
    assert seed_spread([[1.0], [0.0]]) is None
    spread = seed_spread([[1.0, 0.0], [0.0]])
    assert spread is not None
    assert spread.count == 1
    assert spread.value == pytest.approx(math.sqrt(0.5))
