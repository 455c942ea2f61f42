"""`rewardkit data`: write a task's problems to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import key_values


def data_command(
    task: Annotated[str, typer.Argument(help="A task's name; `rewardkit list tasks` shows them.")],
    split: Annotated[str | None, typer.Option(help="The split; by default the task's own.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of generated problems.")] = 0,
    count: Annotated[int | None, typer.Option(help="Number of problems; by default all.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the task; repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .jsonl or .parquet file; by default JSONL on stdout."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it exists.")
    ] = False,
) -> None:
    """Write a task's problems as rows; `--data` reads the same problems from them."""
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
