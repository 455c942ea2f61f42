"""The result of judging a chunk: rows ready to be counted and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rewardkit.harness.scoring.agreement import Agreement
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.store.samples_file import as_line
from rewardkit.judging import LimitCounts

_HEAD = ("key", "task", "id", "index")
_quoted = json.JSONEncoder(ensure_ascii=False).encode


@dataclass
class ChunkResult:
    """The judged rows of a chunk.

    Rows of a file have no keys yet: a completion's index depends on the chunks before. `number`
    completes them.
    """

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)
    lines: list[bytes] = field(default_factory=list)
    """The lines for samples.jsonl, if any are written; without their `line_head` until numbered."""
    ids: list[str] = field(default_factory=list)
    """The id of each row of the file, until numbered."""
    limits: LimitCounts = field(default_factory=LimitCounts)

    def number(self, task: str, indices: Sequence[int]) -> None:
        """Give each completion its index and its key."""
        self.tally.number(indices)
        per_row = len(indices) // max(1, len(self.ids))
        ids = [identifier for identifier in self.ids for _ in range(per_row)]
        if self.lines:
            self.lines = [
                line_head(task, identifier, index) + line
                for identifier, index, line in zip(ids, indices, self.lines, strict=True)
            ]
        self.agreement.shown = [
            replace(shown, key=f"{task}/{ids[shown.position]}/{indices[shown.position]}")
            for shown in self.agreement.shown
        ]


def line_head(task: str, identifier: str, index: int) -> bytes:
    """The start of a line of samples.jsonl, up to the index."""
    try:
        return _head(_quoted, task, identifier, index).encode()
    except UnicodeEncodeError:  # half surrogates
        return _head(json.dumps, task, identifier, index).encode()


def line_rest(row: SampleRow) -> bytes:
    """The rest of a line of samples.jsonl, after its `line_head`."""
    fields = row.as_json()
    for name in _HEAD:
        del fields[name]
    return as_line(fields).encode()[1:]


def _head(quoted: Callable[[str], str], task: str, identifier: str, index: int) -> str:
    key = quoted(f"{task}/{identifier}/{index}")
    return f'{{"key": {key}, "task": {quoted(task)}, "id": {quoted(identifier)}, "index": {index}, '
