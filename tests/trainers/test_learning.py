"""The shipped warm start learns by its recipe, and evaluation sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import rewardkit
from rewardkit.harness.results.comparison import compare
from rewardkit.trainers import TrainingResult, train
from tests.support.commands import run_command
from tests.trainers.conftest import DRAW_CURVE, write_points

pytestmark = pytest.mark.engines

MOTION_TINY = Path(__file__).parents[2] / "examples" / "motion-tiny"
TASK = rewardkit.load_task("motion", test=10)
SETTINGS = {
    "prompt": "motion_short",
    "learning_rate": 1e-4,
    "num_generations": 8,
    "per_device_train_batch_size": 64,
    "gradient_accumulation_steps": 1,
}
"""What docs/guides/train.md sets over the recipe, but for the steps."""


def accuracies(model: Path, folder: Path) -> dict[str, float]:
    """Greedy, of motions in and out of the distribution trained on."""
    summary = rewardkit.evaluate(
        TASK,
        str(model),
        prompt="motion_short",
        backend="transformers",
        seed=1,
        output_dir=str(folder),
    )
    groups = summary.tasks["motion"].groups["distribution"]
    return {name: metric.value for name, metric in groups.items()}


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    """A few steps by the recipe."""
    settings = {
        **SETTINGS,
        "max_steps": 5,
        "logging_steps": 1,
        "log_completions": True,
        "num_completions_to_print": 1,  # to lay out 64 takes as long as a step
        "evaluation.every": 5,
        "evaluation.limit": 4,
    }
    output = str(tmp_path_factory.mktemp("learnt"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DRAW_CURVE, write_points)
        return train("motion", model=str(MOTION_TINY), output_dir=output, seed=0, settings=settings)


def test_a_few_steps_correct_the_mistakes_of_the_demonstrations(
    learnt: TrainingResult, tmp_path: Path
) -> None:
    before = accuracies(MOTION_TINY, tmp_path / "before")
    assert max(before.values()) <= 0.1
    after = accuracies(learnt.final, tmp_path / "after")
    assert min(after.values()) >= 0.5, after
    (compared,) = compare(tmp_path / "before", [tmp_path / "after"])
    assert compared.difference.low > 0.3
    assert (learnt.output_dir / "eval_curve.png").stat().st_size


def test_the_reward_that_trl_logs_is_the_score_of_its_completions(
    learnt: TrainingResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the warm start, whose rewards vary: mean reward = (5 + 1) × mean score, to 1e-6."""
    log = json.loads((learnt.output_dir / "train_log.json").read_text())
    logged = next(entry["logs"] for entry in log if "reward" in entry["logs"])
    table = min((learnt.output_dir / "completions").glob("*.parquet"))
    samples = TASK.load(data=None, split="train", seed=0)
    columns = {sample.question: sample.columns for sample in samples}
    rows = [
        {
            **{name: columns[points(row["prompt"])][name] for name in ("points", "targets")},
            "completion": row["completion"][-1]["content"],
        }
        for row in pyarrow.parquet.read_table(table).to_pylist()
    ]
    file = tmp_path / "completions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    capsys.readouterr()
    assert run_command("score", file, "--task", "motion", "--json") == 0
    metrics: dict[str, Any] = json.loads(capsys.readouterr().out)["tasks"]["motion"]["metrics"]
    assert len(rows) == metrics["score"]["count"] == 64
    assert 0.1 < metrics["part_accuracy"]["value"] < 0.9
    assert logged["reward"] == pytest.approx(6 * metrics["score"]["value"], abs=1e-6)
    assert logged["motion/correct"] == pytest.approx(metrics["accuracy"]["value"])
    for part in ("accuracy", "format"):
        expected = metrics[f"part_{part}"]["value"]
        assert logged[f"rewards/{part}/mean"] == pytest.approx(expected, abs=1e-6)


def points(prompt: list[dict[str, str]]) -> str:
    """The points that a short prompt holds."""
    return prompt[-1]["content"].partition(" =>")[0]
