"""A training that rewardkit 0.2.0 began is resumed, or refused with its settings named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rewardkit import registry
from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.trainers import train

pytestmark = pytest.mark.engines

REPOSITORY = Path(__file__).parents[3]
TRAINED = REPOSITORY / "tests" / "fixtures" / "version_0_2_0" / "trained"
MODEL = str(REPOSITORY / "examples" / "motion-tiny")

SETTINGS: Mapping[str, object] = {
    "prompt": "motion_short",
    "learning_rate": 1e-4,
    "max_steps": 2,
    "num_generations": 4,
    "per_device_train_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "save_steps": 1,
    "evaluation.every": 1,
    "evaluation.limit": 4,
}
"""The --set pairs of the command in the fixture's training.json."""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint after one step: the fixture's own were too large to keep."""
    folder = tmp_path_factory.mktemp("fresh")
    settings = {**SETTINGS, "max_steps": 1, "evaluation.limit": 1}
    train("motion", model=MODEL, settings=settings, output_dir=str(folder))
    return folder / "checkpoint-1"


@pytest.fixture
def folder(checkpoint: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "trained"
    shutil.copytree(TRAINED, copy)
    record = read(copy, "training.json")
    prompt = resolve_prompt(registry.installed().task("motion"), "motion_short")
    record["fingerprint"]["prompt"] = prompt.hash()  # its settings were written in another form
    (copy / "training.json").write_text(json.dumps(record), encoding="utf-8")
    shutil.copytree(checkpoint, copy / "checkpoint-1")
    return copy


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_it_is_resumed_by_the_same_command(folder: Path) -> None:
    result = train("motion", model=MODEL, settings=SETTINGS, output_dir=str(folder), resume=True)
    assert result.steps == 2
    assert [step for step, _ in result.evaluations] == [0, 1, 2]
    assert result.best is not None
    assert read(folder, "train_log.json")[:2] == read(TRAINED, "train_log.json")[:2]
    earlier, resumed = read(folder, "training.json")["sessions"]
    assert earlier == read(TRAINED, "training.json")["sessions"][0]
    assert (earlier["versions"]["rewardkit"], resumed["steps"]) == ("0.2.0", 2)


@pytest.mark.parametrize(
    ("changed", "resume", "error", "message"),
    [
        (
            {},
            False,
            UsageError,
            "continue this training with --resume, or choose",
        ),
        ({"max_steps": 4}, False, UsageError, "a training's checkpoints already"),
        ({"beta": 0.1}, True, RunMismatch, "with trainer.beta 0.04, and now it is 0.1"),
        ({"m_max": 0.1}, True, RunMismatch, "with momentum.eps unset, and now it is"),
    ],
)
def test_another_training_is_refused(
    folder: Path,
    changed: Mapping[str, object],
    resume: bool,
    error: type[Exception],
    message: str,
) -> None:
    settings = {**SETTINGS, **changed}
    with pytest.raises(error, match=message):
        train("motion", model=MODEL, settings=settings, output_dir=folder, resume=resume)


def test_a_record_without_a_setting_of_today_has_its_default(folder: Path) -> None:
    record = read(folder, "training.json")
    del record["fingerprint"]["settings"]["data"]["seed"]
    (folder / "training.json").write_text(json.dumps(record), encoding="utf-8")
    arguments: dict[str, Any] = {"model": MODEL, "output_dir": str(folder), "resume": True}
    for setting, known in (({"data.seed": 1}, "data"), ({"skip_silent_groups": True}, "skip")):
        with pytest.raises(RunMismatch, match=f"was trained with {known}"):
            train("motion", settings={**SETTINGS, **setting}, **arguments)
    assert train("motion", settings=SETTINGS, **arguments).steps == 2


@pytest.mark.parametrize(
    "text", ["[]", '{"fingerprint": 1, "sessions": []}', '{"fingerprint": {}}', "{"]
)
def test_a_damaged_record_is_named_with_a_remedy(folder: Path, text: str) -> None:
    (folder / "training.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"training\.json isn't the record.*move it away"):
        train("motion", model=MODEL, settings=SETTINGS, output_dir=str(folder), resume=True)
