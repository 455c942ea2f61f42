"""The guide's example of Ray Data judges a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.namespaces import in_namespace

pytestmark = pytest.mark.engines


def test_the_example_of_the_guide_judges_every_row(tmp_path: Path) -> None:
    source, target = tmp_path / "solutions", tmp_path / "judged"
    source.mkdir()
    rows = [{"completion": f"\\boxed{{{n % 3}}}", "reference": "1"} for n in range(1200)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    source.joinpath("rows.jsonl").write_text(text)
    script = Path(__file__).with_name("judge_in_ray_data.py")
    done = in_namespace("bash", "-c", f"ip link set lo up && python {script} {source} {target}")
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet

    scores = pyarrow.parquet.read_table(target).column("score").to_pylist()
    assert len(scores) == len(rows)
    assert scores.count(1.0) == 400
    assert scores.count(0.0) == 800
