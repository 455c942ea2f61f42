"""The results of a sweep's runs, and the files that show them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import MissingExtra
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.run.run import RunSummary
from rewardkit.harness.store.run_folder import REPORT
from rewardkit.harness.store.training_checkpoints import in_order

CURVE = "eval_curve.png"


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep, with its summary or its error message."""

    label: str
    model: str
    prompt: str | None
    step: int | None
    output_dir: Path
    summary: RunSummary | None = None
    error: str | None = None
    amounts: Mapping[str, Mapping[str, Metric]] = field(default_factory=dict)
    """The amounts that the tasks declare, by task; of the runs of a checkpoint."""

    @property
    def failed(self) -> bool:
        """Whether the run ended in an error, or with more errors than allowed."""
        return self.summary is None or self.summary.failed

    def as_json(self) -> dict[str, Any]:
        """Convert to plain values, the summary included."""
        fields = {
            "label": self.label,
            "model": self.model,
            "prompt": self.prompt,
            "step": self.step,
            "output_dir": str(self.output_dir),
            "error": self.error,
        }
        return (
            fields
            | ({"tasks": {}} if self.summary is None else self.summary.as_json())
            | {"failed": self.failed}
        )


def sort_by_step(runs: Sequence[SweepRun]) -> list[SweepRun]:
    """Sort runs by checkpoint, in the order of the steps."""
    places = {model: place for place, model in enumerate(in_order(run.model for run in runs))}
    return sorted(runs, key=lambda run: places[run.model])


def write_together(folder: Path, runs: Sequence[SweepRun], note: Callable[[str], None]) -> None:
    """Write the files in `folder` that show all runs finished so far."""
    done = [run for run in runs if run.summary is not None]
    _draw(folder / CURVE, done, note)
    if done:
        render_runs([run.output_dir for run in done], folder / REPORT)


def _draw(path: Path, runs: Sequence[SweepRun], note: Callable[[str], None]) -> None:
    """Draw the figures over the steps if there are two or more; a failure to draw is only noted."""
    steps = sorted({run.step for run in runs if run.step is not None})
    if len(steps) < 2:
        return
    points = [_point(step, runs) for step in steps]
    try:
        draw_curve(points, path)
    except ModuleNotFoundError as error:
        note(str(MissingExtra.needing(error.name or "matplotlib", "figures", path.name)))


def _point(step: int, runs: Sequence[SweepRun]) -> CurvePoint:
    """Each task's metrics and amounts at a step; a row of panels for each prompt and training."""
    metrics: dict[str, dict[str, Any]] = {}
    amounts: dict[str, dict[str, Any]] = {}
    prompts = {run.prompt for run in runs}
    trainings = {Path(run.model).parent for run in runs if run.step is not None}
    for run in runs:
        if run.step != step or run.summary is None:
            continue
        labels = [Path(run.model).parent.name] if len(trainings) > 1 else []
        labels += [run.prompt or "default prompt"] if len(prompts) > 1 else []
        for task, figures in run.summary.as_json()["tasks"].items():
            of_task = {name: asdict(one) for name, one in run.amounts.get(task, {}).items()}
            panel = " · ".join([task, *labels])
            metrics[panel], amounts[panel] = figures["metrics"], of_task
    return CurvePoint(step, metrics, amounts=amounts)
