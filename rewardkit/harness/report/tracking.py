"""The tracking tools, by name. A tool uploads only if you configured the tool to do so."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from rewardkit.errors import MissingExtra, UnknownName
from rewardkit.harness.results.documents import read_run_summary
from rewardkit.harness.results.files import flat
from rewardkit.harness.results.model_folder import first_line
from rewardkit.harness.results.run_folder import RUN, SUMMARY, RunFolder
from rewardkit.harness.results.training_checkpoints import step_of
from rewardkit.text.redaction import redact

PROJECT = "rewardkit"


@dataclass(frozen=True)
class TrackedRun:
    """One run of a tracking tool: an evaluation, or the evaluations of a training's checkpoints."""

    name: str
    config: Mapping[str, Any]
    points: list[tuple[int, Mapping[str, float]]]
    """The step of each checkpoint, or 0, and its metrics."""
    folder: Path
    """The folder of the runs' files."""


def read_tracked_runs(folder: Path) -> list[TrackedRun]:
    """The finished runs in a folder and its sub-folders. Checkpoints of one training, with the same
    tasks and prompts, are points of one run."""
    tracked: dict[str, TrackedRun] = {}
    for run in [path.parent for path in (folder / RUN, *sorted(folder.glob(f"*/{RUN}")))]:
        if not (run / SUMMARY).is_file():
            continue
        record = RunFolder(run).read_record()
        tasks = record.get("tasks", {})
        model = Path(str(record.get("settings", {}).get("model", run.name)))
        step = step_of(str(model))
        training = (model if step is None else model.parent).name or "model"
        prompts = dict.fromkeys(str(task.get("prompt") or "") for task in tasks.values())
        name = "-".join(["+".join(tasks), training, *filter(None, prompts)])
        figures = {
            f"{task}/{figure}": value
            for task, summary in read_run_summary(run / SUMMARY)["tasks"].items()
            for figure, value in _numbers(summary)
        }
        tracked.setdefault(name, TrackedRun(name, record, [], folder)).points.append(
            (step or 0, figures)
        )
    for tracked_run in tracked.values():
        tracked_run.points.sort(key=itemgetter(0))
    return list(tracked.values())


def _numbers(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """(name, number) pairs, such as accuracy/low, failures/wrong, lengths/all/median, samples."""
    metrics = dict(summary["metrics"])
    for column, groups in summary["groups"].items():
        metrics |= {f"groups/{column}/{group}": metric for group, metric in groups.items()}
    for name, metric in metrics.items():
        yield name, metric["value"]
        yield f"{name}/low", metric["low"]
        yield f"{name}/high", metric["high"]
    for name in ("problems", "completions", "judged", "unjudged", "truncated"):
        yield name, summary[name]
    yield from flat({name: summary.get(name) or {} for name in ("failures", "lengths")}, "/")


def write_to_tensorboard(run: TrackedRun) -> None:
    """Write a scalar for each metric, and the configuration as text."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.summary_v2 import text_pb
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(run.folder / "tensorboard" / run.name))
    try:
        config = json.dumps(dict(run.config), indent=2, ensure_ascii=False, default=str)
        text = text_pb("run.json", f"```\n{config}\n```")
        writer.add_event(Event(wall_time=time.time(), step=0, summary=text))
        for step, figures in run.points:
            values = [
                Summary.Value(tag=name, simple_value=value) for name, value in figures.items()
            ]
            summary = Summary(value=values)
            writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
    finally:
        writer.close()


def log_to_trackio(run: TrackedRun) -> None:
    """Log a run to the project that TRACKIO_PROJECT names."""
    import trackio

    trackio.init(
        project=os.environ.get("TRACKIO_PROJECT", PROJECT),
        name=run.name,
        config=dict(run.config),
        embed=False,
        auto_log_gpu=False,
        auto_log_cpu=False,
    )
    try:
        for step, figures in run.points:
            trackio.log(dict(figures), step=step)
    finally:
        trackio.finish()


def log_to_wandb(run: TrackedRun) -> None:
    """Log a run to the project that WANDB_PROJECT names, in ./wandb or WANDB_DIR."""
    import wandb

    mode: Any = os.environ.get("WANDB_MODE", "offline")  # wandb refuses an unknown mode
    with wandb.init(
        project=os.environ.get("WANDB_PROJECT", PROJECT),
        name=run.name,
        config=dict(run.config),
        job_type="eval",
        mode=mode,
    ) as logged:
        for step, figures in run.points:
            logged.log(dict(figures), step=step)


TOOLS: Mapping[str, Callable[[TrackedRun], None]] = {
    "tensorboard": write_to_tensorboard,
    "trackio": log_to_trackio,
    "wandb": log_to_wandb,
}


def check_tools(names: Sequence[str]) -> None:
    """Raise UnknownName or MissingExtra for a tool that can't be logged to."""
    for name in names:
        if name not in TOOLS:
            raise UnknownName.among("tool to log to", name, sorted(TOOLS))
        found = importlib.util.find_spec(name)
        # find_spec also finds a folder of this name, such as wandb leaves where it runs
        if found is None or found.origin is None:
            raise MissingExtra.needing(name, name, f"--log-to {name}")


def log_runs(folder: Path, names: Sequence[str], note: Callable[[str], None]) -> None:
    """Log the finished runs in a folder to each tool, and note each tool that fails."""
    runs = read_tracked_runs(folder)
    for name in names:
        try:
            # stdout is for results
            with contextlib.redirect_stdout(sys.stderr):
                for run in runs:
                    TOOLS[name](run)
        except Exception as error:  # any tool's, of any class
            note(
                f"logging to {name} failed: {redact(first_line(error))}; "
                f"the run itself is complete, in {folder}"
            )
