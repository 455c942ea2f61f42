"""`rewardkit data`: a task's problems as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import key_values


def data_command(
    task: Annotated[str, typer.Argument(help="A task; see: rewardkit list tasks.")],
    split: Annotated[str | None, typer.Option(help="By default the task's own.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same problems.")] = 0,
    count: Annotated[int | None, typer.Option(help="So many problems.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the task; repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=".jsonl or .parquet; by default JSONL on stdout."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that exists.")
    ] = False,
) -> None:
    """Write a task's problems as rows that `--data` reads back, sample for sample."""
    from rewardkit.api import load_task
    from rewardkit.harness.store.dataset_file import (
        as_json,
        check_dataset_file,
        problems,
        rows_of,
        write_rows,
    )

    if output:
        check_dataset_file(output, overwrite=overwrite)
    chosen = load_task(task, **key_values(settings or (), "--set"))
    rows = rows_of(chosen, problems(chosen, split=split, seed=seed, count=count))
    if output is None:
        typer.echo("\n".join(map(as_json, rows)))
        return
    write_rows(rows, output, overwrite=overwrite)
    typer.echo(f"{len(rows):,} problems in {output}", err=True)
