"""Progress of scoring on stderr, by the bytes read: the file's rows aren't counted beforehand."""

from __future__ import annotations

import time

from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

from rewardkit.cli.progress_bar import SECONDS_BETWEEN_LINES, ProgressBar


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
