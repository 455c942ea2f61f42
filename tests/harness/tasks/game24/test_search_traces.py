"""Search traces: every step is right, and the length is as requested."""

from __future__ import annotations

import pytest

from rewardkit.harness.tasks.game24 import MOST_ATTEMPTS, solvable
from rewardkit.harness.tasks.game24 import game24_search_trace as search_trace
from rewardkit.records import Sample
from rewardkit.verifiers.game24 import game24


@pytest.mark.parametrize("attempts", [0, 1, 5, MOST_ATTEMPTS])
def test_a_trace_is_right_in_every_step(attempts: int) -> None:
    for hand in solvable()[::97]:
        trace = search_trace(hand, seed=7, attempts=attempts)
        verdict = game24(trace, Sample(" ".join(map(str, hand))))
        assert verdict.correct is True, hand
        assert verdict.parts["outcome"] == verdict.parts["process"] == 1.0, hand


def test_lengths_reach_where_the_length_score_falls() -> None:
    scores = [
        game24(search_trace(hand, seed=hand[0]), Sample(" ".join(map(str, hand)))).parts["length"]
        for hand in solvable()[::10]
    ]
    assert min(scores) < 0.5 < 0.95 < max(scores)


def test_the_seed_decides_the_trace() -> None:
    hand = (1, 7, 7, 10)
    assert search_trace(hand, seed=1, attempts=3) == search_trace(hand, seed=1, attempts=3)
    assert search_trace(hand, seed=1, attempts=3) != search_trace(hand, seed=2, attempts=3)


def test_a_failed_attempt_says_so_and_goes_back() -> None:
    trace = search_trace((3, 3, 8, 8), seed=1, attempts=4)
    assert trace.count("Back to 3 3 8 8.") >= 2


def test_a_hand_without_a_solution_is_refused() -> None:
    with pytest.raises(ValueError, match="can't make 24"):
        search_trace((1, 1, 1, 1), seed=0)
