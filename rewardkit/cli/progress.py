"""A training's progress on stderr: lines of figures and, at a terminal, a bar."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.run.reporter import Reporter
from rewardkit.redaction import redact

if TYPE_CHECKING:
    from rewardkit.harness.store.sample_row import SampleRow

SECONDS_BETWEEN_LINES = 30.0
"""How often a line is printed where stderr is no terminal."""


class ProgressBar(Reporter):
    """Lines of text and, at a terminal, a bar below them."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._progress: Progress | None = None
        self._bar: Any = None

    def note(self, text: str) -> None:
        """Print a line, without secrets."""
        self._print(text, "dim")

    def warned(self, text: str) -> None:
        """Print a line that stands out, without secrets."""
        self._print(f"warning: {text}", "yellow")

    def _print(self, text: str, style: str) -> None:
        self._console.print(
            redact(text), style=style, markup=False, highlight=False, soft_wrap=True
        )

    def _show(self, *columns: ProgressColumn, transient: bool = False, **task: Any) -> None:
        """Show a bar, where stderr is a terminal. `task` is what `Progress.add_task` takes."""
        if self._console.is_terminal:
            self._progress = Progress(
                *columns, console=self._console, expand=True, transient=transient
            )
            self._bar = self._progress.add_task(**task)
            self._progress.start()

    def _update(self, **changes: Any) -> bool:
        """Change the bar; False where there is none."""
        if self._progress is not None:
            self._progress.update(self._bar, **changes)
        return self._progress is not None

    def ended(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


WIDE = 90
"""Columns of a terminal that has room for every figure."""


class ProgressReporter(ProgressBar):
    """Show a run's progress: a bar at a terminal, else a line every half minute."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self._since = self._last_line = time.monotonic()

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar, unless everything is done."""
        self._counts = {"total": total, "done": done, "new": 0, "tokens": 0, "right": 0}
        if done:
            self.note(f"{done:,} of {total:,} completions are stored already; carrying on")
        if done < total:
            self._show(
                *self._columns(), total=total, completed=done, description="starting", rate=""
            )

    def generating(self) -> None:
        """Start the clock of the rates: loading the model doesn't count."""
        self._since = time.monotonic()
        self._update(description="generating")

    def written(self, rows: Sequence[SampleRow]) -> None:
        """Count these rows."""
        self._counts["new"] += len(rows)
        self._counts["done"] += len(rows)
        self._counts["tokens"] += sum(row.completion_tokens or 0 for row in rows)
        self._counts["right"] += sum(bool(row.verdict.correct) for row in rows)
        if self._update(completed=self._counts["done"], rate=self._rate()):
            return
        if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.note(f"{self._counts['done']:,} of {self._counts['total']:,}; {self._rate()}")

    def _columns(self) -> list[ProgressColumn]:
        """The columns that fit: a narrow terminal shows no elapsed time."""
        unbroken = Column(no_wrap=True)
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", table_column=unbroken),
            BarColumn(bar_width=None),
            MofNCompleteColumn(table_column=unbroken),
            TextColumn("{task.fields[rate]}", table_column=unbroken),
            TimeRemainingColumn(compact=True, table_column=unbroken),
        ]
        return [*columns, TimeElapsedColumn()] if self._is_wide else columns

    @property
    def _is_wide(self) -> bool:
        return self._console.width >= WIDE

    def _rate(self) -> str:
        seconds = max(time.monotonic() - self._since, 1e-3)
        rate = f"{self._counts['new'] / seconds:,.1f}/s"
        if self._is_wide:
            rate += f", {self._counts['tokens'] / seconds:,.0f} tokens/s"
        return f"{rate}, {self._counts['right'] / self._counts['new']:.0%} right"


class ScoreProgress(ProgressBar):
    """Show a bar with rate and time left at a terminal, else a line every half minute."""

    def __init__(self) -> None:
        super().__init__()
        self._size = self._completions = self._earlier = 0
        self._first_end: int | None = None
        self._since = self._last_line = time.monotonic()

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar. `total` is the file's size in bytes."""
        self._size = total
        self._since = self._last_line = time.monotonic()
        unbroken = Column(no_wrap=True)
        self._show(
            TextColumn("{task.description}", table_column=unbroken),
            BarColumn(bar_width=None),
            TaskProgressColumn(table_column=unbroken),
            TextColumn("{task.fields[rate]}", table_column=unbroken),
            TimeRemainingColumn(compact=True, table_column=unbroken),
            transient=True,
            description="judging",
            total=total,
            rate="",
        )

    def resumed(self, completions: int) -> None:
        """Say how many are stored already."""
        self._earlier = completions
        self.note(f"{completions:,} completions are judged already; carrying on")

    def judged(self, completions: int, end: int) -> None:
        """Count these completions; they end at byte `end` of the file."""
        self._completions += completions
        if self._first_end is None:
            self._first_end = end
        if self._update(completed=end, rate=self._rate()):
            return
        if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.note(f"{end / max(1, self._size):.0%}: {self._rate()}, {self._time_left(end)}")

    def _rate(self) -> str:
        rate = self._completions / max(time.monotonic() - self._since, 1e-3)
        return f"{self._earlier + self._completions:,} completions, {rate:,.0f}/s"

    def _time_left(self, end: int) -> str:
        """The time left, by the bytes read since the first completions were judged."""
        read = end - (self._first_end or 0)
        if read <= 0:
            return "time left unknown"
        seconds = (time.monotonic() - self._since) * (self._size - end) / read
        return f"{seconds:,.0f} s left"


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
