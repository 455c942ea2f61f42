"""Units: what kind of quantity a word measures, and how many basic units it holds."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from rewardkit.verifiers.math.syntax.tokens import UnreadableError
from rewardkit.verifiers.math.syntax.words import HEDGES, listed

Unit = tuple[tuple[tuple[str, int], ...], Fraction]

_TABLE: Final = {
    "length": "m meter metre=1 cm centimeter centimetre=1/100 mm millimeter millimetre=1/1000"
    " km kilometer kilometre=1000 in inch inche=127/5000 ft foot feet=381/1250 yd yard=1143/1250"
    " mi mile=201168/125 nm=1/1000000000",
    "time": "s sec second=1 min minute=60 h hr hour=3600 day=86400 week=604800 ms=1/1000",
    "year": "yr year=1 month=1/12 decade=10 century=100",
    "mass": "kg kilogram=1 g gram=1/1000 mg milligram=1/1000000 lb pound=45359237/100000000"
    " oz ounce=45359237/1600000000 ton=1000",
    "volume": "l L liter litre=1 ml mL milliliter=1/1000 gallon gal=1/1 ",
    "money": "dollar usd=1 cent ¢=1/100 buck=1",
    "angle": "°=1",
    "temperature": "°C celsiu=1",
    "share": "%=1/100",
}
_PLURAL = re.compile(r"(?<=[a-z]{2})s$")
_WORD = re.compile(r"[a-zA-Z°%¢.'-]+|\^?[0-9]|/")
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_FILLERS = listed("unit units of the a an total each way per person")


def _table() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for kind, line in _TABLE.items():
        for names, factor in re.findall(r"([^=]+)=(\S+)", line):
            for name in names.split():
                found[name] = (((kind, 1),), Fraction(factor))
    found["mph"] = ((("length", 1), ("time", -1)), Fraction(201168, 450000))
    return found


UNITS: Final = _table()


def unit(text: str) -> Unit:
    """What the words `text` measure; unknown words are a kind of their own.

    Raises UnreadableError where a word says more than a unit does: "or", "not", "at least".
    """
    kind: dict[str, int] = {}
    factor = Fraction(1)
    raised, sign = 1, 1
    for word in _WORD.findall(text.replace("\\", " ")):
        plain = word.strip(".'-^")
        if plain.lower() in HEDGES:
            raise UnreadableError(f"the word {plain!r} is more than a unit")
        if plain in ("per", "/"):
            sign = -1
        elif plain.lower() in _POWERS:
            raised = _POWERS[plain.lower()]
        elif plain and plain.lower() not in _FILLERS and not plain.isdigit():
            parts, size = _one(plain)
            for name, power in parts:
                kind[name] = kind.get(name, 0) + power * raised * sign
            factor *= size ** (raised * sign)
            raised = 1
    return _sorted(kind), factor


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
    return _sorted(kind), one[1] * other[1]


def _one(word: str) -> Unit:
    for spelling in (word, _PLURAL.sub("", word), _PLURAL.sub("", word.lower())):
        if spelling in UNITS:
            return UNITS[spelling]
    return ((_PLURAL.sub("", word.lower()), 1),), Fraction(1)


def _sorted(kind: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, count) for name, count in kind.items() if count))
