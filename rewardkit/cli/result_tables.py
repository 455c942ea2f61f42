"""Print a run's main metrics as tables on stdout; summary.json and the report have the rest."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from rewardkit.harness.metrics import figures
from rewardkit.harness.metrics.summary import Metric, TaskSummary
from rewardkit.harness.run.run import RunSummary
from rewardkit.harness.run.task_settings import as_typed

UNJUDGED = "unjudged and left out of the means; samples.jsonl says why"
CUT_OFF = "cut off at the token limit or never came out of thinking; raise --max-tokens"

MOST_NAMED = 3
"""How many runs a warning names: those with the largest shares."""

LARGE_GAP = 0.05
"""The share of completions that are right except in form, from which there is a warning."""

WIDE_REACH = 0.2
"""How far pass@k, at least twice accuracy, must exceed it for a warning."""


def warnings(task: TaskSummary) -> Iterator[str]:
    """The warnings, most important first."""
    yield from _unjudged(task)
    yield from _truncated(task)
    yield from _gap(task)
    yield from _reach(task)


def of_runs(runs: Sequence[tuple[str, TaskSummary]]) -> Iterator[str]:
    """Warnings about several runs: one sentence of a kind, with the runs' names."""
    for complaint, counts in (
        (f"are {UNJUDGED}", [task.errors for _, task in runs]),
        (f"were {CUT_OFF}", [task.truncated for _, task in runs]),
    ):
        found = sorted(
            (
                (count / task.completions, name)
                for (name, task), count in zip(runs, counts, strict=True)
                if count
            ),
            key=lambda one: -one[0],
        )
        if found:
            named = ", ".join(f"{name} {share:.1%}" for share, name in found[:MOST_NAMED])
            more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
            of = sum(task.completions for _, task in runs)
            yield f"{sum(counts):,} of {of:,} completions {complaint}: {named}{more}"


def _unjudged(task: TaskSummary) -> Iterator[str]:
    if task.errors:
        verb = "is" if task.errors == 1 else "are"
        yield f"{task.errors:,} of {task.completions:,} completions {verb} {UNJUDGED}"


def _truncated(task: TaskSummary) -> Iterator[str]:
    if not task.truncated:
        return
    verb = "was" if task.truncated == 1 else "were"
    cut = f"{task.truncated:,} of {task.completions:,} completions {verb} {CUT_OFF}"
    finished = task.metrics.get("accuracy_finished")
    yield f"{cut} (of those that ended, {finished.value:.0%} are right)" if finished else cut


def _gap(task: TaskSummary) -> Iterator[str]:
    gap = task.metrics.get("flexible_gap")
    if gap and gap.value >= LARGE_GAP:
        strict, flexible = task.metrics["accuracy"], task.metrics["accuracy_flexible"]
        yield (
            f"strict {strict.value:.0%}, flexible {flexible.value:.0%}: the answers are right "
            "but not in the form that the prompt asks for"
        )


def _reach(task: TaskSummary) -> Iterator[str]:
    most = max((int(name[5:]) for name in task.metrics if name.startswith("pass@")), default=0)
    if not most:
        return
    single, several = task.metrics["accuracy"], task.metrics[f"pass@{most}"]
    if several.value >= max(2 * single.value, single.value + WIDE_REACH):
        yield (
            f"pass@{most} is {several.value:.0%} where one completion is right in "
            f"{single.value:.0%}: the model can answer, but seldom does"
        )


PIPED_WIDTH = 120
MOST_GROUPS = 30
NAMES = {
    "accuracy": "accuracy, strict",
    "accuracy_flexible": "accuracy, flexible",
    "flexible_gap": "flexible − strict",
    "accuracy_finished": "accuracy, finished",
    "accuracy_truncated": "accuracy, cut off",
    "score": "mean score",
    "error_rate": "finished and wrong",
    "thinking_unclosed_rate": "thinking never closed",
    "seed_spread": "spread between seeds",
}
_AT = re.compile(r"(pass@|pass\^|maj@)([0-9]+)")
_FOLLOWS = re.compile(r"(?:avg|cons|m?g-pass)@.*")


def console() -> Console:
    """A console on stdout: as wide as the terminal, or 120 columns where it is piped."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def print_run(summary: RunSummary) -> None:
    """Print the metrics of a run, the options that its tasks set, and its folder."""
    print_summaries(summary.tasks)
    if text := str(summary.usage):
        console().print(text)
    if summary.set_by_tasks:
        note = f"set by the task: {as_typed(summary.set_by_tasks)}"
        console().print(note, style="dim", markup=False, soft_wrap=True)
    console().print(str(summary.output_dir), style="dim", markup=False, soft_wrap=True)


def print_summaries(tasks: Mapping[str, TaskSummary]) -> None:
    """Print a table for each task, then the task's own tables and the warnings."""
    out = console()
    for name, task in tasks.items():
        out.print(_table(name, task))
        for figure in task.figures:
            if isinstance(figure, figures.Table) and figure.printed:
                out.print(_own_table(name, figure))
        for warning in warnings(task):
            out.print(f"! {warning}", style="yellow", markup=False)


def _table(name: str, task: TaskSummary) -> Table:
    title = f"{name}: {task.samples:,} problem{'' if task.samples == 1 else 's'}"
    if task.completions != task.samples:
        title += f", {task.completions:,} completions"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    for metric, figure in _main_metrics(task.metrics).items():
        table.add_row(NAMES.get(metric, metric.replace("_", " ")), *_cells(figure))
    for column, groups in task.groups.items():
        if len(groups) > MOST_GROUPS:
            table.add_row(f"accuracy by {column}", f"{len(groups):,} groups", "in summary.json")
            continue
        for group, figure in groups.items():
            table.add_row(f"accuracy, {column} {group}", *_cells(figure))
    if "all" in task.lengths:
        lengths = task.lengths["all"]
        table.add_row(
            "tokens, median / p95 / max",
            f"{lengths.median:g} / {lengths.p95:g} / {lengths.maximum}",
            "",
        )
    for failure, count in task.failures.items():
        share = count / max(1, task.completions)
        table.add_row(f"failed: {failure}", f"{count:,}", f"{share:.1%} of all")
    return table


def _main_metrics(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics without those that follow from others: pass@k, pass^k and maj@k only for the
    largest k, the mean score only where it differs from accuracy."""
    most = max((int(match[2]) for name in metrics if (match := _AT.fullmatch(name))), default=0)
    return {
        name: figure
        for name, figure in metrics.items()
        if (not (match := _AT.fullmatch(name)) or int(match[2]) == most)
        and not _FOLLOWS.fullmatch(name)
        and not (name == "score" and figure == metrics["accuracy"])
    }


def _own_table(task: str, figure: figures.Table) -> Table:
    table = Table(
        title=f"{task}: {figure.title}",
        title_justify="left",
        title_style="bold",
        caption=figure.note or None,
        caption_justify="left",
    )
    for index, column in enumerate(figure.columns):
        table.add_column(column, justify="right" if index else "left")
    for row in figure.rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(cell: figures.Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _cells(figure: Metric) -> tuple[str, str]:
    return f"{figure.value:.1%}", f"{figure.low:.1%} – {figure.high:.1%}"
