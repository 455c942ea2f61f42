"""Folders into which no results are written: those of checkpoints."""

from __future__ import annotations

from pathlib import Path

from rewardkit.errors import UsageError
from rewardkit.harness.store.checkpoint import weight_files


def refuse_checkpoint_folder(folder: Path) -> None:
    """UsageError if `folder` holds a model, or is inside a folder that does."""
    target = folder.expanduser().absolute()
    if (target / "config.json").exists():
        raise UsageError(
            f"{folder} holds a model; results are never written into a checkpoint's folder; "
            "choose another --output-dir"
        )
    for parent in target.parents:
        if (parent / "config.json").is_file() and weight_files(parent):
            raise UsageError(
                f"{folder} is inside {parent}, which holds a model; results are never written "
                "into a checkpoint's folder; choose another --output-dir"
            )
