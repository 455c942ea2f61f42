"""Training without drawing its curve, which takes longer than a few steps of a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

DRAW_CURVE = "rewardkit.trainers.evaluation.train_log.draw_curve"


def write_points(points: object, path: Path, series: object) -> None:
    """Stand in for `draw_curve`: write what it would draw."""
    path.write_text(repr((points, series)), encoding="utf-8")


@pytest.fixture(autouse=True)
def undrawn_curve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what the curve would show, except in tests that use `drawn_curve`."""
    if "drawn_curve" not in request.fixturenames:
        monkeypatch.setattr(DRAW_CURVE, write_points)


@pytest.fixture
def drawn_curve() -> None:
    """Draw the curve."""
