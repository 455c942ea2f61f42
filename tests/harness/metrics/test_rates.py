from __future__ import annotations

import pytest

from rewardkit.harness.metrics.rates import rates
from tests.harness.metrics.making import Row, row


def flexible(correct: bool | None) -> dict[str, object]:
    return {"flexible": {"correct": correct, "answer": None}}


def values(rows: list[Row]) -> dict[str, float]:
    return {name: metric.value for name, metric in rates(rows).items()}


def test_the_gap_is_what_only_the_flexible_reading_finds_right() -> None:
    rows = [
        row(1, None, **flexible(True)),
        row(2, "format", **flexible(True)),
        row(3, "format", **flexible(True)),
        row(4, "no_answer", **flexible(None)),
    ]
    found = rates(rows)
    assert found["flexible_gap"].value == 0.5
    assert found["flexible_gap"].value == pytest.approx(
        found["accuracy_flexible"].value - found["accuracy"].value
    )
    assert (found["flexible_gap"].low, found["flexible_gap"].high) == pytest.approx(
        (0.1500, 0.8500), abs=1e-4
    )


def test_a_task_without_a_flexible_reading_has_no_gap() -> None:
    assert not {"accuracy_flexible", "flexible_gap"} & set(rates([row(1, None)]))


def test_finished_and_cut_off_completions_are_told_apart() -> None:
    rows = [
        row(1, None),
        row(2, "wrong"),
        row(3, "truncated", finish_reason="length"),
        row(4, None, finish_reason="length"),
        row(5, "wrong", completion="<think>so", answer="7"),
    ]
    found = values(rows)
    assert found["accuracy_finished"] == 0.5
    assert found["accuracy_truncated"] == pytest.approx(1 / 3)
    assert found["unfinished_rate"] == 0.6
    assert found["error_rate"] == 0.4
    assert found["accuracy"] + found["error_rate"] + 1 / 5 == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rows", "absent"),
    [
        ([row(1, None)], ["accuracy_finished", "accuracy_truncated"]),
        ([row(1, None, finish_reason="length")], ["accuracy_finished"]),
        ([row(1, "error")], ["accuracy", "score", "format_rate"]),
    ],
)
def test_a_rate_over_nothing_is_left_out(rows: list[Row], absent: list[str]) -> None:
    assert not set(absent) & set(rates(rows))


def test_unjudged_completions_count_among_all_and_not_among_the_wrong() -> None:
    found = values([row(1, "error"), row(2, "wrong")])
    assert (found["accuracy"], found["error_rate"], found["unfinished_rate"]) == (0.0, 0.5, 0.0)
