"""`rewardkit eval` over several checkpoints or prompts, shown as one table."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import typer

from rewardkit.cli.exit_status import INTERRUPTED
from rewardkit.cli.output_options import OutputOptions
from rewardkit.cli.result_tables import console
from rewardkit.cli.summary_warnings import of_runs
from rewardkit.cli.sweep_table import labelled, line, table
from rewardkit.errors import BackendError
from rewardkit.harness.run.eval_options import EvalOptions
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.sweeps.sweep import sweep, watch_sweep
from rewardkit.harness.sweeps.sweep_plan import plan_sweep, plan_watch
from rewardkit.harness.sweeps.sweep_results import SweepRun, sort_by_step


def evaluate_several(
    options: EvalOptions,
    models: list[str],
    prompts: list[str],
    output: OutputOptions,
) -> None:
    """Complete every run and print all of them. The exit status is 1 where a run failed."""
    reporter = output.reporter()
    plan = plan_sweep(options, models, prompts)
    plan = replace(plan, command=tuple(sys.argv))
    runs, interrupted = _collect(sweep(plan, reporter), reporter)
    _print(runs, plan.folder, output)
    if interrupted:
        typer.echo("interrupted; the same command resumes", err=True)
        raise typer.Exit(INTERRUPTED)
    _fail_by(runs)


def watch_several(
    options: EvalOptions,
    models: list[str],
    prompts: list[str],
    output: OutputOptions,
    *,
    timeout: float | None,
) -> None:
    """Do the same for checkpoints as they are written, until an interrupt or the timeout."""
    reporter = output.reporter()
    plan = plan_watch(options, models, prompts)
    plan = replace(plan, command=tuple(sys.argv))
    runs, interrupted = _collect(watch_sweep(plan, reporter, timeout=timeout), reporter)
    _print(runs, plan.folder, output)
    if interrupted:
        typer.echo("stopped; the same command resumes", err=True)
    elif not runs:
        raise BackendError(f"no checkpoint appeared: {', '.join(plan.models)}")
    _fail_by(runs)


def _collect(runs: Iterable[SweepRun], reporter: Reporter) -> tuple[list[SweepRun], bool]:
    """The runs that ended, each noted as it did, and whether an interrupt stopped the rest."""
    ended: list[SweepRun] = []
    try:
        for run in runs:
            ended.append(run)
            for text in line(run):
                reporter.note(text)
    except KeyboardInterrupt:
        return sort_by_step(ended), True
    return sort_by_step(ended), False


def _print(runs: list[SweepRun], folder: Path, output: OutputOptions) -> None:
    if output.as_json:
        typer.echo(json.dumps([run.as_json() for run in runs]))
    elif runs:
        out = console()
        out.print(table(runs, out.width))
        for warning in of_runs(list(labelled(runs))):
            out.print(f"! {warning}", style="yellow", markup=False)
        out.print(str(folder), style="dim", markup=False, soft_wrap=True)
    if any(run.summary for run in runs):
        output.log(folder)


def _fail_by(runs: list[SweepRun]) -> None:
    """Exit with status 1 if a run failed. Runs with the same error share a line."""
    alike: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run.failed:
            alike[run.error or _TOO_MANY_ERRORS].append(run.label)
    for why, labels in alike.items():
        typer.echo(f"rewardkit: {', '.join(labels)}: {why}", err=True)
    if alike:
        raise typer.Exit(1)


_TOO_MANY_ERRORS = (
    "more completions than --max-errors allows ended in errors; the rows in samples.jsonl say why"
)
