"""A training resumes from the newest whole checkpoint and says which it passed over."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.results.training_checkpoints import damage
from rewardkit.trainers.training.training_folder import checkpoint_to_resume
from tests.support.damaged_files import CHECKPOINT_DAMAGE

ZIPPED = ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin")


def write_checkpoint(root: Path, step: int) -> Path:
    folder = root / f"checkpoint-{step}"
    folder.mkdir()
    header = json.dumps({"w": {"dtype": "U8", "shape": [64], "data_offsets": [0, 64]}}).encode()
    weights = len(header).to_bytes(8, "little") + header + bytes(64)
    (folder / "model.safetensors").write_bytes(weights)
    for name in ZIPPED:
        with zipfile.ZipFile(folder / name, "w") as file:
            file.writestr("archive/data.pkl", bytes(64))
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return folder


def _lacks_a_shard(folder: Path) -> None:
    index = {"weight_map": {"w": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


MISSING: dict[str, Callable[[Path], None]] = {
    "the weights": lambda folder: (folder / "model.safetensors").unlink(),
    "the optimizer": lambda folder: (folder / "optimizer.pt").unlink(),
    "the scheduler": lambda folder: (folder / "scheduler.pt").unlink(),
    "a shard of the weights": _lacks_a_shard,
}


def damage_checkpoint(folder: Path, what: str) -> None:
    """Empty or cut the file named, or remove what is named."""
    if what in MISSING:
        MISSING[what](folder)
    else:
        content = (folder / what).read_bytes()
        kept = 0 if CHECKPOINT_DAMAGE[what] == "empty" else len(content) // 2
        (folder / what).write_bytes(content[:kept])


@pytest.mark.parametrize("what", CHECKPOINT_DAMAGE)
def test_the_checkpoint_before_a_damaged_one_is_used_and_said(tmp_path: Path, what: str) -> None:
    whole, damaged = write_checkpoint(tmp_path, 2), write_checkpoint(tmp_path, 4)
    assert (damage(whole), damage(damaged)) == ("", "")
    damage_checkpoint(damaged, what)
    said: list[str] = []
    assert checkpoint_to_resume(tmp_path, resume=True, warned=said.append) == whole
    [text] = said
    assert "checkpoint-4 can't be resumed: it" in text
    assert text.endswith("resumes from checkpoint-2")


def test_without_a_whole_checkpoint_nothing_is_resumed(tmp_path: Path) -> None:
    for step, what in enumerate(CHECKPOINT_DAMAGE, start=1):
        damage_checkpoint(write_checkpoint(tmp_path, step), what)
    with pytest.raises(UsageError, match="checkpoint-1 can't be resumed.*from a copy"):
        checkpoint_to_resume(tmp_path, resume=True, warned=pytest.fail)


def test_the_newest_whole_checkpoint_is_resumed_in_silence(tmp_path: Path) -> None:
    damage_checkpoint(write_checkpoint(tmp_path, 2), "optimizer.pt")
    whole = write_checkpoint(tmp_path, 4)
    assert checkpoint_to_resume(tmp_path, resume=True, warned=pytest.fail) == whole
