"""Units: the dimensions that a text measures, and its size in basic units."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from typing import Final

from rewardkit.verifiers.math.syntax.nouns import counts_things, refuses, singular
from rewardkit.verifiers.math.syntax.unit_table import UNITLESS, Unit, unit_table
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError
from rewardkit.verifiers.math.syntax.words import listed

LONGEST = 120
"""Characters of the longest text that is read as a unit."""

_PART = re.compile(r"[^\W\d_]+(?:['.-][^\W\d_]+)*\.?|[°%¢℃℉£][CF]?|\^?\s?[-−]?[0-9]|[/()·*]")
_NOISE = re.compile(
    r"\\[,;:! ]|~|\\(?:cdot|times)(?![a-zA-Z])|\\(?:mu|Omega)(?![a-zA-Z])\s*"
    r"|\\(?:text|mathrm)\s*|[{}$]"
    r"|(?:\bdegrees?|°)\s+(?P<scale>celsius|fahrenheit|[CF])\b",
    re.IGNORECASE,
)
_POWERS: Final = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_SHORT_PLURALS: Final = frozenset(("hrs", "lbs", "yds", "pts", "qts", "yrs", "wks", "mos"))
_FILLERS: Final = listed("unit units of the a an total each way per person")


def known(word: str) -> Unit | None:
    """The unit that a word or a symbol names; None for any other word."""
    table = unit_table()
    short = word[:-1] if word in _SHORT_PLURALS else word
    for spelling in (word, short, singular(word), word.lower(), singular(word.lower())):
        if spelling in table:
            return table[spelling]
    return None


@functools.lru_cache(maxsize=512)
def known_unit(text: str) -> Unit | None:
    """The unit that a text of known units spells, such as `m s^{-2}`; None for any other text."""
    if len(text) > LONGEST:
        return None
    try:
        measured, words = _measured(_NOISE.sub(_spaced, text))
    except UnreadableError:
        return None
    return measured if measured != UNITLESS and not words else None


def unit(text: str, *, of_one: bool = False) -> Unit:
    """Return what the words after a value measure; unknown nouns are a kind of their own.

    `of_one`: the value is 1, so that a noun may be singular. Raises UnreadableError where a word
    may change the value: "or", "not", "at least", "reciprocal".
    """
    plain = _NOISE.sub(_spaced, text)[:LONGEST]
    measured, words = _measured(plain)
    part_of_something = plain.split()[:1] == ["of"]
    if words and not (of_one or part_of_something or counts_things(plain.split())):
        raise UnreadableError(f"the word {words[-1]!r} is no unit")
    return measured


def power(base: Unit, exponent: int) -> Unit:
    """The unit to a small whole power."""
    if not 0 < abs(exponent) <= 4:
        raise UnreadableError("a unit to an odd power")
    return tuple((name, count * exponent) for name, count in base[0]), base[1] ** exponent


def product(one: Unit, other: Unit) -> Unit:
    """Both units multiplied."""
    kind = dict(one[0])
    for name, count in other[0]:
        kind[name] = kind.get(name, 0) + count
    dimensions = tuple(sorted((name, count) for name, count in kind.items() if count))
    return dimensions, one[1] * other[1]


def _spaced(noise: re.Match[str]) -> str:
    if noise["scale"]:
        return f"°{noise['scale'][0].upper()}"
    return {r"\cdot": "·", r"\times": "·", r"\mu": "μ", r"\Omega": "Ω"}.get(
        noise.group().rstrip(), " "
    )


def _measured(text: str) -> tuple[Unit, list[str]]:
    """The unit that a text spells, and the words in it that are no known units."""
    if _PART.sub("", text).strip(" ^.,"):
        raise UnreadableError(f"{text!r} is no unit")
    reader = _UnitReader()
    for part in _PART.findall(text):
        reader.take(part)
    return reader.measured, reader.words


class _UnitReader:
    """Multiplies units as their names come: `per` and / turn the next one or the next brackets."""

    def __init__(self) -> None:
        self.measured: Unit = UNITLESS
        self.words: list[str] = []
        self.signs = [1]
        self.sign = self.raised = 1
        self.last: Unit | None = None
        self.fillers = False

    def take(self, part: str) -> None:
        """Read the next word or sign."""
        word = part.strip(".'-")
        lower = word.lower()
        if part == "/" or lower == "per":
            self.sign = -1
        elif part == "(":
            self.signs.append(self.signs[-1] * self.sign)
            self.sign = 1
        elif part == ")":
            self.signs = self.signs[:-1] or [1]
        elif (exponent := _exponent(part)) is not None:
            self._raise(exponent)
        elif lower in _POWERS:
            self._power(lower)
        elif word == "A" or (lower not in _FILLERS and part not in "·*" and word):
            self._name(word)
        self.fillers = self.fillers or lower in _FILLERS

    def _power(self, word: str) -> None:
        if self.last is not None and word in ("squared", "cubed"):
            self._raise(_POWERS[word])
        elif word in ("squared", "cubed"):
            raise UnreadableError(f"the word {word!r} is more than a unit")
        else:
            self.raised = _POWERS[word]

    def _raise(self, exponent: int) -> None:
        if self.last is None and self.fillers:
            return  # square units of no kind
        if self.last is None:
            raise UnreadableError("a number that is no unit")
        if exponent != 1:
            self.measured = product(self.measured, power(self.last, exponent - 1))

    def _name(self, word: str) -> None:
        base = known(word)
        if base is None:
            if refuses(word.lower()):
                raise UnreadableError(f"the word {word!r} is more than a unit")
            self.words.append(word.lower())
            base = (((singular(word.lower()), 1),), Fraction(1))
        self.last = power(base, self.raised * self.sign * self.signs[-1])
        self.measured = product(self.measured, self.last)
        self.raised = self.sign = 1


def _exponent(part: str) -> int | None:
    digits = part.strip("^ ").replace("−", "-")
    if not digits.lstrip("-").isdigit():
        return None
    exponent = int(digits)
    if not 0 < abs(exponent) <= 4:
        raise UnreadableError("a unit to an odd power")
    return exponent
