"""train_log.json and eval_curve.png: a training's logs and evaluations, by step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from rewardkit.errors import DataError
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.training_series import TRAIN_LOG, training_series
from rewardkit.harness.store.documents import Count
from rewardkit.harness.store.files import finite, replace_text
from rewardkit.printable import get_logger
from rewardkit.trainers.evaluation.hacking_signs import signs

CURVE = "eval_curve.png"
Entry = dict[str, Any]
"""`{"step", "logs": {…}, "evaluation": {task: metrics}, "warnings": […]}`, and where it was
evaluated `"lengths": {task: tokens at 0, 5, … 100% of the completions}` and, for tasks that declare
amounts, `"amounts": {task: metrics}`."""


class _Entry(TypedDict):
    step: Count
    logs: dict[str, Any]
    evaluation: dict[str, Any]
    warnings: list[str]


logger = get_logger(__name__)


def as_json(value: object) -> str:
    """One line of JSON, with null for each number that isn't finite: JSON has no NaN."""
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> float | str | None:
    """A scalar of numpy or torch as a number; any other value as text."""
    try:
        number: float | None = finite(float(value))
    except (TypeError, ValueError):
        return str(value)
    return number


def read_json(path: Path, kind: Any, what: str) -> Any:
    """The file's value, or None if there is no file. DataError if it isn't JSON of this type."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        msgspec.convert(document, kind)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} isn't {what}: {error}; move it away to start a new one") from error
    return document


def read_log(folder: Path) -> list[Entry]:
    """The entries of train_log.json in a folder, in order; none if there is no file."""
    entries: list[Entry] | None = read_json(folder / TRAIN_LOG, list[_Entry], "a train log")
    return entries or []


class TrainLog:
    """The log and the curve in a folder; each sign of reward hacking is logged once.

    A step is a line of the file, and every change is written at once. A training resumed at a step
    continues the log up to it; a new training starts a new log.
    """

    def __init__(self, folder: Path, *, resumed_at: int, truncation_share: float) -> None:
        self._folder = folder
        self._truncation_share = truncation_share
        earlier = read_log(folder) if resumed_at else []
        self.entries = [entry for entry in earlier if entry["step"] <= resumed_at]
        # earlier lines are kept as text: a long training's log takes too long to format again
        self._lines = [as_json(entry) for entry in self.entries]
        self._present_signs = self._signs()

    @property
    def present_signs(self) -> int:
        """The number of signs that the log shows at its end."""
        return len(self._present_signs)

    def add_logs(self, step: int, logs: Mapping[str, Any]) -> None:
        """Record what the trainer logged; a step may log more than once."""
        self._update(step, {"logs": self._entry(step)["logs"] | dict(logs)})

    def add_evaluation(
        self,
        step: int,
        summaries: Mapping[str, TaskSummary],
        lengths: Mapping[str, Sequence[int]],
        amounts: Mapping[str, Mapping[str, Metric]],
    ) -> None:
        """Record an evaluation, with its quantiles of lengths and amounts; draw the curve again."""
        for task, summary in summaries.items():
            if summary.unjudged:
                logger.warning(
                    "%s: %d of %d completions of step %d's evaluation could not be judged",
                    task,
                    summary.unjudged,
                    summary.completions,
                    step,
                )
        plain = {
            task: {name: asdict(metric) for name, metric in own.items()}
            for task, own in amounts.items()
        }
        metrics = {task: summary.as_json()["metrics"] for task, summary in summaries.items()}
        values = {"evaluation": metrics, "lengths": dict(lengths)}
        self._update(step, {**values, "amounts": plain} if plain else values)
        self.draw()

    def draw(self) -> None:
        """Draw the curve of all entries."""
        points = [
            CurvePoint(
                entry["step"],
                entry["evaluation"],
                entry.get("lengths", {}),
                entry.get("amounts", {}),
            )
            for entry in self.entries
            if entry["evaluation"]
        ]
        draw_curve(points, self._folder / CURVE, training_series(self.entries))

    def _entry(self, step: int) -> Entry:
        if not self.entries or self.entries[-1]["step"] != step:
            self.entries.append({"step": step, "logs": {}, "evaluation": {}, "warnings": []})
            self._lines.append("")
        return self.entries[-1]

    def _update(self, step: int, values: Mapping[str, Any]) -> None:
        """Change a step's entry, add the signs that are new, and write the file.

        A sign that went away counts as new when it comes back.
        """
        entry = self._entry(step)
        entry |= values
        present = self._signs()
        new = [message for name, message in present.items() if name not in self._present_signs]
        for message in new:
            logger.warning("sign of reward hacking at step %d: %s", entry["step"], message)
        entry["warnings"] += new
        self._present_signs = present
        self._lines[-1] = as_json(entry)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_text(self._folder / TRAIN_LOG, "[\n" + ",\n".join(self._lines) + "\n]\n")

    def _signs(self) -> dict[str, str]:
        return signs(self.entries, truncation_share=self._truncation_share)
