from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rewardkit.harness.report.curve import CurvePoint, draw_curve, draw_plot, task_plots
from rewardkit.harness.report.runs import TrainingSeries

pytestmark = pytest.mark.slow

PNG = b"\x89PNG\r\n\x1a\n"


def point(step: int, **values: float) -> CurvePoint:
    metrics = {
        name: {"value": value, "low": max(0.0, value - 0.1), "high": min(1.0, value + 0.1)}
        for name, value in values.items()
    }
    return CurvePoint(step, {"motion": metrics})


@pytest.mark.parametrize(
    "points",
    [
        [],
        [point(0, accuracy=0.0)],
        [point(20, accuracy=0.9, format_rate=1.0), point(0, accuracy=0.0, format_rate=0.7)],
    ],
    ids=["nothing yet", "one step", "several, out of order"],
)
def test_a_curve_is_a_picture_and_leaves_no_partial_file(
    points: list[CurvePoint], tmp_path: Path
) -> None:
    draw_curve(points, tmp_path / "eval_curve.png")
    assert [path.name for path in tmp_path.iterdir()] == ["eval_curve.png"]
    assert (tmp_path / "eval_curve.png").read_bytes().startswith(PNG)


def test_more_figures_make_another_picture(tmp_path: Path) -> None:
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    draw_curve([point(0, accuracy=0.1), point(10, accuracy=0.2)], first)
    draw_curve([point(0, accuracy=0.1), point(10, accuracy=0.9)], second)
    assert first.read_bytes() != second.read_bytes()


def size(path: Path) -> tuple[int, int]:
    header = path.read_bytes()
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")


Amounts = Mapping[str, Mapping[str, float | None]]
REWARDS = {"reward": [(1, 0.5), (2, 0.7)], "length": [(1, 1.0), (2, 0.4)]}
LOSS = [(1, 2.0), (2, 1.5)]
LENGTHS = {"motion": [3, 5, 9]}
AMOUNTS: Amounts = {
    "mse": {"value": None, "low": 0.0, "high": None},
    "mae": {"value": 0.0, "low": 0.0, "high": None},
    "error_6": {"value": 2.5, "low": 0.1, "high": 9.0},
}


@pytest.mark.parametrize(
    ("training", "lengths", "amounts", "columns", "rows"),
    [
        (TrainingSeries(), {}, {}, 1, 1),
        (TrainingSeries(), LENGTHS, {}, 2, 1),
        (TrainingSeries(), {}, AMOUNTS, 2, 1),
        (TrainingSeries(REWARDS), {}, {}, 1, 2),
        (TrainingSeries({}, LOSS), {}, {}, 1, 2),
        (TrainingSeries(REWARDS, LOSS), {}, {}, 2, 2),
        (TrainingSeries(REWARDS, LOSS), LENGTHS, AMOUNTS, 3, 2),
    ],
    ids=["rates", "lengths", "amounts", "rewards", "loss", "rewards and loss", "all"],
)
def test_each_series_has_a_panel_of_its_own(
    training: TrainingSeries,
    lengths: dict[str, list[float]],
    amounts: Amounts,
    columns: int,
    rows: int,
    tmp_path: Path,
) -> None:
    one, curve = tmp_path / "one.png", tmp_path / "curve.png"
    points = [point(0, accuracy=0.1), point(10, accuracy=0.2)]
    draw_curve(points, one)
    own = {"motion": amounts}
    more = [replace(point, lengths=lengths, amounts=own) for point in points]
    draw_curve(more, curve, training)
    assert size(curve) == (columns * size(one)[0], rows * size(one)[1])


@pytest.mark.parametrize(
    ("steps", "drawn"),
    [(0, []), (2, [0, 1]), (6, [0, 1, 2, 3, 4, 5]), (11, [0, 2, 4, 6, 8, 10])],
)
def test_lengths_are_drawn_of_some_checkpoints_from_first_to_last(
    steps: int, drawn: list[int]
) -> None:
    points = [replace(point(step), lengths={"motion": [1, 2]}) for step in range(steps)]
    series = [plot.series for plot in task_plots("motion", points) if "tokens" in plot.x_label]
    assert [name for own in series for name in own] == [f"step {step}" for step in drawn]


def test_amounts_of_every_size_are_drawn_and_those_beyond_numbers_left_out() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    amounts = {0: AMOUNTS, 10: {**AMOUNTS, "mse": AMOUNTS["error_6"]}}
    points = [CurvePoint(step, {}, amounts={"motion": own}) for step, own in amounts.items()]
    *_, plot = task_plots("motion", points)
    draw_plot(plot, axes)
    drawn = {line.get_label(): np.asarray(line.get_xydata()).tolist() for line in axes.lines}
    assert drawn == {
        "MSE": [[10, 2.5]],
        "MAE": [[0, 0.0], [10, 0.0]],
        "error 6": [[0, 2.5], [10, 2.5]],
    }
    assert axes.get_yscale() == "symlog"
