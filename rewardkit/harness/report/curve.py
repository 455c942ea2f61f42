"""eval_curve.png: a model's figures from checkpoint to checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rewardkit.harness.report.training_series import Series, TrainingSeries
from rewardkit.harness.store.files import replaced_file

LEGEND = {
    "accuracy": "accuracy",
    "format_rate": "format",
    "unfinished_rate": "unfinished",
    "error_rate": "finished and wrong",
}
"""The rates in the picture, and their names in its legend."""

Metrics = Mapping[str, Mapping[str, Any]]
"""`{"accuracy": {"value", "low", "high"}, …}`; None for a number that JSON can't hold."""


def draw_rates(task: str, steps: Sequence[tuple[int, Metrics]], axes: Any) -> None:
    """Draw a task's rates over the steps, with their intervals."""
    for rate, label in LEGEND.items():
        _draw_metric(steps, rate, label, axes)
    axes.set(title=task, ylabel="share of completions", ylim=(-0.02, 1.02))
    _finish_steps(axes)


def draw_amounts(task: str, steps: Sequence[tuple[int, Metrics]], axes: Any) -> None:
    """Draw a task's amounts over the steps, on a scale that shows large ones beside small ones."""
    for name in dict.fromkeys(name for _, amounts in steps for name in amounts):
        _draw_metric(steps, name, name, axes)
    positive = [value for line in axes.lines for value in line.get_ydata() if value > 0]
    if positive:
        axes.set_yscale("symlog", linthresh=min(positive))
    for place, line in enumerate(axes.lines):
        line.set_zorder(3 - place / len(axes.lines))  # the first ones on top: mse, mae
    axes.set(title=f"{task}: amounts", ylabel="mean over problems")
    _finish_steps(axes, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_lengths(task: str, steps: Sequence[tuple[int, Sequence[float]]], axes: Any) -> None:
    """Draw which share of a task's completions is at most how long, a line for each step."""
    from matplotlib import colormaps

    for index, (step, lengths) in enumerate(steps):
        colour = colormaps["viridis"](0.9 * index / max(1, len(steps) - 1))
        shares = [rank / max(1, len(lengths) - 1) for rank in range(len(lengths))]
        axes.plot(lengths, shares, color=colour, label=f"step {step}")
    axes.set(
        title=f"{task}: completion lengths",
        xlabel="tokens",
        ylabel="share at most this long",
        ylim=(-0.02, 1.02),
    )
    _finish(axes)


def draw_series(title: str, label: str, series: Mapping[str, Series], axes: Any) -> None:
    """Draw logged values over the steps, a line for each name."""
    for name, values in series.items():
        axes.plot([step for step, _ in values], [value for _, value in values], ".-", label=name)
    axes.set(title=title, ylabel=label)
    _finish_steps(axes)


def _draw_metric(steps: Sequence[tuple[int, Metrics]], name: str, label: str, axes: Any) -> None:
    metrics = [(step, metrics[name]) for step, metrics in steps if name in metrics]
    drawn = [(step, metric) for step, metric in metrics if _is_finite(metric["value"])]
    if not drawn:
        return
    x = [step for step, _ in drawn]
    (line,) = axes.plot(x, [metric["value"] for _, metric in drawn], ".-", label=label)
    axes.fill_between(
        x,
        [metric["low"] for _, metric in drawn],
        [metric["high"] if _is_finite(metric["high"]) else math.nan for _, metric in drawn],
        color=line.get_color(),
        alpha=0.15,
        linewidth=0,
    )


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _finish_steps(axes: Any, **legend: Any) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="step")
    _finish(axes, **legend)


def _finish(axes: Any, **legend: Any) -> None:
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(**{"loc": "best", "frameon": False, **legend})


MOST_LENGTHS = 6
"""Maximum number of checkpoints whose lengths are drawn: the first, the last, and some between."""

Item = TypeVar("Item")
Panel = Callable[[Any], None]
"""Draws on matplotlib's axes."""


@dataclass(frozen=True)
class CurvePoint:
    """A step's figures by task.

    `tasks` are rates; `lengths` are the tokens of completions at even shares of them, from the
    shortest to the longest; `amounts` are a task's own metrics without an upper bound, as errors.
    """

    step: int
    tasks: Mapping[str, Metrics]
    lengths: Mapping[str, Sequence[float]] = field(default_factory=dict)
    amounts: Mapping[str, Metrics] = field(default_factory=dict)


def draw_curve(
    points: Sequence[CurvePoint], path: Path, training: TrainingSeries | None = None
) -> None:
    """Draw each task's rates over the steps; beside them its lengths at some steps, its amounts.

    Rates and amounts have their 95% intervals. Below are the rewards and the loss that a
    `training` logged. The file is replaced whole, so that a reader during training never sees
    half a picture.
    """
    from matplotlib.figure import Figure

    rows = _rows(sorted(points, key=lambda point: point.step), training or TrainingSeries())
    columns = max(map(len, rows))
    figure = Figure(figsize=(7 * columns, 3.4 * len(rows)), layout="constrained", dpi=120)
    for row, all_axes in zip(rows, figure.subplots(len(rows), columns, squeeze=False), strict=True):
        for panel, axes in zip(row, all_axes, strict=False):
            panel(axes)
        for axes in all_axes[len(row) :]:
            axes.set_axis_off()
    with replaced_file(path) as unfinished:
        figure.savefig(unfinished, format="png")


def _rows(points: Sequence[CurvePoint], training: TrainingSeries) -> list[list[Panel]]:
    tasks = list(dict.fromkeys(task for point in points for task in point.tasks))
    rows = [_task_panels(task, points) for task in tasks]
    series = [
        ("training: rewards", "mean reward", training.rewards),
        ("training: loss", "loss", {"loss": training.loss} if training.loss else {}),
    ]
    logged: list[Panel] = [
        partial(draw_series, title, label, values) for title, label, values in series if values
    ]
    if logged:
        rows.append(logged)
    return rows or [[lambda axes: None]]


def _task_panels(task: str, points: Sequence[CurvePoint]) -> list[Panel]:
    steps = [(point.step, point.tasks[task]) for point in points if task in point.tasks]
    lengths = [(point.step, point.lengths[task]) for point in points if point.lengths.get(task)]
    amounts = [(point.step, point.amounts[task]) for point in points if point.amounts.get(task)]
    panels: list[Panel] = [partial(draw_rates, task, steps)]
    if lengths:
        panels.append(partial(draw_lengths, task, spread(lengths)))
    if amounts:
        panels.append(partial(draw_amounts, task, amounts))
    return panels


def spread(items: Sequence[Item], most: int = MOST_LENGTHS) -> list[Item]:
    """At most `most` items at even distances, with the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]
