"""Numbers as people write them, read as exact rationals; bounded by construction."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 400
"""Characters of the longest text that is read as a number."""

_UNSIGNED = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)?(?:\.[0-9]*)?"
_FRACTION = (
    r"\\frac\s*(?:\{\s*(?P<top>-?[0-9,]+)\s*\}|(?P<top1>[0-9]))"
    r"\s*(?:\{\s*(?P<bottom>-?[0-9,]+)\s*\}|(?P<bottom1>[0-9]))"
)
_NUMBER = re.compile(
    r"(?P<sign>[-+\s]*)(?P<currency>\\\$\s?|[£€¥₹₽₩₺₱₪₫₦฿]\s?)?(?:"
    rf"(?P<whole>[0-9]+)??\s*{_FRACTION}"
    r"|(?:(?P<mixed>[0-9]+)\s+)?(?P<over>[0-9,]+)\s?/\s?(?P<under>[0-9,]+)"
    rf"|(?P<decimal>{_UNSIGNED})"
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,3})|\s*\\?(?:times|cdot)\s*10\s*\^\s*"
    r"(?:\{\s*(?P<power>-?[0-9]{1,3})\s*\}|(?P<power1>[0-9])))?"
    r")\s*(?P<percent>\\?%)?(?P<degree>°)?"
)


@dataclass(frozen=True, slots=True)
class Exact:
    """A rational as it was written. `value` has percent applied; `reduced` is False for 2/4."""

    value: Fraction
    unit: str
    """"%", "°", the sign of a currency, or nothing."""
    reduced: bool


def exact(text: str) -> Exact | None:
    r"""The number that `text` (in normal spelling) is as a whole, or None.

    Read are integers, decimals, thousands commas, `\frac` and slash fractions, mixed numbers,
    scientific notation, percent and degrees (of the same value as the bare number).
    """
    if len(text) > LONGEST or not (match := _NUMBER.fullmatch(text)):
        return None
    read = _fraction(match) or _decimal(match)
    if read is None:
        return None
    value, reduced = read
    if match["sign"].count("-") % 2:
        value = -value
    percent = match["percent"] is not None
    unit = "%" if percent else match["degree"] or (match["currency"] or "").strip("\\ ")
    return Exact(value / 100 if percent else value, unit, reduced)


def equal(answer: Exact, reference: Exact) -> bool:
    """By value and, where both have one, by unit."""
    same_unit = answer.unit == reference.unit or not (answer.unit and reference.unit)
    return same_unit and answer.value == reference.value


def _fraction(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    top = match["top"] or match["top1"] or match["over"]
    bottom = match["bottom"] or match["bottom1"] or match["under"]
    if top is None or bottom is None:
        return None
    over, under = _integer(top), _integer(bottom)
    if over is None or not under:
        return None
    value = Fraction(over, under)
    whole = match["whole"] or match["mixed"]
    if whole and not 0 <= over < under:
        return None
    reduced = math.gcd(over, under) == 1 and under > 1
    return (int(whole) + value, reduced and over < under) if whole else (value, reduced)


def _decimal(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    digits = re.sub(r"[,\s]", "", match["decimal"] or "")
    if not digits.strip("."):
        return None
    power = int(match["exponent"] or match["power"] or match["power1"] or 0)
    return Fraction(digits.rstrip(".")) * Fraction(10) ** power, True


def _integer(digits: str) -> int | None:
    if "," in digits and not re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})+", digits):
        return None
    return int(digits.replace(",", ""))
