"""`rewardkit compare`: several runs over the same problems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from rewardkit.harness.comparison.comparison import (
        Comparison,
        Flip,
        Forecast,
        GroupComparison,
        Power,
        SeedRuns,
    )
    from rewardkit.harness.metrics.metric import Metric
    from rewardkit.harness.metrics.paired import Difference


def value_text(value: float, kind: str) -> str:
    """A value of a metric of this kind."""
    return f"{value:.1%}" if kind == "share" else f"{value:.4g}"


def change_text(value: float, kind: str) -> str:
    """A difference of two values, with its sign."""
    return f"{value:+.1%}" if kind == "share" else f"{value:+.4g}"


def power_lines(comparison: Comparison) -> Iterator[str]:
    """What the comparison can find, and what its difference needs."""
    detectable = value_text(comparison.power.detectable, comparison.kind)
    yield f"differences from {detectable} are found here in 80% of such comparisons"
    need = _need(comparison.power, comparison.problems, comparison.kind)
    if need:
        yield need
    parts = [
        f"±{_deviation(spread.value, comparison.kind)} in {name}"
        for name, spread in zip(("the baseline", "the run"), comparison.spreads, strict=True)
        if spread
    ]
    if parts:
        yield f"{_spread_of(comparison.metric)}: {', '.join(parts)}"


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """The same for a comparison with a run that doesn't exist yet."""
    kind, spread = forecast.kind, forecast.spread
    yield (
        f"{forecast.task}: {forecast.metric} {value_text(forecast.value, kind)} on "
        f"{forecast.problems:,} problems{_completions_each(forecast.completions)}"
    )
    yield (
        f"  differences from {value_text(forecast.power.detectable, kind)} would be found in 80% "
        "of comparisons with a run of this size, or smaller ones if both find the same problems "
        "hard"
    )
    need = _need(forecast.power, forecast.problems, kind)
    if need:
        yield f"  {need}"
    if spread:
        yield f"  {_spread_of(forecast.metric)}: ±{_deviation(spread.value, kind)}"


def _completions_each(count: float | None) -> str:
    if count is None:
        return ""
    return f", {count:.4g} completion{'' if count == 1 else 's'} each"


def seed_line(seeds: SeedRuns, kind: str) -> str:
    """The spread of runs that differ in the seed alone."""
    mean, low, high = (value_text(value, kind) for value in (seeds.mean, seeds.low, seeds.high))
    return (
        f"{seeds.runs} runs that differ only in their seed: mean {mean}, standard deviation "
        f"{_deviation(seeds.deviation, kind)}, from {low} to {high}"
    )


def _need(power: Power, problems: int, kind: str) -> str:
    """Which amount of data the difference needs; empty where there is no difference."""
    if power.problems is None:
        return ""
    difference = value_text(abs(power.difference), kind)
    need = f"to find {difference} in 80%, {_problems_are(power.problems)} needed"
    if power.problems <= problems:
        return f"{need}, and there are {problems:,}"
    if power.completions is not None:
        return f"{need}, or {power.completions:,} completions for each of the {problems:,}"
    return need


def _problems_are(count: int) -> str:
    return "1 problem is" if count == 1 else f"{count:,} problems are"


def _spread_of(metric: str) -> str:
    return f"between seeds, the {metric} of one completion per problem varies by (1 s.d.)"


def _deviation(value: float, kind: str) -> str:
    return f"{value:.2%}" if kind == "share" else value_text(value, kind)


LEVEL = 0.05
"""The p-value below which a difference counts as significant; it matches the 95% intervals."""

NO_DIFFERENCE = "no difference beyond chance"

MOST_GROUPS = 5
"""Maximum number of groups of a column that are printed; `--json` has all."""


def print_comparisons(comparisons: Sequence[Comparison], most: int) -> None:
    """Print a table for each task and each comparison's details, with `most` flips each way."""
    from rewardkit.cli.result_tables import console
    from rewardkit.harness.comparison.comparison import seed_runs
    from rewardkit.harness.store.find_runs import short_names

    out = console()
    paths = list(
        dict.fromkeys([comparisons[0].baseline, *(comparison.run for comparison in comparisons)])
    )
    names = dict(zip(paths, short_names(list(map(Path, paths))), strict=True))
    tasks = list(dict.fromkeys(comparison.task for comparison in comparisons))
    for task in tasks:
        of_task = [comparison for comparison in comparisons if comparison.task == task]
        out.print(_table(of_task, names))
        if seeds := seed_runs(of_task):
            out.print(seed_line(seeds, of_task[0].kind), markup=False)
    for comparison in comparisons:
        on = f", {comparison.task}" if len(tasks) > 1 else ""
        out.print(f"\n{comparison.run}{on}", style="bold", markup=False, soft_wrap=True)
        out.print("\n".join(f"  {line}" for line in _details(comparison)), markup=False)
        for title, changed in (("better", comparison.won), ("worse", comparison.lost)):
            if changed and most:
                out.print(f"  {title}: {_listed(changed, most, comparison.kind)}", markup=False)


def _table(of_task: Sequence[Comparison], names: Mapping[str, str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    first = of_task[0]
    direction = " (lower is better)" if first.lower_is_better else ""
    table = Table(
        title=f"{first.task}: {first.metric}{direction} on {_problems(of_task)} problems",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("run", overflow="fold")
    for heading in (first.metric, "difference", "p", "better", "worse"):
        table.add_column(heading, justify="right")
    baseline = _value(first.baseline_value, first.kind)
    table.add_row(Text(names[first.baseline]), baseline, "baseline", "", "", "")
    for comparison in of_task:
        change, kind = comparison.difference, comparison.kind
        table.add_row(
            Text(names[comparison.run]),
            _value(comparison.run_value, kind),
            f"{change_text(change.value, kind)}\n{_change_interval(change, kind)}",
            _probability(comparison.p_adjusted).removeprefix("= "),
            str(len(comparison.won)),
            str(len(comparison.lost)),
        )
    return table


def _problems(of_task: Sequence[Comparison]) -> str:
    """The number of problems, or the smallest and the largest: runs may lack values."""
    counts = {comparison.problems for comparison in of_task}
    fewest, most = min(counts), max(counts)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _details(comparison: Comparison) -> Iterator[str]:
    change = comparison.difference
    yield f"{_verdict(comparison)}; {change.test}, p {_probability(change.p_value)}"
    if comparison.kind == "amount" and comparison.relative_change is not None:
        yield f"{comparison.relative_change:+.1%} of the baseline's {comparison.metric}"
    if comparison.p_adjusted != change.p_value:
        yield f"with the other comparisons p {_probability(comparison.p_adjusted)} (Holm)"
    yield from power_lines(comparison)
    yield from (_group(group, comparison.kind) for group in _shown_groups(comparison))
    if comparison.with_value != comparison.completions:
        yield _without_value(comparison)
    if comparison.differs_in:
        yield f"the runs differ in {', '.join(comparison.differs_in)}"


def _without_value(comparison: Comparison) -> str:
    """How many completions and problems the metric leaves out, and why."""
    of_baseline, of_run = (
        f"{count:,} of {total:,}"
        for count, total in zip(comparison.with_value, comparison.completions, strict=True)
    )
    left_out = comparison.left_out
    problems = "1 problem is" if left_out == 1 else f"{left_out:,} problems are"
    return (
        f"{comparison.metric} is of {comparison.defined_for}: {of_baseline} in the baseline, "
        f"{of_run} in the run; {problems} left out, without any in one of the runs"
    )


def _verdict(comparison: Comparison) -> str:
    if not comparison.is_worse() and not comparison.is_better():
        confirmed = comparison.p_adjusted < LEVEL
        return "no difference by its interval, only by the test" if confirmed else NO_DIFFERENCE
    verdict = f"{'worse' if comparison.is_worse() else 'better'} than the baseline"
    return (
        verdict if comparison.p_adjusted < LEVEL else f"{verdict} by its interval, not by the test"
    )


def _shown_groups(comparison: Comparison) -> list[GroupComparison]:
    """Groups of columns that have from two to MOST_GROUPS groups."""
    counts = Counter(group.column for group in comparison.groups)
    return [group for group in comparison.groups if 1 < counts[group.column] <= MOST_GROUPS]


def _group(group: GroupComparison, kind: str) -> str:
    before, after = value_text(group.baseline, kind), value_text(group.run, kind)
    interval = _change_interval(group, kind)
    problems = f"{group.problems:,} problems"
    return f"{group.column} {group.group}: {before} → {after} ({interval}; {problems})"


def _value(metric: Metric, kind: str) -> str:
    low, high = value_text(metric.low, kind), value_text(metric.high, kind)
    return f"{value_text(metric.value, kind)}\n{low} – {high}"


def _change_interval(change: Difference | GroupComparison, kind: str) -> str:
    return f"{change_text(change.low, kind)} – {change_text(change.high, kind)}"


def _probability(p_value: float) -> str:
    return "< 0.0001" if p_value < 1e-4 else f"= {p_value:.4f}"


def _listed(changed: Sequence[Flip], most: int, kind: str) -> str:
    single = all({flip.baseline, flip.run} == {0.0, 1.0} for flip in changed)
    shown = [flip.id if single else _flip(flip, kind) for flip in changed[:most]]
    rest = len(changed) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _flip(flip: Flip, kind: str) -> str:
    if kind == "share":
        return f"{flip.id} ({flip.baseline:.2f} → {flip.run:.2f})"
    return f"{flip.id} ({value_text(flip.baseline, kind)} → {value_text(flip.run, kind)})"


SHOWN = 10
"""How many flips each way are listed by default."""


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
        str,
        typer.Option(
            help="What to compare: accuracy, score, format_rate, part_NAME, … or a metric of the "
            "task's own, such as mse of motion. An unknown name lists all that there are."
        ),
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
            help="Exit with status 1 if a run is worse by more than MARGIN: its whole interval is.",
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
    from rewardkit.harness.comparison.compare import compare
    from rewardkit.harness.store.find_runs import find_runs

    if not margin >= 0:
        raise UsageError(f"--margin is {margin}; it must not be below 0")
    if detect is not None:
        if not detect > 0:
            raise UsageError(f"--detect is {detect}; it must be above 0")
        if len(folders := find_runs([baseline, *(runs or ())])) == 1:
            _print_forecast(folders[0], detect, task=task, metric=metric, as_json=as_json)
            return
    comparisons = compare(baseline, runs or (), task=task, metric=metric, detect=detect)
    _check_margin(margin, {comparison.kind for comparison in comparisons})
    if as_json:
        typer.echo(
            json.dumps([comparison.as_json() for comparison in comparisons], ensure_ascii=False)
        )
    else:
        print_comparisons(comparisons, flips)
    worse = [comparison for comparison in comparisons if comparison.is_worse(margin)]
    if fail_if_worse and worse:
        for comparison in worse:
            where = f"on {comparison.task} than {comparison.baseline}"
            typer.echo(f"rewardkit: {comparison.run} is worse {where}", err=True)
        raise typer.Exit(1)


def _check_margin(margin: float, kinds: Iterable[str]) -> None:
    """UsageError for a margin that no difference of shares can pass."""
    if margin > 1 and "share" in kinds:
        raise UsageError(f"--margin is {margin}; shares differ by at most 1, such as 0.01")


def _print_forecast(
    run: Path, detect: float, *, task: str | None, metric: str, as_json: bool
) -> None:
    """Print how much data finds the difference `detect`, estimated from one run."""
    from rewardkit.harness.comparison.comparison import forecast as forecast_tasks

    forecasts = forecast_tasks(run, detect, task=task, metric=metric)
    if as_json:
        typer.echo(json.dumps([forecast.as_json() for forecast in forecasts], ensure_ascii=False))
    else:
        typer.echo("\n".join(line for forecast in forecasts for line in forecast_lines(forecast)))
