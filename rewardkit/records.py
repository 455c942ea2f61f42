"""The values that all parts of rewardkit exchange. They are frozen, and need no library."""

from __future__ import annotations

import io
import json
import math
import numbers
import operator
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewardkit.protocols import Message
    from rewardkit.tables import Line, Table


class Shown:
    """Values that print as the terminal's tables, and that notebooks show as tables."""

    __slots__ = ()

    def shown(self) -> Iterator[Table | Line]:
        """The tables and lines, from top to bottom."""
        raise NotImplementedError

    def __str__(self) -> str:
        from rewardkit.text.console import PrintableConsole, console

        text = io.StringIO()
        plain = PrintableConsole(
            file=text, width=console().width, color_system=None, force_jupyter=False
        )
        plain.show(self.shown())
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # what IPython shows at a terminal

    def _repr_html_(self) -> str:
        from rewardkit.tables import as_html

        return as_html(self.shown())


class Failure(StrEnum):
    """Every reason why a completion isn't right."""

    NO_ANSWER = "no_answer"
    FORMAT = "format"
    NO_REASONING = "no_reasoning"
    WRONG = "wrong"
    ARITHMETIC = "arithmetic"
    REASONING = "reasoning"
    WRONG_STEPS = "wrong_steps"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Sample:
    """A problem: its reference (gold answer), its question, and the data set's other columns.

    `references` are further right answers: a completion that meets one of them is right. A verifier
    gets a sample with one reference at a time. `turns` are the messages before the question.
    """

    reference: str
    question: str = ""
    id: str = ""
    columns: Mapping[str, object] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    turns: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A generated text. `finish_reason` is "stop", "length" or "error"; `message` explains it.

    `reasoning` is thinking that a server returns separately. `thinking_tokens` counts the tokens of
    thinking, in the text or separate; it is None if there is no thinking or no count. `cost` is the
    price that a server charges, None if unknown. `tool_calls` are the calls of tools that a server
    separates from the text, as OpenAI writes them.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    message: str = ""
    reasoning: str = ""
    thinking_tokens: int | None = None
    cost: float | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn.

    `temperature` 0 is greedy. `top_k` and `min_p` are off at 0, `top_p` and `repetition_penalty` at
    1, the other penalties at 0. `thinking_token_budget` is the number of tokens after which the
    engine closes a thinking block; if it is None, only `max_tokens` limits thinking.
    """

    max_tokens: int = 1024
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    stop: tuple[str, ...] = ()
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    thinking_token_budget: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The score, in [0, 1], of a part of a completion: the characters from `start` up to `end`."""

    start: int
    end: int
    score: float

    def __post_init__(self) -> None:
        try:  # numpy's integers are plain ones in a row
            places = {name: operator.index(getattr(self, name)) for name in ("start", "end")}
        except TypeError as error:
            raise ValueError(f"a span's start and end are whole numbers: {error}") from None
        for name, value in {**places, "score": float(self.score)}.items():
            object.__setattr__(self, name, value)
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span reaches from 0 or later onwards, not {self.start}:{self.end}")
        if not (math.isfinite(self.score) and 0.0 <= self.score <= 1.0):
            raise ValueError(f"a span's score is in [0, 1], not {self.score!r}")


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """A verifier's judgement of one completion.

    `correct` is True, False, or None. None means unjudged: the reference can't be read, or the
    verifier broke. `score` is in [0, 1], or None if unjudged. A verdict that is not correct has a
    `failure`. `parts` has the scores of a rubric's parts, each in [0, 1]. `spans` has the scores of
    parts of the text.

    >>> Verdict.right(answer="4")
    Verdict(correct=True, score=1.0, answer='4', failure=None, parts={}, message='')
    """

    correct: bool | None
    score: float | None
    answer: str | None = None
    failure: Failure | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    message: str = ""
    spans: tuple[Span, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if (self.correct is None) != (self.score is None):
            raise ValueError("an unjudged verdict has neither correct nor score")
        if (self.correct is True) != (self.failure is None):
            raise ValueError("a verdict has a failure exactly when it is not correct")
        for score in (self.score, *self.parts.values()):
            if score is not None and not (math.isfinite(score) and 0.0 <= score <= 1.0):
                raise ValueError(f"a score is in [0, 1], not {score!r}")

    @classmethod
    def right(cls, *, answer: str | None = None, message: str = "") -> Verdict:
        """Return a verdict that is correct, with score 1."""
        return cls(True, 1.0, answer=answer, message=message)

    @classmethod
    def wrong(cls, failure: Failure, *, answer: str | None = None, message: str = "") -> Verdict:
        """Return a verdict that is not correct, with score 0 and this reason."""
        return cls(False, 0.0, answer=answer, failure=failure, message=message)

    @classmethod
    def judged(cls, correct: bool, *, answer: str | None, message: str = "") -> Verdict:
        """Return a verdict that is right, or wrong because the answer isn't the reference's."""
        if correct:
            return cls.right(answer=answer, message=message)
        return cls.wrong(Failure.WRONG, answer=answer, message=message)

    @classmethod
    def scored(
        cls,
        score: float,
        *,
        answer: str | None = None,
        failure: Failure = Failure.WRONG,
        message: str = "",
    ) -> Verdict:
        """Return a verdict with a score in [0, 1]: correct at 1, otherwise wrong for `failure`."""
        correct = score >= 1.0
        return cls(
            correct,
            float(score),
            answer=answer,
            failure=None if correct else failure,
            message=message,
        )

    @classmethod
    def unjudged(cls, message: str, *, answer: str | None = None) -> Verdict:
        """Return a verdict that is neither right nor wrong, because nothing could be judged."""
        return cls(None, None, answer=answer, failure=Failure.ERROR, message=message)

    @classmethod
    def of(cls, judged: Verdict | bool | float) -> Verdict:
        """Convert a verifier's result to a verdict.

        A bool is right or wrong, a number in [0, 1] a score. Raises ValueError for anything else.

        >>> Verdict.of(0.5).score
        0.5
        """
        if isinstance(judged, Verdict):
            for name, kinds in _PLAIN_FIELDS:
                if not isinstance(getattr(judged, name), kinds):
                    kind = type(getattr(judged, name)).__name__
                    raise ValueError(f"the verdict's {name} can't be of type {kind}")
            if judged.spans and not all(isinstance(span, Span) for span in judged.spans):
                raise ValueError("the verdict's spans must be of type Span")
            return judged
        if isinstance(judged, bool):
            return cls.judged(judged, answer=None)
        try:
            return cls.scored(float(judged))
        except (TypeError, ValueError):
            raise ValueError(
                f"{judged!r:.200} is neither a Verdict, a bool nor a score in [0, 1]"
            ) from None

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Verdict:
        """Return the verdict that `as_json` converted. ValueError for any other value."""
        import msgspec

        return msgspec.convert(fields, cls)

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain values, as samples.jsonl and the server hold it."""
        spans = [{"start": span.start, "end": span.end, "score": span.score} for span in self.spans]
        return {
            "correct": self.correct,
            "score": None if self.score is None else float(self.score),  # numpy's isn't plain
            "answer": self.answer,
            "failure": None if self.failure is None else self.failure.value,
            "parts": {
                name: score if score is None else float(score) for name, score in self.parts.items()
            },
            "message": self.message,
            **({"spans": spans} if spans else {}),
        }

    def in_text(self, read: str, whole: str, at: int | None = None) -> Verdict:
        """Return the verdict on `read` with spans that count from the start of `whole`.

        `at` is the place of `read` in `whole`, by default the last place of `read`. `read` may also
        end with `whole`. At -1 the verdict loses its spans. The verdict also loses spans that begin
        before `whole`.
        """
        if not self.spans or read == whole:
            return self
        ends_with = at is None and read.endswith(whole)
        shift = len(whole) - len(read) if ends_with else whole.rfind(read) if at is None else at
        is_inside = shift >= 0 or ends_with
        spans = (
            replace(span, start=span.start + shift, end=span.end + shift)
            for span in self.spans
            if is_inside and span.start + shift >= 0
        )
        return replace(self, spans=tuple(spans))

    def shown(self) -> Iterator[Table]:
        """Yield a table of one row."""
        from rewardkit.tables import verdict_table

        yield verdict_table([self])

    def with_failure(self, failure: Failure, message: str = "") -> Verdict:
        """Return the same verdict with another failure."""
        return replace(self, failure=failure, message=message or self.message)


class Verdicts(Shown, list[Verdict]):
    """Verdicts in order: a list that prints as a table."""

    def shown(self) -> Iterator[Table]:
        """Yield a table with a row for each of the first verdicts."""
        from rewardkit.tables import verdict_table

        yield verdict_table(self)


LARGEST_COUNT = 2**31 - 1
"""The largest number of tokens."""


def token_count(value: object) -> int | None:
    """Return the value if it is a number of tokens, else None."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST_COUNT else None


MANY_LATE = 0.05
"""There is a warning if at least this share of verdicts ran out of time."""

_PLAIN_FIELDS = (
    ("answer", (str, type(None))),
    ("message", str),
    ("failure", (Failure, type(None))),
    ("spans", tuple),
)
"""Fields of a verdict that a verifier may fill with anything, and their types."""

REFERENCE_COLUMNS = ("reference", "answer", "solution", "ground_truth", "label", "target")
"""Default columns of the reference; the first that a row has counts."""


def references_of(value: object) -> tuple[str, ...]:
    """Return the texts of a reference: several if it is a list, none if it is None or NaN.

    A mapping, or a list that starts with a mapping, becomes a single text, its JSON. TypeError for
    any other value than these, a text, a number, or a list, tuple or array of texts and numbers.
    """
    if isinstance(value, str):
        return (value,)
    value = _as_python(value)
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, Mapping):
        return (json.dumps(value, default=_without_library),)
    alternatives = value if isinstance(value, (list, tuple)) else (value,)
    for item in alternatives:
        if item is not None and not isinstance(item, (str, numbers.Number)):
            inside = "" if alternatives is not value else "a list with "
            raise TypeError(f"{inside}a value of type {type(item).__name__}")
    return tuple(str(item) for item in alternatives if item is not None and item == item)


def refuse_object(reference: object) -> None:
    """Raise TypeError, which names the key to use, if a reference is one or several objects.

    Verifiers that compare with an answer need one of the object's values.
    """
    value = _as_python(reference)
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(first, Mapping):
        return
    what = "an object" if first is value else "a list of objects"
    if not first:
        raise TypeError(f"{what} without a key")
    key = next((name for name in REFERENCE_COLUMNS if name in first), next(iter(first)))
    keys = ", ".join(map(str, first))
    raise TypeError(
        f"{what} with {keys:.80}, and the verifier compares with an answer: use the value of "
        f"{key!r}"
    )


def _as_python(value: object) -> object:
    for method in ("to_pylist", "tolist", "as_py"):  # pyarrow, numpy and pandas; pyarrow's scalars
        value = getattr(value, method, lambda value=value: value)()
    return value


def _without_library(value: object) -> object:
    """What JSON writes for an array inside an object. TypeError for any other value."""
    plain = _as_python(value)
    if plain is value:
        raise TypeError(f"a value of type {type(value).__name__}")
    return plain


def plain_columns(row: Mapping[str, object]) -> dict[str, object]:
    """Return the columns that hold text, numbers, or lists and mappings of them.

    Arrays of one dimension become lists: rows of pandas have such arrays. Images and tensors are
    left out: a worker would load their libraries within its deadline.
    """
    columns = {}
    for name, value in row.items():
        with suppress(TypeError):
            columns[name] = value if _is_plain(value) else _as_plain(value)
    return columns


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value[:1]))  # a list's values are alike in a data set
    return value is None or isinstance(value, (str, numbers.Number))


def _as_plain(value: object) -> object:
    """The value with lists for arrays inside it. TypeError for an image, tensor or other object."""
    if isinstance(value, Mapping):
        return {name: _as_plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_plain(item) for item in value]
    if _is_plain(value):
        return value
    if getattr(value, "ndim", 1) != 1:
        raise TypeError("an array of several dimensions")
    return _as_plain(_without_library(value))
