"""`rewardkit compare`: several runs over the same problems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.cli.power_text import forecast_lines, power_lines, seed_line

if TYPE_CHECKING:
    from rich.table import Table

    from rewardkit.harness.comparison.comparison import Comparison, Flip
    from rewardkit.harness.comparison.groups import GroupComparison

SHOWN = 10
"""How many flips each way are listed by default."""

LEVEL = 0.05
"""The p-value below which a difference counts as significant; it matches the 95% intervals."""

MOST_GROUPS = 5
"""The most groups of a column that are printed; `--json` has all."""


def compare_command(
    baseline: Annotated[
        Path,
        typer.Argument(help="The baseline: a run's folder, or a sweep's, whose first run it is."),
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs or sweeps to compare with it, over the same problems."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Compare only this task.")] = None,
    metric: Annotated[
        str, typer.Option(help="What to compare: accuracy, accuracy_flexible or score.")
    ] = "accuracy",
    detect: Annotated[
        float | None,
        typer.Option(
            help="Say how much data finds this difference, such as 0.02; also for one run alone."
        ),
    ] = None,
    flips: Annotated[
        int, typer.Option(help="Number of changed problems to list each way.")
    ] = SHOWN,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit with status 1 if a run is worse: its whole interval is below -MARGIN.",
        ),
    ] = False,
    margin: Annotated[
        float, typer.Option(help="The loss that --fail-if-worse accepts, such as 0.01.")
    ] = 0.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all figures and flips as JSON.")
    ] = False,
) -> None:
    """Compare runs with a baseline, problem by problem.

    Prints the difference with its 95% interval, the p-value, and which problems changed.
    """
    from rewardkit.errors import UsageError
    from rewardkit.harness.comparison.compare import compare
    from rewardkit.harness.store.find_runs import find_runs

    if not 0 <= margin <= 1:
        raise UsageError(f"--margin is {margin}; it must be from 0 to 1")
    if detect is not None:
        if not 0 < detect <= 1:
            raise UsageError(f"--detect is {detect}; it must be above 0 and at most 1")
        if len(folders := find_runs([baseline, *(runs or ())])) == 1:
            _print_forecast(folders[0], detect, task=task, metric=metric, as_json=as_json)
            return
    found = compare(baseline, runs or (), task=task, metric=metric, detect=detect)
    if as_json:
        typer.echo(json.dumps([one.as_json() for one in found], ensure_ascii=False))
    else:
        _print(found, flips)
    worse = [one for one in found if one.is_worse(margin)]
    if fail_if_worse and worse:
        for one in worse:
            typer.echo(f"rewardkit: {one.run} is worse on {one.task} than {one.baseline}", err=True)
        raise typer.Exit(1)


def _print_forecast(
    run: Path, detect: float, *, task: str | None, metric: str, as_json: bool
) -> None:
    """Print what one run says of a comparison that should find the difference `detect`."""
    from rewardkit.harness.comparison.compare import check_metric
    from rewardkit.harness.comparison.comparison_power import forecast

    check_metric(metric)
    forecasts = forecast(run, detect, task=task, metric=metric)
    if as_json:
        typer.echo(json.dumps([one.as_json() for one in forecasts], ensure_ascii=False))
    else:
        typer.echo("\n".join(line for one in forecasts for line in forecast_lines(one)))


def _print(found: Sequence[Comparison], most: int) -> None:
    from rewardkit.cli.result_tables import console
    from rewardkit.harness.comparison.seed_runs import seed_runs
    from rewardkit.harness.store.find_runs import short_names

    out = console()
    paths = list(dict.fromkeys([found[0].baseline, *(one.run for one in found)]))
    names = dict(zip(paths, short_names(list(map(Path, paths))), strict=True))
    tasks = list(dict.fromkeys(one.task for one in found))
    for task in tasks:
        of_task = [one for one in found if one.task == task]
        out.print(_table(of_task, names))
        if seeds := seed_runs(of_task):
            out.print(seed_line(seeds), markup=False)
    for one in found:
        on = f", {one.task}" if len(tasks) > 1 else ""
        out.print(f"\n{one.run}{on}", style="bold", markup=False, soft_wrap=True)
        out.print(_details(one), markup=False)
        for title, changed in (("better", one.won), ("worse", one.lost)):
            if changed and most:
                out.print(f"  {title}: {_listed(changed, most)}", markup=False)


def _table(of_task: Sequence[Comparison], names: Mapping[str, str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    first = of_task[0]
    table = Table(
        title=f"{first.task}: {first.metric} on {first.problems:,} problems",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("run", overflow="fold")
    for heading in (first.metric, "difference", "p", "better", "worse"):
        table.add_column(heading, justify="right")
    base = first.baseline_value
    table.add_row(
        Text(names[first.baseline]),
        f"{base.value:.1%}\n{base.low:.1%} – {base.high:.1%}",
        "baseline",
        "",
        "",
        "",
    )
    for one in of_task:
        value, change = one.run_value, one.difference
        table.add_row(
            Text(names[one.run]),
            f"{value.value:.1%}\n{value.low:.1%} – {value.high:.1%}",
            f"{change.value:+.1%}\n{change.low:+.1%} – {change.high:+.1%}",
            _probability(one.p_adjusted).removeprefix("= "),
            str(len(one.won)),
            str(len(one.lost)),
        )
    return table


def _details(one: Comparison) -> str:
    change = one.difference
    parts = [f"{_verdict(one)}; {change.test}, p {_probability(change.p_value)}"]
    if one.p_adjusted != change.p_value:
        parts.append(f"with the other comparisons p {_probability(one.p_adjusted)} (Holm)")
    parts += power_lines(one)
    parts += map(_group, _shown_groups(one))
    if one.left_out:
        parts.append(f"{one.left_out:,} problems left out, unjudged in one of the runs")
    if one.differs_in:
        parts.append(f"the runs differ in {', '.join(one.differs_in)}")
    return "\n".join(f"  {part}" for part in parts)


def _verdict(one: Comparison) -> str:
    if not one.is_worse() and one.difference.low <= 0:
        return "no difference beyond chance"
    verdict = "worse than the baseline" if one.is_worse() else "better than the baseline"
    return verdict if one.p_adjusted < LEVEL else f"{verdict} by its interval, not by the test"


def _shown_groups(one: Comparison) -> list[GroupComparison]:
    """Groups of columns that have from two to MOST_GROUPS groups."""
    counts = Counter(group.column for group in one.groups)
    return [group for group in one.groups if 1 < counts[group.column] <= MOST_GROUPS]


def _group(one: GroupComparison) -> str:
    return (
        f"{one.column} {one.group}: {one.baseline:.1%} → {one.run:.1%} "
        f"({one.low:+.1%} – {one.high:+.1%}; {one.problems:,} problems)"
    )


def _probability(p_value: float) -> str:
    return "< 0.0001" if p_value < 1e-4 else f"= {p_value:.4f}"


def _listed(changed: Sequence[Flip], most: int) -> str:
    single = all({flip.baseline, flip.run} == {0.0, 1.0} for flip in changed)
    shown = [
        flip.id if single else f"{flip.id} ({flip.baseline:.2f} → {flip.run:.2f})"
        for flip in changed[:most]
    ]
    rest = len(changed) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")
