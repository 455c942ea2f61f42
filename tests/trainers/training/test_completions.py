"""The completions that `rewardkit train` keeps, and `rewardkit score` of its folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rewardkit.harness.results.rollouts import COMPLETIONS, read_groups
from rewardkit.trainers import train
from tests.support.commands import run_command

pytestmark = pytest.mark.engines

REPOSITORY = Path(__file__).parents[3]
VERSION_0_2 = REPOSITORY / "tests" / "fixtures" / "version_0_2_0" / "trained"
SETTINGS: dict[str, object] = {
    "prompt": "motion_short",
    "num_generations": 4,
    "per_device_train_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "max_steps": 2,
    "save_steps": 1,
    "evaluation.every": 0,
    "learning_rate": 1e-4,
}


def learn(folder: Path, *, resume: bool = False, **settings: object) -> Path:
    model = str(REPOSITORY / "examples" / "motion-tiny")
    train("motion", model=model, settings=SETTINGS | settings, output_dir=folder, resume=resume)
    return folder


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that logs every tenth step, as the recipe says, and ends before."""
    return learn(tmp_path_factory.mktemp("learnt") / "out")


def figures(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run_command("score", *arguments, "--json", "--quiet") == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)["tasks"]
    return values


def test_every_completion_is_kept_between_two_logs(learnt: Path) -> None:
    groups = list(read_groups(learnt / COMPLETIONS))
    assert [len(group) for group in groups] == [4] * 4
    for row in (row for group in groups for row in group):
        assert {"id", "points", "targets", "reference"} <= row.columns.keys()
        assert row.rewards.keys() == {"accuracy", "format"}
        assert row.verdicts["motion"].correct is not None


def test_its_completions_are_scored_with_a_task_or_a_verifier(
    learnt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for group in read_groups(learnt / COMPLETIONS) for row in group]
    recorded = sum(row.verdicts["motion"].correct is True for row in rows) / len(rows)
    scored = figures(capsys, learnt, "--task", "motion")["motion"]
    assert (scored["completions"], scored["metrics"]["accuracy"]["value"]) == (16, recorded)
    other = figures(capsys, learnt, "--verifier", "motion_format")["motion_format"]
    assert other["completions"] == 16
    (file,) = (learnt / COMPLETIONS).iterdir()
    assert figures(capsys, file, "--task", "motion") == {"motion": scored}
    earlier = figures(capsys, VERSION_0_2, "--task", "motion")["motion"]
    assert earlier["completions"] == 16


def test_a_training_needs_a_task_or_a_verifier_to_be_scored(
    learnt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("score", learnt) == 2
    assert "--task NAME, --verifier NAME" in capsys.readouterr().err


def test_a_resumed_training_writes_the_later_steps_again(tmp_path: Path) -> None:
    folder = learn(tmp_path / "out", logging_steps=1)
    before = list(read_groups(folder / COMPLETIONS))
    assert [group[0].step for group in before] == [1, 1, 2, 2]
    shutil.rmtree(folder / "final")
    learn(folder, logging_steps=1, resume=True)  # no step is left
    assert list(read_groups(folder / COMPLETIONS)) == before
    shutil.rmtree(folder / "checkpoint-2")
    learn(folder, logging_steps=1, log_completions=False, resume=True)
    assert list(read_groups(folder / COMPLETIONS)) == before[:2]
