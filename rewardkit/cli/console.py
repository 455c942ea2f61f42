"""Consoles for tables and progress, on which foreign text is only text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rewardkit.printable import printable


class PrintableConsole(Console):
    """A console that shows control characters and reads no markup in what it prints."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as rich does; only rich's own control codes stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def console() -> PrintableConsole:
    """A console on stdout: as wide as the terminal, or 120 columns where it is piped."""
    return PrintableConsole(width=None if sys.stdout.isatty() else 120)
