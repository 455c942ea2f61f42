"""A progress bar on stderr, which the progress of each command builds on."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn

from rewardkit.harness.run.reporter import Reporter
from rewardkit.redaction import redact

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
