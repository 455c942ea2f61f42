"""Compare runs with a baseline, problem by problem, and forecast such comparisons."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit import registry
from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.at_k import all_right, pass_at
from rewardkit.harness.results.completion_row import CompletionRow, read_samples
from rewardkit.harness.results.documents import planned_completions
from rewardkit.harness.results.files import finite
from rewardkit.harness.results.measure import Measure, general_measures, scale_of
from rewardkit.harness.results.metric import (
    Metric,
    PairedDifference,
    ValueScale,
    detectable,
    difference,
    holm,
    needed_problems,
    paired_variance,
    pilot_variance,
    seed_spread,
)
from rewardkit.harness.results.names import PART, cluster_column
from rewardkit.harness.results.rates import components
from rewardkit.harness.results.run_folder import RUN, RunFolder, find_runs
from rewardkit.harness.results.summary import require_cluster
from rewardkit.protocols import extras

_AT_K = re.compile(r"(pass[@^])([1-9][0-9]{0,5})")

QUESTION_COLUMNS = ("question", "problem", "options", "numbers", "points")
"""The columns of the installed tasks' data that hold the question."""


class RunMeasures:
    """One metric's measure in each task of a run, and the names of the others."""

    def __init__(self, metric: str, run: str) -> None:
        self.metric, self.run = metric, run
        match = _AT_K.fullmatch(metric)
        self.estimator = all_right if match and match[1] == "pass^" else pass_at
        self.at_k = int(match[2]) if match else None
        """The k of pass@k or pass^k; None for another metric."""
        self._parts: dict[str, set[str]] = defaultdict(set)
        """The components of the rows read so far, by task."""
        self._measures: dict[str, Measure | None] = {}

    def value_of(self, row: CompletionRow) -> float | None:
        """The value of a row, if the row has one. UsageError for a value that can't be averaged."""
        self._parts[row.task].update(components(row.verdict.parts))
        measure = self._measure(row.task)
        value = measure.value_of(row) if measure else None
        if measure and value is not None and not 0 <= value <= scale_of(measure).largest:
            raise UsageError(
                f"the {self.metric} of {row.key} in {self.run} is {value:.3g}, and a mean takes "
                f"values from 0 to {scale_of(measure).largest:g}; compare by another metric, such "
                "as accuracy"
            )
        return value

    def in_tasks(self, tasks: Collection[str]) -> dict[str, Measure]:
        """The measure in each task that has the metric. UsageError if no task has the metric."""
        measures = {
            task: measure
            for task in tasks
            if (self.at_k or self.metric in self._names(task)) and (measure := self._measure(task))
        }
        if tasks and not measures:
            names = {task: self._names(task) for task in tasks}
            known = {name for of_task in names.values() for name in of_task}
            close = difflib.get_close_matches(self.metric, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            listed = "; ".join(
                f"{task} has {', '.join(of_task)}" for task, of_task in names.items()
            )
            raise UsageError(f"{self.run} has no metric {self.metric!r}; {hint}{listed}")
        return measures

    def _measure(self, task: str) -> Measure | None:
        if task not in self._measures:
            part = [self.metric.removeprefix(PART)] if self.metric.startswith(PART) else []
            measures = {**_own_measures(task), **general_measures(part)}
            if self.at_k:
                defined_for = f"problems with at least {self.at_k} judged completions"
                measures[self.metric] = replace(measures["accuracy"], defined_for=defined_for)
            self._measures[task] = measures.get(self.metric)
        return self._measures[task]

    def _names(self, task: str) -> list[str]:
        """The names of a task's measures; components are known from the rows read so far."""
        return [*general_measures(self._parts[task]), "pass@K", "pass^K", *_own_measures(task)]


def _own_measures(task: str) -> Mapping[str, Measure]:
    """The measures that an installed task defines."""
    if task not in registry.installed().offers("tasks"):
        return {}
    return extras(registry.installed().task(task)).measures


@dataclass(slots=True)
class ProblemValues:
    """One problem in a run, without its texts, of which a large run has gigabytes."""

    data: Mapping[str, object]
    """The reference and the question columns of the row."""
    groups: Mapping[str, str]
    """The problem's group in each grouping column of the run."""
    values: dict[int, float | None] = field(default_factory=dict)
    """The value of each completion by its index, or one value for all; None without a value."""
    cluster: str | None = None
    """The problem's cluster, if the intervals are clustered."""

    @property
    def group(self) -> list[float]:
        """The values without None."""
        return [value for value in self.values.values() if value is not None]


@dataclass(frozen=True)
class ComparedRun:
    """A finished run: the problems of each task by id."""

    label: str
    record: Mapping[str, Any]
    tasks: Mapping[str, Mapping[str, ProblemValues]]
    measures: RunMeasures


def read_run(path: Path, metric: str, cluster: str | None = None) -> ComparedRun:
    """Read the run in the folder `path`, with the values of a metric.

    `cluster` is the column of the problems' clusters. RunMismatch if there is no run or it is
    unfinished; UsageError for values that can't be averaged, or a row without that column.
    """
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder, or a sweep's")
    task_records = record.get("tasks", {})
    measures = RunMeasures(metric, str(path))
    tasks: dict[str, dict[str, ProblemValues]] = {}
    for row in read_samples(path):
        problems = tasks.setdefault(row.task, {})
        if row.id not in problems:
            group_by = task_records.get(row.task, {}).get("group_by", ())
            problems[row.id] = ProblemValues(
                {"reference": row.reference}
                | {name: row.columns[name] for name in QUESTION_COLUMNS if name in row.columns},
                {name: str(row.columns.get(name, "")) for name in group_by},
            )
            if cluster is not None:
                require_cluster(cluster, row.columns, f"the problem {row.id!r} in {path}")
                problems[row.id].cluster = str(row.columns[cluster])
        problems[row.id].values[row.index] = measures.value_of(row)  # a later row of a key replaces
    _refuse_unfinished(path, record, tasks)
    if k := measures.at_k:
        for problem in (problem for by_id in tasks.values() for problem in by_id.values()):
            right, count = int(sum(problem.group)), len(problem.group)
            problem.values = {0: measures.estimator(k, right, count) if count >= k else None}
    return ComparedRun(str(path), record, tasks, measures)


def _refuse_unfinished(
    path: Path, record: Mapping[str, Any], tasks: Mapping[str, Mapping[str, ProblemValues]]
) -> None:
    for task, task_record in record.get("tasks", {}).items():
        planned = planned_completions(task_record)
        stored = sum(len(problem.values) for problem in tasks.get(task, {}).values())
        if stored < planned and "shard" in record:
            raise RunMismatch(
                f"{path} is one shard of a run; name {path.parent}, which is merged once all "
                "shards have ended"
            )
        if stored < planned:
            raise RunMismatch(
                f"{path} is unfinished: {stored:,} of {planned:,} completions of {task}; the "
                f"command in its {RUN} resumes it"
            )


def refuse_other_data(task: str, first: ComparedRun, second: ComparedRun) -> None:
    """Raise RunMismatch if the runs have different problems, or different data for a problem."""
    before, after = first.tasks[task], second.tasks[task]
    if before.keys() != after.keys():
        raise RunMismatch(
            f"{first.label} and {second.label} have different problems of {task}: "
            f"{len(before.keys() & after.keys()):,} in both, {_only(before, after)} only in the "
            f"first, {_only(after, before)} only in the second; evaluate both on the same "
            "(--data, --split, --limit, --seed)"
        )
    for identifier, problem in before.items():
        for name, old in problem.data.items():
            new = after[identifier].data.get(name, old)
            if old != new:
                raise RunMismatch(
                    f"problem {identifier!r} of {task} isn't the same in both: its {name} is "
                    f"{str(old)[:60]!r} in {first.label} and {str(new)[:60]!r} in {second.label}"
                )


def _only(first: Mapping[str, ProblemValues], second: Mapping[str, ProblemValues]) -> str:
    missing = [identifier for identifier in first if identifier not in second]
    return f"{len(missing):,}" + (f" (such as {missing[0]!r})" if missing else "")


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
    problems: Mapping[str, ProblemValues],
    pairs: Mapping[str, tuple[list[float], list[float]]],
    scale: ValueScale,
) -> Iterator[GroupComparison]:
    """Compare each group of each column that the run's figures are grouped by.

    `pairs` are the values of each problem in the baseline and in the other run.
    """
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in pairs:
        for member in problems[name].groups.items():
            members[member].append(name)
    for (column, group), names in sorted(members.items()):
        old, new = [pairs[name][0] for name in names], [pairs[name][1] for name in names]
        yield GroupComparison(
            column,
            group,
            len(names),
            fmean(map(fmean, old)),
            fmean(map(fmean, new)),
            *scale.paired_interval(old, new, clusters_of(problems[name] for name in names)),
        )


def clusters_of(problems: Iterable[ProblemValues]) -> list[str] | None:
    """The clusters of the problems; None if they have none."""
    return [problem.cluster for problem in problems if problem.cluster is not None] or None


@dataclass(frozen=True)
class StatisticalPower:
    """What comparisons of a given size find in 80% of cases, at level 5%."""

    detectable_difference: float
    """The smallest difference that the given problems and completions show."""
    difference: float
    """The difference to find: the observed one, or a given one."""
    needed_problems: int | None
    """How many problems this difference needs, each with the same number of completions; None for a
    difference of 0."""


@dataclass(frozen=True)
class Forecast:
    """The power of a future comparison of this run with another of its size."""

    task: str
    metric: str
    kind: str
    """The kind of the values: "share" or "amount"."""
    run: str
    problems: int
    completions: float | None
    """Completions per problem; None for a metric of k completions."""
    value: float
    seed_spread: Metric | None
    """None if each problem has one completion."""
    power: StatisticalPower

    def as_json(self) -> dict[str, Any]:
        """Plain values; an infinite bound is None."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def power_of(
    variance: float, problems: int, difference: float, scale: ValueScale
) -> StatisticalPower:
    """The power of a comparison on this many problems, for this difference."""
    return StatisticalPower(
        detectable(variance, problems, scale.largest),
        difference,
        needed_problems(variance, difference) if difference else None,
    )


def forecast(
    path: Path, difference: float, *, task: str | None, metric: str, cluster: str | None = None
) -> list[Forecast]:
    """Forecast a comparison that should find `difference`, on each task of a run or on one task.

    RunMismatch if the run lacks the task or has too few values of the metric.
    """
    run = read_run(path, metric, recorded_cluster([path], cluster))
    if task is not None and task not in run.tasks:
        raise RunMismatch(f"{path} has no task {task!r}; it has {', '.join(run.tasks) or 'none'}")
    measures = run.measures.in_tasks([name for name in run.tasks if task in (None, name)])
    forecasts = []
    for name, measure in measures.items():
        problems = [problem for problem in run.tasks[name].values() if problem.group]
        if _trials(problems) >= scale_of(measure).fewest:
            check_difference(difference, measure)
            groups, scale = [problem.group for problem in problems], scale_of(measure)
            variance = pilot_variance(groups, scale, clusters_of(problems))
            forecasts.append(
                Forecast(
                    task=name,
                    metric=metric,
                    kind=measure.kind,
                    run=run.label,
                    problems=len(groups),
                    completions=None if run.measures.at_k else fmean(map(len, groups)),
                    value=fmean(map(fmean, groups)),
                    seed_spread=seed_spread(groups, scale),
                    power=power_of(variance, len(groups), difference, scale),
                )
            )
    if not forecasts:
        where = f" in the task {task!r}" if task else ""
        raise RunMismatch(f"{path} has too few values of {metric}{where}")
    return forecasts


def check_difference(difference: float, measure: Measure) -> None:
    """Raise UsageError if no two values differ as much as `difference`."""
    if difference > scale_of(measure).largest:
        raise UsageError(
            f"the difference to detect is {difference:g}, but {measure.kind}s differ by at most "
            f"{scale_of(measure).largest:g}"
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
    """The kind of the values: "share" (in [0, 1]) or "amount" (from 0, such as errors)."""
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
    """The completions, or the problems, that the metric is defined for."""
    baseline_value: Metric
    run_value: Metric
    difference: PairedDifference
    p_adjusted: float
    """The p-value, adjusted for all comparisons with this baseline (Holm)."""
    power: StatisticalPower
    seed_spreads: tuple[Metric | None, Metric | None]
    """Of the baseline and of the run; None if each problem has one completion."""
    better: Sequence[Flip]
    """Problems that are better in the run."""
    worse: Sequence[Flip]
    groups: Sequence[GroupComparison]
    differs_in: Sequence[str]
    """Fingerprint entries for this task whose values differ between the runs."""
    clusters: int | None = None
    """The number of clusters that the intervals and the test take as trials; None: problems."""

    @property
    def relative_change(self) -> float | None:
        """The difference as a share of the baseline's value; None if that value is 0."""
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


def compare_task(
    task: str, first: ComparedRun, second: ComparedRun, measure: Measure, detect: float | None
) -> TaskComparison:
    """Compare the second run with the first on a task, on the problems that have a value in both.

    RunMismatch if the data differ or too few problems have a value.
    """
    refuse_other_data(task, first, second)
    metric, before, after = first.measures.metric, first.tasks[task], second.tasks[task]

    def in_both(size: Callable[[ProblemValues], int]) -> tuple[int, int]:
        return sum(map(size, before.values())), sum(map(size, after.values()))

    pairs = {name: (before[name].group, after[name].group) for name in before}
    kept = {name: pair for name, pair in pairs.items() if all(pair)}
    scale = scale_of(measure)
    problems = [before[name] for name in kept]
    trials, clusters = _trials(problems), clusters_of(problems)
    if trials < scale.fewest:
        what = "problem" if clusters is None else "cluster of problems"
        raise RunMismatch(
            f"{trials or 'no'} {what} of {task} has a value of {metric} in both {first.label} "
            f"and {second.label}; only {measure.defined_for} have one"
        )
    if detect is not None:
        check_difference(detect, measure)
    old, new = [pair[0] for pair in kept.values()], [pair[1] for pair in kept.values()]
    change = difference(old, new, scale, clusters)
    sought = change.value if detect is None else detect
    flips = [Flip(name, fmean(old), fmean(new)) for name, (old, new) in kept.items()]
    # the largest change first, then by id, 9 before 10
    flips.sort(key=lambda flip: (-abs(flip.run - flip.baseline), len(flip.id), flip.id))
    higher = [flip for flip in flips if flip.run > flip.baseline]
    lower = [flip for flip in flips if flip.run < flip.baseline]
    fingerprints = [run.record.get("fingerprint", {}) for run in (first, second)]
    other_tasks = tuple(f"{name}." for name in {*first.tasks, *second.tasks} - {task})
    return TaskComparison(
        task=task,
        metric=metric,
        kind=measure.kind,
        lower_is_better=measure.lower_is_better,
        defined_for=measure.defined_for,
        baseline=first.label,
        run=second.label,
        problems=len(kept),
        left_out=len(pairs) - len(kept),
        completions=in_both(lambda problem: len(problem.values)),
        with_value=in_both(lambda problem: len(problem.group)),
        baseline_value=scale.mean(old, clusters),
        run_value=scale.mean(new, clusters),
        difference=change,
        p_adjusted=change.p_value,
        power=power_of(paired_variance(old, new, scale, clusters), len(kept), sought, scale),
        seed_spreads=(seed_spread(old, scale), seed_spread(new, scale)),
        better=lower if measure.lower_is_better else higher,
        worse=higher if measure.lower_is_better else lower,
        groups=list(by_group(before, kept, scale)),
        differs_in=sorted(
            name
            for name in fingerprints[0].keys() & fingerprints[1].keys() - {"tasks"}
            if fingerprints[0][name] != fingerprints[1][name] and not name.startswith(other_tasks)
        ),
        clusters=None if clusters is None else trials,
    )


def _trials(problems: Sequence[ProblemValues]) -> int:
    """The number of clusters; without clusters, the number of problems."""
    return len(set(clusters_of(problems) or range(len(problems))))


def compare(
    baseline: Path,
    runs: Sequence[Path] = (),
    *,
    task: str | None = None,
    metric: str = "accuracy",
    detect: float | None = None,
    cluster: str | None = None,
) -> list[TaskComparison]:
    """Compare each run with the baseline, on each task that both runs have or only on `task`.

    A folder of several runs, such as a sweep's, counts as these runs; the first of all runs is the
    baseline. The power of a comparison is about the difference `detect`, by default the observed
    difference. Intervals and tests are clustered by the column `cluster`, by default the first
    column that a run records; "none" ignores the recorded column. Raises RunMismatch if the data
    differ or a run is unfinished, and UsageError for a missing run or an unknown metric.
    """
    folder, *others = find_runs([baseline, *runs])
    if not others:
        raise UsageError(f"{folder} is one run; name another to compare it with")
    cluster = recorded_cluster([folder, *others], cluster)
    first = read_run(folder, metric, cluster)
    return _adjusted(
        comparison
        for path in others
        for comparison in _with_baseline(first, read_run(path, metric, cluster), task, detect)
    )


def recorded_cluster(folders: Iterable[Path], given: str | None = None) -> str | None:
    """The column of clusters that is given, else the first in a run's record; None: no column."""
    records = (RunFolder(folder).read_record() for folder in folders) if given is None else ()
    columns = (record.get("settings", {}).get("cluster") for record in records)
    return cluster_column(given, next(filter(None, columns), None))


def compare_comparable(
    baseline: Path, runs: Sequence[Path]
) -> tuple[list[TaskComparison], list[str]]:
    """Compare the runs by accuracy, and return an error for each run that can't be compared."""
    comparisons: list[TaskComparison] = []
    errors: list[str] = []
    try:
        cluster = recorded_cluster([baseline, *runs])
        first = read_run(baseline, "accuracy", cluster)
    except (RunMismatch, UsageError) as error:
        return [], [str(error)]
    for path in runs:
        try:
            second = read_run(path, "accuracy", cluster)
            comparisons += _with_baseline(first, second, None, None)
        except (RunMismatch, UsageError) as error:
            errors.append(str(error))
    return _adjusted(comparisons), errors


def _adjusted(comparisons: Iterable[TaskComparison]) -> list[TaskComparison]:
    """The comparisons with their p-values adjusted for their number."""
    comparisons = list(comparisons)
    adjusted = holm([comparison.difference.p_value for comparison in comparisons])
    return [
        replace(comparison, p_adjusted=p_value)
        for comparison, p_value in zip(comparisons, adjusted, strict=True)
    ]


def _with_baseline(
    first: ComparedRun, second: ComparedRun, task: str | None, detect: float | None
) -> list[TaskComparison]:
    shared = [name for name in first.tasks if name in second.tasks]
    if task is not None:
        shared = [name for name in shared if name == task]
    if not shared:
        wanted = f"both have the task {task!r}" if task else "have a task in common"
        raise RunMismatch(
            f"the runs don't {wanted}: {first.label} has {_names(first.tasks)}, "
            f"{second.label} has {_names(second.tasks)}"
        )
    before, after = (run.measures.in_tasks(shared) for run in (first, second))
    in_both = [name for name in before if name in after]
    if not in_both:
        raise RunMismatch(
            f"no task has the metric {first.measures.metric!r} in both runs: {first.label} has it "
            f"in {_names(before)}, {second.label} in {_names(after)}"
        )
    return [compare_task(name, first, second, before[name], detect) for name in in_both]


def _names(tasks: Mapping[str, object]) -> str:
    return ", ".join(tasks) or "none"
