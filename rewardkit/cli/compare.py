"""`rewardkit compare`: the same problems in several runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from rewardkit.harness.comparison.compare import Comparison, Flip

SHOWN = 10
"""Flips listed each way unless asked for more."""


def compare_command(
    baseline: Annotated[Path, typer.Argument(help="A run's folder.")],
    runs: Annotated[list[Path], typer.Argument(help="Other runs over the same problems.")],
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    metric: Annotated[str, typer.Option(help="accuracy, accuracy_flexible or score.")] = "accuracy",
    flips: Annotated[int, typer.Option(help="Changed problems to list each way.")] = SHOWN,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit 1 if a run is worse: the whole interval of its difference below -MARGIN.",
        ),
    ] = False,
    margin: Annotated[float, typer.Option(help="A loss that is accepted, such as 0.01.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="All figures and flips.")] = False,
) -> None:
    """Set runs beside a baseline, problem by problem.

    Shows the difference with its 95% interval, how likely chance is, and which problems changed.
    """
    from rewardkit.errors import UsageError
    from rewardkit.harness.comparison.compare import compare

    if not 0 <= margin <= 1:
        raise UsageError(f"--margin is {margin}; it must be from 0 to 1")
    found = compare(baseline, runs, task=task, metric=metric)
    if as_json:
        typer.echo(json.dumps([one.as_json() for one in found], ensure_ascii=False))
    else:
        _print(found, flips)
    worse = [one for one in found if one.is_worse(margin)]
    if fail_if_worse and worse:
        for one in worse:
            typer.echo(f"rewardkit: {one.run} is worse on {one.task} than {one.baseline}", err=True)
        raise typer.Exit(1)


def _print(found: Sequence[Comparison], most: int) -> None:
    from rewardkit.cli.results import console

    out = console()
    for task in dict.fromkeys(one.task for one in found):
        of_task = [one for one in found if one.task == task]
        out.print(_table(of_task))
    for one in found:
        out.print(f"\n{one.run}", style="bold", markup=False, soft_wrap=True)
        out.print(_told(one), markup=False)
        for title, changed in (("better", one.won), ("worse", one.lost)):
            if changed and most:
                out.print(f"  {title}: {_listed(changed, most)}", markup=False)


def _table(of_task: Sequence[Comparison]) -> Table:
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
        Text(first.baseline), f"{base.value:.1%}\n{base.low:.1%} – {base.high:.1%}",
        "baseline", "", "", "",
    )  # fmt: skip
    for one in of_task:
        value, change = one.run_value, one.difference
        table.add_row(
            Text(one.run),
            f"{value.value:.1%}\n{value.low:.1%} – {value.high:.1%}",
            f"{change.value:+.1%}\n{change.low:+.1%} – {change.high:+.1%}",
            _probability(one.p_adjusted).removeprefix("= "), str(len(one.won)), str(len(one.lost)),
        )  # fmt: skip
    return table


def _told(one: Comparison) -> str:
    change = one.difference
    if one.is_worse():
        verdict = "worse than the baseline"
    elif change.low > 0:
        verdict = "better than the baseline"
    else:
        verdict = "no difference that chance doesn't explain"
    parts = [f"{verdict}; {change.test}, p {_probability(change.p_value)}"]
    if one.p_adjusted != change.p_value:
        parts.append(f"with the other comparisons p {_probability(one.p_adjusted)} (Holm)")
    if one.left_out:
        parts.append(f"{one.left_out:,} problems left out, unjudged in one of the runs")
    if one.differs_in:
        parts.append(f"the runs differ in {', '.join(one.differs_in)}")
    return "\n".join(f"  {part}" for part in parts)


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
