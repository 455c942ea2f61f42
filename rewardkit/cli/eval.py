"""`rewardkit eval`: generate completions, judge them, report."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewardkit.cli.arguments import (
    INTERRUPTED,
    echo,
    echo_late,
    existing_paths,
    fail_with,
    first_error,
    resumable,
    show_tasks,
    split_names,
)
from rewardkit.cli.options import OutputOptions, in_what, with_options
from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.results.names import words

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.harness.options import EvalOptions
    from rewardkit.harness.results.summary import Metric, TaskSummary
    from rewardkit.harness.runs.sweep import SweepRun
    from rewardkit.tables import Table

COLUMNS = {
    "accuracy": "accuracy",
    "interval": "95% interval",
    "flexible": words("accuracy_flexible"),
    "format": words("format_rate"),
    "unfinished": words("unfinished_rate"),
    "pass": "pass@",
    "maj": "maj@",
    "tokens": "tokens",
}
"""The columns with their titles. pass@ and maj@ appear if problems have several completions."""
BY_USE = ("interval", "unfinished", "pass", "format", "maj", "flexible", "tokens")
"""Optional columns by usefulness: a narrow terminal leaves out the last ones."""
GAP = 3
"""The width of a border and the spaces beside it."""
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
            f"{COLUMNS['format']} {cells['format']}, {COLUMNS['unfinished']} {cells['unfinished']}"
        )


def table(runs: Sequence[SweepRun], width: int) -> Table:
    """The metrics side by side. Columns that don't fit into `width` are left out and named."""
    from rewardkit.tables import Table

    summaries = [task for run in runs if run.summary for task in run.summary.tasks.values()]
    metrics = {name for task in summaries for name in task.metrics}
    most = max((int(name[5:]) for name in metrics if name.startswith("pass@")), default=0)
    rows: list[dict[str, str]] = []
    for run in runs:
        if run.summary is None:
            rows.append({"run": run.label, "accuracy": "failed"})
        else:
            tasks_of_run = run.summary.tasks.items()
            rows += [
                {"run": run.label, "task": name, **_cells(task, most)}
                for name, task in tasks_of_run
            ]
    tasks = list(dict.fromkeys(row["task"] for row in rows if "task" in row))
    named = {"run": "run"} | ({"task": "task"} if len(tasks) > 1 else {})
    titles = {
        name: f"{title}{most}" if title.endswith("@") else title
        for name, title in COLUMNS.items()
        if most or not title.endswith("@")
    }
    columns = _fitting(named | titles, rows, width)
    left_out = [title for name, title in titles.items() if name not in columns]
    sizes = {task.problems for task in summaries}
    return Table(
        ", ".join(tasks) + (f": {sizes.pop():,} problems" if len(sizes) == 1 else ""),
        list(columns.values()),
        [[row.get(column, "") for column in columns] for row in rows],
        f"no room for {', '.join(left_out)}: see summary.json" if left_out else "",
        keys=len(named),
    )


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
    needed = {
        name: min(MOST, max(len(title), *(len(row.get(name, "")) for row in rows)))
        for name, title in columns.items()
    }
    kept = dict(columns)
    for name in [name for name in reversed(BY_USE) if name in columns]:
        if sum(needed[column] + GAP for column in kept) < width:
            break
        del kept[name]
    return kept


def is_sweep(models: Sequence[str], prompts: Sequence[str]) -> bool:
    """Whether the arguments name more than one run, now or as checkpoints are written."""
    from rewardkit.harness.results.training_checkpoints import is_pattern

    distinct = {model.rstrip("/") or model for model in models}
    return len(distinct) > 1 or len({*prompts}) > 1 or any(map(is_pattern, models))


def evaluate_several(
    options: EvalOptions,
    models: list[str],
    prompts: list[str],
    output: OutputOptions,
    *,
    watch: bool = False,
    timeout: float | None = None,
) -> None:
    """Complete all runs and print one table. The exit status is 1 if a run failed.

    With `watch`, evaluate checkpoints as they are written, until an interrupt or the timeout.
    """
    from rewardkit.harness.runs.sweep import (
        plan_sweep,
        plan_watch,
        sort_by_step,
        sweep,
        watch_sweep,
    )

    reporter = output.reporter()
    plan = (plan_watch if watch else plan_sweep)(options, models, prompts)
    runs: list[SweepRun] = []
    interrupted = False
    try:
        for run in watch_sweep(plan, reporter, timeout=timeout) if watch else sweep(plan, reporter):
            runs.append(run)
            for text in line(run):
                reporter.note(text)
    except KeyboardInterrupt:
        interrupted = True
    runs = sort_by_step(runs)
    _print(runs, str(plan.folder), output)
    if any(run.summary for run in runs):
        output.log(plan.folder)
    if interrupted:
        echo(f"{'stopped' if watch else 'interrupted'}; the same command resumes", err=True)
        if not watch:
            raise typer.Exit(INTERRUPTED)
    elif watch and not runs:
        raise BackendError(f"no checkpoint appeared: {', '.join(plan.models)}")
    labels: dict[str, list[str]] = defaultdict(list)  # runs with the same error share a line
    for run in runs:
        for reason in [run.error] if run.error else run.summary.failures if run.summary else ():
            labels[reason].append(run.label)
    fail_with([f"{', '.join(of_reason)}: {reason}" for reason, of_reason in labels.items()])


def _print(runs: list[SweepRun], folder: str, output: OutputOptions) -> None:
    from rewardkit.harness.results.summary_tables import of_runs
    from rewardkit.tables import Line
    from rewardkit.text.console import console

    labelled = [
        (f"{run.label} ({name})" if len(run.summary.tasks) > 1 else run.label, task)
        for run in runs
        if run.summary
        for name, task in run.summary.tasks.items()
    ]
    if output.as_json:
        echo(json.dumps([run.as_json() for run in runs]))
        echo_late(of_runs(labelled))
    elif runs:
        out = console()
        warnings = [Line(f"! {warning}", "yellow") for warning in of_runs(labelled)]
        out.show([table(runs, out.width), *warnings, Line(folder, "dim")])


@with_options
def eval_command(
    model: Annotated[
        list[str],
        in_what(help="A checkpoint's folder or a hub id; repeatable, or 'run/checkpoint-*'."),
    ],
    task: Annotated[
        list[str] | None,
        in_what(help="A task's name or its TOML file; repeatable."),
    ] = None,
    more_models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            help="More folders, if the shell has expanded the pattern of --model.",
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            help="A prompt's name or a Jinja2 file; several with commas: a,b,c.",
            rich_help_panel="Prompt",
        ),
    ] = None,
    watch: Annotated[
        bool,
        in_what("--watch", help="Evaluate checkpoints while a training writes them."),
    ] = False,
    watch_timeout: Annotated[
        float | None,
        in_what(help="Seconds without a new checkpoint after which --watch ends."),
    ] = None,
    *,
    output: OutputOptions,
    **given: Any,
) -> None:
    """Generate completions, judge them, and write the run's folder.

    Each pair of a checkpoint and a prompt is a run in its own folder; one table shows all runs.

    The same command resumes a run that was interrupted or killed.
    """
    from rewardkit.harness.runs.options import options_for
    from rewardkit.harness.runs.plan import plan_for
    from rewardkit.harness.runs.run import run

    models = [*model, *existing_paths(more_models or ())]
    prompts = split_names(prompt or ())
    options = options_for(tuple(task or ()), models[0], prompts[0] if prompts else None, **given)
    if watch_timeout is not None and not watch:
        raise UsageError("--watch-timeout has no effect without --watch; add --watch")
    output.check()
    if watch or is_sweep(models, prompts):
        evaluate_several(options, models, prompts, output, watch=watch, timeout=watch_timeout)
        return
    reporter = output.reporter()
    with resumable():
        summary = run(plan_for(options, reporter), reporter)
    values = {**summary.as_json(), "output_dir": str(summary.output_dir)}
    show_tasks(summary.tasks, summary.shown(), values, as_json=output.as_json)
    output.log(summary.output_dir)
    fail_with(summary.failures, lambda: first_error(summary.output_dir))
