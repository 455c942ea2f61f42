"""A baseline and other runs, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.comparison.compared_run import ComparedRun, Problem, read_run
from rewardkit.harness.comparison.groups import GroupComparison, by_group
from rewardkit.harness.metrics.intervals import clustered_interval
from rewardkit.harness.metrics.paired import Difference, Groups, difference, holm
from rewardkit.harness.metrics.summary import Metric
from rewardkit.harness.report.runs import find_runs

METRICS = ("accuracy", "accuracy_flexible", "score")


@dataclass(frozen=True)
class Flip:
    """A problem on which the runs differ, with its mean value in each."""

    id: str
    baseline: float
    run: float


@dataclass(frozen=True)
class Comparison:
    """One run beside the baseline, on one task."""

    task: str
    metric: str
    baseline: str
    run: str
    problems: int
    """Those that both runs could judge."""
    left_out: int
    """Those with nothing judged in one of the runs."""
    baseline_value: Metric
    run_value: Metric
    difference: Difference
    p_adjusted: float
    """The p-value, for all comparisons with this baseline together (Holm)."""
    won: Sequence[Flip]
    lost: Sequence[Flip]
    groups: Sequence[GroupComparison]
    differs_in: Sequence[str]
    """What both runs' fingerprints hold of this task, and differs."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def is_worse(self, margin: float = 0.0) -> bool:
        """Whether the whole interval of the difference lies below −`margin`."""
        return self.difference.high < -margin


def compare(
    baseline: Path, runs: Sequence[Path] = (), *, task: str | None = None, metric: str = "accuracy"
) -> list[Comparison]:
    """Each run beside the baseline, on each task they share, or on `task` alone.

    A folder of several runs, such as a sweep's, stands for them; its first may be the baseline.
    Raises RunMismatch where the data differ, or a run is unfinished; UsageError for a metric or a
    run that isn't there.
    """
    if metric not in METRICS:
        raise UsageError(f"no metric {metric!r}; known: {', '.join(METRICS)}")
    folder, *others = _folders([baseline, *runs])
    first = read_run(folder, metric)
    found = [
        one
        for path in others
        for one in _beside(first, read_run(path, metric), task=task, metric=metric)
    ]
    adjusted = holm([one.difference.p_value for one in found])
    return [replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True)]


def _folders(named: Sequence[Path]) -> list[Path]:
    found = find_runs(named)
    if len(found) < 2:
        raise UsageError(f"{found[0]} is one run; name another to compare it with")
    return found


def _beside(
    first: ComparedRun, second: ComparedRun, *, task: str | None, metric: str
) -> list[Comparison]:
    shared = [name for name in first.tasks if name in second.tasks]
    if task is not None:
        shared = [name for name in shared if name == task]
    if not shared:
        wanted = f"both asked {task!r}" if task else "both asked"
        raise RunMismatch(
            f"there is no task that {wanted}: {first.label} has {_named(first.tasks)}, "
            f"{second.label} has {_named(second.tasks)}"
        )
    return [_on(name, first, second, metric) for name in shared]


def _on(task: str, first: ComparedRun, second: ComparedRun, metric: str) -> Comparison:
    before, after = first.tasks[task], second.tasks[task]
    _refuse_other_data(task, first, second)
    pairs = {id: (_judged(before[id], metric), _judged(after[id], metric)) for id in before}
    kept = {id: pair for id, pair in pairs.items() if all(pair)}
    if not kept:
        raise RunMismatch(
            f"no problem of {task} has a judged value of {metric} in both {first.label} and "
            f"{second.label}"
        )
    old, new = [pair[0] for pair in kept.values()], [pair[1] for pair in kept.values()]
    flips = [Flip(id, fmean(one), fmean(other)) for id, (one, other) in kept.items()]
    return Comparison(
        task=task,
        metric=metric,
        baseline=first.label,
        run=second.label,
        problems=len(kept),
        left_out=len(pairs) - len(kept),
        baseline_value=_mean(old),
        run_value=_mean(new),
        difference=(found := difference(old, new)),
        p_adjusted=found.p_value,
        won=sorted((one for one in flips if one.run > one.baseline), key=_by_size),
        lost=sorted((one for one in flips if one.run < one.baseline), key=_by_size),
        groups=list(by_group(before, kept)),
        differs_in=_differing(first, second, task),
    )


def _refuse_other_data(task: str, first: ComparedRun, second: ComparedRun) -> None:
    before, after = first.tasks[task], second.tasks[task]
    if before.keys() != after.keys():
        raise RunMismatch(
            f"{first.label} and {second.label} asked different problems of {task}: "
            f"{len(before.keys() & after.keys()):,} in both, {_only(before, after)} only in the "
            f"first, {_only(after, before)} only in the second; ask both the same "
            "(--data, --split, --limit, --seed)"
        )
    for id in before:
        for what, old, new in _told_of(before[id], after[id]):
            if old != new:
                raise RunMismatch(
                    f"problem {id!r} of {task} isn't the same in both: its {what} is "
                    f"{str(old)[:60]!r} in {first.label} and {str(new)[:60]!r} in {second.label}"
                )


def _told_of(one: Problem, other: Problem) -> Iterator[tuple[str, object, object]]:
    """What both runs know of a problem, by name."""
    yield "reference", one.reference, other.reference
    for name in one.question.keys() & other.question.keys():
        yield name, one.question[name], other.question[name]


def _only(one: Mapping[str, Problem], other: Mapping[str, Problem]) -> str:
    alone = [id for id in one if id not in other]
    return f"{len(alone):,}" + (f" (such as {alone[0]!r})" if alone else "")


def _judged(problem: Problem, metric: str) -> list[float]:
    return [value for value in problem.values[metric] if value is not None]


def _mean(groups: Groups) -> Metric:
    low, high = clustered_interval(groups)
    return Metric(fmean(fmean(group) for group in groups), low, high, sum(map(len, groups)))


def _by_size(flip: Flip) -> tuple[float, int, str]:
    """The largest change first, then by id, 9 before 10."""
    return -abs(flip.run - flip.baseline), len(flip.id), flip.id


def _differing(first: ComparedRun, second: ComparedRun, task: str) -> list[str]:
    one, other = (run.record.get("fingerprint", {}) for run in (first, second))
    elsewhere = tuple(f"{name}." for name in {*first.tasks, *second.tasks} - {task})
    return sorted(
        name
        for name in one.keys() & other.keys() - {"tasks"}
        if one[name] != other[name] and not name.startswith(elsewhere)
    )


def _named(tasks: Mapping[str, object]) -> str:
    return ", ".join(tasks) or "none"
