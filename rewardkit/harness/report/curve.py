"""eval_curve.png: a model's figures from checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.harness.store.atomic_write import replaced_file

LEGEND = {
    "accuracy": "accuracy",
    "format_rate": "format",
    "unfinished_rate": "unfinished",
    "error_rate": "finished and wrong",
}
"""The rates in the picture, and their names in its legend."""


Series = Sequence[tuple[int, float]]
"""(step, value) pairs in order."""


@dataclass(frozen=True)
class CurvePoint:
    """A step's figures: for each task its metrics, `{"accuracy": {"value", "low", "high"}, …}`."""

    step: int
    tasks: Mapping[str, Mapping[str, Mapping[str, Any]]]


def draw_curve(
    points: Sequence[CurvePoint], path: Path, rewards: Mapping[str, Series] | None = None
) -> None:
    """Draw a panel for each task: its rates over the steps with their 95% intervals.

    `rewards`, the series of a training's rewards by name, have a panel of their own.

    The file is replaced whole, so that a reader during training never sees half a picture.
    """
    from matplotlib.figure import Figure

    points = sorted(points, key=lambda point: point.step)
    tasks = list(dict.fromkeys(task for point in points for task in point.tasks))
    panels = max(1, len(tasks) + bool(rewards))
    figure = Figure(figsize=(7, 3.4 * panels), layout="constrained", dpi=120)
    all_axes = figure.subplots(panels, squeeze=False)[:, 0]
    for axes, task in zip(all_axes, tasks, strict=False):
        steps = [(point.step, point.tasks[task]) for point in points if task in point.tasks]
        _draw_panel(axes, task, steps)
    if rewards:
        _draw_rewards(all_axes[-1], rewards)
    with replaced_file(path) as partial:
        figure.savefig(partial, format="png")


def _draw_panel(
    axes: Any, task: str, steps: Sequence[tuple[int, Mapping[str, Mapping[str, Any]]]]
) -> None:
    for rate, label in LEGEND.items():
        metrics = [(step, metrics[rate]) for step, metrics in steps if rate in metrics]
        if not metrics:
            continue
        x = [step for step, _ in metrics]
        (line,) = axes.plot(x, [metric["value"] for _, metric in metrics], ".-", label=label)
        axes.fill_between(
            x,
            [metric["low"] for _, metric in metrics],
            [metric["high"] for _, metric in metrics],
            color=line.get_color(),
            alpha=0.15,
            linewidth=0,
        )
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title=task, xlabel="step", ylabel="share of completions", ylim=(-0.02, 1.02))
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(loc="best", frameon=False)


def _draw_rewards(axes: Any, rewards: Mapping[str, Series]) -> None:
    for name, series in rewards.items():
        axes.plot([step for step, _ in series], [value for _, value in series], ".-", label=name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title="training", xlabel="step", ylabel="mean reward")
    axes.grid(alpha=0.3)
    axes.legend(loc="best", frameon=False)
