"""eval_curve.png: a model's figures from checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rewardkit.harness.report.curve_panels import (
    Metrics,
    draw_amounts,
    draw_lengths,
    draw_rates,
    draw_series,
)
from rewardkit.harness.report.training_series import TrainingSeries
from rewardkit.harness.store.atomic_write import replaced_file

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
