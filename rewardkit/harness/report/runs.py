"""Read what a report shows: runs, the completions of trainings, and what trainers logged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.documents import (
    SampleNote,
    planned_completions,
    read_notes,
    read_run_summary,
)
from rewardkit.harness.results.figures import Plot, Point
from rewardkit.harness.results.names import reward_words
from rewardkit.harness.results.rollouts import (
    COMPLETIONS,
    RolloutRow,
    find_rollouts,
    read_groups,
)
from rewardkit.harness.results.run_folder import SUMMARY, RunFolder, find_runs, natural, short_names
from rewardkit.harness.results.summary import summarise_tasks
from rewardkit.harness.results.training_checkpoints import step_of
from rewardkit.records import REFERENCE_COLUMNS, Verdict


@dataclass(frozen=True)
class ReportRun:
    """One run; `tasks` are the summaries as summary.json holds them."""

    name: str
    tasks: Mapping[str, Mapping[str, Any]]
    rows: Sequence[CompletionRow]
    record: Mapping[str, Any]
    train_log: Path | None = None
    """The train_log.json of the training that evaluated it."""
    rollouts: Mapping[str, RolloutRow] = field(default_factory=dict)
    """If the run is a training's completions: what belongs to each row, by its key."""
    notes: Mapping[str, SampleNote] = field(default_factory=dict)
    """A reader's notes on samples, by key."""

    @property
    def model(self) -> str:
        """The model as named on the command line."""
        return str(self.record.get("settings", {}).get("model", self.name))

    @property
    def step(self) -> int | None:
        """The training step in the name of the checkpoint, else in the run's name."""
        step = step_of(self.model)
        return step_of(self.name) if step is None else step

    @property
    def folder(self) -> Path | None:
        """The folder of the training that evaluated it, or of the checkpoint's training."""
        if self.train_log:
            return self.train_log.resolve().parent
        return None if step_of(self.model) is None else Path(self.model).parent

    @property
    def training(self) -> str:
        """The same text for all checkpoints of one training that are evaluated alike."""
        tasks = self.record.get("tasks", {})
        prompts = {name: task.get("prompt") for name, task in tasks.items()}
        folder = self.train_log.parent if self.train_log else Path(self.model).parent
        return json.dumps([str(folder), prompts])

    def planned(self, task: str) -> int:
        """How many completions of a task the run will have; 0 if the record doesn't say."""
        return planned_completions(self.record.get("tasks", {}).get(task, {}))


def run_start(record: Mapping[str, Any]) -> str:
    """When a run began; empty if its record doesn't say."""
    return str(record.get("started") or "")


SIGNS = {1: "positive", 0: "zero", -1: "negative"}
"""The words for the sign of an advantage."""

NO_VERDICT = Verdict.unjudged("the reward functions of this training give no verdicts")


def read_rollout_run(folder: Path, name: str) -> ReportRun:
    """Read the completions of a training, with figures over its steps."""
    groups = list(read_groups(folder))
    rollouts = [row for group in groups for row in group]
    # the verifier or task of the first verdicts, which decide whether a completion is right
    judge = next((name for row in rollouts for name in row.verdicts), COMPLETIONS)
    task = f"{judge}, training"
    rows = [_sample(row, judge, task) for row in rollouts]
    summaries = {name: summary.as_json() for name, summary in summarise_tasks(rows, {}).items()}
    names = list(dict.fromkeys(name for row in rollouts for name in row.rewards))
    for summary in summaries.values():
        summary["figures"] = [plot.as_json() for plot in _plots(names, rollouts)]
    training = folder.resolve().parent
    log = training / TRAIN_LOG
    return ReportRun(
        name,
        summaries,
        rows,
        {"settings": {"model": training.name}},
        train_log=log if log.is_file() else None,
        rollouts={row.key: rollout for row, rollout in zip(rows, rollouts, strict=True)},
        notes=read_notes(folder),
    )


def _sample(row: RolloutRow, judge: str, task: str) -> CompletionRow:
    identifier = f"step-{row.step}-group-{row.group}"
    columns = row.columns
    reference = next((columns[name] for name in REFERENCE_COLUMNS if name in columns), "")
    return CompletionRow(
        key=f"{task}/{identifier}/{row.index}",
        task=task,
        id=identifier,
        index=row.index,
        completion=row.completion,
        finish_reason="",
        reference=str(reference),
        verdict=row.verdicts.get(judge, NO_VERDICT),
        prompt=row.prompt,
        columns={**columns, "step": row.step, "group": row.group, "advantage": SIGNS[row.sign]},
    )


def _plots(names: Sequence[str], rollouts: Sequence[RolloutRow]) -> Iterator[Plot]:
    """Rewards and completions without signal over the steps."""
    steps = [(step, list(rows)) for step, rows in groupby(rollouts, key=lambda row: row.step)]
    rewards: dict[str, list[Point]] = {name: [] for name in names}
    silent: list[Point] = []
    for step, rows in steps:
        for name, points in rewards.items():
            values = [reward for row in rows if (reward := row.rewards.get(name)) is not None]
            if values:
                points.append((float(step), fmean(values)))
        silent.append((float(step), fmean(row.sign == 0 for row in rows)))
    yield Plot("Rewards in training", "training step", "mean reward", rewards)
    yield Plot(
        "Completions without signal",
        "training step",
        "share with advantage 0",
        {"completions": silent},
        y_scale="share",
    )


def read_runs(folders: Sequence[Path]) -> list[ReportRun]:
    """Read run folders; each run gets the shortest name that is different from the others."""
    names = short_names(folders)
    return [
        read_rollout_run(folder, name)
        if find_rollouts(folder) == folder
        else _read_run(folder, name)
        for folder, name in zip(folders, names, strict=True)
    ]


def find_shown(folders: Sequence[Path]) -> list[Path]:
    """Find the runs in these folders, and the completions of trainings.

    UsageError if a folder is missing or holds neither.
    """
    shown: dict[Path, Path] = {}
    for folder in folders:
        rollouts = find_rollouts(folder)
        try:
            runs = find_runs([folder])
        except UsageError:
            if rollouts is None:
                raise
            runs = []
        for run in [*runs, rollouts] if rollouts else runs:
            shown.setdefault(run.resolve(), run)
    return list(shown.values())


def _read_run(path: Path, name: str) -> ReportRun:
    folder = RunFolder(path)
    record = folder.read_record()
    rows = list(folder.rows().values())
    tasks = _task_summaries(path, rows, record)
    order = {task: number for number, task in enumerate(tasks)}
    rows.sort(key=lambda row: (order[row.task], natural(row.id), row.index))
    evaluations = path.resolve().parent  # a training writes its runs to evaluation/step-N
    log = evaluations.parent / TRAIN_LOG
    is_training = evaluations.name == EVALUATIONS and log.is_file()
    train_log = log if is_training else None
    return ReportRun(name, tasks, rows, record, train_log, notes=read_notes(path))


def _task_summaries(
    path: Path, rows: Sequence[CompletionRow], record: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The figures in summary.json, or computed from the rows if the file lacks figures."""
    try:
        stored: dict[str, Any] = read_run_summary(path / SUMMARY)["tasks"]
    except FileNotFoundError:
        stored = {}
    names = {row.task for row in rows}
    if names <= set(stored) and all(
        task.keys() >= {"lengths", "examples", "figures"} for task in stored.values()
    ):
        return stored
    task_records = record.get("tasks", {})
    offered = registry.installed().offers("tasks")
    tasks = {name: registry.installed().task(name) for name in task_records if name in offered}
    group_by = {name: task["group_by"] for name, task in task_records.items() if "group_by" in task}
    timeouts = {
        name: task.get("timeout") or task.get("judging", {}).get("timeout")
        for name, task in task_records.items()
    }
    cluster = record.get("settings", {}).get("cluster")
    summaries = summarise_tasks(rows, tasks, group_by, timeouts, cluster)
    return {name: summary.as_json() for name, summary in summaries.items()}


TRAIN_LOG, EVALUATIONS = "train_log.json", "evaluation"
"""The log in a training's folder, and the folder of its evaluations."""


def evaluation_name(step: int) -> str:
    """The name of an evaluation's folder in a training."""
    return f"step-{step:06d}"


def run_identifier(folder: Path) -> str:
    """The name of a run or a training in the addresses of `rewardkit view`."""
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]


Series = Sequence[tuple[int, float]]
"""(step, value) pairs in order."""


HEALTH = {
    "kl": "KL divergence",
    "entropy": "entropy",
    "grad_norm": "gradient norm",
    "clip_ratio/region_mean": "clip share",
    "completions/mean_length": "mean length",
    "completions/clipped_ratio": "truncated share",
}
"""Logged figures that show whether a training is stable, with their words."""


@dataclass(frozen=True)
class TrainingSeries:
    """What a trainer logged: the mean reward and each of its parts by name, the loss, and the
    figures of HEALTH; and the signs, each with the step of its first report."""

    rewards: Mapping[str, Series] = field(default_factory=dict)
    loss: Series = ()
    health: Mapping[str, Series] = field(default_factory=dict)
    signs: Sequence[tuple[int, str]] = ()


def training_series(entries: Sequence[Mapping[str, Any]]) -> TrainingSeries:
    """The series in a train log's entries."""
    logged = dict.fromkeys(name for entry in entries for name in entry["logs"])
    rewards = {"reward": "reward"} if "reward" in logged else {}
    rewards |= {
        name: reward_words(name.removesuffix("/mean").partition("/")[2])
        for name in logged
        if name.startswith("rewards/") and name.endswith("/mean")
    }

    def series_of(names: Mapping[str, str]) -> dict[str, Series]:
        series = {label: logged_values(entries, name) for name, label in names.items()}
        return {label: values for label, values in series.items() if values}

    return TrainingSeries(
        series_of(rewards),
        logged_values(entries, "loss"),
        series_of(HEALTH),
        [(entry["step"], sign) for entry in entries for sign in entry.get("warnings", ())],
    )


def read_training_series(path: Path) -> TrainingSeries:
    """The series of a train_log.json. DataError if it is damaged."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise TypeError("it isn't a list")
        return training_series(entries)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path} isn't a train log ({error}); move it away") from error


def logged_values(entries: Sequence[Mapping[str, Any]], name: str) -> list[tuple[int, float]]:
    """The steps and values of a logged figure, where it is a number."""
    values = ((entry["step"], entry["logs"].get(name)) for entry in entries)
    return [(step, float(value)) for step, value in values if isinstance(value, (int, float))]
