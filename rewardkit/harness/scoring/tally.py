"""The verdicts of a million completions without their texts, packed for the summary."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import SimpleNamespace
from typing import cast

from rewardkit.harness.results.agreement import Agreement
from rewardkit.harness.results.broken import Example
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.rates import Numbers, RowKind, kind_of
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

    def add(self, gap: str, count: int, ids: Sequence[str]) -> None:
        """Count completions with this gap."""
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
"""The text that stands for any completion that doesn't consist of thinking only."""


class _PackedRow:
    """A row that reads the fields that figures need from a tally, on access.

    `shared` has the fields that all rows of a kind have in common.
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
        return self._tally.index[self._number]

    @property
    def completion_tokens(self) -> int | None:
        tokens = self._tally.tokens[self._number]
        return None if tokens < 0 else tokens

    @property
    def thinking_tokens(self) -> int | None:
        tokens = self._tally.thinking_tokens[self._number]
        return None if tokens < 0 else tokens

    @property
    def verdict(self) -> Verdict:
        return self._shared.same_verdict or self._tally.verdict(self._number, self._shared.kind)


LONGEST_ANSWER = 64
"""Characters of the longest answer that is stored in full; of a longer answer, the start and a
hash are stored."""

LONGEST_ERROR = 300
"""Characters of an error that are kept."""

ALL_OR_NOTHING = (0.0, 1.0, None)
"""Scores that many rows share; they are stored once, with the kind of the rows."""


class Tally:
    """The rows judged so far, in 24 bytes each and the bytes of their ids and answers."""

    def __init__(self) -> None:
        self.kinds: Numbers[RowKind] = Numbers()
        self._kind = array("I")
        """For each row, the number of its kind."""
        self.index = array("I")
        """For each row, the number of its completion among those of its problem."""
        self.tokens = array("i")
        """For each row, the tokens of its completion; -1 if they are unknown."""
        self.thinking_tokens = array("i")
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
        self.agreement = Agreement()
        """How verdicts agree with labels or earlier verdicts."""
        self.seconds: dict[tuple[str, str], Agreement] = {}
        """How verdicts agree with those of a second verifier, by the task and its name."""

    def __len__(self) -> int:
        return len(self._kind)

    def add(self, row: CompletionRow, group_by: Sequence[str] = ()) -> None:
        """Add a row, with the columns that its figures are grouped by."""
        verdict, position = row.verdict, len(self)
        self.agreement.add_labelled(row, position)
        if second := row.second:
            pair = (row.task, second.verifier)
            self.seconds.setdefault(pair, Agreement()).add(row, second, position)
        if verdict.message.startswith(GAPS):
            gap = next(gap for gap in GAPS if verdict.message.startswith(gap))
            self.gaps.add(gap, 1, [row.id])
        if row.task not in self.examples and (example := Example.of(row)):
            self.examples[row.task] = example
        if not self.first_error and verdict.failure in (Failure.ERROR, Failure.CRASHED):
            self.first_error = f"{row.id}: {verdict.message[:LONGEST_ERROR]}"
        scores = (verdict.score, *verdict.parts.values())
        shared = all(score in ALL_OR_NOTHING for score in scores)
        groups = tuple((column, str(row.columns.get(column, ""))) for column in group_by)
        kind = kind_of(row, tuple(verdict.parts), scores if shared else None, groups)
        self._kind.append(self.kinds[kind])
        self.index.append(row.index)
        self.tokens.append(-1 if row.completion_tokens is None else row.completion_tokens)
        self.thinking_tokens.append(-1 if row.thinking_tokens is None else row.thinking_tokens)
        self._scores_start.append(len(self._scores))
        if not shared:
            self._scores.extend(score or 0.0 for score in scores)
        self._ids.append(row.id)
        answer = verdict.answer or ""
        if len(answer) > LONGEST_ANSWER:
            digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
            answer = f"{answer[: LONGEST_ANSWER // 2]}…{digest[:16]}"
        self._answers.append(answer)

    def extend(self, other: Tally) -> None:
        """Add the rows of another tally."""
        numbers = [self.kinds[kind] for kind in other.kinds]
        self._kind.extend(numbers[kind] for kind in other._kind)
        self.index.extend(other.index)
        self.tokens.extend(other.tokens)
        self.thinking_tokens.extend(other.thinking_tokens)
        start = len(self._scores)
        self._scores.extend(other._scores)
        self._scores_start.extend(offset + start for offset in other._scores_start)
        self._ids.extend(other._ids)
        self._answers.extend(other._answers)
        self.first_error = self.first_error or other.first_error
        for gap, count in other.gaps.counts.items():
            self.gaps.add(gap, count, other.gaps.ids[gap])
        self.examples = other.examples | self.examples
        self.agreement.extend(other.agreement)
        for pair, agreement in other.seconds.items():
            self.seconds.setdefault(pair, Agreement()).extend(agreement)

    def number(self, indices: Sequence[int]) -> None:
        """Set each row's index, its number among the completions of its problem, also in keys."""
        self.index = array("I", indices)
        for agreement in (self.agreement, *self.seconds.values()):
            agreement.shown = [
                replace(shown, key=f"{shown.key.rpartition('/')[0]}/{indices[shown.position]}")
                for shown in agreement.shown
            ]

    def rows(self) -> dict[str, list[CompletionRow]]:
        """The rows by task; each unpacks its fields when they are read.

        Only rows of problems with several completions unpack their answers, for the votes.
        """
        votes = any(self.index)
        shared = [
            SimpleNamespace(
                kind=kind,
                task=kind.task,
                finish_reason=kind.finish_reason,
                flexible=kind.flexible,
                columns=dict(kind.groups),
                completion=OPEN_THINKING if kind.thinking_open else ANSWERED,
                same_verdict=None if votes or not kind.scores else kind.verdict(kind.scores, None),
            )
            for kind in self.kinds
        ]
        rows: dict[str, list[CompletionRow]] = {}
        for number, kind in enumerate(self._kind):
            row = _PackedRow(self, number, self._ids[number], shared[kind])
            rows.setdefault(row.task, []).append(cast("CompletionRow", row))
        return rows

    def verdict(self, number: int, kind: RowKind) -> Verdict:
        """A row's verdict, with its answer."""
        scores: Sequence[float | None] | None = kind.scores
        if scores is None:
            start = self._scores_start[number]
            scores = self._scores[start : start + 1 + len(kind.parts)]
        return kind.verdict(scores, self._answers[number] or None)
