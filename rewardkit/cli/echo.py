"""Where every command prints its lines."""

from __future__ import annotations

import typer

from rewardkit.printable import printable


def echo(text: str, *, err: bool = False) -> None:
    """Print a line on stdout, or on stderr; control characters are shown."""
    typer.echo(printable(text), err=err)
