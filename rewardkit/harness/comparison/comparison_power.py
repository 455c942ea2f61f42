"""What a comparison can find, and what a difference would need: before runs are made and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.comparison.compared_run import judged_values, read_run
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.power import (
    Noise,
    detectable,
    needed_completions,
    needed_problems,
    paired_noise,
    pilot_noise,
)
from rewardkit.harness.metrics.seed_spread import seed_spread

Groups = list[list[float]]


@dataclass(frozen=True)
class Power:
    """Differences that are found with level 5% in 80% of comparisons of this size."""

    detectable: float
    """The smallest of them, with the problems and completions at hand."""
    difference: float
    """The difference that the next two figures are about: the observed one, or one asked for."""
    problems: int | None
    """How many problems it needs, with as many completions each; None: it is 0."""
    completions: int | None
    """How many completions per problem it needs on the problems at hand; None: no number of them is
    enough, or runs with one completion per problem don't tell."""


@dataclass(frozen=True)
class Forecast:
    """What a run says of a comparison with another of its size, before that is made."""

    task: str
    metric: str
    run: str
    problems: int
    completions: float
    """Completions per problem."""
    value: float
    spread: Metric | None
    """Between seeds, of one completion per problem; None where problems have one each."""
    power: Power

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def power_of(before: Groups, after: Groups, difference: float) -> Power:
    """The power of a comparison of two runs, for this difference."""
    counts = [len(group) for group in (*before, *after)]
    return _power(paired_noise(before, after), len(before), fmean(counts), difference)


def forecast(path: Path, difference: float, *, task: str | None, metric: str) -> list[Forecast]:
    """What each task of a run, or `task` alone, says of a comparison that should find `difference`.

    RunMismatch where the run has no judged value of the metric.
    """
    run = read_run(path, metric)
    names = [name for name in run.tasks if task in (None, name)]
    found = []
    for name in names:
        values = [judged_values(problem) for problem in run.tasks[name].values()]
        groups = [group for group in values if group]
        if groups:
            found.append(_forecast(name, metric, run.label, groups, difference))
    if not found:
        where = f" in the task {task!r}" if task else ""
        raise RunMismatch(f"{path} has no judged value of {metric}{where}")
    return found


def _forecast(task: str, metric: str, label: str, groups: Groups, difference: float) -> Forecast:
    completions = fmean(map(len, groups))
    return Forecast(
        task=task,
        metric=metric,
        run=label,
        problems=len(groups),
        completions=completions,
        value=fmean(map(fmean, groups)),
        spread=seed_spread(groups),
        power=_power(pilot_noise(groups), len(groups), completions, difference),
    )


def _power(noise: Noise, problems: int, completions: float, difference: float) -> Power:
    variance = noise.variance(completions)
    some = difference != 0
    return Power(
        detectable=detectable(variance, problems),
        difference=difference,
        problems=needed_problems(variance, difference) if some else None,
        completions=needed_completions(noise, difference, problems) if some else None,
    )
