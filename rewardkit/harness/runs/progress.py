"""The events of a run, a scoring or a training, and their progress on stderr.

A terminal and a notebook show a bar. Elsewhere, lines are printed.
"""

from __future__ import annotations

import datetime
import html
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from rich.text import Text

from rewardkit.harness.results.names import be, counted, reward_words
from rewardkit.text.console import PrintableConsole
from rewardkit.text.printable import printable
from rewardkit.text.redaction import redact

if TYPE_CHECKING:
    from rewardkit.harness.results.completion_row import CompletionRow
    from rewardkit.harness.results.summary import TaskSummary


class Reporter:
    """Ignores all events; a subclass overrides the methods of the events that it shows."""

    def note(self, text: str) -> None:
        """A sentence for the user."""

    def warned(self, text: str) -> None:
        """A warning of rewardkit, TRL or Python."""

    def started(self, total: int, done: int = 0) -> None:
        """Work begins: `total` completions (evaluation), steps (training) or bytes (scoring)
        planned, `done` already stored."""

    def ended(self) -> None:
        """The work is over. No other event follows."""

    def generating(self) -> None:
        """Evaluation: the engine is ready."""

    def watching(self, waits: Callable[[], str]) -> None:
        """Evaluation: `waits` returns what the engine waits for, and may be called often."""

    def written(self, rows: Sequence[CompletionRow]) -> None:
        """Evaluation: these rows are judged and stored."""

    def resumed(self, completions: int) -> None:
        """Scoring: number of completions judged by an earlier call."""

    def judged(self, completions: int, end: int) -> None:
        """Scoring: number of further completions judged and stored, up to byte `end`."""

    def stepped(self, step: int) -> None:
        """Training: this step is done."""

    def logged(self, logs: Mapping[str, float]) -> None:
        """Training: TRL's figures by name, and `reward_share`, the rewards' share of the time."""

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """Training: the model was evaluated at this step."""


SECONDS_BETWEEN_LINES = 30.0
"""Seconds between two lines if stderr isn't a terminal."""

SECONDS_BETWEEN_DRAWINGS = 0.2
"""Seconds between two drawings of a notebook's bar."""

SHORTEST = 1e-3
"""The least number of seconds that a rate divides by."""

WIDE = 90
"""The width of a terminal that has room for all figures."""


class WaitsColumn(ProgressColumn):
    """A column with what the engine waits for."""

    def __init__(self, waits: Callable[[], str], table_column: Column) -> None:
        super().__init__(table_column)
        self._waits = waits

    def render(self, task: object) -> Text:
        return Text(printable(self._waits()), style="yellow")


class NotebookBar:
    """A bar in the output of a notebook's cell, with the methods of rich's Progress."""

    def __init__(self, description: str, total: int, done: int) -> None:
        from IPython.display import display

        self._fields: dict[str, Any] = {"description": description, "figures": ""}
        self._total, self._done = total, done
        self._handle = display(self._drawn(), display_id=True)
        self._last = time.monotonic()

    def update(self, task: object, completed: int | None = None, **fields: str) -> None:
        """Draw the bar with these values: a few times a second, and at the end."""
        self._fields |= fields
        self._done = self._done if completed is None else completed
        if self._done >= self._total or time.monotonic() - self._last > SECONDS_BETWEEN_DRAWINGS:
            self._last = time.monotonic()
            self._handle.update(self._drawn())

    def stop(self) -> None:
        """Leave the bar as it is."""

    def _drawn(self) -> Any:
        from IPython.display import HTML

        parts = (self._fields["description"], f"{self._done:,}/{self._total:,}")
        text = html.escape(printable("  ".join([*parts, self._fields["figures"]])))
        bar = f'<progress value="{self._done}" max="{self._total}"></progress>'
        return HTML(f"{bar} <code>{text}</code>")


class ProgressDisplay(Reporter):
    """Print lines of text and, at a terminal, a bar with the latest figures."""

    counts: type[ProgressColumn] = MofNCompleteColumn
    """The column that shows how much is done."""
    transient = False
    """Whether the bar disappears at the end."""

    def __init__(self) -> None:
        self._console = PrintableConsole(file=sys.stderr)
        self._progress: Progress | NotebookBar | None = None
        self._bar: Any = None
        self._waits: Callable[[], str] = str
        self._total = self._done = self._first = 0
        self._since = self._last_line = time.monotonic()

    def note(self, text: str) -> None:
        self._console.print(redact(text), style="dim", soft_wrap=True)

    def warned(self, text: str) -> None:
        self._console.print(redact(f"warning: {text}"), style="yellow", soft_wrap=True)

    def ended(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    @property
    def in_notebook(self) -> bool:
        return self._console.is_jupyter

    def _start(self, description: str, total: int, done: int = 0) -> None:
        """Start the clock and, at a terminal, show a bar of the columns that fit."""
        self._total, self._done, self._first = total, done, done
        self._since = self._last_line = time.monotonic()
        if self.in_notebook:
            self._progress = NotebookBar(description, total, done)
            return
        if not self._console.is_terminal:
            return
        unbroken = Column(no_wrap=True)
        columns = [
            TextColumn("{task.description}", markup=False, table_column=unbroken),
            BarColumn(bar_width=None),
            self.counts(table_column=unbroken),
            TextColumn("{task.fields[figures]}", markup=False, table_column=unbroken),
            WaitsColumn(lambda: self._waits(), unbroken),
            TimeRemainingColumn(compact=True, table_column=unbroken),
            *([TimeElapsedColumn()] if self._console.width >= WIDE else []),
        ]
        progress = Progress(*columns, console=self._console, expand=True, transient=self.transient)
        self._bar = progress.add_task(description, total=total, completed=done, figures="")
        progress.start()
        self._progress = progress

    def _advance(self, done: int, figures: str | None = None, line: str = "") -> None:
        """Move the bar. Without a bar, print `line` every half minute, with figures and time."""
        self._done = done
        fields: dict[str, Any] = {} if figures is None else {"figures": figures}
        if self._progress is not None:
            self._progress.update(self._bar, completed=done, **fields)
        elif line and time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            parts = (f"{line}: {figures}", self._waits(), *self._time_left())
            self.note(", ".join(filter(None, parts)))

    def _time_left(self) -> Iterator[str]:
        """The time that the rest takes at the present rate, unless a bar shows the time."""
        new, left = self._done - self._first, self._total - self._done
        if not isinstance(self._progress, Progress) and new > 0 and left > 0:
            seconds = (time.monotonic() - self._since) / new * left
            yield f"{datetime.timedelta(seconds=round(seconds))} left"


class ProgressReporter(ProgressDisplay):
    """Show a run's progress: a bar at a terminal, else a line every half minute."""

    _tokens = _right = 0

    def started(self, total: int, done: int = 0) -> None:
        self._tokens = self._right = 0
        if done:
            of_all = f"{done:,} of {counted(total, 'completion')}"
            self.note(f"{of_all} {be(done)} stored already; resuming")
        if done < total:
            self._start("starting", total, done)

    def generating(self) -> None:
        """Start the clock of the rates, which leaves out the loading of the model."""
        self._since = time.monotonic()
        if self._progress is not None:
            self._progress.update(self._bar, description="generating")

    def watching(self, waits: Callable[[], str]) -> None:
        self._waits = waits

    def written(self, rows: Sequence[CompletionRow]) -> None:
        done = self._done + len(rows)
        new = done - self._first
        self._tokens += sum(row.completion_tokens or 0 for row in rows)
        self._right += sum(bool(row.verdict.correct) for row in rows)
        seconds = max(time.monotonic() - self._since, SHORTEST)
        figures = f"{new / seconds:,.1f}/s"
        if self._console.width >= WIDE:
            figures += f", {self._tokens / seconds:,.0f} tokens/s"
        line = f"{done:,} of {self._total:,}"
        self._advance(done, f"{figures}, {self._right / new:.1%} right", line)


def default_reporter() -> Reporter:
    """The progress of a call from Python: a bar in a notebook, nothing elsewhere."""
    reporter = ProgressReporter()
    return reporter if reporter.in_notebook else Reporter()


class ScoreProgress(ProgressDisplay):
    """Show the progress of a scoring by the bytes read: a bar, else a line every half minute."""

    counts = TaskProgressColumn
    transient = True

    _completions = _earlier = 0

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar. `total` is the file's size in bytes."""
        self._start("judging", total)

    def resumed(self, completions: int) -> None:
        self._earlier = completions
        stored = counted(completions, "completion")
        self.note(f"{stored} {be(completions)} judged already; resuming")

    def judged(self, completions: int, end: int) -> None:
        """Count completions, which end at byte `end` of the file."""
        if not self._completions:
            self._first = end  # the bytes before may have been judged by an earlier call
        self._completions += completions
        rate = self._completions / max(time.monotonic() - self._since, SHORTEST)
        figures = f"{counted(self._earlier + self._completions, 'completion')}, {rate:,.0f}/s"
        self._advance(end, figures, f"{end / max(1, self._total):.0%}")


LOGGED = (
    ("kl", "KL {:.4f}"),
    ("completions/mean_length", "{:.0f} tokens"),
    ("completions/clipped_ratio", "{:.1%} truncated"),
    ("reward_share", "rewards {:.1%} of the time"),
)
"""TRL's figures that are shown after the rewards."""


class TrainingProgress(ProgressDisplay):
    """Show a training's steps, and a line for each log entry and evaluation."""

    def started(self, total: int, done: int = 0) -> None:
        self.note(f"training {total} steps" + (f", from step {done} on" if done else ""))
        self._start("training", total, done)

    def stepped(self, step: int) -> None:
        self._advance(step)

    def logged(self, logs: Mapping[str, float]) -> None:
        """Print the loss; or rewards and their parts, lengths, KL and the rewards' time."""
        line = ", ".join([*_logged(logs), *self._time_left()])
        self.note(f"step {self._done}/{self._total}: {line}")

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        accuracies = ", ".join(
            f"{task} {summary.metrics['accuracy'].value:.1%}"
            for task, summary in summaries.items()
            if "accuracy" in summary.metrics
        )
        self.note(f"step {step}: accuracy {accuracies or 'unknown: nothing was judged'}")
        if accuracies:
            self._advance(self._done, accuracies)


def _logged(logs: Mapping[str, float]) -> Iterator[str]:
    """Each figure of a log entry, in words."""
    if "reward" not in logs:
        yield f"loss {logs['loss']:.4f}"
        return
    parts = [
        f"{reward_words(name.split('/')[1])} {'unjudged' if value is None else f'{value:.3f}'}"
        for name, value in logs.items()
        if name.startswith("rewards/") and name.endswith("/mean")
    ]
    yield f"reward {logs['reward']:.3f}" + (f" ({', '.join(parts)})" if parts else "")
    for name, form in LOGGED:
        value = logs.get(name)
        if isinstance(value, (int, float)):
            yield form.format(value)
