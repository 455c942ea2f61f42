"""train_log.json: a training's logs and evaluations, by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.store.atomic_write import replace_text
from rewardkit.trainers.evaluation.json_documents import as_json, read_document

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
