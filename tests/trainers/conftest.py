"""Training without drawing its curve, which takes longer than a few steps of a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

DRAW_CURVE = "rewardkit.trainers.evaluation.train_log.draw_curve"


def write_blank(points: object, path: Path, series: object) -> None:
    """Stand in for `draw_curve`."""
    path.write_bytes(b"a curve")


@pytest.fixture(autouse=True)
def blank_curve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the curve blank, except in tests that use `drawn_curve`."""
    if "drawn_curve" not in request.fixturenames:
        monkeypatch.setattr(DRAW_CURVE, write_blank)


@pytest.fixture
def drawn_curve() -> None:
    """Draw the curve."""
