"""What becomes of a chunk of a file: rows ready to be counted and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.run_folder import as_line

Row = Mapping[str, Any]

MOST_SHOWN = 20
"""Rows told one by one where verdicts differ from what was known."""

_HEAD = ("key", "task", "id", "index")
_TOLD = ("key", "place", "label", "before", "reference", "verdict")
_quoted = json.JSONEncoder(ensure_ascii=False).encode


@dataclass
class Agreement:
    """Verdicts beside what was known before: labels, or an earlier run's verdicts."""

    compared: int = 0
    differing: int = 0
    shown: list[dict[str, Any]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Compare a row's verdict with its `label`, or with the one it had `before`."""
        if "label" in row:
            known = row["label"]
        elif "before" in row:
            known = row["before"]["correct"]
        else:
            return
        self.compared += 1
        if row["verdict"]["correct"] != known:
            self.differing += 1
            if len(self.shown) < MOST_SHOWN:
                self.shown.append({name: row[name] for name in _TOLD if name in row})

    def extend(self, other: Agreement) -> None:
        """Take those of another."""
        self.compared += other.compared
        self.differing += other.differing
        self.shown += other.shown[: MOST_SHOWN - len(self.shown)]


@dataclass
class ChunkResult:
    """The rows of a chunk, judged. Rows of a file still lack their keys: which of its problem's
    completions each is depends on the chunks before."""

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)
    lines: list[bytes] = field(default_factory=list)
    """As samples.jsonl holds them, where they are to be written; without `head` where keys lack."""
    ids: list[str] = field(default_factory=list)
    """Of each row of the file, where keys lack."""

    def number(self, task: str, indices: Sequence[int]) -> None:
        """Give each completion its index, and with it its key."""
        self.tally.number(indices)
        each = len(indices) // max(1, len(self.ids))
        ids = [identifier for identifier in self.ids for _ in range(each)]
        if self.lines:
            self.lines = [
                head(task, identifier, index) + line
                for identifier, index, line in zip(ids, indices, self.lines, strict=True)
            ]
        for told in self.agreement.shown:
            place = told.pop("place")
            told["key"] = f"{task}/{ids[place]}/{indices[place]}"


def head(task: str, identifier: str, index: int) -> bytes:
    """The beginning of a line of samples.jsonl, up to the index."""
    try:
        return _head(_quoted, task, identifier, index).encode()
    except UnicodeEncodeError:  # half surrogates
        return _head(json.dumps, task, identifier, index).encode()


def headless(row: Row) -> bytes:
    """The rest of that line."""
    rest = {name: value for name, value in row.items() if name not in _HEAD}
    return as_line(rest).encode()[1:]


def _head(quoted: Callable[[str], str], task: str, identifier: str, index: int) -> str:
    key = quoted(f"{task}/{identifier}/{index}")
    return f'{{"key": {key}, "task": {quoted(task)}, "id": {quoted(identifier)}, "index": {index}, '
