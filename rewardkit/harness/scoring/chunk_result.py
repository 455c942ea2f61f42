"""What becomes of a chunk of a file: rows ready to be counted and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.run_folder import as_line
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.records import Verdict

MOST_SHOWN = 20
"""Maximum number of disagreements listed."""

_HEAD = ("key", "task", "id", "index")
_quoted = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A verdict that differs from the label, or from the verdict of an earlier scoring."""

    key: str
    place: int
    """The row's number in its piece."""
    earlier: bool | None
    verdict: Verdict
    reference: str


@dataclass
class Agreement:
    """Verdicts beside what was known before: labels, or an earlier run's verdicts."""

    compared: int = 0
    differing: int = 0
    shown: list[Disagreement] = field(default_factory=list)

    def add(self, row: SampleRow, place: int = 0) -> None:
        """Compare a row's verdict with its `label`, or with the one it had `before`."""
        if row.label is not None:
            earlier: bool | None = row.label
        elif row.before is not None:
            earlier = row.before.correct
        else:
            return
        self.compared += 1
        if row.verdict.correct != earlier:
            self.differing += 1
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(Disagreement(row.key, place, earlier, row.verdict, row.reference))

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
        self.agreement.shown = [
            replace(one, key=f"{task}/{ids[one.place]}/{indices[one.place]}")
            for one in self.agreement.shown
        ]


def head(task: str, identifier: str, index: int) -> bytes:
    """The beginning of a line of samples.jsonl, up to the index."""
    try:
        return _head(_quoted, task, identifier, index).encode()
    except UnicodeEncodeError:  # half surrogates
        return _head(json.dumps, task, identifier, index).encode()


def headless(row: SampleRow) -> bytes:
    """The rest of that line."""
    rest = row.as_json()
    for name in _HEAD:
        del rest[name]
    return as_line(rest).encode()[1:]


def _head(quoted: Callable[[str], str], task: str, identifier: str, index: int) -> str:
    key = quoted(f"{task}/{identifier}/{index}")
    return f'{{"key": {key}, "task": {quoted(task)}, "id": {quoted(identifier)}, "index": {index}, '
