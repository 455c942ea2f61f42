"""Values that show themselves as tables, at a terminal and in a notebook."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.tables import Line, Table


class Shown:
    """Values that print as the terminal's tables, and that notebooks show as tables."""

    __slots__ = ()

    def shown(self) -> Iterator[Table | Line]:
        """The tables and lines, from top to bottom."""
        raise NotImplementedError

    def __str__(self) -> str:
        from rewardkit.console import PrintableConsole, console

        text = io.StringIO()
        plain = PrintableConsole(
            file=text, width=console().width, color_system=None, force_jupyter=False
        )
        plain.show(self.shown())
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # what IPython shows at a terminal

    def _repr_html_(self) -> str:
        from rewardkit.tables import as_html

        return as_html(self.shown())
