"""A sweep's runs as one table: a row for each run and task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.table import Table

from rewardkit.harness.metrics.summary import Metric, TaskSummary
from rewardkit.harness.sweeps.sweep_results import SweepRun

COLUMNS = {
    "accuracy": "accuracy",
    "interval": "95% interval",
    "flexible": "flexible",
    "format": "format",
    "unfinished": "unfinished",
    "pass": "pass@",
    "maj": "maj@",
    "tokens": "tokens",
}
"""The columns with their titles. pass@ and maj@ appear where problems have several completions."""
BY_USE = ("interval", "unfinished", "pass", "format", "maj", "flexible", "tokens")
"""Optional columns by usefulness: a narrow terminal leaves out the last ones."""
GAP = 2
MOST = 40
"""The width at which a label is folded."""


def line(run: SweepRun) -> Iterator[str]:
    """The lines to print when a run ends: one for each task, or the error."""
    if run.summary is None:
        yield f"{run.label}: failed: {run.error}"
        return
    for name, task in run.summary.tasks.items():
        cells = _cells(task)
        yield (
            f"{run.label}: {name}: accuracy {cells['accuracy']} ({cells['interval']}), "
            f"format {cells['format']}, unfinished {cells['unfinished']}"
        )


def table(runs: Sequence[SweepRun], width: int) -> Table:
    """The metrics side by side. Columns that don't fit into `width` are left out and named."""
    most = max((_most(task) for _, task in labelled(runs)), default=0)
    rows = list(_rows(runs, most))
    tasks = list(dict.fromkeys(row["task"] for row in rows if "task" in row))
    named = {"run": "run"} | ({"task": "task"} if len(tasks) > 1 else {})
    titles = _titles(most)
    columns = _fitting(named | titles, rows, width)
    found = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, GAP // 2),
        pad_edge=False,
        show_edge=False,
        title_style="bold",
        title_justify="left",
        caption_justify="left",
    )
    found.title = _title(runs, tasks)
    for column, title in columns.items():
        words = column in named
        found.add_column(
            title, justify="left" if words else "right", no_wrap=not words, overflow="fold"
        )
    for row in rows:
        found.add_row(
            *(row.get(column, "") for column in columns),
            style="red" if row["accuracy"] == "failed" else None,
        )
    if left_out := [title for name, title in titles.items() if name not in columns]:
        found.caption = f"no room for {', '.join(left_out)}: see summary.json"
    return found


def labelled(runs: Sequence[SweepRun]) -> Iterator[tuple[str, TaskSummary]]:
    """(label, summary) pairs of every task of every run; the label names one of several tasks."""
    for run in runs:
        tasks = run.summary.tasks if run.summary else {}
        for name, task in tasks.items():
            yield f"{run.label} ({name})" if len(tasks) > 1 else run.label, task


def _titles(most: int) -> dict[str, str]:
    return {
        name: f"{title}{most}" if title.endswith("@") else title
        for name, title in COLUMNS.items()
        if most or not title.endswith("@")
    }


def _most(task: TaskSummary) -> int:
    """The largest k of pass@k; 0 where problems have one completion each."""
    return max((int(name[5:]) for name in task.metrics if name.startswith("pass@")), default=0)


def _title(runs: Sequence[SweepRun], tasks: Sequence[str]) -> str:
    """The tasks, and the number of problems if it is the same for all."""
    sizes = {run.summary.tasks[task].samples for run in runs if run.summary for task in tasks}
    return ", ".join(tasks) + (f": {sizes.pop():,} problems" if len(sizes) == 1 else "")


def _rows(runs: Sequence[SweepRun], most: int) -> Iterator[dict[str, str]]:
    for run in runs:
        if run.summary is None:
            yield {"run": run.label, "accuracy": "failed"}
            continue
        for name, task in run.summary.tasks.items():
            yield {"run": run.label, "task": name, **_cells(task, most)}


def _cells(task: TaskSummary, most: int = 0) -> dict[str, str]:
    accuracy = task.metrics.get("accuracy")
    return {
        "accuracy": _share(accuracy),
        "interval": f"{accuracy.low:.1%} – {accuracy.high:.1%}" if accuracy else "–",
        "flexible": _share(task.metrics.get("accuracy_flexible")),
        "format": _share(task.metrics.get("format_rate")),
        "unfinished": _share(task.metrics.get("unfinished_rate")),
        "pass": _share(task.metrics.get(f"pass@{most}")),
        "maj": _share(task.metrics.get(f"maj@{most}")),
        "tokens": f"{task.lengths['all'].median:g}" if task.lengths else "–",
    }


def _share(metric: Metric | None) -> str:
    return "–" if metric is None else f"{metric.value:.1%}"


def _fitting(
    columns: Mapping[str, str], rows: Sequence[Mapping[str, str]], width: int
) -> dict[str, str]:
    """The columns that fit: the least useful are left out one by one."""
    needed = {
        name: min(MOST, max(len(title), *(len(row.get(name, "")) for row in rows)))
        for name, title in columns.items()
    }
    kept = dict(columns)
    for name in [name for name in reversed(BY_USE) if name in columns]:
        if sum(needed[one] + GAP + 1 for one in kept) <= width:
            break
        del kept[name]
    return kept
