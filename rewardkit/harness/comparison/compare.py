"""Compare runs with a baseline, problem by problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.comparison.compared_run import ComparedRun, judged_values, read_run
from rewardkit.harness.comparison.comparison import Comparison, Flip
from rewardkit.harness.comparison.comparison_power import power_of
from rewardkit.harness.comparison.groups import Pair, by_group
from rewardkit.harness.comparison.same_data import refuse_other_data
from rewardkit.harness.metrics.intervals import clustered_interval
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.paired import Groups, difference, holm
from rewardkit.harness.metrics.seed_spread import seed_spread
from rewardkit.harness.store.find_runs import find_runs

METRICS = ("accuracy", "accuracy_flexible", "score")


def compare(
    baseline: Path,
    runs: Sequence[Path] = (),
    *,
    task: str | None = None,
    metric: str = "accuracy",
    detect: float | None = None,
) -> list[Comparison]:
    """Compare each run with the baseline, on each task that both have or on `task` alone.

    A folder of several runs, such as a sweep's, counts as those runs; the first run of all is the
    baseline. Each comparison's power is about the difference `detect`, or about the observed one.
    Raises RunMismatch if the data differ or a run is unfinished, and UsageError for an
    unknown metric or a missing run.
    """
    check_metric(metric)
    folder, *others = _run_folders([baseline, *runs])
    first = read_run(folder, metric)
    comparisons = [
        comparison
        for path in others
        for comparison in _with_baseline(
            first, read_run(path, metric), task=task, metric=metric, detect=detect
        )
    ]
    adjusted = holm([comparison.difference.p_value for comparison in comparisons])
    return [
        replace(comparison, p_adjusted=p_value)
        for comparison, p_value in zip(comparisons, adjusted, strict=True)
    ]


def check_metric(metric: str) -> None:
    """UsageError for a metric that runs can't be compared by."""
    if metric not in METRICS:
        raise UsageError(f"no metric {metric!r}; known: {', '.join(METRICS)}")


def _run_folders(named: Sequence[Path]) -> list[Path]:
    folders = find_runs(named)
    if len(folders) < 2:
        raise UsageError(f"{folders[0]} is one run; name another to compare it with")
    return folders


def _with_baseline(
    first: ComparedRun,
    second: ComparedRun,
    *,
    task: str | None,
    metric: str,
    detect: float | None,
) -> list[Comparison]:
    shared = [name for name in first.tasks if name in second.tasks]
    if task is not None:
        shared = [name for name in shared if name == task]
    if not shared:
        wanted = f"both have the task {task!r}" if task else "have a task in common"
        raise RunMismatch(
            f"the runs don't {wanted}: {first.label} has {_names(first.tasks)}, "
            f"{second.label} has {_names(second.tasks)}"
        )
    return [_on_task(name, first, second, metric=metric, detect=detect) for name in shared]


def _on_task(
    task: str, first: ComparedRun, second: ComparedRun, *, metric: str, detect: float | None
) -> Comparison:
    refuse_other_data(task, first, second)
    before, after = first.tasks[task], second.tasks[task]
    pairs = {name: (judged_values(before[name]), judged_values(after[name])) for name in before}
    kept = {name: pair for name, pair in pairs.items() if all(pair)}
    if not kept:
        raise RunMismatch(
            f"no problem of {task} has a judged value of {metric} in both {first.label} and "
            f"{second.label}"
        )
    old, new = [pair[0] for pair in kept.values()], [pair[1] for pair in kept.values()]
    change = difference(old, new)
    won, lost = _flips(kept)
    return Comparison(
        task=task,
        metric=metric,
        baseline=first.label,
        run=second.label,
        problems=len(kept),
        left_out=len(pairs) - len(kept),
        baseline_value=_mean(old),
        run_value=_mean(new),
        difference=change,
        p_adjusted=change.p_value,
        power=power_of(old, new, change.value if detect is None else detect),
        spreads=(seed_spread(old), seed_spread(new)),
        won=won,
        lost=lost,
        groups=list(by_group(before, kept)),
        differs_in=_differing(first, second, task),
    )


def _mean(groups: Groups) -> Metric:
    low, high = clustered_interval(groups)
    return Metric(fmean(fmean(group) for group in groups), low, high, sum(map(len, groups)))


def _flips(pairs: Mapping[str, Pair]) -> tuple[list[Flip], list[Flip]]:
    """The problems that are better in the run, and those that are worse."""
    flips = [Flip(name, fmean(old), fmean(new)) for name, (old, new) in pairs.items()]
    flips.sort(key=_by_size)
    won = [flip for flip in flips if flip.run > flip.baseline]
    return won, [flip for flip in flips if flip.run < flip.baseline]


def _by_size(flip: Flip) -> tuple[float, int, str]:
    """The largest change first, then by id, 9 before 10."""
    return -abs(flip.run - flip.baseline), len(flip.id), flip.id


def _differing(first: ComparedRun, second: ComparedRun, task: str) -> list[str]:
    before, after = (run.record.get("fingerprint", {}) for run in (first, second))
    other_tasks = tuple(f"{name}." for name in {*first.tasks, *second.tasks} - {task})
    return sorted(
        name
        for name in before.keys() & after.keys() - {"tasks"}
        if before[name] != after[name] and not name.startswith(other_tasks)
    )


def _names(tasks: Mapping[str, object]) -> str:
    return ", ".join(tasks) or "none"
