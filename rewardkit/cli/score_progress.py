"""How far scoring is, on stderr: by the bytes of the file, since its rows aren't counted before."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

from rewardkit.harness.run.reporter import Reporter

SECONDS_BETWEEN_LINES = 30.0


class ScoreProgress(Reporter):
    """A bar with rate and time left; plain lines every half minute where stderr is no terminal."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._progress: Progress | None = None
        self._bar: Any = None
        self._size = self._completions = self._earlier = 0
        self._begun_at: int | None = None
        self._since = self._last_line = time.monotonic()

    def started(self, total: int, done: int = 0) -> None:
        """Show the bar."""
        self._size = total
        self._since = self._last_line = time.monotonic()
        if self._console.is_terminal:
            whole = Column(no_wrap=True)
            self._progress = Progress(
                TextColumn("judging", table_column=whole),
                BarColumn(bar_width=None),
                TaskProgressColumn(table_column=whole),
                TextColumn("{task.fields[rate]}", table_column=whole),
                TimeRemainingColumn(compact=True, table_column=whole),
                console=self._console,
                expand=True,
                transient=True,
            )
            self._bar = self._progress.add_task("", total=total, rate="")
            self._progress.start()

    def resumed(self, completions: int) -> None:
        """Say how many are there."""
        self._earlier = completions
        self.note(f"{completions:,} completions are judged already; carrying on")

    def judged(self, completions: int, end: int) -> None:
        """Count these."""
        self._completions += completions
        if self._begun_at is None:
            self._begun_at = end
        if self._progress is not None:
            self._progress.update(self._bar, completed=end, rate=self._told())
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.note(f"{end / max(1, self._size):.0%}: {self._told()}, {self._left(end)}")

    def ended(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _told(self) -> str:
        rate = self._completions / max(time.monotonic() - self._since, 1e-3)
        return f"{self._earlier + self._completions:,} completions, {rate:,.0f}/s"

    def _left(self, end: int) -> str:
        """The time left, by the bytes read since the first piece was judged."""
        read = end - (self._begun_at or 0)
        if read <= 0:
            return "time left unknown"
        seconds = (time.monotonic() - self._since) * (self._size - end) / read
        return f"{seconds:,.0f} s left"

    def note(self, text: str) -> None:
        """A line of its own."""
        self._console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)
