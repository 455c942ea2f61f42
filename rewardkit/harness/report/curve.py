"""eval_curve.png: how a model's figures move from checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.harness.store.atomic_write import replaced_file

RATES = {
    "accuracy": "accuracy",
    "format_rate": "format",
    "unfinished_rate": "unfinished",
    "error_rate": "finished and wrong",
}
"""The rates drawn, and what the legend calls them."""


@dataclass(frozen=True)
class CurvePoint:
    """A step's figures: for each task its metrics, `{"accuracy": {"value", "low", "high"}, …}`."""

    step: int
    tasks: Mapping[str, Mapping[str, Mapping[str, Any]]]


def draw_curve(points: Sequence[CurvePoint], path: Path) -> None:
    """Draw a panel for each task, its rates over the steps with their 95% intervals.

    The file is replaced at once, so that whoever looks while training runs sees a whole picture.
    """
    from matplotlib.figure import Figure

    points = sorted(points, key=lambda point: point.step)
    names = list(dict.fromkeys(name for point in points for name in point.tasks))
    figure = Figure(figsize=(7, 3.4 * max(1, len(names))), layout="constrained", dpi=120)
    for axes, name in zip(
        figure.subplots(max(1, len(names)), squeeze=False)[:, 0], names, strict=False
    ):
        _panel(
            axes, name, [(point.step, point.tasks[name]) for point in points if name in point.tasks]
        )
    with replaced_file(path) as partial:
        figure.savefig(partial, format="png")


def _panel(
    axes: Any, task: str, steps: Sequence[tuple[int, Mapping[str, Mapping[str, Any]]]]
) -> None:
    for rate, label in RATES.items():
        known = [(step, metrics[rate]) for step, metrics in steps if rate in metrics]
        if not known:
            continue
        at = [step for step, _ in known]
        (line,) = axes.plot(at, [metric["value"] for _, metric in known], ".-", label=label)
        axes.fill_between(
            at,
            [metric["low"] for _, metric in known],
            [metric["high"] for _, metric in known],
            color=line.get_color(),
            alpha=0.15,
            linewidth=0,
        )
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title=task, xlabel="step", ylabel="share of completions", ylim=(-0.02, 1.02))
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(loc="best", frameon=False)
