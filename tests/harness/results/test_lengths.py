from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.rates import Lengths, lengths_by_outcome, read_outcomes
from tests.harness.results.making import row


def lengths(rows: list[CompletionRow]) -> dict[str, Lengths]:
    return lengths_by_outcome(rows, read_outcomes(rows))


def test_each_completion_has_one_outcome_and_all_are_together() -> None:
    rows = [
        row(1, None, completion_tokens=10),
        row(2, None, completion_tokens=30),
        row(3, "wrong", completion_tokens=20),
        row(4, None, completion_tokens=64, finish_reason="length"),
        row(5, "truncated", completion_tokens=64, finish_reason="length"),
        row(6, "error", completion_tokens=5),
        row(7, "error", completion_tokens=None, finish_reason="error"),
    ]
    found = lengths(rows)
    assert {name: of.count for name, of in found.items()} == {
        "all": 6,
        "right": 2,
        "wrong": 1,
        "truncated": 2,
        "unjudged": 1,
    }
    assert found["right"] == Lengths(20.0, 20.0, 30.0, 30, 2)


def test_without_token_counts_there_are_none() -> None:
    assert lengths([row(1, None, completion_tokens=None)]) == {}


@given(st.lists(st.integers(0, 50), min_size=1))
def test_lengths_are_those_of_the_completions_in_order(tokens: list[int]) -> None:
    rows = [row(place, None, completion_tokens=count) for place, count in enumerate(tokens)]
    ordered = sorted(tokens)
    assert lengths(rows)["all"] == Lengths(
        statistics.fmean(tokens),
        statistics.median(tokens),
        ordered[-(-95 * len(tokens) // 100) - 1],
        max(tokens),
        len(tokens),
    )


def test_thinking_has_lengths_of_its_own() -> None:
    rows = [
        row(1, None, completion_tokens=10, thinking_tokens=6),
        row(2, "wrong", completion_tokens=20, thinking_tokens=16),
        row(3, "wrong", completion_tokens=4),
    ]
    assert lengths(rows)["thinking"] == Lengths(11.0, 11.0, 16.0, 16, 2)
