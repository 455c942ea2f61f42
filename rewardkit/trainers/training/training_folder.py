"""A training's folder: whose it is, and where a resumed one carries on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.trainers.evaluation.json_files import as_json, read_document, write_document

RECORD, FINAL = "training.json", "final"
FREE = (
    "settings.name",
    "settings.about",
    "settings.evaluation.",
    "settings.trainer.max_steps",
    "settings.trainer.num_train_epochs",
    "settings.trainer.logging_steps",
    "settings.trainer.save_steps",
    "settings.trainer.save_total_limit",
    "settings.trainer.report_to",
)
"""Settings that a resumed training may change: how long it goes on and who watches it."""


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in `folder`, the last one last."""
    found = [
        (int(match[1]), path)
        for path in folder.glob("checkpoint-*")
        if (match := re.fullmatch(r"checkpoint-(\d+)", path.name))
        and (path / "trainer_state.json").is_file()
    ]
    return [path for _, path in sorted(found)]


def resumed_from(folder: Path, *, resume: bool) -> Path | None:
    """The checkpoint to carry on from. UsageError where the folder holds none, or another run."""
    found = checkpoints(folder)
    if resume and not found:
        raise UsageError(f"{folder} holds no checkpoint to resume from; leave --resume out")
    if resume:
        return found[-1]
    if found:
        raise UsageError(
            f"{folder} holds another training's checkpoints (the last is {found[-1].name}); "
            "carry on with --resume, or choose another --output-dir"
        )
    if (folder / FINAL).exists():
        raise UsageError(
            f"{folder} holds another training's {FINAL} model; choose another --output-dir"
        )
    return None


def check_same(folder: Path, marks: Mapping[str, Any]) -> None:
    """RunMismatch where the folder's training was of other settings, data or weights."""
    recorded = read_document(folder / RECORD)
    if not isinstance(recorded, dict):
        return
    before, now = _flat(recorded.get("marks", {})), _flat(marks)
    for name in sorted({*before, *now}):
        if name.startswith(FREE) or before.get(name) == now.get(name):
            continue
        was, is_now = (marks.get(name, "unset") for marks in (before, now))
        raise RunMismatch(
            f"{folder} was trained with {name.removeprefix('settings.')} {was}, and now it is "
            f"{is_now}; resume with the same settings, or choose another --output-dir"
        )


def begin(
    folder: Path, marks: Mapping[str, Any], record: Mapping[str, Any], *, resumed: bool
) -> None:
    """Write the training's record, with a session for each time it was begun or resumed."""
    earlier = (read_document(folder / RECORD) if resumed else None) or {}
    sessions = [*earlier.get("sessions", []), {**record, "started": _now(), "ended": None}]
    _write(folder, {"marks": dict(marks), "sessions": sessions})


def end(folder: Path, **found: object) -> None:
    """Say when the last session ended, and how."""
    record = read_document(folder / RECORD)
    record["sessions"][-1] |= {"ended": _now(), **found}
    _write(folder, record)


def _write(folder: Path, record: Mapping[str, Any]) -> None:
    write_document(folder / RECORD, as_json(record) + "\n")


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, one in value.items():
        if isinstance(one, Mapping):
            flat |= _flat(one, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = one
    return flat


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
