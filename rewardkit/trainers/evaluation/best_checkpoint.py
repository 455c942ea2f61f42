"""The best checkpoint of a training: choose it, and keep it from the trainer's rotation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.metrics.rates import LOWER_IS_BETTER
from rewardkit.harness.store.files import replace_text
from rewardkit.printable import get_logger
from rewardkit.trainers.evaluation.train_log import as_json, read_json

BEST = "best.json"

logger = get_logger(__name__)


def improves(metric: str, value: float, best: float | None) -> bool:
    """Whether `value` is better than the best so far; of two equal values the earlier is kept."""
    if best is None:
        return True
    return value < best if metric in LOWER_IS_BETTER else value > best


def read_best(path: Path) -> dict[str, Any] | None:
    """The content of a best.json, or None if there is none. DataError if it is damaged."""
    best: dict[str, Any] | None = read_json(path, dict, "the record of a best checkpoint")
    return best


@dataclass(frozen=True)
class BestCheckpoint:
    """The best checkpoint by a task's metric.

    transformers' rotation keeps `state.best_model_checkpoint`, which it compares as text with
    output_dir/checkpoint-N. It saves the state in each checkpoint, so a resumed training has it.
    """

    task: str
    metric: str
    checkpoints: Path
    """The trainer's output_dir."""
    record: Path
    """The file best.json."""

    def folder(self, step: int) -> Path:
        """The folder in which the trainer saves this step."""
        return self.checkpoints / f"checkpoint-{step}"

    def is_kept(self, state: Any) -> bool:
        """Whether a resumed training chose its best checkpoint by this metric and still has it."""
        step = state.best_global_step
        if not step:
            return False
        record = read_best(self.record) or {}
        same_metric = (record.get("task"), record.get("metric")) == (self.task, self.metric)
        if same_metric and self.folder(step).is_dir():
            return True
        logger.warning(
            "the search for the best checkpoint starts again at step %d: %s",
            state.global_step,
            f"{self.folder(step)} is gone"
            if same_metric
            else f"{self.record} names none by {self.metric} of {self.task}",
        )
        return False

    def choose(self, state: Any, value: float, step: int) -> None:
        """Make this step the best in the trainer's state, before or after it is saved."""
        state.best_metric = value
        state.best_global_step = step
        state.best_model_checkpoint = str(self.folder(step))

    def write(self, state: Any) -> None:
        """Write best.json from the trainer's state, or remove it if there is no best."""
        if state.best_global_step is None:
            self.record.unlink(missing_ok=True)
            return
        record = {
            "step": state.best_global_step,
            "checkpoint": str(self.folder(state.best_global_step)),
            "task": self.task,
            "metric": self.metric,
            "value": state.best_metric,
        }
        replace_text(self.record, as_json(record) + "\n")


def refuse_trainers_choice(args: Any) -> None:
    """UsageError if the trainer would choose a best checkpoint by a metric of its own."""
    if args.metric_for_best_model is not None or args.save_strategy == "best":
        raise UsageError(
            f"the trainer keeps the best checkpoint by {args.metric_for_best_model!r} "
            "(metric_for_best_model, load_best_model_at_end or save_strategy='best') and "
            "EvaluationCallback by its metric; unset the trainer's, or pass keep_best=False"
        )
