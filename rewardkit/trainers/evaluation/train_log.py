"""train_log.json: what a training logged and what its evaluations found, by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.trainers.evaluation.json_files import as_json, read_document, write_document

Entry = dict[str, Any]
"""`{"step", "logs": {…}, "evaluation": {task: metrics}, "warnings": […]}`"""


class TrainLog:
    """The entries of a training, a line of the file each; every change is written at once."""

    def __init__(self, path: Path, entries: Iterable[Entry] = ()) -> None:
        self._path = path
        self._entries = list(entries)
        # an entry's line is made once it is done: the log of a long training is long
        self._lines = [as_json(entry) for entry in self._entries]

    @classmethod
    def resumed(cls, path: Path, step: int) -> TrainLog:
        """The log at `path` up to `step`; what came after is going to be trained again."""
        entries = read_document(path)
        if entries is None:
            return cls(path)
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise DataError(f"{path} is no train log; move it away to start a new one")
        return cls(path, (entry for entry in entries if entry["step"] <= step))

    @property
    def entries(self) -> Sequence[Entry]:
        """All steps that logged or were evaluated, in order."""
        return self._entries

    def log(self, step: int, logs: Mapping[str, Any]) -> None:
        """Add what the trainer logged; a step may log more than once."""
        self._change(self._at(step), "logs", self._at(step)["logs"] | dict(logs))

    def evaluation(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Set a step's evaluation: each task's metrics."""
        self._change(self._at(step), "evaluation", dict(metrics))

    def warn(self, step: int, message: str) -> None:
        """Add a warning to a step."""
        self._change(self._at(step), "warnings", [*self._at(step)["warnings"], message])

    def _at(self, step: int) -> Entry:
        if not self._entries or self._entries[-1]["step"] != step:
            self._entries.append({"step": step, "logs": {}, "evaluation": {}, "warnings": []})
            self._lines.append("")
        return self._entries[-1]

    def _change(self, entry: Entry, name: str, value: Any) -> None:
        entry[name] = value
        self._lines[-1] = as_json(entry)
        write_document(self._path, "[\n" + ",\n".join(self._lines) + "\n]\n")


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("step"), int)
        and isinstance(value.get("logs"), dict)
        and isinstance(value.get("evaluation"), dict)
        and isinstance(value.get("warnings"), list)
    )
