"""Comparisons as tables, with the details of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from rewardkit.harness.results.comparison import (
    Flip,
    Forecast,
    GroupComparison,
    StatisticalPower,
    TaskComparison,
)
from rewardkit.harness.results.metric import Metric, PairedDifference
from rewardkit.harness.results.names import counted, words
from rewardkit.harness.results.run_folder import short_names
from rewardkit.records import Shown
from rewardkit.tables import Line, Table

MOST_FLIPS = 10
"""How many changed problems are listed in each direction."""

SIGNIFICANCE = 0.05
"""The p-value below which a difference counts as significant; it matches the 95% intervals."""

MOST_GROUPS = 5
"""Columns with more groups, or with one group, are not printed; `--json` has all groups."""


def value_text(value: float, kind: str) -> str:
    """A value of a metric of this kind."""
    return f"{value:.1%}" if kind == "share" else f"{value:.4g}"


def change_text(value: float, kind: str, sign: str = "") -> str:
    """A difference of two values; a difference of two shares is in percentage points."""
    return f"{100 * value:{sign}.1f} pts" if kind == "share" else f"{value:{sign}.4g}"


def spread_text(value: float, kind: str) -> str:
    """A standard deviation of values."""
    return f"{100 * value:.2f} pts" if kind == "share" else f"{value:.4g}"


def p_value_text(p_value: float) -> str:
    """A p-value with four digits."""
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def p_value_equation(p_value: float) -> str:
    """The same in a sentence: "p = 0.0312" or "p < 0.0001"."""
    text = p_value_text(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def power_lines(comparison: TaskComparison) -> Iterator[str]:
    """Which differences the comparison can detect, and how much data its difference needs."""
    kind, power = comparison.kind, comparison.power
    if power.detectable_difference:
        yield f"detectable difference (80% power): {change_text(power.detectable_difference, kind)}"
    else:
        yield "both runs have the same result on each problem"
    yield from _need(power, comparison.problems, kind)
    spreads = [
        f"±{spread_text(spread.value, kind)} in {name}"
        for name, spread in zip(("the baseline", "the run"), comparison.seed_spreads, strict=True)
        if spread
    ]
    if spreads:
        yield f"seed spread of one completion per problem: {', '.join(spreads)}"


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """The power of a comparison with a run that doesn't exist yet."""
    kind, count = forecast.kind, forecast.completions
    each = "" if count is None else f", {count:.4g} completion{'' if count == 1 else 's'} each"
    yield (
        f"{forecast.task}: {words(forecast.metric)} {value_text(forecast.value, kind)} on "
        f"{counted(forecast.problems, 'problem')}{each}"
    )
    detectable = change_text(forecast.power.detectable_difference, kind)
    yield (
        f"  detectable difference (80% power): {detectable}, or less if the other run finds the "
        "same problems hard"
    )
    for need in _need(forecast.power, forecast.problems, kind):
        yield f"  {need}"
    if forecast.seed_spread:
        spread = spread_text(forecast.seed_spread.value, kind)
        yield f"  seed spread of one completion per problem: ±{spread}"


def seed_lines(of_task: Sequence[TaskComparison]) -> Iterator[str]:
    """The spread of the runs of one task that differ from the baseline only in the seed."""
    alike = [each for each in of_task if list(each.differs_in) == ["sampling.seed"]]
    if alike:
        kind = alike[0].kind
        values = [alike[0].baseline_value.value, *(each.run_value.value for each in alike)]
        figures = (fmean(values), min(values), max(values))
        mean, low, high = (value_text(value, kind) for value in figures)
        yield (
            f"{len(values)} runs that differ only in their seed: mean {mean}, standard deviation "
            f"{spread_text(stdev(values), kind)}, from {low} to {high}"
        )


def _need(power: StatisticalPower, problems: int, kind: str) -> Iterator[str]:
    """How much data the difference needs; nothing without a difference."""
    if power.needed_problems is None:
        return
    count = power.needed_problems
    need = f"to detect {change_text(abs(power.difference), kind)}: {counted(count, 'problem')}"
    yield f"{need}; these runs have {problems:,}" if count <= problems else need


def comparison_tables(
    comparisons: Sequence[TaskComparison], most: int = MOST_FLIPS
) -> Iterator[Table | Line]:
    """A table for each task and each comparison's details, with `most` flips each way."""
    paths = [comparisons[0].baseline, *(comparison.run for comparison in comparisons)]
    unique = list(dict.fromkeys(paths))
    names = dict(zip(unique, short_names(list(map(Path, unique))), strict=True))
    tasks = list(dict.fromkeys(comparison.task for comparison in comparisons))
    for task in tasks:
        of_task = [comparison for comparison in comparisons if comparison.task == task]
        yield _table(of_task, names)
        yield from map(Line, seed_lines(of_task))
    for comparison in comparisons:
        on = f", {comparison.task}" if len(tasks) > 1 else ""
        yield Line(f"\n{comparison.run}{on}", "bold")
        for line in _details(comparison, most):
            yield Line(line, indent=2)


def _table(of_task: Sequence[TaskComparison], names: Mapping[str, str]) -> Table:
    first, kind = of_task[0], of_task[0].kind
    metric, direction = words(first.metric), " (lower is better)" if first.lower_is_better else ""
    counts = {comparison.problems for comparison in of_task}  # runs may lack values
    fewest, most = min(counts), max(counts)
    problems = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    rows = [(names[first.baseline], _value(first.baseline_value, kind), "baseline", "", "", "")]
    for comparison in of_task:
        change = comparison.difference
        rows.append(
            (
                names[comparison.run],
                _value(comparison.run_value, kind),
                f"{change_text(change.value, kind, '+')}\n{_change_interval(change, kind)}",
                p_value_text(comparison.p_adjusted),
                str(len(comparison.better)),
                str(len(comparison.worse)),
            )
        )
    columns = ("run", metric, "difference", "p", "better", "worse")
    return Table(f"{first.task}: {metric}{direction} on {problems} problems", columns, rows)


def _details(comparison: TaskComparison, most: int) -> Iterator[str]:
    change = comparison.difference
    yield f"{_verdict(comparison)}; {change.test}, {p_value_equation(change.p_value)}"
    if comparison.clusters is not None:
        yield f"intervals and test over {counted(comparison.clusters, 'cluster')} of problems"
    if comparison.kind == "amount" and comparison.relative_change is not None:
        yield f"{comparison.relative_change:+.1%} of the baseline's {words(comparison.metric)}"
    if comparison.p_adjusted != change.p_value:
        adjusted = p_value_equation(comparison.p_adjusted)
        yield f"adjusted for all these comparisons (Holm): {adjusted}"
    yield from power_lines(comparison)
    yield from _groups(comparison.groups, comparison.kind)
    if comparison.with_value != comparison.completions:
        yield _without_value(comparison)
    if comparison.differs_in:
        yield f"the runs differ in {', '.join(comparison.differs_in)}"
    for title, flips in (("better", comparison.better), ("worse", comparison.worse)):
        if flips and most:
            yield f"{title}: {_listed(flips, most, comparison.kind)}"


def _without_value(comparison: TaskComparison) -> str:
    """How many completions and problems the metric leaves out, and why."""
    of_baseline, of_run = (
        f"{count:,} of {total:,}"
        for count, total in zip(comparison.with_value, comparison.completions, strict=True)
    )
    left_out = comparison.left_out
    problems = "1 problem is" if left_out == 1 else f"{left_out:,} problems are"
    return (
        f"only {comparison.defined_for} have a value: {of_baseline} in the baseline, {of_run} in "
        f"the run; {problems} left out, without a value in one of the runs"
    )


def _verdict(comparison: TaskComparison) -> str:
    confirmed = comparison.p_adjusted < SIGNIFICANCE
    if not comparison.is_worse() and not comparison.is_better():
        if confirmed:
            return "a difference by the test, but not by its interval"
        return "no significant difference"
    verdict = f"{'worse' if comparison.is_worse() else 'better'} than the baseline"
    return verdict if confirmed else f"{verdict} by its interval, but not by the test"


def _groups(groups: Sequence[GroupComparison], kind: str) -> Iterator[str]:
    counts = Counter(group.column for group in groups)
    for group in groups:
        if 1 < counts[group.column] <= MOST_GROUPS:
            before, after = value_text(group.baseline, kind), value_text(group.run, kind)
            about = f"{_change_interval(group, kind)}; {counted(group.problems, 'problem')}"
            yield f"{group.column} {group.group}: {before} → {after} ({about})"


def _value(metric: Metric, kind: str) -> str:
    low, high = value_text(metric.low, kind), value_text(metric.high, kind)
    return f"{value_text(metric.value, kind)}\n{low} – {high}"


def _change_interval(change: PairedDifference | GroupComparison, kind: str) -> str:
    low, high = (change_text(bound, kind, "+") for bound in (change.low, change.high))
    low = low.removesuffix(" pts")
    return f"{low} – {high}"


def _listed(changed: Sequence[Flip], most: int, kind: str) -> str:
    form = ".2f" if kind == "share" else ".4g"
    single = all({flip.baseline, flip.run} == {0.0, 1.0} for flip in changed)
    shown = [
        flip.id if single else f"{flip.id} ({flip.baseline:{form}} → {flip.run:{form}})"
        for flip in changed[:most]
    ]
    rest = len(changed) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


class Comparisons(Shown, list[TaskComparison]):
    """Each run beside the baseline, on each task."""

    def shown(self) -> Iterator[Table | Line]:
        """A table for each task, then each comparison's details."""
        return comparison_tables(self)
