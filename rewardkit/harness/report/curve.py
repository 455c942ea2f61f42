"""A model's figures from checkpoint to checkpoint: as plots for the page, and as eval_curve.png."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rewardkit.harness.report.runs import ReportRun, TrainingSeries
from rewardkit.harness.results.figures import Plot, Point
from rewardkit.harness.results.files import replaced_file
from rewardkit.harness.results.names import words
from rewardkit.harness.results.rates import length_quantiles

RATES = ("accuracy", "format_rate", "unfinished_rate", "error_rate")
"""The rates that are drawn over the steps of a training."""

MOST_LENGTHS = 6
"""Maximum number of checkpoints whose lengths are drawn: the first, the last, and some between."""

PER_ROW = 3
"""Panels of a training's log beside each other."""

MOST_MARKED = 20
"""Maximum number of points of a line that has markers; the script of the page has the same."""

MOST_IN_LEGEND = 6
"""Maximum number of lines of a legend inside the axes."""

Metrics = Mapping[str, Mapping[str, Any]]
"""`{"accuracy": {"value", "low", "high"}, …}`; None for a number that JSON can't hold."""


@dataclass(frozen=True)
class CurvePoint:
    """A step's figures by task.

    `tasks` are rates; `lengths` are quantiles of the completions' tokens, from the shortest to the
    longest completion; `amounts` are metrics without an upper bound, such as errors.
    """

    step: int
    tasks: Mapping[str, Metrics]
    lengths: Mapping[str, Sequence[float]] = field(default_factory=dict)
    amounts: Mapping[str, Metrics] = field(default_factory=dict)


def task_plots(task: str, points: Iterable[CurvePoint]) -> Iterator[Plot]:
    """A task's rates over the steps, then its lengths and its amounts if it has some.

    The plot of lengths has a line for each step, for some of many; the scale of amounts shows large
    ones beside small ones.
    """
    ordered = sorted(points, key=lambda point: point.step)
    rates = [(point.step, point.tasks[task]) for point in ordered if task in point.tasks]
    series = {words(rate): _points(rates, rate) for rate in RATES}
    title = "Rates over the training"
    yield Plot(title, "training step", "share of completions", series, y_scale="share")
    lengths = [(point.step, point.lengths[task]) for point in ordered if point.lengths.get(task)]
    if lengths:
        last = len(lengths) - 1
        places = [round(place * last / (MOST_LENGTHS - 1)) for place in range(MOST_LENGTHS)]
        yield Plot(
            "Lengths over the training",
            "tokens of the completion",
            "share of completions",
            {
                f"step {step}": [
                    (tokens, rank / max(1, len(of_step) - 1)) for rank, tokens in enumerate(of_step)
                ]
                for step, of_step in (lengths[place] for place in sorted({*places}))
            },
            note="A point (x, y): the share y of the completions has at most x tokens. If a line "
            "is further to the right, the completions are longer.",
            y_scale="share",
        )
    amounts = [(point.step, point.amounts[task]) for point in ordered if point.amounts.get(task)]
    if amounts:
        names = dict.fromkeys(name for _, of_step in amounts for name in of_step)
        series = {words(name): _points(amounts, name) for name in names}
        title = "Amounts over the training"
        yield Plot(title, "training step", "mean over problems", series, y_scale="symlog")


@dataclass(frozen=True)
class RunCurve:
    """The runs of several checkpoints of one training on one task, in the order of the steps."""

    task: str
    runs: Sequence[ReportRun]
    where: str
    """The names of the first and the last run, if the task has several curves."""

    def plots(self) -> Iterator[Plot]:
        """The task's rates and lengths over the steps."""
        points = [
            CurvePoint(
                run.step or 0,
                {self.task: run.tasks[self.task]["metrics"]},
                length_quantiles(run.rows),
            )
            for run in self.runs
        ]
        for plot in task_plots(self.task, points):
            yield replace(plot, title=plot.title + self.where)


def run_curves(runs: Sequence[ReportRun]) -> Iterator[RunCurve]:
    """The curves among these runs."""
    trainings: dict[tuple[str, str], list[ReportRun]] = defaultdict(list)
    for run in runs:
        for task in run.tasks if run.step is not None else ():
            trainings[task, run.training].append(run)
    curves = {
        key: group for key, group in trainings.items() if len({run.step for run in group}) > 1
    }
    count = Counter(task for task, _ in curves)
    for (task, _), group in curves.items():
        ordered = sorted(group, key=lambda run: run.step or 0)
        where = f", {ordered[0].name} to {ordered[-1].name}" if count[task] > 1 else ""
        yield RunCurve(task, ordered, where)


def training_plots(training: TrainingSeries) -> Iterator[Plot]:
    """The rewards, the loss and the figures of its health that a training logged."""
    if training.rewards:
        yield Plot("Rewards in training", "training step", "mean reward", training.rewards)
    if training.loss:
        yield Plot("Loss in training", "training step", "loss", {"loss": training.loss})
    for name, values in training.health.items():
        title = f"{name[0].upper()}{name[1:]} in training"
        y_scale: Literal["share", "number"] = "share" if name.endswith("share") else "number"
        yield Plot(title, "training step", name, {name: values}, y_scale=y_scale)


def _points(steps: Sequence[tuple[int, Metrics]], name: str) -> list[Point]:
    """A metric's values and intervals at the steps where its value is a number."""
    metrics = [(step, metrics[name]) for step, metrics in steps if name in metrics]
    return [
        (step, metric["value"], _number(metric["low"]), _number(metric["high"]))
        for step, metric in metrics
        if math.isfinite(_number(metric["value"]))
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def draw_curve(
    points: Sequence[CurvePoint], path: Path, training: TrainingSeries | None = None
) -> None:
    """Draw each task's plots in a row, and below them what a `training` logged.

    The whole file is replaced, so that you never see half a picture during training.
    """
    from matplotlib.figure import Figure

    tasks = dict.fromkeys(task for point in points for task in point.tasks)
    rows = [
        [replace(plot, title=f"{task}: {plot.title}") for plot in task_plots(task, points)]
        for task in tasks
    ]
    logged = list(training_plots(training)) if training else []
    rows += [logged[place : place + PER_ROW] for place in range(0, len(logged), PER_ROW)]
    columns = max(map(len, rows), default=1)
    figure = Figure(figsize=(7 * columns, 3.4 * max(1, len(rows))), layout="constrained", dpi=120)
    grid = figure.subplots(max(1, len(rows)), columns, squeeze=False)
    for row, all_axes in zip(rows, grid, strict=False):
        for plot, axes in zip(row, all_axes, strict=False):
            draw_plot(plot, axes)
        for axes in all_axes[len(row) :]:
            axes.set_axis_off()
    with replaced_file(path) as unfinished:
        figure.savefig(unfinished, format="png")


def draw_plot(plot: Plot, axes: Any) -> None:
    """Draw a plot on matplotlib's axes: lines, the first on top, and their intervals as bands."""
    for place, (name, points) in enumerate(plot.series.items()):
        if not points:
            continue
        x, y, *bounds = zip(*points, strict=True)
        marker = "." if len(points) <= MOST_MARKED else ""
        zorder = 3 - place / len(plot.series)
        (line,) = axes.plot(x, y, "-", marker=marker, label=name, zorder=zorder)
        if bounds:
            high = [value if math.isfinite(value) else math.nan for value in bounds[1]]
            axes.fill_between(x, bounds[0], high, color=line.get_color(), alpha=0.15, linewidth=0)
    positive = [value for line in axes.lines for value in line.get_ydata() if value > 0]
    if plot.y_scale == "share":
        axes.set_ylim(-0.02, 1.02)
    elif plot.y_scale == "symlog" and positive:
        axes.set_yscale("symlog", linthresh=min(positive))
    axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    if len(axes.lines) > MOST_IN_LEGEND:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    elif axes.lines:
        axes.legend(loc="best", frameon=False)
