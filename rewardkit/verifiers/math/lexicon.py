"""The words and signs of answers: signs, functions, number words, units, currencies, dates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from rewardkit.verifiers import reading
from rewardkit.verifiers.math.tree import UnreadableError


def listed(words: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split())


def spellings(table: str) -> dict[str, str]:
    """Each spelling in a table of `sign spelling spelling; …`, and its sign."""
    groups = (group.split() for group in re.split("[;\n]", table.strip()))
    return {spelling: sign for sign, *others in groups for spelling in others}


WORDS: Final[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
"""The tables of words.toml by name."""

SIGNS: Final = spellings(WORDS["signs"])
"""Another spelling of a sign, and the sign."""

JOINTS: Final = {"∧": "and", "∨": "or"}
"""Words for the signs of logic."""

CROSSES: Final = {"⨯": "cross()", "✕": "times()", "⊙": "dot()"}
r"""\times and · between vectors, and \times between letters that may be vectors."""

OVER: Final = listed(r"\overline \vec \hat \bar \tilde \widehat \mathring")
"""Accents: part of a variable's name."""

SUMS: Final = {r"\sum": "sum", r"\prod": "prod"}
MODULO: Final = frozenset((r"\pmod", r"\bmod", r"\mod", r"\pod"))

_GREEK: Final = WORDS["greek"]
GREEK_LETTERS: Final = dict(zip("αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΦΨΩ", _GREEK.split(), strict=True))
GREEK: Final = listed(f"{_GREEK} varepsilon vartheta varrho varphi Upsilon ell hbar Pi aleph")

_FUNCTIONS: Final = listed(WORDS["functions"])
FUNCTIONS: Final = {name: name for name in _FUNCTIONS} | spellings(WORDS["function_spellings"])
"""Spelling and name of the functions that are read."""

CONNECTIVES: Final = spellings(WORDS["connectives"])
CONSTANT_WORDS: Final = spellings(WORDS["constant_words"])
"""Words that stand for a sign, and the sign."""


def _numbers(table: str) -> dict[str, int]:
    """The words of a table of `word=number`, and their numbers."""
    return {word: int(number) for word, number in (pair.split("=") for pair in table.split())}


UNITS_IN_WORDS: Final = {word: value for value, word in enumerate(WORDS["numbers"].split())}
_TENS: Final = {word: 10 * value for value, word in enumerate(WORDS["tens"].split(), start=2)}
_BELOW_100: Final = UNITS_IN_WORDS | _TENS
_GROUPS: Final = {word: int(Fraction(size)) for word, size in reading.SCALES.items()}
_DENOMINATORS: Final = {
    **{f"{word}th": value for word, value in UNITS_IN_WORDS.items() if value > 3},
    **{f"{word[:-1]}ieth": value for word, value in _TENS.items()},
    **{f"{word}th": size for word, size in _GROUPS.items()},
    **_numbers(WORDS["denominators"]),
}
SCALES: Final = {
    **{word: Fraction(size) for word, size in {**_GROUPS, **_numbers(WORDS["sizes"])}.items()},
    **{word: Fraction(1, parts) for word, parts in _DENOMINATORS.items()},
}
"""Words that multiply the number before them."""

_REFUSED: Final = listed(WORDS["refused"])
"""Words that may change the value beside them."""

_UNCOUNTED: Final = listed(WORDS["uncounted"])
_PREPOSITIONS: Final = listed(WORDS["prepositions"])
_ADVERB: Final = re.compile(r"(?:ss|us|is|ics)\Z")


def singular(word: str) -> str:
    """The word without the `s` of a plural."""
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    return word[:-1]


def scale(word: str) -> Fraction | None:
    """The number by which a word multiplies the number before it: `million`, `halves`."""
    return SCALES.get(singular(word.lower()))


def refuses(word: str) -> bool:
    """Whether a word may change the value before it."""
    return word in _BELOW_100 or word in _REFUSED or singular(word) in SCALES


def wordings(table: str) -> str:
    """The alternatives of a table as one regular expression."""
    return "|".join(WORDS[table].split("\n")[:-1])


_TAKEN_BACK = re.compile(rf"\b(?:{wordings('taken_back')})\b", re.IGNORECASE)


def takes_back(words: str) -> bool:
    """Return whether words say of a value that it is denied, hedged, bounded or rounded."""
    return _TAKEN_BACK.search(words) is not None


def counts_things(words: list[str]) -> bool:
    """Whether the words name what a number counts: their head is a plural, as in `red marbles`."""
    phrase: list[str] = []
    for word in words:
        done = word.endswith("ed") and bool(phrase) and phrase[-1].endswith("s")  # pupils passed
        if done or (word.lower() in _PREPOSITIONS and phrase):
            break
        phrase.append(word.strip(".,").lower())
    head = phrase[-1] if phrase else ""
    plural = len(head) > 3 and head.endswith("s") and not _ADVERB.search(head)
    return plural or head in _UNCOUNTED


Unit = tuple[tuple[tuple[str, int], ...], Fraction]
"""Dimensions with their powers, and the size in basic units."""

RADIANS: Final[Unit] = ((("radian", 1),), Fraction(1))
"""What is said to be in radians; a radian inside a product of units has no dimension."""

UNITLESS: Final[Unit] = ((), Fraction(1))

UNIT: Final[Unit] = ((("unit", 1),), Fraction(1))
"""A unit without a name: square units are areas of any kind."""

_PREFIXES: Final = _numbers(WORDS["prefixes"])
"""The symbols of each prefix and last its name, and its power of ten."""


_CURRENCY: Final[dict[str, Unit]] = {
    name: (((currency, 1),), Fraction(1))
    for name, currency in spellings(WORDS["currencies"]).items()
}
CURRENCY_SIGNS: Final = "¢" + "".join(name for name in _CURRENCY if not name.isascii())
CODES: Final = frozenset(name for name in _CURRENCY if name[0].isupper())
"""Currencies that may stand before an amount."""


def _dimensions(text: str) -> tuple[tuple[str, int], ...]:
    found = [(name, int(power or 1)) for name, power in re.findall(r"([^\s^]+)(?:\^(-?\d))?", text)]
    return tuple(sorted(found)) if found != [("radian", 1)] else ()


def _units(table: str) -> Iterator[tuple[str, Unit]]:
    for line in table.strip().splitlines():
        dimensions, _, units = line.partition(": ")
        for names, _, size in (unit.partition(" = ") for unit in units.split(", ")):
            for name in names.split():
                yield name, (_dimensions(dimensions), Fraction(size or 1))


@cache
def unit_table() -> dict[str, Unit]:
    """Every known spelling of a unit, in the singular, and the unit."""
    prefixed = {
        prefix + name: (dimensions, size * Fraction(10) ** power)
        for name, (dimensions, size) in _units(WORDS["units_with_prefixes"])
        for prefixes, power in _PREFIXES.items()
        for prefix in prefixes.split(",")[slice(-1) if _is_symbol(name) else slice(-1, None)]
    }
    return (
        prefixed
        | dict(_units(WORDS["units_with_prefixes"]))
        | dict(_units(WORDS["units"]))
        | _CURRENCY
    )


def _is_symbol(name: str) -> bool:
    return len(name) <= 2 or name in ("mol", "bar", "cal", "bit")


def currency(words: str) -> Unit | None:
    """The currency that a code or a word names; None for any other word."""
    units = (known(words.removesuffix(".").upper()), known(words.capitalize()))
    return next((unit for unit in units if unit in (*_CURRENCY.values(), known("cent"))), None)


_LONGEST_UNIT = 120
"""Characters of the longest text that is read as a unit."""

_UNIT_FACTOR = re.compile(
    r"\s*(?P<under>/|\bper\b)?\s*(?:(?P<power>sq|square|cu|cubic)\b[. ]*)?"
    rf"(?P<name>[^\W\d_]+(?:['.-][^\W\d_]+)*\.?|[°%℃℉{CURRENCY_SIGNS}][CF]?)"
    r"(?:\s?\^?\s?(?P<exponent>[-−]?[0-9])|\s+(?P<raised>squared|cubed)\b)?",
    re.IGNORECASE,
)
_FILLERS: Final = listed(WORDS["fillers"])
_UNDER = re.compile(r"(?:/|\bper)\s*\(([^()]*)\)")
_BETWEEN_FACTORS = re.compile(r"[·*\s]+(?=[^\W\d_])")
_NOISE = re.compile(
    r"\\(?:mu|Omega)(?![a-zA-Z])\s*|\\text|[{}]"
    r"|(?:\bdegrees?|°)\s+(?P<scale>celsius|fahrenheit|[CF])\b",
    re.IGNORECASE,
)


def known(word: str) -> Unit | None:
    """The unit that a word or a symbol names; None for any other word."""
    lower = word.lower() if len(word) > 1 else word  # M is a name, not a metre
    spelled = map(unit_table().get, (word, singular(word), lower, singular(lower)))
    return next(filter(None, spelled), None)


@lru_cache(maxsize=512)
def known_unit(text: str) -> Unit | None:
    """The unit that a text of known units spells, such as `m s^{-2}`; None for any other text."""
    if len(text) > _LONGEST_UNIT:
        return None
    try:
        measured, words = _measured(_NOISE.sub(_spaced, text))
    except UnreadableError:
        return None
    return measured if measured != UNITLESS and not words else None


def unit(text: str, *, of_one: bool = False) -> Unit:
    """Return the kind of unit that the words after a value name; unknown nouns are kinds too.

    `of_one`: the value is 1, so that a noun may be singular. Raises UnreadableError where a word
    may change the value: "or", "not", "at least", "reciprocal".
    """
    plain = _NOISE.sub(_spaced, text)[:_LONGEST_UNIT]
    measured, words = _measured(plain)
    parts = plain.split()
    cut = next((at for at, word in enumerate(parts) if word.lower() in _PREPOSITIONS), len(parts))
    of_unit = parts[:1] == ["of"] or known_unit(" ".join(parts[:cut])) is not None
    if words and not (of_one or of_unit or counts_things(parts)):
        raise UnreadableError(f"the word {words[-1]!r} is not a unit")
    return measured


def power(base: Unit, exponent: int) -> Unit:
    """The unit to a small whole power."""
    if not 0 < abs(exponent) <= 4:
        raise UnreadableError("a unit to an odd power")
    return tuple((name, count * exponent) for name, count in base[0]), base[1] ** exponent


def product(first: Unit, other: Unit) -> Unit:
    """Both units multiplied."""
    kind = dict(first[0])
    for name, count in other[0]:
        kind[name] = kind.get(name, 0) + count
    dimensions = tuple(sorted((name, count) for name, count in kind.items() if count))
    return dimensions, first[1] * other[1]


def _spaced(noise: re.Match[str]) -> str:
    if noise["scale"]:
        return f"°{noise['scale'][0].upper()}"
    return {r"\mu": "μ", r"\Omega": "Ω"}.get(noise.group().rstrip(), " ")


def _measured(text: str) -> tuple[Unit, list[str]]:
    """The unit that a text spells, and the words in it that are no known units."""
    text = _UNDER.sub(lambda under: "/" + _BETWEEN_FACTORS.sub("/", under[1].strip()), text)
    if _UNIT_FACTOR.sub("", text).strip(" ^.,()·*/"):
        raise UnreadableError(f"{text!r} is not a unit")
    words: list[str] = []
    measured, sign = UNITLESS, 1
    for factor in _UNIT_FACTOR.finditer(text):
        name = factor["name"].strip(".'-")
        lower = name.lower()
        sign = -1 if factor["under"] else sign  # `per` stands before the next name
        nameless = lower in ("unit", "units") and sign > 0 and not words
        if lower in _FILLERS and name != "A" and not nameless:
            continue
        base = UNIT if nameless else known(name)
        if base is None:
            if refuses(lower):
                raise UnreadableError(f"the word {lower!r} is more than a unit")
            words.append(lower)
            base = (((singular(lower), 1),), Fraction(1))
        raised = {"s": 2, "c": 3}.get((factor["power"] or factor["raised"] or " ")[0].lower(), 1)
        exponent = int((factor["exponent"] or "1").replace("−", "-"))
        measured = product(measured, power(base, sign * raised * exponent))
        sign = 1
    return measured, words


MOST_WORDS = 16
"""Words of the longest number that is read."""


def number_in_words(words: str) -> Fraction | None:
    """The number that lower-case words spell as a whole; None for any other words."""
    parts = words.replace("-", " ").split()
    if not parts or len(parts) > MOST_WORDS:
        return None
    negative = parts[0] in ("minus", "negative")
    value = _unsigned(parts[negative:])
    return -value if negative and value is not None else value


def _unsigned(parts: list[str]) -> Fraction | None:
    """A whole number, a number of halves, thirds, quarters, …, or both with `and` between."""
    whole = _whole(parts)
    if whole is not None or len(parts) < 2:
        return None if whole is None else Fraction(whole)
    if "and" in parts:
        place = len(parts) - 1 - parts[::-1].index("and")
        whole, part = _whole(parts[:place]), _unsigned(parts[place + 1 :])
        return None if whole is None or part is None or not 0 < part < 1 else whole + part
    count = 1 if parts[:-1] in _SINGLE else _whole(parts[:-1])
    under = _DENOMINATORS.get(singular(parts[-1]))
    return Fraction(count, under) if count is not None and under else None


_SINGLE: Final = (["a"], ["an"])
_DESCENDING: Final = sorted(_GROUPS.items(), key=lambda group: -group[1])


def _whole(parts: list[str]) -> int | None:
    """`two thousand one hundred and five`."""
    for word, size in _DESCENDING:
        if word in parts:
            place = parts.index(word)
            count = 1 if parts[:place] in _SINGLE else _whole(parts[:place])
            rest = parts[place + 1 :]
            rest = rest[1:] if rest[:1] == ["and"] and rest[1:] else rest
            below = _whole(rest) if rest else 0
            if not count or count >= (20 if word == "hundred" else 1000) or below is None:
                return None
            return count * size + below if below < size else None
    match [_BELOW_100.get(part, -1) for part in parts]:
        case [value] if value >= 0:
            return value
        case [tens, units] if tens >= 20 and 0 < units < 10:
            return tens + units
    return None


MEANINGS: Final = {
    answer: re.compile(said)
    for answer, _, said in (line.partition(": ") for line in WORDS["meanings"].splitlines())
}
"""Answers, and the wordings that have their meaning."""

NUMBER_SETS: Final = spellings(WORDS["number_sets"])

IN_WORDS: Final = listed(WORDS["in_words"])
"""Words that are never read as products of variables."""

_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
_FUNCTION = re.compile(
    r"(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?(?=[a-zA-Z]{1,8}\Z)|(?:ln|lg|log|exp)(?=[a-zA-Z]{1,8}\Z)"
)


def ends_in_function(run: str) -> int | None:
    """How many letters of `sinx` or `lntheta` spell the function; None for any other run."""
    match = _FUNCTION.match(run)
    if match is None or match.group() not in FUNCTIONS:
        return None
    rest = run[match.end() :]
    return match.end() if len(rest) < 3 or rest in GREEK or rest == "pi" else None


def is_word_after_value(run: str, after_word: bool, after_letter: bool) -> bool:
    """Whether letters after a value and a space are a unit, a noun or a number word."""
    if len(run) == 1:
        return False
    if after_letter and len(run) < 3:
        return run in ("cm", "km", "mm", "kg", "ft")
    if after_word or run in ("sq", "cu") or known(run) is not None or scale(run) is not None:
        return True
    return len(run) > 3 and run not in GREEK and _VOWEL.search(run) is not None


def is_name(run: str) -> bool:
    """Whether letters may be a word before an equals sign: `Area = 5`, but not `xy = 5`."""
    return len(run) > 2 and _VOWEL.search(run) is not None and not run.isupper()


def is_plain_word(run: str) -> bool:
    """Whether letters in a text command are a word, and neither a sign nor a function."""
    sign = run in GREEK or run in FUNCTIONS or run in CONSTANT_WORDS
    return run.lower() in ("he", "it", "we") or (is_name(run) and not sign)


MONTHS: Final = listed(WORDS["months"])
WEEKDAYS: Final = listed(WORDS["weekdays"])
_BESIDE: Final = WEEKDAYS | listed("the of on")
ORDINAL: Final = re.compile(r"(?<=[0-9])(?:st|nd|rd|th)\b")
_DATE_PART = re.compile(r"[a-z]+|[0-9]+")


def date(words: str) -> str | None:
    """The month, the day and the year that lower-case words name; None for any other words."""
    parts = [part for part in _DATE_PART.findall(words) if part not in _BESIDE]
    months = [part for part in parts if len(part) > 2 and _month(part)]
    numbers = sorted((part.lstrip("0") for part in parts if part.isdigit()), key=len)
    if len(months) != 1 or len(parts) != 1 + len(numbers) or not 1 <= len(numbers) <= 2:
        return None
    return " ".join([_month(months[0]), *numbers])


def _month(word: str) -> str:
    return next((month for month in MONTHS if month.startswith(word)), "")
