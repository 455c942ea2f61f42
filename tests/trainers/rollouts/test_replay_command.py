"""`rewardkit score` of a training's folder, and the trainings that `rewardkit train` keeps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.store.rollouts import ROLLOUTS, read_batches, read_record
from rewardkit.trainers import replay, train
from tests.support.commands import run_command

pytestmark = pytest.mark.engines

MOTION_TINY = Path(__file__).parents[3] / "examples" / "motion-tiny"
SETTINGS: dict[str, object] = {
    "prompt": "motion_short",
    "num_generations": 4,
    "per_device_train_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "max_steps": 2,
    "evaluation.every": 0,
    "learning_rate": 1e-4,
}


def learn(folder: Path, **options: Any) -> Path:
    settings = SETTINGS | options.pop("settings", {})
    train("motion", model=str(MOTION_TINY), settings=settings, output_dir=str(folder), **options)
    return folder


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training by the recipe, whose completions earn different rewards."""
    return learn(tmp_path_factory.mktemp("learnt") / "out")


def figures(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run_command("score", *arguments, "--json", "--quiet") == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


def test_a_recipe_keeps_its_completions(learnt: Path) -> None:
    batches = list(read_batches(learnt / ROLLOUTS))
    assert [(batch[0].step, len(batch)) for batch in batches] == [(1, 8), (2, 8)]
    assert [reward.weight for reward in read_record(learnt / ROLLOUTS).rewards] == [5.0, 1.0]
    for row in batches[0]:
        assert row.verdicts is not None
        parts = row.verdicts["motion"].parts
        assert dict(row.rewards) == pytest.approx(dict(parts))
        assert row.reward == pytest.approx(5 * parts["accuracy"] + parts["format"])


def test_scoring_a_training_again_is_the_training(
    learnt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = figures(capsys, learnt)
    by_task = figures(capsys, learnt, "--task", "motion")
    assert again == by_task
    assert again["judged"] == again["reproduced"] == again["completions"] == 16
    assert again["changed_rewards"] == again["changed_signs"] == 0
    assert again["first_changed_sign"] is None


def test_other_weights_change_rewards_and_are_written(
    learnt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = ["--reward-weight", "accuracy=0", "--reward-weight", "format=1"]
    out = tmp_path / "other"
    assert run_command("score", learnt, *weights, "-o", out) == 0
    printed = capsys.readouterr().out
    assert "as recorded: accuracy, format" in printed
    written = json.loads((out / "replay.json").read_text())
    table = pyarrow.parquet.read_table(out / "replay.parquet").to_pylist()
    assert len(table) == written["completions"] == 16
    changed = [row for row in table if row["reward"] != row["recorded_reward"]]
    assert len(changed) == written["changed_rewards"] > 0
    assert sum(row["other_sign"] for row in table) == written["changed_signs"]
    for row in table:
        assert [row["reward"]] == [
            one["reward"] for one in row["rewards"] if one["name"] == "format"
        ]
    assert run_command("score", learnt, *weights, "-o", out) == 2


def test_another_verifier_judges_in_place_of_the_trainings(
    learnt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = figures(capsys, learnt / ROLLOUTS, "--verifier", "motion_format")
    assert other["rewards"] == ["motion_format"]
    assert other["recorded_rewards"] == ["accuracy", "format"]
    assert other["changed_rewards"] == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shard", "1/2"], "--shard has no effect on a training's folder"),
        (["--label-field", "x"], "--label-field has no effect on a training's folder"),
        (["--thinking", "keep"], "--thinking has no effect on a training's folder"),
        (["--task", "motion", "--verifier", "math"], "--task or --verifier, not both"),
        (["--task", "motion", "--verifier-arg", "x=1"], "add --verifier NAME"),
        (["--reference-field", "answer"], "needs --task or --verifier"),
        (["--reward-weight", "acuracy=1"], "did you mean 'accuracy'"),
        (["--reward-weight", "accuracy=high"], "accuracy=high isn't a number"),
        (["--reward-weight", "accuracy=true"], "accuracy=True isn't a number"),
    ],
)
def test_options_that_do_not_fit_are_errors(
    learnt: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run_command("score", learnt, *arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_weight_is_of_a_training_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text("{}\n")
    assert run_command("score", file, "--task", "gsm8k", "--reward-weight", "a=1") == 2
    assert "--reward-weight applies only to a training's folder" in capsys.readouterr().err


def test_a_recipe_resumes_without_doubled_rows_and_may_keep_less(tmp_path: Path) -> None:
    settings = {"save_strategy": "steps", "save_steps": 1}
    learn(tmp_path, settings=settings)
    learn(tmp_path, settings=settings | {"max_steps": 3}, resume=True, rollouts=0.5)
    batches = list(read_batches(tmp_path / ROLLOUTS))
    assert [batch[0].step for batch in batches] == [1, 2, 3]
    assert replay(tmp_path).reproduced == 24
    assert all(row.has_text for batch in batches[:2] for row in batch)
    shutil.rmtree(tmp_path / "checkpoint-3")
    learn(tmp_path, settings=settings | {"max_steps": 3}, resume=True, rollouts=0.0)
    assert [batch[0].step for batch in read_batches(tmp_path / ROLLOUTS)] == [1, 2]


def test_share_0_keeps_nothing_and_sft_has_no_rollouts(tmp_path: Path) -> None:
    learn(tmp_path, settings={"max_steps": 1}, rollouts=0.0)
    assert not (tmp_path / ROLLOUTS).exists()
    with pytest.raises(UsageError, match=r"has no \[rollouts\]"):
        train("game24-sft", model=str(MOTION_TINY), output_dir=str(tmp_path / "s"), rollouts=0.5)
