"""Grade-school word problems: compare the final number with the reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import (
    NUMBER,
    SCALES,
    after_marker,
    answer_block,
    last_number_match,
    numbers,
)
from rewardkit.verifiers.rubric import Rubric
from rewardkit.verifiers.stated import Found, is_denied, standing_boxes, stated

Value = Decimal | Fraction

LONGEST_RATIO = 40
"""Digits of a number that is part of a fraction or scaled by "million"."""

LONGEST_ANSWER = 2000
"""Characters of an answer that isn't all digits; a longer answer has no value."""

_LOOSE_SIGN = re.compile(r"\A[-−–]\s{1,3}(?=[$0-9])")
_MARKUP = re.compile(r"<<[^<>\n]{0,200}>>|</?\w{1,20}/?>|<\|[^|<>\n]{0,40}\|>|\*\*")
_THOUSANDS = re.compile(r"(?<=[0-9])(?:\{,\}|\\[,!;: ])(?=[0-9]{3})")
_FRACTION = re.compile(
    r"(?P<sign>(?<![0-9A-Za-z)\]}%])[-−–]\s?)?\$?(?:(?P<whole>[0-9]{1,40})\s{1,3})?"
    r"(?<![0-9.,])(?P<over>[0-9]{1,40})\s?/\s?(?P<under>[0-9]{1,40})(?![0-9.,]*[0-9])(?!\s?/)"
)
_LATEX_FRACTION = re.compile(r"\\[dtc]?frac\s?\{\s?([0-9]{1,40})\s?\}\s?\{\s?([0-9]{1,40})\s?\}")
_SIZES = {**SCALES, "percent": "1e-2", "dozen": "12", "score": "20", "gross": "144"}
_SCALE = re.compile(rf"[\s~]{{0,2}}(?P<word>{'|'.join(_SIZES)})\b|k\b", re.IGNORECASE)
_CHANGED = (  # 5 and a half, 5 hours and a quarter, 5 squared, 5 halves
    r"(?:(?:\s[a-z]{1,12})?\sand\s(?:an?|one|two|three)[\s-]"
    r"(?:half|third|quarter|fifth|eighth|tenth)s?|\s(?:squared|cubed|halves|thirds|quarters\sof|tens))\b"
)
_CHANGES = r"(?:half|third|quarter|square|root|twice|double|triple|multiple|divisor|reciprocal)"
_HEDGE = re.compile(
    r"[<>≤≥≠±∓√≈]|\\(?:[gl]eq?|[gl]t|neq?|pm|mp|sqrt|times|div|cdot)(?![a-zA-Z])"
    rf"|\b(?:sqrt|log|ln)(?![a-z])|\b{_CHANGES}(?:\sof)?\s[$0-9]"
    r"|\b(?:or|either|not|between|minus|negative|plus|times|at\s(?:least|most)|up\sto"
    r"|(?:more|less|fewer|greater)\sthan(?=\s[$0-9]))\b"
    r"|[0-9)]\s?[*×÷^]\s?[\w($\\{]|[0-9)]\s?[-–−/]\s?[$(]?[0-9]|[0-9](?:[abeijnpqrxyz]|\s?\\?pi|\s?[α-ω])\b"
    r"|(?<![\w\\])[a-z](?=[0-9])|[0-9)]\s?[?+]"
    r"|[0-9](?:\s?[½⅓⅔¼¾⅕-⅞²³¹⁰-⁹]|!(?!=))"
    rf"|[0-9](?:{_CHANGED}|(?:\s[a-z]{{1,12}}){{0,2}},?\s(?:if|unless)\b)",
    re.IGNORECASE,
)
_EXACT = Context(prec=LONGEST_RATIO + 20)


def number_in(text: str) -> Value | None:
    """Return the value of the only number in `text`; None for no number, several, or a hedge.

    Of an equation the right-hand side counts. Words and units are skipped; "million" and "percent"
    scale. Different numbers, ranges, bounds, "or" and unfinished arithmetic have no value. A simple
    fraction or mixed number is an exact quotient.

    >>> number_in("about 1 1/2 hours"), number_in("2 million"), number_in("5 or 6")
    (Fraction(3, 2), Decimal('2E+6'), None)
    """
    if text.isdigit() and text.isascii():
        return Decimal(text)
    if len(text) > LONGEST_ANSWER:
        return None
    left, equals, text = _MARKUP.sub(" ", text).rpartition("=")
    if equals and NUMBER.fullmatch(left.strip()) and number_in(left) != number_in(text):
        return None  # 73 = 72
    text = _LOOSE_SIGN.sub("-", text.strip())
    if "{" in text or "\\" in text:
        text = _LATEX_FRACTION.sub(r" \1/\2", _THOUSANDS.sub("", text))
    fraction = _FRACTION.search(text) if "/" in text else None
    if fraction:
        return _fraction(fraction, text)
    if _HEDGE.search(text):
        return None
    found = list(numbers(text))
    if len({value for _, value in found}) != 1:
        return None
    written, value = found[-1]
    start = text.rfind(written)
    scale = _SCALE.match(text, end := start + len(written))
    if is_denied(text, start, scale.end() if scale else end):
        return None
    if scale is None or len(found) > 1:
        return value
    is_short = len(value.as_tuple().digits) <= LONGEST_RATIO
    return _EXACT.multiply(value, _size(scale)) if is_short else None


def equal(value: Value, other: Value) -> bool:
    """Return whether two values are exactly the same number, in bounded time."""
    if isinstance(value, Decimal) and isinstance(other, Decimal):
        return value == other
    ratio = _ratio(value)
    return ratio is not None and ratio == _ratio(other)


def _size(scale: re.Match[str]) -> Decimal:
    return Decimal(_SIZES[(scale["word"] or "thousand").lower()])


def _fraction(match: re.Match[str], text: str) -> Fraction | None:
    """Return the quotient; None if other numbers or a hedge are beside it."""
    before, after = text[: match.start()], text[match.end() :]
    other = NUMBER.search(before) or NUMBER.search(after) or _HEDGE.search(f"{before}1{after}")
    if other or int(match["under"]) == 0:
        return None
    value = int(match["whole"] or 0) + Fraction(int(match["over"]), int(match["under"]))
    scale = _SCALE.match(after)
    size = _size(scale) if scale else Decimal("1e-2" if after.startswith("%") else 1)
    return (-value if match["sign"] else value) * Fraction(size)


def _ratio(value: Value) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    _, digits, exponent = value.as_tuple()
    bounded = len(digits) <= LONGEST_RATIO and isinstance(exponent, int) and abs(exponent) <= 100
    return Fraction(value) if bounded else None


Reading = Literal["hash", "xml", "boxed", "flexible", "lenient"]

_WIDE = str.maketrans("０１２３４５６７８９．，＃－", "0123456789.,#-")

DATA_MARKER = "####"
"""The marker before the answer in GSM8K's own `answer` column."""

_NUMBER_HERE = re.compile(
    rf"[*$\s(\\]{{0,6}}(?:frac\s?\{{[^{{}}]*\}}\s?\{{[^{{}}]*\}}|{NUMBER.pattern})(?:\s?/\s?[0-9]+)?"
)
_CLOSED = re.compile(r"\s?(?:\\?[)\]$])+")
_FOLLOWS = re.compile(  # what belongs to a number before it: "2 million", "5 or six", "5x"
    rf"\s?(?:{'|'.join(_SIZES)})\b"
    rf"|\sor\s\w{{1,20}}|\s?[*×÷^]\s?\w{{1,20}}|\s?\+(?:\s?\w{{1,20}})?|[^\W\d_]\b|[²³½¼¾!]|{_CHANGED}"
)
_CHANGED_BEFORE = re.compile(  # what belongs to a number after it: "5 or 6", "3/4", "≥ 5"
    r"(?:(?:[0-9]%?\s?(?:or|to|[-–−/+*×÷^])|[≤≥≠±<>√]|\\(?:[gl]eq?|neq?|pm)"
    rf"|\b(?:sqrt\(|log|ln|{_CHANGES}(?:\sof)?)"
    r"|\b(?:or|not|least|most|than|between|minus|negative|[0-9]\sand))[\s$]{0,3}"
    r"|between.{1,30}and\s)\Z",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"[-−–+]?[0-9]{1,40}\s?/\s?[0-9]{1,40}")


@dataclass(frozen=True)
class Gsm8k(Bounded):
    """Right if the completion's final number has the reference's exact value; score 1 or 0.

    `reading` says where the answer is: `hash`, after the last `marker`; `xml`, in the last
    `<answer>` block; `boxed`, in the last box; `flexible`, in any of these places or in a sentence;
    `lenient`, also the last number, for evaluation only. `which="first"` reads the first marker
    instead of the last marker. Text after the next question never counts. 72 = 72.0 = $72 = 7.2e1,
    but 50% is 0.5. Words and units may follow; a hedge ("5 or 6", "≥ 5") is wrong. The reference is
    the text after the last `marker`, else after the last `####`, else the whole text.

    >>> Gsm8k()("9 * 8 = 72 #### 72.0", Sample("72")).correct
    True
    """

    thinking = "strip"
    reads = ("hash", "xml", "boxed")
    for_evaluation = ("lenient",)

    reading: Reading = "hash"
    marker: str = DATA_MARKER
    which: Literal["first", "last"] = "last"

    def __post_init__(self) -> None:
        if not self.marker:
            raise ValueError("marker must not be empty; GSM8K's own is '####'")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        reference = reference_value(sample.reference, self.marker)
        if reference is None:
            return Verdict.unjudged(f"the reference {sample.reference[-80:]!r} isn't a number")
        answer = self._answer(text if text.isascii() else text.translate(_WIDE))
        if answer is None or not NUMBER.search(answer):
            other = None if self.reading in ("flexible", "lenient") else last_stated_number(text)
            return in_another_form(other, f"no answer in the {self.reading} style")
        value = number_in(answer)
        return Verdict.judged(value is not None and equal(value, reference), answer=answer)

    def _answer(self, text: str) -> str | None:
        match self.reading:
            case "hash":
                return self._marked(text)
            case "xml":
                return _answer(text)
            case "boxed":
                return _boxed(text)
        found = _answer(text) or _boxed(text) or self._marked(text) or stated(text, _stated_number)
        if found is None and NUMBER.fullmatch(bare := text.strip(" \n*$.'\"“”")):
            found = bare
        return last_stated_number(text) if found is None and self.reading == "lenient" else found

    def _marked(self, text: str) -> str | None:
        """The answer after the marker: the last one of the first question."""
        found: list[str] = []
        parts = text.split(self.marker)[1:]
        for part in parts:
            if line := part.strip().partition("\n")[0].strip():
                found.append(line)
            if (found and self.which == "first") or _NEXT_QUESTION.search(part):
                break
        if not found:
            return "" if parts else None
        last = found.pop()
        cut = found and text.endswith(last) and found[-1].startswith(last)
        return found[-1] if cut else last  # 13 … 1, cut off at the limit


_NEXT_QUESTION = re.compile(
    r"\n[\s*_#]*(?:question|problem|exercise|human|user|q|frage|aufgabe|pregunta|problema|问题|题目)"
    r"\s?[0-9]{0,4}[*_\s]{0,3}[:：.]|<\|[a-z_]{1,20}\|>\s?user|\[INST\]",
    re.IGNORECASE,
)


def _stated_number(text: str, start: int, end: int) -> Found | None:
    """The clause that starts with a number; the number ends where other words begin."""
    number = _NUMBER_HERE.match(text, start, end)
    if number is None:
        return None
    follows = _FOLLOWS.match(text, number.end(), end) or number
    closed = _CLOSED.match(text, follows.end())
    return Found(text[start:end].strip(), closed.end() if closed else follows.end())


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
    text = reference_text(reference, marker).removesuffix(".").translate(_WIDE)
    if NUMBER.fullmatch(text) or _REFERENCE.fullmatch(text):
        return number_in(text)
    return None


def last_stated_number(text: str) -> str | None:
    """Return the last number in `text` with the words that change it: "5 or 6", "2 million"."""
    last = last_number_match(text)
    if last is None:
        return None
    before = text[max(0, last.start() - 60) : last.start()].rpartition("\n")[2]
    after = _FOLLOWS.match(text, last.end())
    written = last.group().strip() + (after.group() if after else "")
    return (before + written).strip() if _CHANGED_BEFORE.search(before) else written


def loose_answer(text: str) -> str | None:
    """Return the last box in `text`, else the last number; None without a box and a number."""
    boxed = standing_boxes(text)
    return boxed[-1] if boxed else last_stated_number(text)


def in_another_form(stated: str | None, message: str) -> Verdict:
    """Return the verdict on an answer in a form that nobody asked for, or on a missing answer."""
    if stated is None:
        return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
    return Verdict.wrong(Failure.FORMAT, answer=stated, message=message)


def _boxed(text: str) -> str | None:
    """Return the last box, or all boxes if their values differ: a list isn't an answer."""
    boxed = standing_boxes(text)
    if not boxed:
        return None
    values = {number_in(box) for box in boxed[-100:]}
    return boxed[-1] if len(values) == 1 else " or ".join(dict.fromkeys(boxed[-100:]))


_OPENING = "<reasoning>\n"
_MIDDLE = "\n</reasoning>\n<answer>\n"
_CLOSING = "\n</answer>"
_COUNTED = ("<reasoning>\n", "\n</reasoning>\n", "\n<answer>\n", "\n</answer>")
_TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")
_JUNCTION = re.compile(r"</reasoning>\s*<answer>")

PER_TAG = 0.125
PER_TRAILING_CHARACTER = 0.001
MOST = 0.5
"""The largest `xmlcount`; the score is a share of it."""

_BY_VALUE = Gsm8k(reading="xml")


@dataclass(frozen=True)
class Correctness(Bounded):
    """Right if the last `<answer>` block equals the reference; score 1 or 0.

    `by="string"` is the source's rule: the same characters after stripping. `by="value"` compares
    numbers as `Gsm8k` does. The reference is the text after the last `####`, else all of it,
    without commas and currency signs.
    """

    thinking = "strip"

    by: Literal["string", "value"] = "string"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if self.by == "value":
            return _BY_VALUE(text, sample)
        reference = reference_text(sample.reference)
        if not reference:
            return Verdict.unjudged("the reference is empty")
        answer = _answer(text)
        if not answer:
            return _without_answer(text)
        return Verdict.judged(answer == reference, answer=answer)


@dataclass(frozen=True)
class Int(Bounded):
    """Right if the last `<answer>` block is all digits 0–9; score 1 or 0."""

    thinking = "strip"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        answer = _answer(text)
        if not answer:
            return _without_answer(text)
        if answer.isascii() and answer.isdigit():
            return Verdict.right(answer=answer)
        return Verdict.wrong(Failure.FORMAT, answer=answer, message="the answer is not all digits")


@dataclass(frozen=True)
class StrictFormat(Bounded):
    r"""Right if the completion is `<reasoning>\n…\n</reasoning>\n<answer>\n…\n</answer>` alone.

    One trailing newline is allowed. Both contents may have many lines, neither may be blank,
    and each tag occurs once: a second block breaks the form. Score 1 or 0.
    """

    thinking = "whole"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        body = text.removesuffix("\n")
        once = all(body.count(tag) == 1 for tag in _TAGS)
        if once and body.startswith(_OPENING) and body.endswith(_CLOSING):
            inside = body[len(_OPENING) : -len(_CLOSING)]
            reasoning, middle, answer = inside.partition(_MIDDLE)
            if middle and reasoning.strip() and answer.strip():
                return Verdict.right(answer=answer.strip())
        return _malformed(text)


@dataclass(frozen=True)
class SoftFormat(Bounded):
    """Right if a reasoning block is followed by an answer block, with white space between.

    Other text may come before and after them. Their contents may have many lines and must not be
    blank. Score 1 or 0.
    """

    thinking = "whole"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        start = closing = 0
        for junction in _JUNCTION.finditer(text):
            if closing < junction.end():
                closing = text.find("</answer>", junction.end())
            if closing < 0:
                break
            opening = text.rfind("<reasoning>", start, junction.start())
            start = junction.end()
            if opening >= 0 and text[opening + len("<reasoning>") : junction.start()].strip():
                answer = text[start:closing].strip()
                if answer:
                    return Verdict.right(answer=answer)
        return _malformed(text)


@dataclass(frozen=True)
class XmlCount(Bounded):
    r"""Score the tags one by one; a share of 0.5, in [0, 1], in steps of 0.001 / 0.5.

    0.125 for each of `<reasoning>\n`, `\n</reasoning>\n`, `\n<answer>\n` and `\n</answer>` that
    occurs exactly once, minus 0.001 for each character after the last `\n</answer>` (a single
    final newline is free), never below 0.
    """

    thinking = "whole"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        earned = PER_TAG * sum(text.count(tag) == 1 for tag in _COUNTED)
        _, closed, trailing = text.rpartition(_CLOSING)
        if closed:
            earned -= PER_TRAILING_CHARACTER * len(trailing.removesuffix("\n"))
        failure = _malformed(text).failure or Failure.FORMAT
        return Verdict.scored(max(0.0, earned) / MOST, answer=_answer(text), failure=failure)


_STRICT_AS_PUBLISHED = re.compile(r"<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$")
_SOFT_AS_PUBLISHED = re.compile(r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>")


@dataclass(frozen=True)
class AsPublished:
    """One of the five rewards as the code of its report computes it, with that code's faults.

    A text without `<answer>` is all answer, `.` matches no newline, a second final newline is
    strict, a reference keeps its commas, and text after the last block costs twice. Only the sum of
    `xmlcount` is never below 0, because scores are in [0, 1].
    """

    thinking = "whole"

    reward: str
    """A part of `gsm8k_xml`."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        answer = text.rpartition("<answer>")[2].partition("</answer>")[0].strip()
        _, marker, hashed = sample.reference.partition(DATA_MARKER)
        reference = (hashed.partition(DATA_MARKER)[0] if marker else sample.reference).strip()
        if self.reward == "correctness" and not reference:
            return Verdict.unjudged("the reference is empty")
        scores: Mapping[str, Callable[[], float]] = {
            "correctness": lambda: answer == reference,
            "int": answer.isdigit,
            "strict_format": lambda: _STRICT_AS_PUBLISHED.match(text) is not None,
            "soft_format": lambda: _SOFT_AS_PUBLISHED.match(text) is not None,
            "xmlcount": lambda: max(0.0, _published_count(text) / MOST),
        }
        failure = Failure.WRONG if self.reward == "correctness" else Failure.FORMAT
        return Verdict.scored(scores[self.reward](), answer=answer, failure=failure)


def _published_count(text: str) -> float:
    earned = PER_TAG * sum(text.count(tag) == 1 for tag in _COUNTED)
    if text.count("\n<answer>\n") == 1:
        earned -= PER_TRAILING_CHARACTER * len(text.split("\n</answer>\n")[-1])
    if text.count(_CLOSING) == 1:
        earned -= PER_TRAILING_CHARACTER * (len(text.rpartition(_CLOSING)[2]) - 1)
    return earned


@dataclass(frozen=True)
class XmlRubric(Rubric):
    """The five XML rewards; with `published`, as the code of their report computes them."""

    published: bool = False

    def __post_init__(self) -> None:
        if self.published:
            object.__setattr__(self, "parts", {name: AsPublished(name) for name in self.weights})
        super().__post_init__()


gsm8k_xml = XmlRubric(
    parts={
        "correctness": Correctness(),
        "int": Int(),
        "strict_format": StrictFormat(),
        "soft_format": SoftFormat(),
        "xmlcount": XmlCount(),
    },
    weights={
        "correctness": 2.0,
        "int": 0.5,
        "strict_format": 0.5,
        "soft_format": 0.5,
        "xmlcount": 0.5,
    },
    decides="correctness",
)


def _answer(text: str) -> str | None:
    block = answer_block(text)
    return block.strip() if block is not None else None


def _without_answer(text: str) -> Verdict:
    stated = last_stated_number(text) if answer_block(text) is None else None
    return in_another_form(stated, "no <answer> block")


def _malformed(text: str) -> Verdict:
    answer = _answer(text)
    if not answer:
        return _without_answer(text)
    _, opened, rest = text.partition("<reasoning>")
    if not opened or not rest.partition("</reasoning>")[0].strip():
        return Verdict.wrong(
            Failure.NO_REASONING, answer=answer, message="the reasoning block is missing or empty"
        )
    return Verdict.wrong(
        Failure.FORMAT, answer=answer, message="the blocks don't have the required form"
    )
