"""The runs that a report shows, and where on disk they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.metrics.summary import summarise_tasks
from rewardkit.harness.store.checkpoints import step_of
from rewardkit.harness.store.run_documents import read_run_summary
from rewardkit.harness.store.run_folder import SAMPLES, SUMMARY, RunFolder
from rewardkit.harness.store.sample_row import SampleRow

DEEPEST = 2
"""Runs lie this many folders below the one named: OUT/label, OUT/evaluation/step-000010."""


@dataclass(frozen=True)
class ReportRun:
    """One run as a report shows it; `tasks` as summary.json holds them."""

    name: str
    tasks: Mapping[str, Mapping[str, Any]]
    rows: Sequence[SampleRow]
    record: Mapping[str, Any]

    @property
    def model(self) -> str:
        """What was evaluated, as it was typed."""
        return str(self.record.get("settings", {}).get("model", self.name))

    @property
    def step(self) -> int | None:
        """The training step of a checkpoint, or that which its run's name tells."""
        known = step_of(self.model)
        return step_of(self.name) if known is None else known

    def planned(self, task: str) -> int:
        """How many completions of a task there are to be; 0 where the record doesn't say."""
        told = self.record.get("tasks", {}).get(task, {})
        return int(told.get("samples", 0)) * int(told.get("num_samples", 1))

    @property
    def training(self) -> str:
        """What the checkpoints of one training, asked alike, have in common."""
        asked = {name: told.get("prompt") for name, told in self.record.get("tasks", {}).items()}
        return json.dumps([str(Path(self.model).parent), asked])


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """The run folders that are among these or lie inside them, each once, in natural order.

    UsageError where a folder is missing or holds no run.
    """
    found: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder; give one that `rewardkit eval` wrote")
        runs = _runs_in(folder, DEEPEST)
        if not runs:
            raise UsageError(
                f"{folder} holds no run: neither it nor a folder in it has a {SAMPLES}; "
                "give a folder that `rewardkit eval` wrote"
            )
        found |= {run.resolve(): run for run in runs if run.resolve() not in found}
    return list(found.values())


def read_runs(folders: Sequence[Path]) -> list[ReportRun]:
    """What run folders hold, each run under the shortest name that tells it from the others."""
    return [_read(folder, name) for folder, name in zip(folders, short_names(folders), strict=True)]


def short_names(folders: Sequence[Path]) -> list[str]:
    """Each folder's name, with as many of its parents as it takes to tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    names = []
    for own in parts:
        length = 1
        while length < len(own) and sum(own[-length:] == other[-length:] for other in parts) > 1:
            length += 1
        names.append("/".join(own[-length:]))
    return names


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key by which checkpoint-20 comes before checkpoint-100."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d{1,18})", text)
        if part
    ]


def _runs_in(folder: Path, deeper: int) -> list[Path]:
    if (folder / SAMPLES).is_file():
        return [folder]
    if not deeper:
        return []
    inside = sorted((one for one in folder.iterdir() if one.is_dir()), key=_by_name)
    return [run for one in inside for run in _runs_in(one, deeper - 1)]


def _by_name(folder: Path) -> list[tuple[int, int, str]]:
    return natural(folder.name)


def _read(path: Path, name: str) -> ReportRun:
    folder = RunFolder(path)
    rows = list(folder.rows().values())
    tasks = _tasks(path, rows)
    places = {task: place for place, task in enumerate(tasks)}
    rows.sort(key=lambda row: (places[row.task], natural(row.id), row.index))
    return ReportRun(name, tasks, rows, folder.read_record())


_NEWEST = {"lengths", "examples", "figures"}
"""What the summaries of earlier versions lack."""


def _tasks(path: Path, rows: Sequence[SampleRow]) -> Mapping[str, Any]:
    """The figures written; where there are none yet, or fewer than today, those of the rows."""
    try:
        written = read_run_summary(path / SUMMARY)["tasks"]
    except FileNotFoundError:
        written = {}
    named = {row.task for row in rows}
    if named <= set(written) and all(task.keys() >= _NEWEST for task in written.values()):
        return dict(written)
    told = RunFolder(path).read_record().get("tasks", {})
    offered = registry.installed().offers("tasks")
    tasks = {name: registry.installed().task(name) for name in told if name in offered}
    columns = {name: one["group_by"] for name, one in told.items() if "group_by" in one}
    summaries = summarise_tasks(rows, tasks, columns)
    return {name: one.as_json() for name, one in summaries.items()}
