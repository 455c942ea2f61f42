"""Nothing is written into a checkpoint's folder, nor below it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from rewardkit.errors import RunMismatch, UsageError, WriteError
from rewardkit.harness.results.files import check_output_folder
from rewardkit.harness.results.run_folder import RunFolder


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
        check_output_folder(model / inside)
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
        check_output_folder(Path("runs/gsm8k"))


def test_a_folder_beside_a_checkpoint_or_below_another_config_is_not(model: Path) -> None:
    check_output_folder(model.parent / "runs")
    (model / "model.safetensors").unlink()
    check_output_folder(model / "runs")


@pytest.mark.parametrize("inside", ["", "sub/run"])
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, inside: str) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(UsageError, match="a is a link that leads nowhere or in circles"):
        check_output_folder(tmp_path / "a" / inside)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="leads nowhere or in circles; choose another"):
        RunFolder(tmp_path / "a" / inside).opened({}, overwrite=False).__enter__()


def test_a_run_folder_that_is_deleted_in_the_middle_is_said(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.opened({}, overwrite=False):
        shutil.rmtree(folder.path)
        for write in (partial(folder.append_lines, [b"{}"]), partial(folder.write_record, {})):
            with pytest.raises(WriteError, match="no folder .*run. If it was deleted, all that"):
                write()


def test_a_record_without_a_fingerprint_is_not_called_missing(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text("")
    for content, word in ((None, "is missing"), ('{"format": 1}', "states no fingerprint")):
        if content:
            (tmp_path / "run.json").write_text(content)
        with pytest.raises(RunMismatch, match=word):
            RunFolder(tmp_path).opened({}, overwrite=False).__enter__()
