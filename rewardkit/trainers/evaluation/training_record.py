"""A training's log, curve and warnings, as files and messages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.training_series import TRAIN_LOG, training_series
from rewardkit.trainers.evaluation.hacking_signs import Sign, signs
from rewardkit.trainers.evaluation.train_log import TrainLog

CURVE = "eval_curve.png"

logger = logging.getLogger(__name__)


class TrainingRecord:
    """train_log.json and eval_curve.png in a folder; each sign of reward hacking is logged once.

    A training resumed at a step continues the log up to it; a new training starts a new log.
    """

    def __init__(self, folder: Path, *, resumed_at: int, truncation_share: float) -> None:
        path = folder / TRAIN_LOG
        self._log = TrainLog.resumed(path, resumed_at) if resumed_at else TrainLog(path)
        self._curve = folder / CURVE
        self._truncation_share = truncation_share
        self._present_signs = {sign.name for sign in self._signs()}

    def add_logs(self, step: int, logs: Mapping[str, Any]) -> None:
        """Record what the trainer logged."""
        self._log.add_logs(step, logs)
        self._warn(step)

    def add_evaluation(
        self,
        step: int,
        summaries: Mapping[str, TaskSummary],
        lengths: Mapping[str, Sequence[int]],
        amounts: Mapping[str, Mapping[str, Metric]],
    ) -> None:
        """Record an evaluation, with its quantiles of lengths and amounts; draw the curve again."""
        metrics = {task: summary.as_json()["metrics"] for task, summary in summaries.items()}
        plain = {
            task: {name: asdict(metric) for name, metric in own.items()}
            for task, own in amounts.items()
        }
        self._log.set_evaluation(step, metrics, lengths, plain)
        self.draw()
        for task, summary in summaries.items():
            if summary.errors:
                logger.warning(
                    "%s: %d of %d completions of step %d's evaluation could not be judged",
                    task,
                    summary.errors,
                    summary.completions,
                    step,
                )
        self._warn(step)

    def draw(self) -> None:
        """Draw the curve of all that is recorded."""
        points = [
            CurvePoint(
                entry["step"],
                entry["evaluation"],
                entry.get("lengths", {}),
                entry.get("amounts", {}),
            )
            for entry in self._log.entries
            if entry["evaluation"]
        ]
        draw_curve(points, self._curve, training_series(self._log.entries))

    def _warn(self, step: int) -> None:
        """Log the signs that are new; a sign that went away counts as new when it comes back."""
        present = self._signs()
        for sign in present:
            if sign.name not in self._present_signs:
                logger.warning("%s", sign.message)
                self._log.add_warning(step, sign.message)
        self._present_signs = {sign.name for sign in present}

    def _signs(self) -> list[Sign]:
        return signs(self._log.entries, truncation_share=self._truncation_share)
