"""Find run folders, and name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rewardkit.errors import UsageError
from rewardkit.harness.store.sample_row import SAMPLES

DEEPEST = 2
"""Maximum depth of a run below the named folder: OUT/evaluation/step-000010 is at 2."""


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Find the runs in these folders or below them, each once, in natural order of names.

    UsageError where a folder is missing or holds no run.
    """
    by_path: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} isn't a folder; give one that `rewardkit eval` wrote")
        runs = _runs_in(folder, DEEPEST)
        if not runs:
            raise UsageError(
                f"{folder} holds no run: neither it nor a folder in it has a {SAMPLES}; "
                "give a folder that `rewardkit eval` wrote"
            )
        for run in runs:
            by_path.setdefault(run.resolve(), run)
    return list(by_path.values())


def short_names(folders: Sequence[Path]) -> list[str]:
    """Each folder's name, with as many parents as make it unique."""
    parts = [folder.resolve().parts for folder in folders]
    names = []
    for own in parts:
        length = 1
        while length < len(own) and sum(own[-length:] == other[-length:] for other in parts) > 1:
            length += 1
        names.append("/".join(own[-length:]))
    return names


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key that puts checkpoint-20 before checkpoint-100."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d{1,18})", text)
        if part
    ]


def _runs_in(folder: Path, levels: int) -> list[Path]:
    if (folder / SAMPLES).is_file():
        return [folder]
    if not levels:
        return []
    inside = [entry for entry in folder.iterdir() if entry.is_dir()]
    inside.sort(key=lambda entry: natural(entry.name))
    return [run for entry in inside for run in _runs_in(entry, levels - 1)]
