"""A training's progress on stderr: lines of figures and, at a terminal, a bar."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from rewardkit.cli.progress_bar import ProgressBar
from rewardkit.harness.metrics.summary import TaskSummary

SHOWN = (
    ("kl", "KL {:.4f}"),
    ("completions/mean_length", "{:.0f} tokens"),
    ("completions/clipped_ratio", "{:.0%} cut off"),
    ("reward_share", "rewards {:.1%} of the time"),
)
"""TRL's figures that are shown after the rewards."""


class TrainingProgress(ProgressBar):
    """Show a training's steps, and a line for each log entry and evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self._step = self._total = self._first = 0
        self._since = time.monotonic()

    def started(self, total: int, done: int = 0) -> None:
        """Say how far the training is, and show the bar."""
        self._step, self._first, self._total = done, done, total
        self._since = time.monotonic()
        self.note(f"training {total} steps" + (f", from step {done} on" if done else ""))
        unbroken = Column(no_wrap=True)
        self._show(
            TextColumn("{task.description}", table_column=unbroken),
            BarColumn(bar_width=None),
            MofNCompleteColumn(table_column=unbroken),
            TextColumn("{task.fields[accuracy]}", table_column=unbroken),
            TimeElapsedColumn(),
            TimeRemainingColumn(table_column=unbroken),
            description="training",
            total=total,
            completed=done,
            accuracy="",
        )

    def stepped(self, step: int) -> None:
        """Move the bar to this step."""
        self._step = step
        self._update(completed=step)

    def logged(self, logs: Mapping[str, float]) -> None:
        """Print the loss; or rewards and their parts, lengths, KL and the rewards' time."""
        line = ", ".join([*_figures(logs), *self._time_left()])
        self.note(f"step {self._step}/{self._total}: {line}")

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """Print each task's accuracy."""
        accuracies = [
            f"{task} {summary.metrics['accuracy'].value:.1%}"
            for task, summary in summaries.items()
            if "accuracy" in summary.metrics
        ]
        listed = ", ".join(accuracies)
        self.note(f"step {step}: accuracy {listed or 'unknown: nothing was judged'}")
        if accuracies:
            self._update(accuracy=listed)

    def _time_left(self) -> Iterator[str]:
        """The time that the remaining steps will take, where no bar shows it."""
        done = self._step - self._first
        if self._progress is None and done > 0 and self._step < self._total:
            seconds = (time.monotonic() - self._since) / done * (self._total - self._step)
            yield f"{datetime.timedelta(seconds=round(seconds))} left"


def _figures(logs: Mapping[str, float]) -> Iterator[str]:
    """Each figure of a log entry, in words."""
    if "reward" not in logs:
        yield f"loss {logs['loss']:.4f}"
        return
    parts = [
        name.split("/")[1]
        for name in logs
        if name.startswith("rewards/") and name.endswith("/mean")
    ]
    values = [(part, logs[f"rewards/{part}/mean"]) for part in parts]
    shown = [f"{part} {'unjudged' if value is None else f'{value:.3f}'}" for part, value in values]
    yield f"reward {logs['reward']:.3f}" + (f" ({', '.join(shown)})" if shown else "")
    for name, form in SHOWN:
        value = logs.get(name)
        if isinstance(value, (int, float)):
            yield form.format(value)
