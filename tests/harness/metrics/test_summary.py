from __future__ import annotations

import random
from typing import Any

import pytest

from rewardkit.harness.metrics.summary import summarise


def row(identifier: int, failure: str | None, **more: Any) -> dict[str, Any]:
    correct = None if failure == "error" else failure is None
    verdict = {
        "correct": correct,
        "score": None if correct is None else float(correct),
        "failure": failure,
        "parts": {} if correct is None else {"form": 0.5},
    }
    return {
        "key": f"t/{identifier}/0",
        "id": str(identifier),
        "index": 0,
        "finish_reason": "stop",
        "completion_tokens": identifier,
        "columns": {"level": identifier % 2},
        "verdict": verdict,
        "flexible": {"correct": correct or failure == "format"},
        **more,
    }


ROWS = [
    row(1, None),
    row(2, "wrong"),
    row(3, "format"),
    row(4, "truncated", finish_reason="length"),
    row(5, "error"),
]


def test_unjudged_completions_are_counted_and_left_out_of_means() -> None:
    summary = summarise(ROWS, ("level",))
    assert (summary.completions, summary.judged, summary.errors, summary.truncated) == (5, 4, 1, 1)
    values = {name: figure.value for name, figure in summary.metrics.items()}
    assert values == pytest.approx(
        {
            "accuracy": 0.25,
            "accuracy_flexible": 0.5,
            "flexible_gap": 0.25,
            "score": 0.25,
            "format_rate": 0.5,
            "unfinished_rate": 0.2,
            "error_rate": 0.4,
            "accuracy_finished": 1 / 3,
            "accuracy_truncated": 0.0,
            "part_form": 0.5,
        }
    )
    assert summary.failures == {"error": 1, "format": 1, "truncated": 1, "wrong": 1}
    levels = {name: figure.value for name, figure in summary.groups["level"].items()}
    assert levels == {"0": 0.0, "1": 0.5}


def test_lengths_are_of_all_completions() -> None:
    lengths = summarise(ROWS).lengths["all"]
    assert (lengths.mean, lengths.median, lengths.p95, lengths.maximum) == (3, 3, 5, 5)


def test_the_order_of_rows_changes_nothing() -> None:
    shuffled = ROWS[:]
    random.Random(0).shuffle(shuffled)
    assert summarise(shuffled).as_json() == summarise(ROWS).as_json()


def test_all_unjudged_gives_no_mean() -> None:
    summary = summarise([row(1, "error")])
    assert "accuracy" not in summary.metrics
    assert summary.errors == 1


def test_problems_weigh_alike_however_many_completions_they_have() -> None:
    rows = [row(1, None), *(row(2, "wrong", index=index) for index in range(3))]
    assert summarise(rows).metrics["accuracy"].value == 0.5
