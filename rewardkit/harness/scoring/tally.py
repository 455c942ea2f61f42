"""Rows for the summary, packed: what a verdict says of a million completions, not their texts."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rewardkit.harness.metrics.truncation import thinking_is_open

Row = Mapping[str, Any]
Shape = tuple[Any, ...]

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

    def add(self, row: Row, group_by: Sequence[str] = ()) -> None:
        """Pack a row of samples.jsonl, with the columns that its figures are grouped by."""
        verdict = row["verdict"]
        values = (verdict["score"], *verdict["parts"].values())
        graded = any(value not in ALL_OR_NOTHING for value in values)
        shape = _shape(row, group_by, None if graded else values)
        self._shape.append(self._shapes.setdefault(shape, len(self._shapes)))
        self._index.append(row["index"])
        self._tokens.append(-1 if row["completion_tokens"] is None else row["completion_tokens"])
        self._start.append(len(self._graded))
        if graded:
            self._graded.extend(values)
        self._ids.append(row["id"])
        self._answers.append(_short(verdict["answer"] or ""))

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

    def rows(self) -> dict[str, list[Row]]:
        """The rows by task, each unpacked as it is looked at.

        Answers are unpacked only where a problem has several completions, which may vote.
        """
        shapes = [_shared(shape) for shape in self._shapes]
        votes = any(self._index)
        for shape in shapes:
            if votes or _graded(shape["verdict"]):
                shape["_verdict"] = shape.pop("verdict")
        found: dict[str, list[Row]] = {}
        for place, number in enumerate(self._shape):
            shape = shapes[number]
            row = _Packed(self, place, self._ids[place], shape)
            found.setdefault(shape["task"], []).append(row)
        return found

    def index(self, place: int) -> int:
        """Which of its problem's completions it is."""
        return self._index[place]

    def tokens(self, place: int) -> int | None:
        """The completion's length, where it is known."""
        found = self._tokens[place]
        return None if found < 0 else found

    def verdict(self, place: int, shared: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict, made of what its shape knows and what is its own."""
        known = {**shared, "answer": self._answers[place] or None}
        if _graded(shared):
            start = self._start[place]
            score, *parts = self._graded[start : start + 1 + len(shared["parts"])]
            known |= {"score": score, "parts": dict(zip(shared["parts"], parts, strict=True))}
        return known


class _Packed(Mapping[str, Any]):
    """A row of a tally, as a summary reads it."""

    __slots__ = ("_id", "_place", "_shape", "_tally")

    def __init__(self, tally: Tally, place: int, identifier: str, shape: Mapping[str, Any]) -> None:
        self._tally = tally
        self._place = place
        self._id = identifier
        self._shape = shape

    def __getitem__(self, name: str) -> Any:
        if name in self._shape:
            return self._shape[name]
        return _OWN[name](self._tally, self._place, self)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in {*_OWN, *self._shape} if not name.startswith("_")])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def identifier(self) -> str:
        """Its id, which every figure asks for."""
        return self._id


_OWN: Mapping[str, Callable[[Tally, int, _Packed], Any]] = {
    "id": lambda tally, place, row: row.identifier,
    "index": lambda tally, place, row: tally.index(place),
    "key": lambda tally, place, row: f"{row['task']}/{row.identifier}/{tally.index(place)}",
    "completion_tokens": lambda tally, place, row: tally.tokens(place),
    "verdict": lambda tally, place, row: tally.verdict(place, row["_verdict"]),
}


def _shape(row: Row, group_by: Sequence[str], values: tuple[float | None, ...] | None) -> Shape:
    verdict, flexible = row["verdict"], row["flexible"]
    thinking = thinking_is_open(row.get("prompt") or "", row["completion"])
    return (
        row["task"],
        row["finish_reason"],
        thinking,
        verdict["correct"],
        verdict["failure"],
        tuple(verdict["parts"]),
        values,
        flexible and ("flexible", flexible["correct"]),
        tuple((name, row["columns"].get(name, "")) for name in group_by),
    )


def _shared(shape: Shape) -> dict[str, Any]:
    """What the rows of a shape have in common, as samples.jsonl names it."""
    task, finish_reason, thinking, correct, failure, parts, values, flexible, groups = shape
    score, *of_parts = values or (None,) * (1 + len(parts))
    return {
        "task": task,
        "finish_reason": finish_reason,
        "prompt": None,
        "completion": OPENED if thinking else "",
        "verdict": {
            "correct": correct,
            "score": score,
            "failure": failure,
            "parts": dict(zip(parts, of_parts, strict=True)),
        },
        "flexible": flexible and {"correct": flexible[1]},
        "columns": dict(groups),
    }


def _graded(verdict: Mapping[str, Any]) -> bool:
    """Whether a shared verdict lacks its scores, since each row has its own."""
    return verdict["correct"] is not None and verdict["score"] is None


def _short(answer: str) -> str:
    if len(answer) <= LONGEST_ANSWER:
        return answer
    mark = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{answer[: LONGEST_ANSWER // 2]}…{mark[:16]}"
