"""Nothing is written into a checkpoint's folder, nor below it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.store.files import refuse_checkpoint_folder
from rewardkit.harness.store.run_folder import RunFolder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "ckpt"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.mark.parametrize("inside", ["", "sub", "runs/gsm8k"])
def test_a_checkpoint_s_folder_is_refused_at_any_depth(model: Path, inside: str) -> None:
    with pytest.raises(UsageError, match="never written into a checkpoint's folder; choose"):
        refuse_checkpoint_folder(model / inside)
    with (
        pytest.raises(UsageError, match="checkpoint's folder"),
        RunFolder(model / inside).opened({}, overwrite=True),
    ):
        pass
    assert {path.name for path in model.iterdir()} == {"config.json", "model.safetensors"}


@pytest.mark.parametrize(
    "read", [RunFolder.read_record, lambda run: run.opened({}, overwrite=False).__enter__()]
)
def test_a_file_is_no_folder_for_a_run(tmp_path: Path, read: Callable[[RunFolder], object]) -> None:
    (tmp_path / "data.jsonl").write_text("{}")
    with pytest.raises(UsageError, match=r"data\.jsonl is a file; --output-dir must name a folder"):
        read(RunFolder(tmp_path / "data.jsonl"))


def test_a_relative_folder_is_refused_from_within(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model)
    with pytest.raises(UsageError, match="is inside"):
        refuse_checkpoint_folder(Path("runs/gsm8k"))


def test_a_folder_beside_a_checkpoint_or_below_another_config_is_not(model: Path) -> None:
    refuse_checkpoint_folder(model.parent / "runs")
    (model / "model.safetensors").unlink()
    refuse_checkpoint_folder(model / "runs")
