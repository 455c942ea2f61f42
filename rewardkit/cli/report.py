"""`rewardkit report`: write one page for several runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import echo, merge_shards
from rewardkit.errors import RunMismatch, UsageError

OPEN = ("auto", "yes", "no")


def report_command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…",
            help="Folders of runs, or folders that contain runs, such as a sweep's folder.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file or folder of the page; by default report.html in the run's folder, or "
            "in the current folder for several runs.",
        ),
    ] = None,
    open_it: Annotated[
        str,
        typer.Option(
            "--open", help="Open the page in a browser: yes, no, or auto (at a terminal)."
        ),
    ] = "auto",
) -> None:
    """Write a self-contained HTML page that shows a run or compares several runs."""
    from rewardkit.harness.report.page import render_runs
    from rewardkit.harness.results.run_folder import REPORT

    if open_it not in OPEN:
        raise UsageError(f"--open {open_it!r} isn't one of {', '.join(OPEN)}")
    path = output or (runs[0] if len(runs) == 1 else Path())
    if path.is_dir():
        path /= REPORT
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} isn't a folder; create it, or choose another --output")
    try:
        merge_shards(*runs)
    except RunMismatch as error:
        echo(f"the shards are shown as runs: {error}", err=True)
    shown = render_runs(runs, path)
    names = ", ".join(run.name for run in shown)
    echo(f"{len(shown)} runs: {names}" if len(shown) > 1 else names, err=True)
    echo(str(path))
    if open_it == "yes" or (open_it == "auto" and sys.stdout.isatty()):
        _show(path)


def _show(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        echo(f"no browser could be opened here; open {path} in one", err=True)
