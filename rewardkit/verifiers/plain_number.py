"""The exact value of an answer that should be one number, with a unit or words around it."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction

from rewardkit.verifiers.reading import NUMBER, numbers

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
_SCALE = re.compile(
    r"[\s~]{0,2}(?P<word>hundred|thousand|million|billion|trillion|percent)\b|k\b", re.IGNORECASE
)
_SCALES = {
    "hundred": "1e2",
    "thousand": "1e3",
    "million": "1e6",
    "billion": "1e9",
    "trillion": "1e12",
    "percent": "1e-2",
}
_HEDGE = re.compile(
    r"[<>≤≥≠±∓√]|\\(?:[gl]eq?|[gl]t|neq?|pm|mp|sqrt|times|div|cdot)(?![a-zA-Z])"
    r"|\b(?:sqrt|log|ln)(?![a-z])|\b(?:half|third|quarter|square|root|twice|double|triple)(?:\sof)?\s[$0-9]"
    r"|\b(?:or|either|not|between|minus|negative|plus|times|at\s(?:least|most)|up\sto"
    r"|(?:more|less|fewer|greater)\sthan(?=\s[$0-9]))\b"
    r"|[0-9)]\s?[+*×÷^]\s?[\w($\\{]|[0-9)]\s?[-–−/]\s?[$(]?[0-9]|[0-9][xyn]\b|[0-9]\s?\?",
    re.IGNORECASE,
)
_EXACT = Context(prec=LONGEST_RATIO + 20)


def number_in(text: str) -> Value | None:
    """Return the value of the one number that `text` states; None for none, several or a hedge.

    An equation states its right-hand side. Words and units are skipped; "million" and "percent"
    scale. Different numbers, ranges, bounds, "or" and unfinished arithmetic have no value. A simple
    fraction, also mixed, is its exact quotient.

    >>> number_in("about 1 1/2 hours"), number_in("2 million"), number_in("5 or 6")
    (Fraction(3, 2), Decimal('2E+6'), None)
    """
    if text.isdigit() and text.isascii():
        return Decimal(text)
    if len(text) > LONGEST_ANSWER:
        return None
    text = _MARKUP.sub(" ", text).rpartition("=")[2].strip()
    text = _LOOSE_SIGN.sub("-", text)
    if "{" in text or "\\" in text:
        text = _LATEX_FRACTION.sub(r" \1/\2", _THOUSANDS.sub("", text))
    fraction = _FRACTION.search(text) if "/" in text else None
    if fraction:
        return _fraction(fraction, text)
    if _HEDGE.search(text):
        return None
    values = {value for _, value in _scaled(text)}
    return values.pop() if len(values) == 1 else None


def equal(one: Value, other: Value) -> bool:
    """Return whether two values are exactly the same number, in bounded time."""
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one == other
    ratios = [_ratio(one), _ratio(other)]
    return None not in ratios and ratios[0] == ratios[1]


def _scaled(text: str) -> list[tuple[str, Decimal | None]]:
    stated = list(numbers(text))
    if len(stated) == 1:
        written, value = stated[0]
        scale = _SCALE.match(text, text.find(written) + len(written))
        if scale:
            return [(written, _times(value, scale))]
    return [(written, value) for written, value in stated]


def _times(value: Decimal, scale: re.Match[str]) -> Decimal | None:
    if len(value.as_tuple().digits) > LONGEST_RATIO:
        return None
    return _EXACT.multiply(value, Decimal(_SCALES[(scale["word"] or "thousand").lower()]))


def _fraction(match: re.Match[str], text: str) -> Fraction | None:
    """Return the quotient; None if other numbers or a hedge are beside it."""
    around = f"{text[: match.start()]} {text[match.end() :]}"
    if int(match["under"]) == 0 or NUMBER.search(around) or _HEDGE.search(around):
        return None
    value = int(match["whole"] or 0) + Fraction(int(match["over"]), int(match["under"]))
    return (-value if match["sign"] else value) / (100 if text[match.end() :][:1] == "%" else 1)


def _ratio(value: Value) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    _, digits, exponent = value.as_tuple()
    bounded = len(digits) <= LONGEST_RATIO and isinstance(exponent, int) and abs(exponent) <= 100
    return Fraction(value) if bounded else None
