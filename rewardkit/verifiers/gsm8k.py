"""Grade-school word problems: compare the final number with the reference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.plain_number import Value, equal, number_in
from rewardkit.verifiers.reading import NUMBER, after_marker, answer_block, boxes

Reading = Literal["hash", "xml", "boxed", "flexible"]
READINGS = ("hash", "xml", "boxed", "flexible")

DATA_MARKER = "####"
"""The marker before the answer in GSM8K's own `answer` column."""

_CONTEXT = 60
_CHUNK = 256
_DIGIT = re.compile("[0-9]")
_FOLLOWS = re.compile(  # what belongs to a number before it: "2 million", "5 or six", "5x"
    r"\s?(?:hundred|thousand|million|billion|trillion|percent)\b"
    r"|\sor\s\w{1,20}|\s?[+*×÷^]\s?\w{1,20}|[xyn]\b"
)
_NEIGHBOUR = re.compile(  # what belongs to a number after it: "5 or 6", "3/4", "≥ 5"
    r"(?:(?:[0-9]%?\s?(?:or|to|[-–−/+*×÷^])|[≤≥≠±<>√]|\\(?:[gl]eq?|neq?|pm)"
    r"|\b(?:sqrt\(|log|ln|half\sof|twice|double|triple)"
    r"|\b(?:or|not|least|most|than|between|minus|negative|[0-9]\sand))[\s$]{0,3}"
    r"|between.{1,30}and\s)\Z",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"[-−–+]?[0-9]{1,40}\s?/\s?[0-9]{1,40}")


@dataclass(frozen=True)
class Gsm8k(Bounded):
    """Right if the completion's final number has the reference's exact value; score 1 or 0.

    `reading` says where the answer is: `hash`, after the last `marker`; `xml`, in the last
    `<answer>` block; `boxed`, in the last box; `flexible`, the last number. 72 = 72.0 = $72 =
    7.2e1, but 50% is 0.5. Words and units may follow; a hedge ("5 or 6", "≥ 5") is wrong. The
    reference is the text after the last `marker`, else after the last `####`, else all of it.

    >>> Gsm8k()("9 * 8 = 72 #### 72.0", Sample("72")).correct
    True
    """

    thinking: ClassVar = "strip"

    reading: Reading = "hash"
    marker: str = DATA_MARKER

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise ValueError(f"reading is one of {', '.join(READINGS)}, not {self.reading!r}")
        if not self.marker:
            raise ValueError("marker must not be empty; GSM8K's own is '####'")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        reference = reference_value(sample.reference, self.marker)
        if reference is None:
            return Verdict.unjudged(f"the reference {sample.reference[-80:]!r} isn't a number")
        answer = self._answer(text)
        if answer is None or not NUMBER.search(answer):
            return self._absent(text)
        value = number_in(answer)
        return Verdict.judged(value is not None and equal(value, reference), answer=answer)

    def _answer(self, text: str) -> str | None:
        if self.reading == "hash":
            return after_marker(text, self.marker)
        if self.reading == "xml":
            block = answer_block(text)
            return block.strip() if block else None
        if self.reading == "boxed":
            return _boxed(text)
        return last_stated_number(text)

    def _absent(self, text: str) -> Verdict:
        stated = None if self.reading == "flexible" else last_stated_number(text)
        if stated is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no number is stated")
        return Verdict.wrong(
            Failure.FORMAT, answer=stated, message=f"no answer in the {self.reading} style"
        )


def reference_text(reference: str, marker: str = DATA_MARKER) -> str:
    """Return the answer in a data set's `answer` column, without commas and currency signs."""
    text = after_marker(reference, marker)
    if text is None:
        text = after_marker(reference, DATA_MARKER)
    text = reference.strip() if text is None else text
    return re.sub(r"[,$€£¥]", "", text).strip()


@lru_cache(maxsize=4096)
def reference_value(reference: str, marker: str = DATA_MARKER) -> Value | None:
    """Return the reference's exact value; None unless it is one number."""
    text = reference_text(reference, marker).removesuffix(".")
    if NUMBER.fullmatch(text) or _REFERENCE.fullmatch(text):
        return number_in(text)
    return None


def last_stated_number(text: str) -> str | None:
    """Return the last number in `text` with the words that change it: "5 or 6", "2 million"."""
    digit = _last_digit(text)
    if digit is None:
        return None
    start = digit - 2 * _CONTEXT
    last = _last_match(text, max(0, start))
    if last is None or last.start() < start + _CONTEXT:  # it may begin before the window
        last = _last_match(text, 0)
    return _with_context(text, last) if last else None


def _last_digit(text: str) -> int | None:
    for end in range(len(text), 0, -_CHUNK):
        start = max(0, end - _CHUNK)
        *_, last = (None, *(digit.start() for digit in _DIGIT.finditer(text, start, end)))
        if last is not None:
            return last
    return None


def _last_match(text: str, start: int) -> re.Match[str] | None:
    last = None
    for match in NUMBER.finditer(text, start):
        last = match
    return last


def _with_context(text: str, last: re.Match[str]) -> str:
    before = text[max(0, last.start() - _CONTEXT) : last.start()].rpartition("\n")[2]
    after = _FOLLOWS.match(text, last.end())
    written = last.group().strip() + (after.group() if after else "")
    return (before + written).strip() if _NEIGHBOUR.search(before) else written


def _boxed(text: str) -> str | None:
    """Return the last box, or all boxes if their values differ: a list is no answer."""
    boxed = boxes(text)
    if not boxed:
        return None
    values = {number_in(box) for box in boxed[-100:]}
    return boxed[-1] if len(values) == 1 else " or ".join(dict.fromkeys(boxed[-100:]))
