"""Find the checkpoints of a training in the order of their steps, and check which are complete."""

from __future__ import annotations

import glob
import os
import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.results.model_folder import read_json, weight_files

STATE = "trainer_state.json"
_NUMBERED = re.compile(r"(?:checkpoint|global_step|step|iter|epoch)[-_]?(\d+)")
_ENGINES = ("global_step", "pytorch_model_fsdp", "optimizer_")
"""How the files of DeepSpeed and of sharded checkpoints begin, which those engines check."""
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def is_pattern(model: str) -> bool:
    """Whether this is a pattern for several models, not the path of a single model."""
    return any(mark in model for mark in "*?[") and not Path(model).exists()


def expand(models: Sequence[str]) -> list[str]:
    """Expand patterns to models, each once; a folder's checkpoints are in the order of their steps.

    UsageError for a pattern that nothing matches.
    """
    expanded: list[str] = []
    for model in models:
        matches = matching(model) if is_pattern(model) else [model]
        if not matches:
            raise UsageError(f"no folder matches --model {model!r}")
        expanded += matches
    return in_order(expanded)


def matching(pattern: str) -> list[str]:
    """The folders that match, or the files if no folder matches."""
    paths = sorted(glob.glob(os.path.expanduser(pattern)))
    return in_order([path for path in paths if Path(path).is_dir()] or paths)


def in_order(models: Iterable[str]) -> list[str]:
    """Each model once, in the given order; a folder's checkpoints stay together, by step."""
    unique = list(dict.fromkeys(model.rstrip("/") or model for model in models))
    first: dict[str, int] = {}
    for place, model in enumerate(unique):
        first.setdefault(_series(model), place)
    return sorted(unique, key=lambda model: (first[_series(model)], _number(model) or 0, model))


def family(pattern: str) -> str:
    """The pattern that a watch follows.

    A training's folder becomes the pattern of its checkpoints, and so does any single checkpoint,
    since a shell expands `run/checkpoint-*` to a list.
    """
    if any(mark in pattern for mark in "*?["):
        return pattern
    path = Path(pattern)
    folder = path.parent if _number(pattern) is not None else path
    return str(folder / "checkpoint-*")


def step_of(model: str) -> int | None:
    """The step in the checkpoint's name, or in its trainer_state.json."""
    number = _number(model)
    if number is not None:
        return number
    step = _state(Path(model)).get("global_step")
    return step if isinstance(step, int) else None


def is_complete(folder: Path) -> bool:
    """Whether the checkpoint is completely written.

    transformers' Trainer writes the weights, a sharded model's index after its shards, then the
    optimizer, and trainer_state.json last of all.
    """
    if not isinstance(_state(folder).get("global_step"), int):
        return False
    return all(
        (folder / name).is_file()
        for index in _INDEXES
        for name in set(_object(folder / index).get("weight_map", {}).values())
    )


def damage(folder: Path) -> str:
    """Why no training can resume from this checkpoint; empty if one can.

    If the state of the optimizer or of the scheduler is missing, transformers' Trainer resumes
    without a warning and trains to other weights.
    """
    if not is_complete(folder):
        return f"its {STATE} or a shard of its weights is missing or damaged"
    names = {path.name for path in folder.iterdir()}
    engines = any(name.startswith(_ENGINES) for name in names)
    if not engines and not weight_files(folder):
        return "it has no weights"
    if not engines and not names & {"optimizer.pt", "optimizer.bin"}:
        return "it has no state of the optimizer"
    if not engines and "scheduler.pt" not in names:
        return "it has no state of the scheduler"
    cut = next((path.name for path in sorted(folder.iterdir()) if not _is_readable(path)), None)
    return f"its {cut} is cut short or damaged" if cut else ""


def _is_readable(path: Path) -> bool:
    """Whether a file of tensors is whole, as its table of contents says."""
    if path.suffix in (".pt", ".pth", ".bin"):
        return zipfile.is_zipfile(path)
    if path.suffix != ".safetensors":
        return True
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np"):
            return True
    except (SafetensorError, OSError):
        return False


def ends_training(folder: Path) -> bool:
    """Whether this is the last checkpoint of its training."""
    state = _state(folder)
    last = state.get("max_steps")
    return isinstance(last, int) and 0 < last <= state.get("global_step", 0)


def _series(model: str) -> str:
    return model if _number(model) is None else str(Path(model).parent)


def _number(model: str) -> int | None:
    match = _NUMBERED.fullmatch(Path(model).name)
    return int(match[1]) if match else None


def _state(folder: Path) -> dict[str, Any]:
    return _object(folder / STATE)


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if the file is missing or incomplete."""
    try:
        return read_json(path)
    except (OSError, UsageError):
        return {}
