"""train_log.json and eval_curve.png: a training's logs, evaluations and signs, by step."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict

import msgspec

from rewardkit.errors import DataError
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.runs import TRAIN_LOG, run_identifier, training_series
from rewardkit.harness.results.documents import NonNegativeInt
from rewardkit.harness.results.files import finite, replace_text
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.names import VIEW_PORT
from rewardkit.harness.results.summary import TaskSummary
from rewardkit.text.printable import get_logger
from rewardkit.trainers.evaluation.signs import LINK, Entry, signs

CURVE, BEST = "eval_curve.png", "best.json"


class _Entry(TypedDict):
    step: NonNegativeInt
    logs: dict[str, Any]
    evaluation: dict[str, Any]
    warnings: list[str]


logger = get_logger(__name__)


def as_json(value: object) -> str:
    """One line of JSON; a number that isn't finite becomes null, since JSON has no NaN."""
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> float | str | None:
    """A scalar of numpy or torch as a number, any other value as text."""
    try:
        number: float | None = finite(float(value))
    except (TypeError, ValueError):
        return str(value)
    return number


def read_json(path: Path, kind: Any, what: str) -> Any:
    """The file's content, or None if there is no file. DataError if it isn't JSON of this type."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        msgspec.convert(document, kind)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path} isn't {what}: {error}; move it away, and a new one is written"
        ) from error
    return document


def read_log(folder: Path) -> list[Entry]:
    """The entries of train_log.json in a folder, in order; none if there is no file."""
    entries: list[Entry] | None = read_json(folder / TRAIN_LOG, list[_Entry], "a train log")
    return entries or []


def read_best(path: Path) -> dict[str, Any] | None:
    """The content of a best.json, or None if there is no file. DataError if it is damaged."""
    best: dict[str, Any] | None = read_json(path, dict, "the record of a best checkpoint")
    return best


class TrainLog:
    """The log and the curve in a folder; each sign is logged once.

    Each step is a line of the file. Every change is written at once. A training that resumes at a
    step continues the log at this step. A new training starts a new log. The first entry of each
    session holds `about`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        resumed_at: int,
        truncation_share: float,
        about: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._folder = folder
        self._about = dict(about)
        self._truncation_share = truncation_share
        earlier = read_log(folder) if resumed_at else []
        self.entries = [entry for entry in earlier if entry["step"] <= resumed_at]
        # lines are kept as text: formatting the log of a long training again takes too long
        self._lines = [as_json(entry) for entry in self.entries]
        self._present_signs = self._signs()

    @property
    def present_signs(self) -> int:
        """The number of signs that the log shows at its end."""
        return len(self._present_signs)

    def add_logs(self, step: int, logs: Mapping[str, Any]) -> None:
        """Record what the trainer logged; a step may log several times."""
        self._update(step, {"logs": self._entry(step)["logs"] | dict(logs)})

    def add_evaluation(
        self,
        step: int,
        summaries: Mapping[str, TaskSummary],
        lengths: Mapping[str, Sequence[int]],
        amounts: Mapping[str, Mapping[str, Metric]],
        answers: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        """Record an evaluation with its lengths, amounts and frequent answers; draw the curve."""
        unjudged = "%s: %d of %d completions of step %d's evaluation could not be judged"
        for task, summary in summaries.items():
            if summary.unjudged:
                logger.warning(unjudged, task, summary.unjudged, summary.completions, step)
        plain = {
            task: {name: asdict(metric) for name, metric in metrics.items()}
            for task, metrics in amounts.items()
        }
        evaluation = {task: summary.as_json()["metrics"] for task, summary in summaries.items()}
        values = {"evaluation": evaluation, "lengths": dict(lengths), "answers": dict(answers)}
        self._update(step, {**values, "amounts": plain} if plain else values)
        self.draw()

    def draw(self) -> None:
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
            empty = {"step": step, "logs": {}, "evaluation": {}, "warnings": []}
            about = {"training": self._about} if self._about else {}
            self._about = {}
            self.entries.append(empty | about)
            self._lines.append("")
        return self.entries[-1]

    def _update(self, step: int, values: Mapping[str, Any]) -> None:
        """Change a step's entry, add new signs, and write the file.

        A sign that disappeared and comes back is new.
        """
        entry = self._entry(step)
        entry |= values
        from tqdm import tqdm

        present = self._signs()
        new = [message for name, message in present.items() if name not in self._present_signs]
        for message in new:
            with tqdm.external_write_mode():  # a line of its own, beside the trainer's bar
                logger.warning("sign at step %d: %s", entry["step"], message)
        entry["warnings"] += new
        self._present_signs = present
        self._lines[-1] = as_json(entry)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_text(self._folder / TRAIN_LOG, "[\n" + ",\n".join(self._lines) + "\n]\n")

    def _signs(self) -> dict[str, str]:
        view = f"rewardkit view {shlex.quote(str(self._folder))}"
        address = f"http://127.0.0.1:{VIEW_PORT}/runs/{run_identifier(self._folder)}"
        messages = signs(self.entries, truncation_share=self._truncation_share)
        return {
            name: message.replace(LINK, f"{view}, then {address}{LINK}")
            for name, message in messages.items()
        }
