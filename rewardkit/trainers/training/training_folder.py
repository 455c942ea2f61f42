"""A training's folder: the record of its settings, and the checkpoint to resume from."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict, cast

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.documents import FORMAT, check_format, now
from rewardkit.harness.results.files import flat, replace_text, write_errors
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.harness.results.training_checkpoints import STATE, damage, step_of
from rewardkit.trainers.evaluation.train_log import as_json, read_json
from rewardkit.trainers.recipes.recipe import SECTIONS, SFT, Recipe, plain_section

RECORD, FINAL = "training.json", "final"
FREE = (
    "settings.name",
    "settings.about",
    "settings.evaluation.",
    "settings.rollouts.",
    *(
        f"settings.{section}.{key}"
        for section in ("trainer", SFT)
        for key in (
            *("max_steps", "num_train_epochs", "logging_steps"),
            *("save_steps", "save_total_limit", "report_to"),
            *("log_completions", "num_completions_to_print"),
        )
    ),
)
"""Settings that a resumed training may change: length, evaluation and logs."""

REMOVED = {"settings.refill_silent_groups": 0, "settings.data.pass_rates": [0.0, 1.0]}
"""Settings in records of earlier versions, with the values that had no effect."""


class _Record(TypedDict):
    fingerprint: dict[str, Any]
    sessions: list[dict[str, Any]]


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in `folder`, by step."""
    paths = [path.parent for path in folder.glob(f"checkpoint-[0-9]*/{STATE}")]
    return sorted(paths, key=lambda path: step_of(str(path)) or 0)


def checkpoint_to_resume(
    folder: Path, *, resume: bool, warned: Callable[[str], None]
) -> Path | None:
    """The newest whole checkpoint to resume from, or None for a new training.

    `warned` gets a message for each newer checkpoint that is damaged. UsageError if there is no
    checkpoint to resume from, or if a new training would overwrite another training.
    """
    saved = checkpoints(folder)
    if resume and not saved:
        raise UsageError(f"{folder} holds no checkpoint to resume from; leave --resume out")
    damaged: list[str] = []
    for path in reversed(saved if resume else []):
        why = damage(path)
        if not why:
            for text in damaged:
                warned(f"{text}; the training resumes from {path.name}")
            return path
        damaged.append(f"{path} can't be resumed: {why}")
    if damaged:
        raise UsageError(
            f"{'; '.join(damaged)}. Restore a checkpoint from a copy, or start again in another "
            "--output-dir"
        )
    if saved:
        raise UsageError(
            f"{folder} holds a training's checkpoints already (the last is {saved[-1].name}); "
            "continue this training with --resume, or choose another --output-dir"
        )
    if (folder / FINAL).exists():
        raise UsageError(
            f"{folder} holds a training's {FINAL} model already; choose another --output-dir"
        )
    return None


def check_same(folder: Path, fingerprint: Mapping[str, Any]) -> None:
    """Raise RunMismatch if the folder's training had other settings, data or weights.

    A setting that only one of the two has is compared with its default.
    """
    recorded = _read_record(folder)
    if recorded is None:
        return
    before, after = _comparable_values(recorded["fingerprint"]), _comparable_values(fingerprint)
    for name in sorted({*before, *after}):
        if name.startswith(FREE) or before.get(name) == after.get(name):
            continue
        was, is_now = (values.get(name, "unset") for values in (before, after))
        raise RunMismatch(
            f"{folder} was trained with {name.removeprefix('settings.')} {was}, and now it is "
            f"{is_now}; resume with the same settings, or choose another --output-dir"
        )


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Make and lock a training's folder. RunMismatch if another process writes the folder."""
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with RunFolder(folder).locked():
        yield


def begin(
    folder: Path, fingerprint: Mapping[str, Any], session: Mapping[str, Any], *, resumed: bool
) -> None:
    """Write the training's record, which has a session for each start or resumption."""
    earlier = (_read_record(folder) if resumed else None) or {"sessions": []}
    sessions = [*earlier["sessions"], {**session, "started": now(), "ended": None}]
    _write(folder, {"fingerprint": dict(fingerprint), "sessions": sessions})


def end(folder: Path, **result: object) -> None:
    """Record the end of the last session, and its result."""
    record = _read_record(folder)
    if record is None:
        return
    record["sessions"][-1] |= {"ended": now(), **result}
    _write(folder, record)


def _read_record(folder: Path) -> dict[str, Any] | None:
    path = folder / RECORD
    record: dict[str, Any] | None = read_json(path, _Record, "the record of a training")
    if record is not None:
        check_format(path, record)
    return record


def _write(folder: Path, record: Mapping[str, Any]) -> None:
    replace_text(folder / RECORD, as_json({"format": FORMAT, **record}) + "\n")


def _comparable_values(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a fingerprint by dotted name, with defaults for missing settings."""
    switches = {
        f"settings.{name}": field.default
        for name, field in Recipe.__dataclass_fields__.items()
        if isinstance(field.default, bool | int | str)
    }
    recorded = {name: value for name, value in flat(fingerprint) if REMOVED.get(name) != value}
    named = switches | recorded
    for section, model in SECTIONS.items():
        prefix = f"settings.{section}."
        if any(name.startswith(prefix) for name in named):
            defaults = {
                field.name: field.default
                for field in dataclasses.fields(cast("Any", model))
                if field.default is not dataclasses.MISSING
            }
            plain = plain_section(SimpleNamespace(**defaults))
            named = {f"{prefix}{key}": value for key, value in plain.items()} | named
    return named
