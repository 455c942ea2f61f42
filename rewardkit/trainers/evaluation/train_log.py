"""train_log.json: a training's logs and evaluations, by step."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.training_series import TRAIN_LOG, training_series
from rewardkit.harness.store.files import replace_text
from rewardkit.trainers.evaluation.hacking_signs import Sign, signs


def as_json(value: object) -> str:
    """One line of JSON, with null for each number that isn't finite: JSON has no NaN."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def read_document(path: Path) -> Any:
    """The file's value, or None if there is no file. DataError if it isn't JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); move it away to start a new one") from error


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _finite(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(member) for member in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and torch's scalars too
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else None


Entry = dict[str, Any]
"""`{"step", "logs": {…}, "evaluation": {task: metrics}, "warnings": […]}`, and where it was
evaluated `"lengths": {task: tokens at 0, 5, … 100% of the completions}` and, for tasks that declare
amounts, `"amounts": {task: metrics}`."""


class TrainLog:
    """The entries of a training, a line of the file each; every change is written at once."""

    def __init__(self, path: Path, entries: Iterable[Entry] = ()) -> None:
        self._path = path
        self._entries = list(entries)
        # earlier lines are kept as text: a long training's log takes too long to format again
        self._lines = [as_json(entry) for entry in self._entries]

    @classmethod
    def resumed(cls, path: Path, step: int) -> TrainLog:
        """The log at `path` up to `step`; later steps will be trained again."""
        entries = read_document(path)
        if entries is None:
            return cls(path)
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise DataError(f"{path} is no train log; move it away to start a new one")
        return cls(path, (entry for entry in entries if entry["step"] <= step))

    @property
    def entries(self) -> Sequence[Entry]:
        """All steps that were logged or evaluated, in order."""
        return self._entries

    def add_logs(self, step: int, logs: Mapping[str, Any]) -> None:
        """Add what the trainer logged; a step may log more than once."""
        self._change(self._entry(step), "logs", self._entry(step)["logs"] | dict(logs))

    def set_evaluation(
        self,
        step: int,
        metrics: Mapping[str, Any],
        lengths: Mapping[str, Sequence[int]],
        amounts: Mapping[str, Any] | None = None,
    ) -> None:
        """Set a step's evaluation: each task's metrics, quantiles of its lengths, and amounts."""
        self._change(self._entry(step), "lengths", dict(lengths))
        if amounts:
            self._change(self._entry(step), "amounts", dict(amounts))
        self._change(self._entry(step), "evaluation", dict(metrics))

    def add_warning(self, step: int, message: str) -> None:
        """Add a warning to a step."""
        self._change(self._entry(step), "warnings", [*self._entry(step)["warnings"], message])

    def _entry(self, step: int) -> Entry:
        if not self._entries or self._entries[-1]["step"] != step:
            self._entries.append({"step": step, "logs": {}, "evaluation": {}, "warnings": []})
            self._lines.append("")
        return self._entries[-1]

    def _change(self, entry: Entry, name: str, value: Any) -> None:
        entry[name] = value
        self._lines[-1] = as_json(entry)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(self._path, "[\n" + ",\n".join(self._lines) + "\n]\n")


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("step"), int)
        and isinstance(value.get("logs"), dict)
        and isinstance(value.get("evaluation"), dict)
        and isinstance(value.get("warnings"), list)
    )


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
            if summary.unjudged:
                logger.warning(
                    "%s: %d of %d completions of step %d's evaluation could not be judged",
                    task,
                    summary.unjudged,
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
