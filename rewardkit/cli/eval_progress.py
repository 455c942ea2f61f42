"""A run's progress on stderr: a bar with rates and time left, or plain lines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from rewardkit.cli.progress_bar import SECONDS_BETWEEN_LINES, ProgressBar

if TYPE_CHECKING:
    from rewardkit.harness.store.sample_row import SampleRow

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
