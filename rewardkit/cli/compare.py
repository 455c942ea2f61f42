"""`rewardkit compare`: several runs over the same problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.cli.arguments import echo, fail_with, merge_shards
from rewardkit.cli.options import with_options
from rewardkit.errors import UsageError

if TYPE_CHECKING:
    from rewardkit.harness.results.comparison import Forecast, TaskComparison


@with_options
def compare_command(
    baseline: Annotated[
        Path,
        typer.Argument(help="The baseline: a run's folder, or a sweep's (its first run by name)."),
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs or sweeps over the same problems."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Compare only this task.")] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="The metric: accuracy, score, format_rate, part_NAME, … or one that the task "
            "defines, such as mse of motion. An unknown name lists all metrics of the runs."
        ),
    ] = "accuracy",
    detect: Annotated[
        float | None,
        typer.Option(
            help="Print how much data shows this difference, such as 0.02; one run is enough."
        ),
    ] = None,
    flips: Annotated[
        int, typer.Option(help="Number of changed problems to list in each direction.")
    ] = 10,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit with status 1 if a run is worse: the whole interval of its difference is a "
            "loss of more than MARGIN.",
        ),
    ] = False,
    margin: Annotated[
        float, typer.Option(help="The loss that --fail-if-worse tolerates, such as 0.01.")
    ] = 0.0,
    *,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Compare runs with a baseline, problem by problem.

    The tables have the difference with its 95% interval, the p-value, and the changed problems.
    """
    from rewardkit.harness.results.comparison import compare, forecast
    from rewardkit.harness.results.comparison_tables import comparison_tables, forecast_lines
    from rewardkit.harness.results.run_folder import find_runs
    from rewardkit.text.console import console

    if not margin >= 0:
        raise UsageError(f"--margin is {margin}; it must be at least 0")
    merge_shards(baseline, *(runs or ()))
    if detect is not None:
        if not detect > 0:
            raise UsageError(f"--detect is {detect}; it must be above 0")
        if len(folders := find_runs([baseline, *(runs or ())])) == 1:
            forecasts = forecast(folders[0], detect, task=task, metric=metric, cluster=cluster)
            if as_json:
                _print_json(forecasts)
            else:
                echo("\n".join(line for each in forecasts for line in forecast_lines(each)))
            return
    comparisons = compare(
        baseline, runs or (), task=task, metric=metric, detect=detect, cluster=cluster
    )
    if margin > 1 and any(comparison.kind == "share" for comparison in comparisons):
        raise UsageError(f"--margin is {margin}; shares differ by at most 1, such as 0.01")
    if as_json:
        _print_json(comparisons)
    else:
        console().show(comparison_tables(comparisons, flips))
    fail_with(
        [
            f"{comparison.run} is worse on {comparison.task} than {comparison.baseline}"
            for comparison in comparisons
            if fail_if_worse and comparison.is_worse(margin)
        ]
    )


def _print_json(results: Sequence[TaskComparison | Forecast]) -> None:
    echo(json.dumps([result.as_json() for result in results], ensure_ascii=False))
