"""Rows for the summary, packed: what a verdict says of a million completions, not their texts."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from rewardkit.harness.metrics.truncation import thinking_is_open
from rewardkit.harness.store.sample_row import BriefVerdict, JudgedRow, SampleRow
from rewardkit.records import Failure, Verdict

LONGEST_ANSWER = 64
"""Characters of an answer kept whole; a longer one is known by its beginning and its hash."""

ALL_OR_NOTHING = (0.0, 1.0, None)

OPENED = "<think>"


class Strings:
    """Strings, packed: their UTF-8 and 8 bytes each."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, place: int) -> str:
        start = self._ends[place - 1] if place else 0
        return self._text[start : self._ends[place]].decode("utf-8", "surrogatepass")

    def append(self, text: str) -> None:
        """Take one more."""
        self._text += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._text))

    def extend(self, other: Strings) -> None:
        """Take those of another."""
        start = len(self._text)
        self._text += other._text
        self._ends.extend(end + start for end in other._ends)


class Shape(NamedTuple):
    """What many rows have in common."""

    task: str
    finish_reason: str
    thinking: bool
    """Whether a thinking block was left open."""
    correct: bool | None
    failure: Failure | None
    parts: tuple[str, ...]
    scores: tuple[float | None, ...] | None
    """The score and those of its parts; None where each row has its own."""
    flexible: BriefVerdict | None
    columns: tuple[tuple[str, Any], ...]

    def verdict(self, scores: Sequence[float | None], answer: str | None) -> Verdict:
        """The verdict of a row with these scores."""
        score, *of_parts = scores
        parts: Any = dict(zip(self.parts, of_parts, strict=True))
        return Verdict(self.correct, score, answer, self.failure, parts)


class Tally:
    """The rows judged so far, in some 40 bytes each and their ids and answers.

    Most rows are alike but for their numbers; what they share (task, verdict, finish reason,
    group) is kept once, as a shape. Of a completion's text only that a thinking block was left
    open is kept.
    """

    def __init__(self) -> None:
        self._shapes: dict[Shape, int] = {}
        self._shape = array("I")
        self._index = array("I")
        self._tokens = array("i")
        self._graded = array("d")
        self._start = array("Q")
        self._ids = Strings()
        self._answers = Strings()

    def __len__(self) -> int:
        return len(self._shape)

    def add(self, row: SampleRow, group_by: Sequence[str] = ()) -> None:
        """Pack a row, with the columns that its figures are grouped by."""
        verdict = row.verdict
        scores = (verdict.score, *verdict.parts.values())
        graded = any(score not in ALL_OR_NOTHING for score in scores)
        shape = _shape(row, group_by, None if graded else scores)
        self._shape.append(self._shapes.setdefault(shape, len(self._shapes)))
        self._index.append(row.index)
        self._tokens.append(-1 if row.completion_tokens is None else row.completion_tokens)
        self._start.append(len(self._graded))
        if graded:
            self._graded.extend(score or 0.0 for score in scores)
        self._ids.append(row.id)
        self._answers.append(_short(verdict.answer or ""))

    def extend(self, other: Tally) -> None:
        """Take the rows of another."""
        shapes = [self._shapes.setdefault(shape, len(self._shapes)) for shape in other._shapes]
        self._shape.extend(shapes[shape] for shape in other._shape)
        self._index.extend(other._index)
        self._tokens.extend(other._tokens)
        start = len(self._graded)
        self._graded.extend(other._graded)
        self._start.extend(place + start for place in other._start)
        self._ids.extend(other._ids)
        self._answers.extend(other._answers)

    def number(self, indices: Sequence[int]) -> None:
        """Say which of its problem's completions each row is."""
        self._index = array("I", indices)

    def rows(self) -> dict[str, list[JudgedRow]]:
        """The rows by task, each unpacked as it is looked at.

        Answers are unpacked only where a problem has several completions, which may vote.
        """
        votes = any(self._index)
        shapes = [
            _SharedFields(shape, None if votes or not shape.scores else shape.scores)
            for shape in self._shapes
        ]
        rows: dict[str, list[JudgedRow]] = {}
        for place, number in enumerate(self._shape):
            shared = shapes[number]
            rows.setdefault(shared.shape.task, []).append(
                _PackedRow(self, place, self._ids[place], shared)
            )
        return rows

    def index(self, place: int) -> int:
        """The number of a row's completion among those of its problem."""
        return self._index[place]

    def tokens(self, place: int) -> int | None:
        """The length of a row's completion, where it is known."""
        tokens = self._tokens[place]
        return None if tokens < 0 else tokens

    def verdict(self, place: int, shape: Shape) -> Verdict:
        """A row's verdict, with its answer."""
        scores: Sequence[float | None] | None = shape.scores
        if scores is None:
            start = self._start[place]
            scores = self._graded[start : start + 1 + len(shape.parts)]
        return shape.verdict(scores, self._answers[place] or None)


class _SharedFields:
    """What the rows of a shape have in common, as a summary reads it."""

    __slots__ = ("columns", "completion", "shape", "verdict")

    def __init__(self, shape: Shape, scores: Sequence[float | None] | None) -> None:
        self.shape = shape
        self.columns = dict(shape.columns)
        self.completion = OPENED if shape.thinking else ""
        self.verdict = None if scores is None else shape.verdict(scores, None)


class _PackedRow:
    """A row of a tally, as a summary reads it."""

    __slots__ = ("_place", "_shared", "_tally", "id")

    prompt: str | None = None

    def __init__(self, tally: Tally, place: int, identifier: str, shared: _SharedFields) -> None:
        self.id = identifier
        self._tally = tally
        self._place = place
        self._shared = shared

    @property
    def key(self) -> str:
        return f"{self.task}/{self.id}/{self.index}"

    @property
    def task(self) -> str:
        return self._shared.shape.task

    @property
    def index(self) -> int:
        return self._tally.index(self._place)

    @property
    def completion(self) -> str:
        return self._shared.completion

    @property
    def finish_reason(self) -> str:
        return self._shared.shape.finish_reason

    @property
    def completion_tokens(self) -> int | None:
        return self._tally.tokens(self._place)

    @property
    def columns(self) -> dict[str, Any]:
        return self._shared.columns

    @property
    def verdict(self) -> Verdict:
        return self._shared.verdict or self._tally.verdict(self._place, self._shared.shape)

    @property
    def flexible(self) -> BriefVerdict | None:
        return self._shared.shape.flexible


def _shape(
    row: SampleRow, group_by: Sequence[str], scores: tuple[float | None, ...] | None
) -> Shape:
    verdict, flexible = row.verdict, row.flexible
    return Shape(
        row.task,
        row.finish_reason,
        thinking_is_open(row.prompt or "", row.completion),
        verdict.correct,
        verdict.failure,
        tuple(verdict.parts),
        scores,
        flexible and BriefVerdict(flexible.correct),
        tuple((name, row.columns.get(name, "")) for name in group_by),
    )


def _short(answer: str) -> str:
    if len(answer) <= LONGEST_ANSWER:
        return answer
    mark = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{answer[: LONGEST_ANSWER // 2]}…{mark[:16]}"
