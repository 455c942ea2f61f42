"""`rewardkit check`: do plugins load, and do tasks' references judge themselves right?"""

from __future__ import annotations

from typing import Annotated

import typer


def check_command(
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this; repeatable.")] = None,
    plugin: Annotated[
        list[str] | None, typer.Option("--plugin", help="Only what it brings; repeatable.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A file of the task's columns, instead of the hub.")
    ] = None,
) -> None:
    """Check that plugins load and that every task's references judge themselves right."""
    from rewardkit.harness.check import check_installation

    failed = False
    for finding in check_installation(tasks=task or (), plugins=plugin or (), data=data):
        failed |= not finding.good
        typer.echo(f"{'ok  ' if finding.good else 'FAIL'}  {finding.what}")
        for line in finding.details:
            typer.echo(f"      {line}")
    if failed:
        raise typer.Exit(1)
