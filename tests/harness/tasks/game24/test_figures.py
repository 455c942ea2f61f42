from __future__ import annotations

from typing import Any

import pytest

from rewardkit.harness.results.figures import Plot, Table
from rewardkit.harness.tasks.game24 import game24_figures
from tests.harness.results.making import row

THREE_STEPS = "4 * 7 = 28\n8 / 8 = 1\n28 - 1 = 27\nAnswer: 4 * 7 - 8 / 8"
ROWS = [
    row(1, None, completion=THREE_STEPS, completion_tokens=30),
    row(2, "wrong", completion=THREE_STEPS, completion_tokens=31),
    row(3, "no_answer", completion="no", completion_tokens=2),
    row(
        4, "truncated", completion="1 + 1 = 2\n" * 30, completion_tokens=99, finish_reason="length"
    ),
    row(5, "wrong", completion="Answer: 5", completion_tokens=99, finish_reason="length"),
    row(6, "error", completion="", completion_tokens=None, finish_reason="error"),
]


def table(title: str) -> Table:
    found = [one for one in game24_figures(ROWS) if isinstance(one, Table) and one.title == title]
    return found[0]


def test_right_unfinished_and_wrong_add_up_to_one() -> None:
    rows: dict[Any, Any] = {line[0]: tuple(line[1:]) for line in table("Outcomes").rows}
    assert rows == {"accuracy": (1, 0.2), "unfinished rate": (1, 0.2), "wrong rate": (3, 0.6)}
    assert sum(share for _, share in rows.values()) == pytest.approx(1.0)


def test_every_completion_counts_once_in_the_histogram_of_tokens() -> None:
    (plot,) = [one for one in game24_figures(ROWS) if isinstance(one, Plot)]
    heights = {name: sum(point[1] for point in points) for name, points in plot.series.items()}
    assert heights == {"right": 1, "truncated": 2, "wrong": 2}
    assert plot.series["truncated"][-1] == (97.5, 2.0)
    assert plot.series["right"][6] == (32.5, 1.0)


def test_without_judged_rows_there_are_no_figures() -> None:
    assert game24_figures([row(1, "error")]) == []
