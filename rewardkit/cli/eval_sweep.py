"""`rewardkit eval` over several checkpoints or prompts: run, and told as one table."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import typer

from rewardkit.cli.output_options import OutputOptions
from rewardkit.cli.result_tables import console
from rewardkit.cli.summary_warnings import of_runs
from rewardkit.cli.sweep_table import labelled, line, table
from rewardkit.errors import BackendError
from rewardkit.harness.run.options import EvalOptions
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.sweeps.sweep import sweep, watch_sweep
from rewardkit.harness.sweeps.sweep_plan import plan_sweep, plan_watch
from rewardkit.harness.sweeps.sweep_results import SweepRun, arranged

INTERRUPTED = 130
"""The exit status by which shells know an interrupt."""


def evaluate_several(
    options: EvalOptions,
    models: list[str],
    prompts: list[str],
    telling: OutputOptions,
) -> None:
    """Run what isn't done, and print all of it; exit status 1 where a run failed."""
    reporter = telling.reporter()
    plan = plan_sweep(options, models, prompts)
    plan = replace(plan, command=tuple(sys.argv))
    runs, interrupted = _collect(sweep(plan, reporter), reporter)
    _tell(runs, plan.folder, telling)
    if interrupted:
        typer.echo("interrupted; the same command line carries on from here", err=True)
        raise typer.Exit(INTERRUPTED)
    _fail_by(runs)


def watch_several(
    options: EvalOptions,
    models: list[str],
    prompts: list[str],
    telling: OutputOptions,
    *,
    timeout: float | None,
) -> None:
    """The same for checkpoints as they are written; an interrupt is how it is ended by hand."""
    reporter = telling.reporter()
    plan = plan_watch(options, models, prompts)
    plan = replace(plan, command=tuple(sys.argv))
    runs, interrupted = _collect(watch_sweep(plan, reporter, timeout=timeout), reporter)
    _tell(runs, plan.folder, telling)
    if interrupted:
        typer.echo("ended by hand; the same command line carries on from here", err=True)
    elif not runs:
        raise BackendError(f"no checkpoint came: {', '.join(plan.models)}")
    _fail_by(runs)


def _collect(runs: Iterable[SweepRun], reporter: Reporter) -> tuple[list[SweepRun], bool]:
    """The runs as far as they came, each told as it ends, and whether an interrupt ended them."""
    ended: list[SweepRun] = []
    try:
        for run in runs:
            ended.append(run)
            for told in line(run):
                reporter.note(told)
    except KeyboardInterrupt:
        return arranged(ended), True
    return arranged(ended), False


def _tell(runs: list[SweepRun], folder: Path, telling: OutputOptions) -> None:
    if telling.as_json:
        typer.echo(json.dumps([run.as_json() for run in runs]))
    elif runs:
        out = console()
        out.print(table(runs, out.width))
        for warning in of_runs(list(labelled(runs))):
            out.print(f"! {warning}", style="yellow", markup=False)
        out.print(str(folder), style="dim", markup=False, soft_wrap=True)
    if any(run.summary for run in runs):
        telling.log(folder)


def _fail_by(runs: list[SweepRun]) -> None:
    """Exit status 1 where a run failed; runs that failed alike are named together."""
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
