"""`rewardkit view`: the runs and trainings below a folder as live pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.errors import needs_extra
from rewardkit.harness.results.names import VIEW_PORT


def view_command(
    folder: Annotated[Path, typer.Argument(help="A folder that holds runs and trainings.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 chooses a free port.")] = VIEW_PORT,
) -> None:
    """Show the runs and trainings below a folder as live pages on this machine, until Ctrl-C."""
    with needs_extra("server", "rewardkit view"):
        from rewardkit.server.connection import run_app
        from rewardkit.server.live_pages import create_view
    run_app(create_view(folder), host="127.0.0.1", port=port, drain_seconds=1)
