"""Print a run's main metrics as tables on stdout; summary.json and the report have the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from rewardkit.cli.console import console
from rewardkit.cli.echo import echo
from rewardkit.harness.metrics import figures
from rewardkit.harness.metrics.names import TRUNCATED, UNJUDGED, be, counted, words
from rewardkit.harness.metrics.summary import Metric, TaskSummary
from rewardkit.harness.run.options import as_typed
from rewardkit.harness.run.run import RunSummary
from rewardkit.records import MANY_LATE, Failure

MOST_NAMED = 3
"""How many runs a warning names: those with the largest shares."""

LATE = (
    "wrong because judging ran out of time; raise --timeout if the verifier needs longer for right "
    "answers"
)
LARGE_GAP = 0.05
"""The flexible gap from which there is a warning."""

WIDE_REACH = 0.2
"""How far pass@k, at least twice accuracy, must exceed it for a warning."""


def warnings(task: TaskSummary) -> Iterator[str]:
    """The warnings, most important first."""
    for count, complaint in _complaints(task):
        if count:
            yield f"{count:,} of {counted(task.completions, 'completion')} {be(count)} {complaint}"
    gap = task.metrics.get("flexible_gap")
    if gap and gap.value >= LARGE_GAP:
        yield (
            f"{words('flexible_gap')} {gap.value:.1%}: these answers are right, but not in the "
            "form that the prompt asks for"
        )
    yield from _reach(task)


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


def print_late(sentences: Iterable[str]) -> None:
    """Print those of the warnings to stderr that say that judging ran out of time: for --json."""
    for sentence in sentences:
        if LATE in sentence:
            echo(f"! {sentence}", err=True)


def _complaints(task: TaskSummary) -> tuple[tuple[int, str], ...]:
    """How many completions are unjudged and truncated, with the words for each."""
    late = task.failures.get(Failure.TIMEOUT, 0)
    return (
        (task.unjudged, f"{UNJUDGED}; samples.jsonl says why"),
        (task.truncated, f"{TRUNCATED}; raise --max-tokens"),
        (late if late > MANY_LATE * task.completions else 0, LATE),
    )


def _reach(task: TaskSummary) -> Iterator[str]:
    most = _largest_k(task.metrics)
    if not most or f"pass@{most}" not in task.metrics:
        return
    single, several = task.metrics["accuracy"], task.metrics[f"pass@{most}"]
    if several.value >= max(2 * single.value, single.value + WIDE_REACH):
        yield (
            f"pass@{most} is {several.value:.1%} and accuracy {single.value:.1%}: the model can "
            "answer, but seldom does"
        )


MOST_GROUPS = 30
_AT = re.compile(r"(pass@|pass\^|maj@)([0-9]+)")
_FOLLOWS = re.compile(r"(?:avg|cons|m?g-pass)@.*")


def print_run(summary: RunSummary) -> None:
    """Print the metrics of a run, the options that its tasks set, and its folder."""
    print_summaries(summary.tasks)
    if text := str(summary.usage):
        console().print(text)
    if summary.set_by_tasks:
        note = f"set by the task: {as_typed(summary.set_by_tasks)}"
        console().print(note, style="dim", soft_wrap=True)
    console().print(str(summary.output_dir), style="dim", soft_wrap=True)


def print_summaries(tasks: Mapping[str, TaskSummary]) -> None:
    """Print a table for each task, then the task's own tables and the warnings."""
    out = console()
    for name, task in tasks.items():
        out.print(_table(name, task))
        for figure in task.figures:
            if isinstance(figure, figures.Table) and figure.printed:
                out.print(_own_table(name, figure))
        for warning in warnings(task):
            out.print(f"! {warning}", style="yellow")


def _table(name: str, task: TaskSummary) -> Table:
    title = f"{name}: {counted(task.problems, 'problem')}"
    if task.completions != task.problems:
        title += f", {counted(task.completions, 'completion')}"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    for metric, figure in _main_metrics(task.metrics).items():
        table.add_row(words(metric), *_cells(figure))
    for column, groups in task.groups.items():
        if len(groups) > MOST_GROUPS:
            table.add_row(f"accuracy by {column}", f"{len(groups):,} groups", "in summary.json")
            continue
        for group, figure in groups.items():
            table.add_row(f"accuracy, {column} {group}", *_cells(figure))
    if lengths := task.lengths.get("all"):
        figures_of_lengths = f"{lengths.median:g} / {lengths.p95:g} / {lengths.maximum}"
        table.add_row("tokens, median / p95 / maximum", figures_of_lengths, "")
    for failure, count in task.failures.items():
        share = count / max(1, task.completions)
        table.add_row(f"failed: {words(failure)}", f"{count:,}", f"{share:.1%} of all")
    return table


def _largest_k(metrics: Mapping[str, Metric]) -> int:
    """The largest k of pass@k, pass^k and maj@k; 0 without any."""
    return max((int(match[2]) for name in metrics if (match := _AT.fullmatch(name))), default=0)


def _main_metrics(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
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
