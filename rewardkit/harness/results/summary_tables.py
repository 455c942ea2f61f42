"""The main metrics of tasks as tables, with warnings; summary.json and the report have the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rewardkit.harness.results.names import TRUNCATED, UNJUDGED, be, counted, words
from rewardkit.harness.results.summary import Metric, TaskSummary
from rewardkit.records import MANY_LATE, Failure
from rewardkit.tables import Cell, Line, Table

MOST_NAMED = 3
"""A warning names this many runs, the runs with the largest shares."""

LATE = (
    "wrong because judging ran out of time; raise --timeout if the verifier needs longer for right "
    "answers"
)
LARGE_GAP = 0.05
"""The flexible gap from which there is a warning."""

WIDE_REACH = 0.2
"""There is a warning if pass@k is twice the accuracy, and exceeds the accuracy by this much."""


def warnings(task: TaskSummary) -> Iterator[str]:
    """The warnings, most important first."""
    if task.broken:
        yield task.broken
    for count, complaint in _complaints(task):
        if count:
            yield f"{count:,} of {counted(task.completions, 'completion')} {be(count)} {complaint}"
    gap = task.metrics.get("flexible_gap")
    if gap and gap.value >= LARGE_GAP:
        yield (
            f"{words('flexible_gap')} {gap.value:.1%}: these answers are right, but not in the "
            "form that the prompt asks for"
        )
    if most := _largest_k(task.metrics):
        single, several = task.metrics["accuracy"], task.metrics[f"pass@{most}"]
        if several.value >= max(2 * single.value, single.value + WIDE_REACH):
            yield (
                f"pass@{most} is {several.value:.1%} and accuracy {single.value:.1%}: the model "
                "can answer, but seldom does"
            )


def of_runs(runs: Sequence[tuple[str, TaskSummary]]) -> Iterator[str]:
    """Warnings about several runs: one sentence for each kind, with the runs' names."""
    total = sum(task.completions for _, task in runs)
    for complaints in zip(*(_complaints(task) for _, task in runs), strict=True):
        shares = [
            (count / task.completions, name)
            for (name, task), (count, _) in zip(runs, complaints, strict=True)
            if count
        ]
        if shares:
            shares.sort(key=lambda pair: -pair[0])
            named = ", ".join(f"{name} {share:.1%}" for share, name in shares[:MOST_NAMED])
            more = f" and {len(shares) - MOST_NAMED:,} more" if len(shares) > MOST_NAMED else ""
            count = sum(count for count, _ in complaints)
            of_all = f"{count:,} of {counted(total, 'completion')}"
            yield f"{of_all} {be(count)} {complaints[0][1]}: {named}{more}"


def _complaints(task: TaskSummary) -> tuple[tuple[int, str], ...]:
    """How many completions are unjudged and truncated, with the words for each."""
    late = task.failures.get(Failure.TIMEOUT, 0)
    return (
        (task.unjudged, f"{UNJUDGED}; samples.jsonl says why"),
        (
            task.truncated,
            f"{TRUNCATED}; raise the limit where they are generated (eval: --max-tokens)",
        ),
        (late if late > MANY_LATE * task.completions else 0, LATE),
    )


MOST_GROUPS = 30
_AT = re.compile(r"(pass@|pass\^|maj@)([0-9]+)")
_FOLLOWS = re.compile(r"(?:avg|cons|m?g-pass)@.*")


def summary_tables(tasks: Mapping[str, TaskSummary]) -> Iterator[Table | Line]:
    """A table for each task, then the task's own tables and the warnings."""
    for name, task in tasks.items():
        yield Table(_title(name, task), ("", "value", "95% interval"), list(_rows(task)))
        for figure in task.figures:
            if isinstance(figure, Table) and figure.printed:
                yield replace(figure, title=f"{name}: {figure.title}")
        for warning in warnings(task):
            yield Line(f"! {warning}", "yellow")


def _title(name: str, task: TaskSummary) -> str:
    title = f"{name}: {counted(task.problems, 'problem')}"
    if task.completions != task.problems:
        title += f", {counted(task.completions, 'completion')}"
    if task.cluster:
        title += f", in {counted(task.clusters, 'cluster')} by {task.cluster}"
    return title


def _rows(task: TaskSummary) -> Iterator[tuple[Cell, ...]]:
    for metric, figure in main_metrics(task.metrics).items():
        yield words(metric), *_cells(figure)
    for column, groups in task.groups.items():
        if len(groups) > MOST_GROUPS:
            yield f"accuracy by {column}", f"{len(groups):,} groups", "in summary.json"
            continue
        for group, figure in groups.items():
            yield f"accuracy, {column} {group}", *_cells(figure)
    if lengths := task.lengths.get("all"):
        figures_of_lengths = f"{lengths.median:g} / {lengths.p95:g} / {lengths.maximum}"
        yield "tokens, median / p95 / maximum", figures_of_lengths, ""
    for failure, count in task.failures.items():
        share = count / max(1, task.completions)
        label = words(failure) if failure == Failure.ERROR else f"failed: {words(failure)}"
        yield label, f"{count:,}", f"{share:.1%} of all"


def _largest_k(metrics: Mapping[str, Metric]) -> int:
    """The largest k of pass@k, pass^k and maj@k; 0 without any."""
    return max((int(match[2]) for name in metrics if (match := _AT.fullmatch(name))), default=0)


def main_metrics(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics without those that follow from others: pass@k, pass^k and maj@k only for the
    largest k, the score only where it differs from accuracy."""
    most = _largest_k(metrics)
    return {
        name: figure
        for name, figure in metrics.items()
        if (not (match := _AT.fullmatch(name)) or int(match[2]) == most)
        and not _FOLLOWS.fullmatch(name)
        and not (name == "score" and figure == metrics["accuracy"])
    }


def _cells(figure: Metric) -> tuple[str, str]:
    return f"{figure.value:.1%}", f"{figure.low:.1%} – {figure.high:.1%}"
