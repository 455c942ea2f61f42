"""The verdicts of a million completions without their texts, packed for the summary."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import SimpleNamespace
from typing import cast

from rewardkit.harness.results.agreement import Agreement
from rewardkit.harness.results.broken import Example
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.rates import RowColumns, RowKind
from rewardkit.judging.rows import NO_COMPLETION, NO_REFERENCE
from rewardkit.records import Failure, Verdict

GAPS = (NO_COMPLETION, NO_REFERENCE)
"""The starts of the messages of verdicts on rows without a completion or a reference."""

MOST_IDS = 3
"""Maximum number of ids listed of rows without a completion or a reference."""


@dataclass
class Gaps:
    """How many completions have no text or no reference to judge, and the first ids of them."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the start of their verdicts' message, one of GAPS."""
    ids: dict[str, list[str]] = field(default_factory=dict)

    def add(self, row: CompletionRow) -> None:
        """Count a row that has such a verdict."""
        for gap in GAPS:
            if row.verdict.message.startswith(gap):
                self._add(gap, 1, [row.id])

    def extend(self, other: Gaps) -> None:
        """Add the counts of another."""
        for gap, count in other.counts.items():
            self._add(gap, count, other.ids[gap])

    def _add(self, gap: str, count: int, ids: Sequence[str]) -> None:
        self.counts[gap] += count
        listed = self.ids.setdefault(gap, [])
        listed += ids[: MOST_IDS - len(listed)]


class PackedStrings:
    """Strings as one UTF-8 text and 8 bytes each."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        start = self._ends[index - 1] if index else 0
        return self._text[start : self._ends[index]].decode("utf-8", "surrogatepass")

    def append(self, text: str) -> None:
        """Append one string."""
        self._text += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._text))

    def extend(self, other: PackedStrings) -> None:
        """Append the strings of another."""
        start = len(self._text)
        self._text += other._text
        self._ends.extend(end + start for end in other._ends)


OPEN_THINKING = "<think>"
ANSWERED = "answer"
"""The text of any completion that is not thinking alone."""


class _PackedRow:
    """A row that reads the fields that figures need from a tally, on access.

    `shared` has those that all rows of its kind have in common.
    """

    __slots__ = ("_number", "_shared", "_tally", "id")

    prompt: str | None = None
    reasoning: str = ""
    # nine times as fast as __getattr__, which Python calls after raising an AttributeError
    task = property(attrgetter("_shared.task"))
    finish_reason = property(attrgetter("_shared.finish_reason"))
    flexible = property(attrgetter("_shared.flexible"))
    columns = property(attrgetter("_shared.columns"))
    completion = property(attrgetter("_shared.completion"))

    def __init__(self, tally: Tally, number: int, identifier: str, shared: SimpleNamespace) -> None:
        self.id = identifier
        self._tally = tally
        self._number = number
        self._shared = shared

    @property
    def key(self) -> str:
        return f"{self.task}/{self.id}/{self.index}"

    @property
    def index(self) -> int:
        return self._tally.columns.index[self._number]

    @property
    def completion_tokens(self) -> int | None:
        return self._tally.columns.tokens(self._number)

    @property
    def thinking_tokens(self) -> int | None:
        return self._tally.columns.thinking_tokens(self._number)

    @property
    def verdict(self) -> Verdict:
        return self._shared.same_verdict or self._tally.verdict(self._number, self._shared.kind)


def _shared(kind: RowKind, *, with_verdict: bool) -> SimpleNamespace:
    """What rows of `kind` share; their verdict only where no metric reads their answers."""
    return SimpleNamespace(
        kind=kind,
        task=kind.task,
        finish_reason=kind.finish_reason,
        flexible=kind.flexible,
        columns=dict(kind.groups),
        completion=OPEN_THINKING if kind.thinking_open else ANSWERED,
        same_verdict=kind.verdict(kind.scores, None) if with_verdict and kind.scores else None,
    )


LONGEST_ANSWER = 64
"""The longest answer stored in full, in characters; of a longer one, the start and a hash."""

LONGEST_ERROR = 300
"""Characters of an error that are kept."""

ALL_OR_NOTHING = (0.0, 1.0, None)
"""Scores that many rows share; they are stored once, with the kind of the rows."""


class Tally:
    """The rows judged so far, in 24 bytes each and the bytes of their ids and answers."""

    def __init__(self) -> None:
        self.columns = RowColumns()
        """The fields of fixed size."""
        self._scores = array("d")
        """The score and its components of the rows whose kind has none, row after row."""
        self._scores_start = array("Q")
        self._ids = PackedStrings()
        self._answers = PackedStrings()
        self.first_error = ""
        """The id and the message of the first row that is unjudged or crashed the verifier."""
        self.gaps = Gaps()
        self.examples: dict[str, Example] = {}
        """The first judged row of each task."""
        self.seconds: dict[tuple[str, str], Agreement] = {}
        """How verdicts agree with those of a second verifier, by the task and its name."""

    def __len__(self) -> int:
        return len(self.columns)

    def add(self, row: CompletionRow, group_by: Sequence[str] = (), position: int = 0) -> None:
        """Add a row, with the columns that its figures are grouped by; `position` is its place in
        its chunk."""
        verdict = row.verdict
        if second := row.second:
            pair = (row.task, second.verifier)
            self.seconds.setdefault(pair, Agreement()).add(row, second, position)
        if verdict.message.startswith(GAPS):
            self.gaps.add(row)
        if row.task not in self.examples and (example := Example.of(row)):
            self.examples[row.task] = example
        scores = (verdict.score, *verdict.parts.values())
        shared = all(score in ALL_OR_NOTHING for score in scores)
        self.columns.add(row, group_by, scores if shared else None)
        self._scores_start.append(len(self._scores))
        if not shared:
            self._scores.extend(score or 0.0 for score in scores)
        self._ids.append(row.id)
        self._answers.append(_short(verdict.answer or ""))
        if not self.first_error and verdict.failure in (Failure.ERROR, Failure.CRASHED):
            self.first_error = f"{row.id}: {verdict.message[:LONGEST_ERROR]}"

    def extend(self, other: Tally) -> None:
        """Add the rows of another tally."""
        self.columns.extend(other.columns)
        start = len(self._scores)
        self._scores.extend(other._scores)
        self._scores_start.extend(offset + start for offset in other._scores_start)
        self._ids.extend(other._ids)
        self._answers.extend(other._answers)
        self.first_error = self.first_error or other.first_error
        self.gaps.extend(other.gaps)
        self.examples = other.examples | self.examples
        for pair, agreement in other.seconds.items():
            self.seconds.setdefault(pair, Agreement()).extend(agreement)

    def number(self, indices: Sequence[int]) -> None:
        """Set each row's index: its number among the completions of its problem."""
        self.columns.index = array("I", indices)

    def rows(self) -> dict[str, list[CompletionRow]]:
        """The rows by task; each unpacks its fields when they are read.

        Only rows of problems with several completions unpack their answers, for the votes.
        """
        votes = any(self.columns.index)
        kinds = [_shared(kind, with_verdict=not votes) for kind in self.columns.kinds]
        rows: dict[str, list[CompletionRow]] = {}
        for number, kind in enumerate(self.columns.kind):
            row = _PackedRow(self, number, self._ids[number], kinds[kind])
            rows.setdefault(row.task, []).append(cast("CompletionRow", row))
        return rows

    def verdict(self, number: int, kind: RowKind) -> Verdict:
        """A row's verdict, with its answer."""
        scores: Sequence[float | None] | None = kind.scores
        if scores is None:
            start = self._scores_start[number]
            scores = self._scores[start : start + 1 + len(kind.parts)]
        return kind.verdict(scores, self._answers[number] or None)


def _short(answer: str) -> str:
    if len(answer) <= LONGEST_ANSWER:
        return answer
    digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{answer[: LONGEST_ANSWER // 2]}…{digest[:16]}"
