"""A run's figures as a table on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table

from rewardkit.harness.metrics.summary import Metric, TaskSummary
from rewardkit.harness.run import RunSummary

PIPED_WIDTH = 120
NAMES = {
    "accuracy": "accuracy, strict",
    "accuracy_flexible": "accuracy, flexible",
    "score": "mean score",
    "format_rate": "format rate",
    "unfinished_rate": "unfinished rate",
}


def console() -> Console:
    """Stdout: as wide as the terminal, or of a fixed width where it is piped."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def print_run(summary: RunSummary) -> None:
    """The figures of a run, and where its files are."""
    print_summaries(summary.tasks)
    console().print(str(summary.output_dir), style="dim", markup=False, soft_wrap=True)


def print_summaries(tasks: Mapping[str, TaskSummary]) -> None:
    """A table for each task, then what must not be missed."""
    out = console()
    for name, task in tasks.items():
        out.print(_table(name, task))
        for warning in _warnings(task):
            out.print(f"! {warning}", style="yellow", markup=False)


def _table(name: str, task: TaskSummary) -> Table:
    per_problem = task.completions / max(1, task.samples)
    title = f"{name}: {task.samples:,} problems"
    if per_problem != 1:
        title += f", {per_problem:g} completions each"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("95% interval", justify="right")
    for metric, figure in task.metrics.items():
        table.add_row(NAMES.get(metric, metric.replace("_", " ")), *_cells(figure))
    for column, groups in task.groups.items():
        for group, figure in groups.items():
            table.add_row(f"accuracy, {column} {group}", *_cells(figure))
    if "all" in task.lengths:
        lengths = task.lengths["all"]
        table.add_row("tokens, mean", f"{lengths.mean:.1f}", "")
        table.add_row(
            "tokens, median / p95 / max",
            f"{lengths.median:g} / {lengths.p95:g} / {lengths.maximum}", "",
        )  # fmt: skip
    for failure, count in task.failures.items():
        table.add_row(f"failed: {failure}", f"{count:,}", "")
    return table


def _cells(figure: Metric) -> tuple[str, str]:
    return f"{figure.value:.1%}", f"{figure.low:.1%} – {figure.high:.1%}"


def _warnings(task: TaskSummary) -> Iterator[str]:
    if task.truncated:
        yield (
            f"{task.truncated:,} of {task.completions:,} completions hit the token limit; "
            "raise --max-tokens"
        )
    if task.errors:
        yield (
            f"{task.errors:,} of {task.completions:,} completions are unjudged and left out of "
            "the means; samples.jsonl says why"
        )
