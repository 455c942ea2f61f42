"""A training's progress on stderr: a bar and a line of figures, or plain lines."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.run.reporter import Reporter

SHOWN = (
    ("kl", "KL {:.4f}"),
    ("completions/mean_length", "{:.0f} tokens"),
    ("completions/clipped_ratio", "{:.0%} cut off"),
    ("reward_share", "rewards {:.1%} of the time"),
)
"""TRL's figures that are shown beside the rewards."""


class TrainingProgress(Reporter):
    """Shows a training's steps; a line for what TRL logs and for each evaluation."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._progress: Progress | None = None
        self._bar: Any = None
        self._step = self._total = self._first = 0
        self._since = time.monotonic()

    def note(self, text: str) -> None:
        """A line of its own."""
        self._console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)

    def warned(self, text: str) -> None:
        """A line that stands out."""
        self._console.print(
            f"warning: {text}", style="yellow", markup=False, highlight=False, soft_wrap=True
        )

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar, or say how far it is."""
        self._step, self._first, self._total = done, done, total
        self._since = time.monotonic()
        self.note(f"training {total} steps" + (f", from step {done} on" if done else ""))
        if self._console.is_terminal:
            whole = Column(no_wrap=True)
            self._progress = Progress(
                TextColumn("training", table_column=whole),
                BarColumn(bar_width=None),
                MofNCompleteColumn(table_column=whole),
                TextColumn("{task.fields[accuracy]}", table_column=whole),
                TimeElapsedColumn(),
                TimeRemainingColumn(table_column=whole),
                console=self._console,
                expand=True,
            )
            self._bar = self._progress.add_task("", total=total, completed=done, accuracy="")
            self._progress.start()

    def stepped(self, step: int) -> None:
        """Count it."""
        self._step = step
        if self._progress is not None:
            self._progress.update(self._bar, completed=step)

    def logged(self, logs: Mapping[str, float]) -> None:
        """Rewards and their components, lengths, KL, and the rewards' share of the time."""
        told = ", ".join([*_figures(logs), *self._left()])
        self.note(f"step {self._step}/{self._total}: {told}")

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """The accuracy found."""
        found = [
            f"{task} {summary.metrics['accuracy'].value:.1%}"
            for task, summary in summaries.items()
            if "accuracy" in summary.metrics
        ]
        self.note(f"step {step}: accuracy {', '.join(found) or 'unknown: nothing was judged'}")
        if self._progress is not None and found:
            self._progress.update(self._bar, accuracy=", ".join(found))

    def _left(self) -> Iterator[str]:
        """The time that the other steps will take, where no bar shows it."""
        done = self._step - self._first
        if self._progress is None and done > 0 and self._step < self._total:
            seconds = (time.monotonic() - self._since) / done * (self._total - self._step)
            yield f"{datetime.timedelta(seconds=round(seconds))} left"

    def ended(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _figures(logs: Mapping[str, float]) -> Iterator[str]:
    parts = [
        name.split("/")[1]
        for name in logs
        if name.startswith("rewards/") and name.endswith("/mean")
    ]
    values = [(part, logs[f"rewards/{part}/mean"]) for part in parts]
    told = [f"{part} {'unjudged' if value is None else f'{value:.3f}'}" for part, value in values]
    yield f"reward {logs['reward']:.3f}" + (f" ({', '.join(told)})" if told else "")
    for name, form in SHOWN:
        value = logs.get(name)
        if isinstance(value, (int, float)):
            yield form.format(value)
