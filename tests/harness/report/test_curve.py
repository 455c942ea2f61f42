from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.harness.report.curve import CurvePoint, draw_curve

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


def test_the_rewards_of_a_training_have_a_panel_of_their_own(tmp_path: Path) -> None:
    plain, rewarded = tmp_path / "a.png", tmp_path / "b.png"
    points = [point(0, accuracy=0.1), point(10, accuracy=0.2)]
    draw_curve(points, plain)
    draw_curve(points, rewarded, {"reward": [(1, 0.5), (2, 0.7)], "length": [(1, 1.0), (2, 0.4)]})
    heights = [int.from_bytes(path.read_bytes()[20:24], "big") for path in (plain, rewarded)]
    assert heights[1] == 2 * heights[0]
