"""Folders that rewardkit 0.2.0 wrote are read, resumed, scored, compared and reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rewardkit import evaluate
from rewardkit.errors import RunMismatch
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.results.comparison import compare
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScoreOutput, plan_scoring

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "tests" / "fixtures" / "version_0_2_0"
MODEL = ROOT / "examples" / "motion-tiny"
RUNS = sorted(path.parent.relative_to(FIXTURE) for path in FIXTURE.rglob("samples.jsonl"))
GSM8K = {"data": "gsm.jsonl", "backend": "transformers", "max_tokens": 8}


class Generations(Reporter):
    """Counts the rows that are generated again."""

    def __init__(self) -> None:
        self.rows = 0

    def written(self, rows: Any) -> None:
        self.rows += len(rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the fixture, the model beside it as when it was made, as working folder."""
    copy = tmp_path / "copy"
    shutil.copytree(FIXTURE, copy)
    (copy / "model").symlink_to(MODEL)
    monkeypatch.chdir(copy)
    return copy


def samples(folder: Path) -> bytes:
    return (folder / "samples.jsonl").read_bytes()


def keys(folder: Path) -> list[str]:
    return sorted(json.loads(line)["key"] for line in samples(folder).splitlines())


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_rows_keep_all_that_they_hold(run: Path) -> None:
    lines = [json.loads(line) for line in samples(FIXTURE / run).splitlines()]
    rows = RunFolder(FIXTURE / run).rows()
    assert [rows[line["key"]].as_json() for line in lines] == lines


@pytest.mark.engines
@pytest.mark.parametrize(
    ("run", "options"),
    [
        ("whole", {"task": "motion", "prompt": "motion_short", "limit": 4, "output_dir": "whole"}),
        ("runs/gsm8k-model-fdd25860", {"task": "gsm8k", **GSM8K}),
        ("sweep/cot", {"task": "gsm8k", **GSM8K, "prompt": "cot", "output_dir": "sweep/cot"}),
        (
            "sweep/direct",
            {"task": "gsm8k", **GSM8K, "prompt": "direct", "output_dir": "sweep/direct"},
        ),
    ],
)
def test_a_run_resumes_where_it_was(folder: Path, run: str, options: dict[str, Any]) -> None:
    options = {"backend": "transformers", "model": "model", **options}
    whole, summary = samples(folder / run), json.loads((folder / run / "summary.json").read_text())
    generations = Generations()
    result = evaluate(reporter=generations, **options)
    assert result.output_dir.resolve() == (folder / run).resolve()
    assert (generations.rows, samples(folder / run)) == (0, whole)
    assert result.as_json()["tasks"].keys() == summary["tasks"].keys()
    cut = whole.splitlines(keepends=True)
    (folder / run / "samples.jsonl").write_bytes(b"".join(cut[:-1]) + cut[-1][:30])
    evaluate(reporter=generations, **options)
    assert generations.rows == 1
    assert keys(folder / run) == keys(FIXTURE / run)


@pytest.mark.engines
def test_another_prompt_is_refused(folder: Path) -> None:
    with pytest.raises(RunMismatch, match=r"motion\.prompt"):
        evaluate(
            "motion",
            "model",
            prompt="motion",
            backend="transformers",
            limit=4,
            output_dir="whole",
        )


@pytest.mark.engines
def test_a_sweep_finds_its_runs(folder: Path) -> None:
    generations = Generations()
    runs = evaluate(
        "gsm8k",
        "model",
        prompt=["direct", "cot"],
        reporter=generations,
        output_dir="sweep",
        data="gsm.jsonl",
        backend="transformers",
        max_tokens=8,
    )
    assert [(run.label, run.error) for run in runs] == [("direct", None), ("cot", None)]
    assert generations.rows == 0


def test_all_are_reported_on_one_page(folder: Path) -> None:
    shown = render_runs([folder / run for run in RUNS], folder / "page.html")
    assert len(shown) == len(RUNS)


def test_prompts_are_compared(folder: Path) -> None:
    (found,) = compare(folder / "sweep" / "direct", [folder / "sweep" / "cot"])
    assert found.problems == 3


@pytest.mark.parametrize("run", ["whole", "scored", "sweep/cot"])
def test_a_run_is_scored_again_without_a_flip(folder: Path, run: str) -> None:
    plan = plan_scoring([folder / run], output=ScoreOutput(output_dir=folder / "again"))
    agreement = score(plan, Reporter()).agreement
    assert agreement.compared == len(keys(folder / run))
    assert agreement.differing == 0
    assert keys(folder / "again") == keys(folder / run)
