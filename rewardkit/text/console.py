"""Consoles for tables and progress, which read no markup in foreign text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as RichTable

from rewardkit.tables import Line, Table, cell_text
from rewardkit.text.printable import printable


class PrintableConsole(Console):
    """A console that shows control characters and reads no markup in what it prints."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render like rich. Only rich's control codes stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def show(self, parts: Iterable[Table | Line]) -> None:
        """Print tables and lines. Bold and dim lines, which hold paths, are never broken."""
        for part in parts:
            if isinstance(part, Line):
                text = Padding.indent(part.text, part.indent) if part.indent else part.text
                self.print(text, style=part.style, soft_wrap=part.style in ("bold", "dim"))
                continue
            table = RichTable(
                title=part.title or None,
                title_justify="left",
                title_style="bold",
                caption=part.note or None,
                caption_justify="left",
            )
            for place, column in enumerate(part.columns):
                is_key = place < part.keys
                table.add_column(column, justify="left" if is_key else "right", overflow="fold")
            for row in part.rows:
                table.add_row(*map(cell_text, row))
            self.print(table)


def console() -> PrintableConsole:
    """Return a console on stdout, as wide as the terminal, or 120 columns wide in a pipe."""
    return PrintableConsole(width=None if sys.stdout.isatty() else 120)
