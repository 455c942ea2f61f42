"""Completions of a problem are counted wherever they are in the file."""

from __future__ import annotations

import pytest

from rewardkit.harness.scoring.score import Numbering


@pytest.mark.parametrize(
    ("ids", "each", "firsts"),
    [
        (["0", "1", "2"], 1, [0, 0, 0]),
        (["a", "a", "b", "a"], 1, [0, 1, 0, 2]),
        (["a", "b", "a", "b"], 2, [0, 0, 2, 2]),
        (["0", "1", "0", "1", "0"], 1, [0, 0, 1, 1, 2]),
        (["2", "2", "2", "2"], 1, [0, 1, 2, 3]),
        (["1", "1", "2", "01", "1"], 1, [0, 1, 0, 0, 2]),
        (["٣", "³", "3", "9" * 30, "9" * 30], 1, [0, 0, 0, 0, 1]),
    ],
)
def test_each_completion_of_an_id_has_an_index_of_its_own(
    ids: list[str], each: int, firsts: list[int]
) -> None:
    numbering = Numbering()
    assert [numbering.first(identifier, each) for identifier in ids] == firsts
