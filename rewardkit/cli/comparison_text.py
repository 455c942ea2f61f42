"""What `rewardkit compare` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.power_text import power_lines, seed_line
from rewardkit.cli.value_text import change_text, value_text

if TYPE_CHECKING:
    from rich.table import Table

    from rewardkit.harness.comparison.comparison import Comparison, Flip
    from rewardkit.harness.comparison.groups import GroupComparison
    from rewardkit.harness.metrics.metric import Metric
    from rewardkit.harness.metrics.paired import Difference

LEVEL = 0.05
"""The p-value below which a difference counts as significant; it matches the 95% intervals."""

NO_DIFFERENCE = "no difference beyond chance"

MOST_GROUPS = 5
"""Maximum number of groups of a column that are printed; `--json` has all."""


def print_comparisons(comparisons: Sequence[Comparison], most: int) -> None:
    """Print a table for each task and each comparison's details, with `most` flips each way."""
    from rewardkit.cli.result_tables import console
    from rewardkit.harness.comparison.seed_runs import seed_runs
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
