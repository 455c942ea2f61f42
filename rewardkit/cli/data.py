"""`rewardkit data`: write a task's problems, or completions to train on, to a file."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.cli.arguments import echo, key_values
from rewardkit.cli.options import refuse_given, with_options
from rewardkit.errors import UsageError
from rewardkit.harness.options import flag

if TYPE_CHECKING:
    from rewardkit.harness.results.data_files import Row
    from rewardkit.protocols import Task
    from rewardkit.records import Sample

_of_runs = functools.partial(typer.Option, rich_help_panel="Completions of a run")


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
            help="With --solutions: share of long solutions (search traces, chains), 0 to 1.",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="With --solutions or --from: a prompt's name or file; by default the task's own, "
            "or the run's."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        _of_runs("--from", metavar="RUN", help="Write the right completions of this run."),
    ] = None,
    per_problem: Annotated[
        int | None, _of_runs(min=1, help="Maximum rows of a problem; by default all.")
    ] = None,
    choose: Annotated[
        str | None,
        _of_runs(help="Rows to prefer: first (the default), shortest, random or diverse."),
    ] = None,
    thinking: Annotated[
        str | None, _of_runs(help="Thinking of the completions: keep (the default) or strip.")
    ] = None,
    pairs: Annotated[
        bool,
        _of_runs("--pairs", help="Pair right and wrong completions of a problem, for DPO or KTO."),
    ] = False,
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
    """Write a task's problems to a file that `--data` reads."""
    from rewardkit.api import load_task
    from rewardkit.harness.results.data_files import (
        as_json,
        check_dataset_file,
        problems,
        write_rows,
    )

    of_runs = {"per_problem": per_problem, "choose": choose, "thinking": thinking, "pairs": pairs}
    of_tasks = {"set": settings, "count": count, "data": data, "split": split}
    if run is not None:
        of_solutions = {"solutions": solutions, "long": long is not None}
        refuse_given({**of_tasks, **of_solutions}, "the completions of a run")
    else:
        _refuse_without("--from RUN", of_runs)
        _refuse_without("--solutions", {"long": long is not None and not solutions})
        _refuse_without("--solutions or --from", {"prompt": prompt and not solutions})
    if output:
        check_dataset_file(output, overwrite=overwrite)
    if run is not None:
        from rewardkit.harness.scoring import verified_completions as verified

        replies = verified.read_replies(
            run, task, prompt=prompt, thinking=thinking or "keep", timeout=timeout
        )
        select = verified.Selection(choose=choose or "first", most=per_problem, seed=seed)
        made = (verified.preference_pairs if pairs else verified.completion_rows)(replies, select)
    else:
        chosen = load_task(task, **key_values(settings or (), "--set"))
        samples = problems(chosen, data=data, split=split, seed=seed, count=count)
        share = (long or 0.0) if solutions else None
        made = _rows(chosen, samples, prompt, share, seed=seed, timeout=timeout)
    rows, summary, left_out = made
    if output is None:
        echo("\n".join(map(as_json, rows)))
    else:
        write_rows(rows, output, overwrite=overwrite)
    if output or left_out:
        echo(f"{summary} in {output or 'stdout'}{left_out}", err=True)


def _refuse_without(needed: str, options: Mapping[str, object]) -> None:
    """Raise UsageError for an option that is set without the option that it needs."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{flag(name)} needs {needed}")


def _rows(
    task: Task,
    samples: Sequence[Sample],
    prompt: str | None,
    long: float | None,
    *,
    seed: int,
    timeout: float | None,
) -> tuple[list[Row], str, str]:
    """The problems, with solutions if `long` is a share; their number; and what is left out."""
    from rewardkit.harness.prompts.solutions import solution_rows
    from rewardkit.harness.prompts.strategies import resolve_prompt
    from rewardkit.harness.results.data_files import rows_of
    from rewardkit.harness.results.names import counted

    rows, left_out = rows_of(task, samples), ""
    if long is not None:
        template = resolve_prompt(task, prompt)
        rows = solution_rows(task, template, samples, rows, long=long, seed=seed, timeout=timeout)
    if len(rows) < len(samples):
        left_out = f"; left out {len(samples) - len(rows):,} whose solution is not judged right"
    return rows, counted(len(rows), "problem"), left_out
