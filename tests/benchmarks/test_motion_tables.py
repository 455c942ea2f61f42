from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_command

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "motion_tables.py"


def published(start: float, speed: float, *errors: float, printed: float = 0.0) -> dict[str, Any]:
    """A published row: the targets on a line, and predictions off by the errors."""
    target = [round(start + speed * step, 1) for step in range(5)]
    predicted = [round(point + error, 1) for point, error in zip(target, errors, strict=True)]
    return {"predicted": predicted, "target": target, "printed_error": printed}


def test_published_predictions_are_judged_compared_and_reported_beside_the_printed_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {
        "in_distribution": [
            published(10, 1.5, 0, 0, 0, 0, 0),
            published(5, 0.5, 0, 0, 0.1, 0.1, 0.3, printed=0.3),
        ],
        "out_of_distribution": [
            published(12, 2.5, 0, 0, 0, 0, 1, printed=0.2),
            published(20, 3, 0, -0.1, 0, 0, 0, printed=0.02),
        ],
    }
    file = tmp_path / "tables.json"
    file.write_text(json.dumps(tables))
    main = runpy.run_path(str(SCRIPT))["main"]
    main.__globals__["rewardkit"] = run_command
    main(file, tmp_path / "out")
    output = capsys.readouterr().out
    assert "| in-02 | 5.0, 5.5, 6.0, 6.5, 7.0 | 5.0, 5.5, 6.1, 6.6, 7.3 | 0.10 | 0.30 |" in output
    assert "in_distribution: mean 0.050, printed 0.150; 1 of 2 agree" in output
    assert "out_of_distribution: mean 0.110, printed 0.110; 2 of 2 agree" in output
    assert "motion: MSE (lower is better) on 4 problems" in output
    assert "Predictions beside truth" in (tmp_path / "out" / "report.html").read_text()
    summary = json.loads((tmp_path / "out" / "mean_speed" / "summary.json").read_text())
    assert summary["tasks"]["motion"]["metrics"]["accuracy"]["value"] == 1.0
