from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.figures import Bars, Figure, Plot, Table
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.harness.tasks.motion.task_figures import motion_figures
from rewardkit.verifiers.motion import render_points
from tests.harness.results.making import row

TRUE = (1.0, 2.0, 3.0, 4.0, 5.0)


def reply(
    identifier: str, predicted: Sequence[float] | None, where: str = "in", **more: Any
) -> CompletionRow:
    answer = None if predicted is None else render_points(predicted)
    failure = more.pop("failure", "no_answer" if predicted is None else None)
    columns = {"distribution": where, "points": [-4.0, -3.0, -2.0, -1.0, 0.0]}
    return row(
        identifier,
        failure,
        answer=answer,
        reference=render_points(TRUE),
        columns=columns,
        **more,
    )


def off_by(error: float) -> list[float]:
    return [point + error for point in TRUE]


def cells(figures: Sequence[Figure], title: str) -> dict[object, list[object]]:
    table = next(one for one in figures if isinstance(one, Table) and one.title == title)
    return {line[0]: list(line[1:]) for line in table.rows}


def plots(figures: Sequence[Figure]) -> list[Plot]:
    return [one for one in figures if isinstance(one, Plot)]


def test_both_distributions_are_shown_side_by_side() -> None:
    figures = motion_figures(
        [
            reply("a", off_by(0.125)),
            reply("b", off_by(-0.0625)),
            reply("c", off_by(0.5), "out", failure="wrong"),
            reply("d", off_by(0.1), "out"),
        ]
    )
    found = cells(figures, "Errors")
    assert isinstance(figures[0], Table)
    assert figures[0].columns == ["", "in distribution", "out of distribution"]
    assert found["completions"] == [2, 2]
    assert found["MSE"] == pytest.approx([(0.125**2 + 0.0625**2) / 2, (0.25 + 0.01) / 2])
    assert found["MAE"] == pytest.approx([0.09375, 0.3])
    assert found["within 0.2"] == [1.0, 0.5]
    assert found["within 0.1"] == [0.5, 0.0]
    assert found["failed: wrong"] == [0, 1]


def test_errors_have_an_interval_and_with_several_completions_a_spread_between_seeds() -> None:
    single = [reply("a", off_by(0.1)), reply("b", off_by(0.2)), reply("c", off_by(9), "out")]
    found = cells(motion_figures(single), "Errors")
    low, high = (float(end) for end in str(found["MAE, 95% interval"][0]).split(" – "))
    assert 0 < low < 0.15 < high
    assert found["MAE, 95% interval"][1] == "0 – inf"  # of one problem
    assert "MAE, seed spread" not in found
    found = cells(
        motion_figures([*single, reply("a", off_by(0.3)), reply("b", off_by(0.2))]), "Errors"
    )
    spread, alone = found["MAE, seed spread"]
    assert spread == pytest.approx(math.sqrt((0.02 + 0) / 2 / 2))  # variances 0.02 and 0
    assert alone is None


def test_baselines_predict_the_same_problems() -> None:
    found = cells(motion_figures([reply("a", off_by(9)), reply("b", None, "out")]), "Baselines")
    assert found["MAE, the last point"] == [3.0, 3.0]
    assert found["within 0.2, the last point"] == [0.0, 0.0]
    for name in ("a line", "a parabola"):
        assert found[f"MAE, {name}"] == [pytest.approx(0.0), pytest.approx(0.0)]
        assert found[f"within 0.2, {name}"] == [1.0, 1.0]


def test_a_parabola_fits_accelerated_points_in_a_plane() -> None:
    task = MotionTask(kind="accelerated", dimensions=2, noise=0.0)
    samples = task.load(data=None, split="test", seed=0)
    rows = [
        row(
            one.id,
            None,
            answer=one.reference,
            reference=one.reference,
            columns={**one.columns, "distribution": "in"},
        )
        for one in samples
    ]
    found = cells(motion_figures(rows), "Baselines")
    errors = [found[f"MAE, {name}"][0] for name in ("a parabola", "a line", "the last point")]
    assert errors == sorted(errors, key=float)  # type: ignore[arg-type]


def test_replies_without_five_points_are_counted_apart_from_the_errors() -> None:
    figures = motion_figures(
        [
            reply("a", off_by(0.125)),
            reply("b", off_by(9.0)[:4], failure="format"),
            reply("c", None),
            reply("d", off_by(9.0), failure="error"),
        ]
    )
    found = cells(figures, "Errors")
    assert (found["completions"], found["with 5 points"]) == ([4], [1])
    assert found["MAE"] == pytest.approx([0.125])
    assert found["within 0.2"] == pytest.approx([1 / 3])


def test_errors_are_shown_at_each_position() -> None:
    figures = motion_figures([reply("a", [1.0, 2.1, 3.2, 4.3, 5.4]), reply("b", list(TRUE))])
    found = cells(figures, "Mean absolute error by position")
    assert {place: line[0] for place, line in found.items()} == pytest.approx(
        {6: 0.0, 7: 0.05, 8: 0.1, 9: 0.15, 10: 0.2}
    )
    drawn = plots(figures)[0].series["in distribution"]
    assert [point[0] for point in drawn] == [6, 7, 8, 9, 10]


def test_errors_have_bars_with_intervals_over_the_problems() -> None:
    rows = [reply(str(place), off_by(place / 10)) for place in range(1, 9)]
    mse, mae = [one for one in motion_figures(rows) if isinstance(one, Bars)]
    assert (mse.title, mae.title) == ("MSE (lower is better)", "MAE (lower is better)")
    bar = mae.bars["in distribution"]
    assert bar.value == pytest.approx(0.45)
    assert 0 < bar.low < bar.value < bar.high < 1
    drawn = plots(motion_figures(rows))[0].series["in distribution"]
    assert drawn[0] == pytest.approx((6.0, bar.value, bar.low, bar.high))


def test_completions_of_one_problem_count_as_one_error() -> None:
    rows = [reply("a", off_by(0.1), index=index) for index in range(3)]
    figures = motion_figures([*rows, reply("b", off_by(0.5))])
    assert cells(figures, "Errors")["MAE"] == pytest.approx([0.3])


def test_the_first_predictions_are_set_beside_the_truth() -> None:
    rows = [reply(f"p{place}", off_by(0.5)) for place in range(12, 0, -1)]
    rows += [reply("p2", off_by(9.0), index=1), reply("q", None, "out")]
    figures = motion_figures(rows)
    found = cells(figures, "Predictions beside truth, in distribution")
    assert list(found) == [f"p{place}" for place in range(1, 11)]
    assert found["p2"] == ["1.0, 2.0, 3.0, 4.0, 5.0", "1.5, 2.5, 3.5, 4.5, 5.5", 0.5]
    outside = cells(figures, "Predictions beside truth, out of distribution")
    assert outside["q"][1:] == ["none (no answer)", None]


def test_the_error_of_a_point_in_a_plane_is_the_mean_over_its_coordinates() -> None:
    true = "(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)"
    answer = "(1.0, 0.2), (2.0, 0.2), (3.0, 0.2), (4.0, 0.2), (5.0, 0.4)"
    figures = motion_figures([row("a", None, answer=answer, reference=true)])
    position = cells(figures, "Mean absolute error by position")
    assert [line[0] for line in position.values()] == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.2])


def test_without_any_prediction_only_the_failures_are_shown() -> None:
    figures = motion_figures([reply("a", None)])
    assert len(figures) == 1
    found = cells(figures, "Errors")
    assert (found["MSE"], found["failed: no answer"]) == ([None], [1])


def test_absurd_predictions_leave_plain_json() -> None:
    figures = motion_figures([reply("a", [1.7e308] * 5, failure="wrong"), reply("b", off_by(0.0))])
    text = json.dumps([figure.as_json() for figure in figures], allow_nan=False)
    assert "beyond measure" in text
