"""A run's progress on stderr: a bar with rates and time left, or plain lines where no one looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from rewardkit.harness.run.reporter import Reporter

if TYPE_CHECKING:
    from rewardkit.harness.store.sample_row import SampleRow

SECONDS_BETWEEN_LINES = 30.0
WIDE = 90


class ProgressReporter(Reporter):
    """Shows a run's progress; plain lines every half minute where stderr is no terminal."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._progress: Progress | None = None
        self._bar: Any = None
        self._counts: dict[str, int] = {}
        self._since = self._last_line = time.monotonic()

    def note(self, text: str) -> None:
        """A line of its own."""
        self._console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar, unless all is done."""
        self._counts = {"total": total, "done": done, "new": 0, "tokens": 0, "right": 0}
        if done:
            self.note(f"{done:,} of {total:,} completions are there already; carrying on")
        if done < total and self._console.is_terminal:
            self._progress = Progress(*self._columns(), console=self._console, expand=True)
            self._bar = self._progress.add_task("starting", total=total, completed=done, rate="")
            self._progress.start()

    def generating(self) -> None:
        """Rates count from here."""
        self._since = time.monotonic()
        if self._progress is not None:
            self._progress.update(self._bar, description="generating")

    def written(self, rows: Sequence[SampleRow]) -> None:
        """Count these."""
        self._counts["new"] += len(rows)
        self._counts["done"] += len(rows)
        self._counts["tokens"] += sum(row.completion_tokens or 0 for row in rows)
        self._counts["right"] += sum(bool(row.verdict.correct) for row in rows)
        if self._progress is not None:
            self._progress.update(self._bar, completed=self._counts["done"], rate=self._rate())
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.note(f"{self._counts['done']:,} of {self._counts['total']:,}; {self._rate()}")

    def ended(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _columns(self) -> list[ProgressColumn]:
        """What fits: a narrow terminal gets no elapsed time."""
        whole = Column(no_wrap=True)
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", table_column=whole),
            BarColumn(bar_width=None),
            MofNCompleteColumn(table_column=whole),
            TextColumn("{task.fields[rate]}", table_column=whole),
            TimeRemainingColumn(compact=True, table_column=whole),
        ]
        return [*columns, TimeElapsedColumn()] if self._wide else columns

    @property
    def _wide(self) -> bool:
        return self._console.width >= WIDE

    def _rate(self) -> str:
        seconds = max(time.monotonic() - self._since, 1e-3)
        rate = f"{self._counts['new'] / seconds:,.1f}/s"
        if self._wide:
            rate += f", {self._counts['tokens'] / seconds:,.0f} tokens/s"
        return f"{rate}, {self._counts['right'] / self._counts['new']:.0%} right"
