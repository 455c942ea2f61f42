"""Which checkpoint of a training is the best, kept through the trainer's own rotation."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.trainers.evaluation.json_files import as_json, read_document, write_document

BEST = "best.json"
LOW_IS_BETTER = ("error_rate", "unfinished_rate")

logger = logging.getLogger(__name__)


def improves(metric: str, value: float, on: float | None) -> bool:
    """Whether `value` is better than the best so far; a tie keeps the earlier one."""
    if on is None:
        return True
    return value < on if metric in LOW_IS_BETTER else value > on


@dataclass(frozen=True)
class BestCheckpoint:
    """The best checkpoint by a task's metric.

    transformers' rotation spares `state.best_model_checkpoint`, compared as text with
    output_dir/checkpoint-N, and saves the state in each checkpoint, so that it survives a resume.
    """

    task: str
    metric: str
    checkpoints: Path
    """The trainer's output_dir."""
    record: Path
    """The file best.json."""

    def folder(self, step: int) -> Path:
        """Where the trainer saves this step."""
        return self.checkpoints / f"checkpoint-{step}"

    def known(self, state: Any) -> bool:
        """Whether a resumed training's best is of this metric and still there."""
        step = state.best_global_step
        if not step:
            return False
        recorded = read_document(self.record)
        ours = isinstance(recorded, dict) and (
            (recorded.get("task"), recorded.get("metric")) == (self.task, self.metric)
        )
        if ours and self.folder(step).is_dir():
            return True
        logger.warning(
            "the best checkpoint is sought anew from step %d on: %s",
            state.global_step,
            f"{self.folder(step)} is gone"
            if ours
            else f"{self.record} names none by {self.metric} of {self.task}",
        )
        return False

    def take(self, state: Any, value: float, step: int) -> None:
        """Make this step the best in the trainer's state, before or after it is saved."""
        state.best_metric = value
        state.best_global_step = step
        state.best_model_checkpoint = str(self.folder(step))

    def forget(self, state: Any) -> None:
        """Begin without a best."""
        state.best_metric = state.best_global_step = state.best_model_checkpoint = None

    def write(self, state: Any) -> None:
        """Write best.json as the state has it; without a best there is no file."""
        if state.best_global_step is None:
            self.record.unlink(missing_ok=True)
            return
        found = {
            "step": state.best_global_step,
            "checkpoint": str(self.folder(state.best_global_step)),
            "task": self.task,
            "metric": self.metric,
            "value": state.best_metric,
        }
        write_document(self.record, as_json(found) + "\n")


def refuse_second_judge(args: Any) -> None:
    """UsageError where the trainer's own metric_for_best_model would decide too."""
    if args.metric_for_best_model is not None or args.save_strategy == "best":
        raise UsageError(
            f"the trainer keeps the best checkpoint by {args.metric_for_best_model!r} "
            "(metric_for_best_model, load_best_model_at_end or save_strategy='best') and "
            "EvaluationCallback by its metric; unset the trainer's, or pass keep_best=False"
        )
