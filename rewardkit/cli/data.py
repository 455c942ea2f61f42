"""`rewardkit data`: write a task's problems to a file, with worked solutions if asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import key_values
from rewardkit.cli.echo import echo
from rewardkit.cli.options import with_options
from rewardkit.errors import UsageError


@with_options
def data_command(
    task: Annotated[str, typer.Argument(help="A task's name; `rewardkit list tasks` shows them.")],
    count: Annotated[int | None, typer.Option(help="Number of problems; by default all.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the task; repeatable."),
    ] = None,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Add the prompt and a worked solution to each row."),
    ] = False,
    long: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --solutions: share of long ones (search traces, chains of thought), 0 to 1.",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(help="With --solutions: a prompt's name or file; by default the task's own."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .jsonl or .parquet file; by default JSONL on stdout.",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace the file if it exists.", rich_help_panel="Output"
        ),
    ] = False,
    *,
    data: str | None,
    split: str | None,
    seed: int,
    timeout: float | None,
) -> None:
    """Write a task's problems as rows; `--data` reads the same problems from them."""
    from rewardkit.api import load_task
    from rewardkit.harness.metrics.names import counted
    from rewardkit.harness.prompts.solutions import solution_rows
    from rewardkit.harness.prompts.strategies import resolve_prompt
    from rewardkit.harness.store.data_files import (
        as_json,
        check_dataset_file,
        problems,
        rows_of,
        write_rows,
    )

    if not solutions and (long is not None or prompt is not None):
        raise UsageError(f"{'--prompt' if long is None else '--long'} needs --solutions")
    if output:
        check_dataset_file(output, overwrite=overwrite)
    chosen = load_task(task, **key_values(settings or (), "--set"))
    samples = problems(chosen, data=data, split=split, seed=seed, count=count)
    rows = rows_of(chosen, samples)
    left_out = ""
    if solutions:
        template = resolve_prompt(chosen, prompt)
        rows = solution_rows(
            chosen, template, samples, rows, long=long or 0.0, seed=seed, timeout=timeout
        )
        if len(rows) < len(samples):
            left_out = f"; left out {len(samples) - len(rows):,} whose solution is not judged right"
    if output is None:
        echo("\n".join(map(as_json, rows)))
    else:
        write_rows(rows, output, overwrite=overwrite)
    if output or left_out:
        echo(f"{counted(len(rows), 'problem')} in {output or 'stdout'}{left_out}", err=True)
