"""What a training leaves for those who watch it: its log, its curve, and warnings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.trainers.evaluation.hacking_signs import Sign, signs
from rewardkit.trainers.evaluation.train_log import TrainLog

TRAIN_LOG, CURVE = "train_log.json", "eval_curve.png"

logger = logging.getLogger(__name__)


class TrainingRecord:
    """train_log.json and eval_curve.png in a folder; the signs that they show are told once.

    A training resumed at a step carries on what is there up to it; one that begins starts anew.
    """

    def __init__(self, folder: Path, *, resumed_at: int, truncation_share: float) -> None:
        path = folder / TRAIN_LOG
        self._log = TrainLog.resumed(path, resumed_at) if resumed_at else TrainLog(path)
        self._curve = folder / CURVE
        self._truncation_share = truncation_share
        self._known = {sign.name for sign in self._signs()}

    def logged(self, step: int, logs: Mapping[str, Any]) -> None:
        """Keep what the trainer logged."""
        self._log.log(step, logs)
        self._warn(step)

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """Keep what an evaluation found, and draw the curve again."""
        self._log.evaluation(
            step, {task: summary.as_json()["metrics"] for task, summary in summaries.items()}
        )
        points = [
            CurvePoint(entry["step"], entry["evaluation"])
            for entry in self._log.entries
            if entry["evaluation"]
        ]
        draw_curve(points, self._curve)
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

    def _warn(self, step: int) -> None:
        """Say what is new; a sign is said again only after it was gone."""
        found = self._signs()
        for sign in found:
            if sign.name not in self._known:
                logger.warning("%s", sign.message)
                self._log.warn(step, sign.message)
        self._known = {sign.name for sign in found}

    def _signs(self) -> list[Sign]:
        return signs(self._log.entries, truncation_share=self._truncation_share)
