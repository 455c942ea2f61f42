"""`rewardkit check`: check plugins and tasks."""

from __future__ import annotations

from typing import Annotated

import typer


def check_command(
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Check only this task, a name or a TOML file; repeatable."),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option("--plugin", help="Check only this plugin; repeatable.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A file with the task's rows, instead of the hub.")
    ] = None,
) -> None:
    """Check that plugins load and that each task's verifier accepts the task's references."""
    from rewardkit.harness.check import check_installation

    failed = False
    for finding in check_installation(tasks=task or (), plugins=plugin or (), data=data):
        failed |= not finding.passed
        typer.echo(f"{'ok  ' if finding.passed else 'FAIL'}  {finding.title}")
        for line in finding.details:
            typer.echo(f"      {line}")
    if failed:
        raise typer.Exit(1)
