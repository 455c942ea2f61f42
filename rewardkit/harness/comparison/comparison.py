"""The result of comparing a run with a baseline on one task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.comparison.compared_run import ComparedRun, Problem, read_run
from rewardkit.harness.metrics.measure import Measure, scale_of
from rewardkit.harness.metrics.metric import Groups, Metric, Scale
from rewardkit.harness.metrics.paired import (
    Noise,
    PairedDifference,
    detectable,
    needed_completions,
    needed_problems,
    pilot_noise,
    seed_spread,
)
from rewardkit.harness.store.files import finite

Pair = tuple[list[float], list[float]]
"""A problem's values in the baseline and in the other run."""


@dataclass(frozen=True)
class GroupComparison:
    """The difference on the problems with the same value in a column, with its 95% interval."""

    column: str
    group: str
    problems: int
    baseline: float
    run: float
    low: float
    high: float


def by_group(
    problems: Mapping[str, Problem], pairs: Mapping[str, Pair], scale: Scale
) -> Iterator[GroupComparison]:
    """Compare each group of each column that the run's figures are grouped by."""
    members: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for name, pair in pairs.items():
        for member in problems[name].groups.items():
            members[member].append(pair)
    for (column, group), own in sorted(members.items()):
        old, new = [pair[0] for pair in own], [pair[1] for pair in own]
        yield GroupComparison(
            column,
            group,
            len(own),
            fmean(map(fmean, old)),
            fmean(map(fmean, new)),
            *scale.paired_interval(old, new),
        )


@dataclass(frozen=True)
class StatisticalPower:
    """The differences that comparisons of a size find in 80% of cases, at level 5%."""

    detectable_difference: float
    """The smallest such difference, with the given problems and completions."""
    difference: float
    """The difference to find: the observed one, or a given one."""
    needed_problems: int | None
    """How many problems this difference needs, with as many completions each; None if it is 0."""
    needed_completions: int | None
    """How many completions per problem it needs on the given problems; None if no number is enough,
    or if it can't be estimated because problems have one completion each."""


@dataclass(frozen=True)
class Forecast:
    """The power of a future comparison of this run with another of its size."""

    task: str
    metric: str
    kind: str
    """Its values: "share" or "amount"."""
    run: str
    problems: int
    completions: float | None
    """Completions per problem; None for a metric of k completions."""
    value: float
    seed_spread: Metric | None
    """None where problems have one completion each."""
    power: StatisticalPower

    def as_json(self) -> dict[str, Any]:
        """Plain values; None for the bounds of an interval that has none."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def power_of(
    noise: Noise, problems: int, completions: float, difference: float, scale: Scale
) -> StatisticalPower:
    """The power of a comparison on this many problems, for this difference."""
    variance = noise.variance(completions)
    return StatisticalPower(
        detectable(variance, problems, scale.largest),
        difference,
        needed_problems(variance, difference) if difference else None,
        needed_completions(noise, difference, problems) if difference else None,
    )


def forecast(path: Path, difference: float, *, task: str | None, metric: str) -> list[Forecast]:
    """Forecast a comparison that should find `difference`, on each task of a run or only on one.

    RunMismatch if the run lacks the task or has too few values of the metric.
    """
    run = read_run(path, metric)
    if task is not None and task not in run.tasks:
        raise RunMismatch(f"{path} has no task {task!r}; it has {', '.join(run.tasks) or 'none'}")
    measures = run.measures.in_tasks([name for name in run.tasks if task in (None, name)])
    forecasts = []
    for name, measure in measures.items():
        values = [problem.group for problem in run.tasks[name].values()]
        groups = [group for group in values if group]
        if len(groups) >= scale_of(measure).fewest:
            check_difference(difference, measure)
            forecasts.append(_forecast(run, name, groups, measure=measure, difference=difference))
    if not forecasts:
        where = f" in the task {task!r}" if task else ""
        raise RunMismatch(f"{path} has too few values of {metric}{where}")
    return forecasts


def check_difference(difference: float, measure: Measure) -> None:
    """Raise UsageError for a difference to detect that is larger than any."""
    if difference > scale_of(measure).largest:
        raise UsageError(
            f"the difference to detect is {difference:g}, but {measure.kind}s differ by at most "
            f"{scale_of(measure).largest:g}"
        )


def _forecast(
    run: ComparedRun, task: str, groups: Groups, *, measure: Measure, difference: float
) -> Forecast:
    completions, scale = fmean(map(len, groups)), scale_of(measure)
    return Forecast(
        task=task,
        metric=run.measures.metric,
        kind=measure.kind,
        run=run.label,
        problems=len(groups),
        completions=None if run.measures.at_k else completions,
        value=fmean(map(fmean, groups)),
        seed_spread=seed_spread(groups, scale),
        power=power_of(pilot_noise(groups, scale), len(groups), completions, difference, scale),
    )


@dataclass(frozen=True)
class Flip:
    """A problem on which the runs differ, with its mean value in each."""

    id: str
    baseline: float
    run: float


@dataclass(frozen=True)
class TaskComparison:
    """One run and the baseline, on one task."""

    task: str
    metric: str
    kind: str
    """Its values: "share" (in [0, 1]) or "amount" (from 0, such as errors)."""
    lower_is_better: bool
    defined_for: str
    """Which completions have a value."""
    baseline: str
    run: str
    problems: int
    """Problems with a value in both runs."""
    left_out: int
    """Problems without a value in one of the runs."""
    completions: tuple[int, int]
    """All completions of the baseline and of the run; problems, for a metric of k completions."""
    with_value: tuple[int, int]
    """Those of them that the metric is defined for."""
    baseline_value: Metric
    run_value: Metric
    difference: PairedDifference
    p_adjusted: float
    """The p-value, adjusted for all comparisons with this baseline (Holm)."""
    power: StatisticalPower
    seed_spreads: tuple[Metric | None, Metric | None]
    """Of the baseline and of the run; None where problems have one completion each."""
    better: Sequence[Flip]
    """Problems that are better in the run."""
    worse: Sequence[Flip]
    groups: Sequence[GroupComparison]
    differs_in: Sequence[str]
    """Fingerprint entries for this task whose values differ between the runs."""

    @property
    def relative_change(self) -> float | None:
        """The difference as a share of the baseline's value; None where that is 0."""
        before = self.baseline_value.value
        return self.difference.value / before if before else None

    def as_json(self) -> dict[str, Any]:
        """Plain values; None for the bounds of an interval that has none."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain | {"relative_change": self.relative_change}

    def is_worse(self, margin: float = 0.0) -> bool:
        """Whether the whole interval of the difference is worse than no change by `margin`."""
        if self.lower_is_better:
            return self.difference.low > margin
        return self.difference.high < -margin

    def is_better(self) -> bool:
        """Whether the whole interval of the difference is on the better side of no change."""
        if self.lower_is_better:
            return self.difference.high < 0
        return self.difference.low > 0
