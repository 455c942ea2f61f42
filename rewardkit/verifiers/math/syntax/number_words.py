"""Numbers in words: twenty-one, three hundred and five or minus two thirds."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rewardkit.verifiers.math.syntax.nouns import singular
from rewardkit.verifiers.math.syntax.words import listed

MOST_WORDS = 16
"""Words of the longest number that is read."""

_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_UNITS: Final = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_DENOMINATORS: Final = {
    "half": 2,
    "halve": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "hundredth": 100,
    "thousandth": 1000,
}
_GROUPS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SIGNS: Final = listed("minus negative")


def number_in_words(words: str) -> Fraction | None:
    """The number that lower-case words spell as a whole; None for any other words."""
    parts = words.replace("-", " ").split()
    if not parts or len(parts) > MOST_WORDS:
        return None
    if parts[0] in _SIGNS:
        value = _unsigned(parts[1:])
        return None if value is None else -value
    return _unsigned(parts)


def _unsigned(parts: list[str]) -> Fraction | None:
    """A whole number, a number of halves, thirds, quarters, …, or both with `and` between."""
    whole = _whole(parts)
    if whole is not None:
        return Fraction(whole)
    if "and" in parts:
        place = len(parts) - 1 - parts[::-1].index("and")
        whole, part = _whole(parts[:place]), _part(parts[place + 1 :])
        return None if whole is None or part is None or part >= 1 else whole + part
    return _part(parts)


def _part(parts: list[str]) -> Fraction | None:
    under = _ordinal(parts[-1]) if len(parts) > 1 else None
    if not under:
        return None
    count = 1 if parts[:-1] in (["a"], ["an"]) else _whole(parts[:-1])
    return None if count is None else Fraction(count, under)


def _ordinal(word: str) -> int | None:
    """14 of `fourteenths`."""
    word = singular(word)
    if word in _DENOMINATORS:
        return _DENOMINATORS[word]
    if not word.endswith("th"):
        return None
    return _below_hundred([f"{word[:-4]}y" if word.endswith("ieth") else word.removesuffix("th")])


def _whole(parts: list[str]) -> int | None:
    """A whole number: groups of three digits, each with its size, in descending order."""
    total, rest, smallest = 0, list(parts), 10**15
    while rest:
        place = next((place for place, word in enumerate(rest) if word in _GROUPS), None)
        size = 1 if place is None else _GROUPS[rest[place]]
        group = 1 if size > 1 and rest[:place] == ["a"] else _below_thousand(rest[:place])
        if group is None or size >= smallest:
            return None
        total, smallest = total + group * size, size
        rest = [] if place is None else rest[place + 1 :]
        if rest[:1] == ["and"]:
            rest = rest[1:] or ["and"]
    return total if parts else None


def _below_thousand(parts: list[str]) -> int | None:
    """`seven`, `forty two`, `a hundred`, `three hundred and five`."""
    if "hundred" in parts:
        place = parts.index("hundred")
        hundreds = 1 if parts[:place] == ["a"] else _below_hundred(parts[:place])
        rest = parts[place + 1 :]
        units = _below_hundred(rest[1:] if rest[:1] == ["and"] else rest) if rest else 0
        if hundreds is None or units is None or not 0 < hundreds < 20:
            return None
        return 100 * hundreds + units
    return _below_hundred(parts)


def _below_hundred(parts: list[str]) -> int | None:
    match parts:
        case [word] if word in _UNITS:
            return _UNITS[word]
        case [word] if word in _TENS:
            return _TENS[word]
        case [ten, unit] if ten in _TENS and 0 < _UNITS.get(unit, 0) < 10:
            return _TENS[ten] + _UNITS[unit]
    return None
