"""Runs in the form of tracking tools: a configuration, and metrics as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.harness.store.run_documents import read_run_summary
from rewardkit.harness.store.run_folder import RUN, SUMMARY, RunFolder

PROJECT = "rewardkit"
_CHECKPOINT = re.compile(r"checkpoint-([0-9]+)/?\Z")


@dataclass(frozen=True)
class Point:
    """The metrics of one run; `step` is its checkpoint's, or 0."""

    step: int
    figures: Mapping[str, float]


@dataclass(frozen=True)
class TrackedRun:
    """One run of a tracking tool: an evaluation, or the evaluations of a training's checkpoints."""

    name: str
    config: Mapping[str, Any]
    points: Sequence[Point]
    folder: Path
    """The folder of the runs' files."""


def read_tracked_runs(folder: Path) -> list[TrackedRun]:
    """The finished runs in a folder and its sub-folders. Checkpoints of one training, with the same
    tasks and prompts, are points of one run."""
    runs = [path.parent for path in (folder / RUN, *sorted(folder.glob(f"*/{RUN}")))]
    by_name: dict[str, list[tuple[int, Path]]] = {}
    for run in runs:
        if (run / SUMMARY).is_file():
            name, step = _name(run)
            by_name.setdefault(name, []).append((step, run))
    return [
        TrackedRun(
            name,
            RunFolder(found[0][1]).read_record(),
            [Point(step, _figures(run)) for step, run in sorted(found)],
            folder,
        )
        for name, found in by_name.items()
    ]


def _name(run: Path) -> tuple[str, int]:
    """A name of tasks, model and prompts, and the checkpoint's step."""
    record = RunFolder(run).read_record()
    tasks = record.get("tasks", {})
    model = str(record.get("settings", {}).get("model", run.name))
    match = _CHECKPOINT.search(model)
    step = int(match[1]) if match else 0
    training = Path(model[: match.start()] if match else model).name or "model"
    prompts = dict.fromkeys(str(task["prompt"]) for task in tasks.values() if task.get("prompt"))
    return "-".join(["+".join(tasks), training, *prompts]), step


def _figures(run: Path) -> dict[str, float]:
    summary = read_run_summary(run / SUMMARY)
    return {
        f"{task}/{name}": value
        for task, figures in summary["tasks"].items()
        for name, value in _numbers(figures)
    }


def _numbers(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """(name, number) pairs, such as accuracy/low, failures/wrong, lengths/all/median, samples."""
    for name, metric in summary["metrics"].items():
        yield from _metric(name, metric)
    for column, groups in summary["groups"].items():
        for group, metric in groups.items():
            yield from _metric(f"groups/{column}/{group}", metric)
    for name in ("samples", "completions", "judged", "truncated", "errors"):
        yield name, summary[name]
    for name in ("failures", "lengths"):
        yield from _flat(name, summary.get(name) or {})


def _metric(name: str, metric: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    yield name, metric["value"]
    yield f"{name}/low", metric["low"]
    yield f"{name}/high", metric["high"]


def _flat(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for inner, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{name}/{inner}", value)
        else:
            yield f"{name}/{inner}", value
