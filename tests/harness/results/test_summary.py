from __future__ import annotations

import json
import random
from dataclasses import asdict, replace

import pytest

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.figures import Figure, Table
from rewardkit.harness.results.summary import summarise, summarise_task, summarise_tasks
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.registry import installed
from tests.harness.results.making import problem, row

MATH500 = installed().task("math500")


def leveled(identifier: int, failure: str | None, **more: object) -> CompletionRow:
    return row(
        identifier,
        failure,
        completion_tokens=identifier,
        columns={"level": identifier % 2},
        parts={"form": 0.5},
        flexible={"correct": failure in (None, "format"), "answer": None},
        **more,
    )


ROWS = [
    leveled(1, None),
    leveled(2, "wrong"),
    leveled(3, "format"),
    leveled(4, "truncated", finish_reason="length"),
    leveled(5, "error"),
]


def test_unjudged_completions_are_counted_and_left_out_of_means() -> None:
    summary = summarise(ROWS, ("level",))
    assert (summary.completions, summary.judged, summary.unjudged, summary.truncated) == (
        5,
        4,
        1,
        1,
    )
    assert summary.metrics["accuracy"].value == 0.25
    assert summary.failures == {"error": 1, "format": 1, "truncated": 1, "wrong": 1}
    levels = {name: figure.value for name, figure in summary.groups["level"].items()}
    assert levels == {"0": 0.0, "1": 0.5}


def test_each_failure_names_rows_of_up_to_three_problems() -> None:
    rows = [row(name, "wrong", index=index) for name in "dcba" for index in range(2)]
    rows.append(row("e", "format"))
    assert summarise(rows).examples == {
        "format": ["t/e/0"],
        "wrong": ["t/a/0", "t/b/0", "t/c/0"],
    }


def test_the_order_of_rows_changes_no_byte() -> None:
    rows = [*ROWS, *problem("x", "1/2", "7", "0.5", None, right=2), *problem("y", "7", right=1)]
    expected = json.dumps(summarise_task(MATH500, rows).as_json())
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert json.dumps(summarise_task(MATH500, rows).as_json()) == expected


def test_a_tasks_verifier_counts_its_votes() -> None:
    rows = problem("a", "1/2", "0.5", right=1)
    assert summarise(rows).metrics["maj@3"].value == pytest.approx(1 / 3)
    assert summarise_task(MATH500, rows).metrics["maj@3"].value == 0.0


def test_a_tasks_figures_are_plain_values_in_the_summary() -> None:
    task = MotionTask()
    points = "(1.0), (2.0), (3.0), (4.0), (5.0)"
    one = row(1, None, answer=points, reference=points, columns={"distribution": "in"})
    summary = summarise_task(task, [one])
    plain = json.loads(json.dumps(summary.as_json()))
    kinds = [figure["kind"] for figure in plain["figures"]]
    assert kinds == ["table", "table", "plot", "bars", "bars", "table", "table"]
    assert plain["figures"][0]["columns"] == ["", "in distribution"]
    assert plain["metrics"]["accuracy"] == asdict(summary.metrics["accuracy"])


class Broken(MotionTask):
    def figures(self, rows: object) -> list[Figure]:
        raise KeyError("speed")


def test_a_fault_in_a_tasks_figures_is_shown_and_costs_nothing_else() -> None:
    summary = summarise_task(Broken(), [row(1, None)])
    assert summary.metrics["accuracy"].value == 1.0
    (table,) = summary.figures
    assert isinstance(table, Table)
    assert "'motion' failed" in table.title
    assert table.rows == (("KeyError: 'speed'",),)


def test_a_runs_recorded_groups_go_before_the_tasks_own() -> None:
    rows = [replace(one, task="math500") for one in ROWS]
    tasks = {"math500": MATH500}
    assert set(summarise_tasks(rows, tasks)["math500"].groups) == {"level", "subject"}
    assert set(summarise_tasks(rows, tasks, {"math500": ["level"]})["math500"].groups) == {"level"}
    assert summarise_tasks(rows, {})["math500"].groups == {}
