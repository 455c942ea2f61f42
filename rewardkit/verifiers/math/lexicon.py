"""The words and signs of answers: signs, functions, number words, units, currencies, dates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from rewardkit.verifiers import reading
from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.tree import Node, UnreadableError


def listed(words: str, between: str | None = None) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split(between))


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

CONNECTIVES: Final = spellings("and and und et y и 和 与 及; or or oder ou или 或 或者 または")
CONSTANT_WORDS: Final = spellings(WORDS["constant_words"])
"""Words that stand for a sign, and the sign."""


def _counted(words: str, start: int) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split(), start)}


def _numbers(table: str) -> dict[str, int]:
    """The words of a table of `word=number`, and their numbers."""
    return {word: int(number) for word, number in (pair.split("=") for pair in table.split())}


UNITS_IN_WORDS: Final = _counted(
    WORDS["numbers"],
    start=0,
)
_TENS: Final = _counted("twenty thirty forty fifty sixty seventy eighty ninety", start=2)
_GROUPS: Final = {
    word: int(Fraction(size)) for word, size in reading.SCALES.items() if word != "hundred"
}
_DENOMINATORS: Final = {
    **{f"{word}th": value for word, value in UNITS_IN_WORDS.items() if value > 3},
    **{f"{word[:-1]}ieth": 10 * value for word, value in _TENS.items()},
    **{f"{word}th": size for word, size in _GROUPS.items()},
    **_numbers(
        "half=2 halve=2 third=3 quarter=4 fifth=5 eighth=8 ninth=9 twelfth=12 hundredth=100"
    ),
}
_SIZES: Final = _GROUPS | _numbers("hundred=100 dozen=12 gross=144 lakh=100000 crore=10000000")
SCALES: Final = {
    **{word: Fraction(size) for word, size in _SIZES.items()},
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
    numeral = word in UNITS_IN_WORDS or word in _TENS
    return numeral or word in _REFUSED or singular(word) in SCALES


_TAKEN_BACK = re.compile(
    r"\b(?:not(?! only)|never|neither|nor|cannot|[a-z]{2,7}n['’]t|wrong|false|incorrect"
    r"|anything but|except|might|may|could|maybe|perhaps|possibly|guess(?:ed)?|estimated?"
    r"|unsure|whether|if|unless|about|approximately|roughly|around|nearly|almost|close to"
    r"|(?:less|more|fewer|greater|larger|smaller) than|at (?:the )?(?:least|most)|up to|divides"
    r"|divisible by|between|bounded by|(?:upper|lower) bound|multiples? of|complement of"
    r"|rounds? to|impossible|unlikely)\b",
    re.IGNORECASE,
)


def takes_back(words: str) -> bool:
    """Return whether words say of a value that it is denied, hedged, bounded or rounded."""
    return _TAKEN_BACK.search(words) is not None


def counts_things(words: list[str]) -> bool:
    """Whether the words name what a number counts: their head is a plural, as in `red marbles`."""
    phrase: list[str] = []
    for word in words:
        if word.lower() in _PREPOSITIONS and phrase:
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
        for prefix in _prefixes_of(name, prefixes.split(","))
    }
    return (
        prefixed
        | dict(_units(WORDS["units_with_prefixes"]))
        | dict(_units(WORDS["units"]))
        | _CURRENCY
    )


def _prefixes_of(name: str, prefixes: list[str]) -> list[str]:
    """The symbols of a prefix for a symbol, its name for a word."""
    symbol = len(name) <= 2 or name in ("mol", "bar", "cal", "bit")
    return prefixes[:-1] if symbol else prefixes[-1:]


def currency(words: str) -> Unit | None:
    """The currency that a code or a word names; None for any other word."""
    units = (known(words.removesuffix(".").upper()), known(words.capitalize()))
    return next((unit for unit in units if unit in (*_CURRENCY.values(), known("cent"))), None)


_LONGEST_UNIT = 120
"""Characters of the longest text that is read as a unit."""

_UNIT_PART = re.compile(r"[^\W\d_]+(?:['.-][^\W\d_]+)*\.?|[°%¢℃℉£][CF]?|\^?\s?[-−]?[0-9]|[/()·*]")
_NOISE = re.compile(
    r"\\(?:mu|Omega)(?![a-zA-Z])\s*|\\text|[{}]"
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
    lower = word.lower() if len(word) > 1 else word  # M is a name, not a metre
    for spelling in (word, short, singular(word), lower, singular(lower)):
        if spelling in table:
            return table[spelling]
    return None


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
    part_of_something = plain.split()[:1] == ["of"]
    if words and not (of_one or part_of_something or counts_things(plain.split())):
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
    if _UNIT_PART.sub("", text).strip(" ^.,"):
        raise UnreadableError(f"{text!r} is not a unit")
    reader = _UnitReader()
    for part in _UNIT_PART.findall(text):
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
        elif lower in ("unit", "units") and self.sign > 0 and not self.words:
            self._name("unit")

    def _power(self, word: str) -> None:
        if self.last is not None and word in ("squared", "cubed"):
            self._raise(_POWERS[word])
        elif word in ("squared", "cubed"):
            raise UnreadableError(f"the word {word!r} is more than a unit")
        else:
            self.raised = _POWERS[word]

    def _raise(self, exponent: int) -> None:
        if self.last is None:
            raise UnreadableError("a number that is not a unit")
        if exponent != 1:
            self.measured = product(self.measured, power(self.last, exponent - 1))

    def _name(self, word: str) -> None:
        base = UNIT if word == "unit" else known(word)
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
    if not 0 < abs(exponent := int(digits)) <= 4:
        raise UnreadableError("a unit to an odd power")
    return exponent


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
    if whole is not None:
        return Fraction(whole)
    if "and" in parts:
        place = len(parts) - 1 - parts[::-1].index("and")
        whole, part = _whole(parts[:place]), _part(parts[place + 1 :])
        return None if whole is None or part is None or part >= 1 else whole + part
    return _part(parts)


def _part(parts: list[str]) -> Fraction | None:
    under = _DENOMINATORS.get(singular(parts[-1])) if len(parts) > 1 else None
    if not under:
        return None
    count = 1 if parts[:-1] in (["a"], ["an"]) else _whole(parts[:-1])
    return None if count is None else Fraction(count, under)


_KINDS: Final = {
    **{word: "d" if 0 < value < 10 else "t" for word, value in UNITS_IN_WORDS.items()},
    **dict.fromkeys(_TENS, "T"),
    **{word: str(power) for power, word in enumerate(_GROUPS)},
    "zero": "z",
    "a": "a",
    "hundred": "H",
    "and": "&",
}
_BELOW_100 = "(?:Td?|[dtz])"
_BELOW_1000 = f"(?:[adt]H(?:&?{_BELOW_100})?|{_BELOW_100})"
_GROUP = "(?:(?:a|" + _BELOW_1000 + r"){}(?:\Z|&?(?=.)))?"
_WHOLE = re.compile("".join(map(_GROUP.format, "543210")) + _BELOW_1000 + "?")
"""The kinds of the words of a whole number: groups of three digits in descending order."""


def _whole(parts: list[str]) -> int | None:
    """`two thousand one hundred and five`."""
    if not parts or not _WHOLE.fullmatch("".join(_KINDS.get(word, "?") for word in parts)):
        return None
    total = group = 0
    for word in parts:
        if word in _GROUPS:
            total, group = total + group * _GROUPS[word], 0
        elif word == "hundred":
            group *= 100
        else:
            group += 1 if word == "a" else UNITS_IN_WORDS.get(word, 10 * _TENS.get(word, 0))
    return total + group


_ZERO, _INFINITY = tree.Number(Fraction(0)), tree.Constant("∞")
_BELOW: Final = tree.Product((tree.Number(Fraction(-1)), _INFINITY))
_PARTS_OF_REALS: Final[dict[str, Node]] = {
    "": tree.NumberSet("R"),
    "+": tree.Sequence((_ZERO, _INFINITY), "(", ")"),
    "-": tree.Sequence((_BELOW, _ZERO), "(", ")"),
    "≥0": tree.Sequence((_ZERO, _INFINITY), "[", ")"),
    "≤0": tree.Sequence((_BELOW, _ZERO), "(", "]"),
    "*": tree.SetOperation("∖", tree.NumberSet("R"), tree.Sequence((_ZERO,), "⦃", "⦄")),
}
"""What a sign behind ℝ leaves of the real numbers."""

_SETS_OF_INTEGERS: Final = spellings("Z+ Z* N+ N*; Z≥0 N0 N≥0")
_ONE_SIGN: Final = {">0": "+", "≥1": "+", "<0": "-", "·": "*", "≠0": "*"}
_SETS_IN_WORDS = re.compile(
    r"(?:(?:the )?set of )?(?:all (?:the )?|the |any )?"
    r"(?:(positive|negative|non-?negative|non-?positive|non-?zero) )?"
    r"(reals?(?: numbers?)?|integers|rational numbers|rationals|natural numbers|complex numbers)"
)
_SIGNS_IN_WORDS: Final = spellings(
    "+ positive; - negative; ≥0 nonnegative; ≤0 nonpositive; * nonzero"
)


def number_set(name: str, part: str) -> Node:
    """The set of numbers of a letter, or the part that a sign behind it leaves: ℝ⁺, ℤ_{>0}."""
    part = _ONE_SIGN.get(part, part)
    if name == "R" and part in _PARTS_OF_REALS:
        return _PARTS_OF_REALS[part]
    return tree.NumberSet(_SETS_OF_INTEGERS.get(f"{name}{part}", f"{name}{part}"))


def _set_in_words(words: str) -> Node | None:
    """ℝ in `all real numbers`, [0,∞) in `non-negative reals`; None for any other words."""
    if (found := _SETS_IN_WORDS.fullmatch(words)) is None:
        return None
    name = {"i": "Z"}.get(found[2][0], found[2][0].upper() if found[2][:2] != "ra" else "Q")
    part = _SIGNS_IN_WORDS[found[1].replace("-", "")] if found[1] else ""
    return number_set(name, part) if name == "R" or part != "*" else None


_OF_A_SERIES = r"(?:(?:the |this )?(?:series|sequence|(?:improper )?integral) |it )?"
_PRONOUN = "(?:it|they|he|she|this|that)"
_AUXILIARY = "(?:is|are|was|were|does|do|did|has|have|can|could|will|would)"
_SUCH = "(?:such |real |integer |positive |valid )"
_CANNOT = "can(?: ?not|['’]t)"
_TENDS = r"(?:(?:it |the limit )?(?:tends to|goes to|diverges to|approaches) )?"
_STATEMENTS: Final = {
    "dne": r"(?:the )?(?:limit |value |it )?(?:dne|do(?:es)? not exist|doesn't exist)",
    "converges": rf"{_OF_A_SERIES}(?:converges|(?:is )?convergent)",
    "diverges": rf"{_OF_A_SERIES}(?:diverges|(?:is )?divergent|does(?: not|n't) converge)",
    "yes": rf"yes, {_PRONOUN} {_AUXILIARY}(?: possible| true| so)?",
    "no": rf"no, {_PRONOUN} (?:{_AUXILIARY} ?not(?: possible)?"
    rf"|(?:{_AUXILIARY}|ca|wo)n['’]t(?: possible)?|is impossible)",
    "none": r"(?:there (?:is|are) )?none(?: of them)?(?: exists?)?",
    "cannot be determined": rf"(?:it |the (?:answer|value) )?{_CANNOT} be determined",
    "impossible": r"(?:(?:it|this|that) is )?(?:impossible|not possible)"
    rf"|(?:it|this|that) {_CANNOT} be done",
}
"""Statements in one spelling, and their wordings."""

_MEANINGS: Final[dict[Node, str]] = {
    tree.NumberSet("∅"): r"(?:the )?empty set"
    r"|(?:there (?:is|are|exists?) |(?:the |this )?(?:equation|system|problem|it) has )?"
    rf"no (?:{_SUCH}{{0,2}}(?:solution|root|value|number|integer)s?|{_SUCH}+[a-z])(?: exists?)?",
    _INFINITY: rf"{_TENDS}(?:positive )?infinity"
    r"|(?:(?:there are |has )?infinitely many|infinite|(?:an )?infinite number of)"
    r"(?: real)?(?: solutions| values| roots)?",
    _BELOW: rf"{_TENDS}(?:negative|minus) infinity",
    **{tree.Text(statement): wordings for statement, wordings in _STATEMENTS.items()},
}
_SENTENCES: Final = {meaning: re.compile(wordings) for meaning, wordings in _MEANINGS.items()}
"""Sentences that have one meaning in several wordings."""


def words_as_answer(text: str) -> Node:
    """The set or the number that the words name, else the words in one spelling."""
    words = " ".join(text.lower().split()).strip(".,:;! ")
    return meaning(words) or tree.Text(words)


@lru_cache(maxsize=1024)
def meaning(words: str) -> Node | None:
    """The set, the number or the statement that lower-case words name; None for any others."""
    for stated, wordings in _SENTENCES.items():
        if wordings.fullmatch(words):
            return stated
    number = number_in_words(words)
    if number is not None:
        return tree.Number(number)
    return _weekday(words) or _set_in_words(words) or _measured_in_words(words)


def _weekday(words: str) -> Node | None:
    """`on a Wednesday`, `Wed` and `Wednesdays` in one spelling."""
    day = words.removeprefix("on ").removeprefix("a ").rstrip(".s")
    found = [name for name in WEEKDAYS if len(day) > 2 and name.startswith(day)]
    return tree.Text(found[0]) if found else None


def _measured_in_words(words: str) -> Node | None:
    """Five dollars, ninety square feet, seven pencils."""
    parts = words.split()
    for place in range(len(parts) - 1, 0, -1):
        value, unit_words = number_in_words(" ".join(parts[:place])), " ".join(parts[place:])
        if value is None:
            continue
        part = parts[place] == "of" and value < 1
        if place == len(parts) - 1 or part or known_unit(unit_words):
            with suppress(UnreadableError):
                return tree.Quantity(tree.Number(value), *unit(unit_words, of_one=value == 1))
    return None


IN_WORDS: Final = listed(WORDS["in_words"])
"""Words that are never read as products of variables."""

NAMED: Final = re.compile(r"(?:\s+[A-Za-z]+){0,4}\s*[=≈:]")
"""What follows a name: at most four words, then an equals sign or a colon."""
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


MONTHS: Final = listed(
    "january february march april may june july august september october november december"
)
WEEKDAYS: Final = listed("monday tuesday wednesday thursday friday saturday sunday")
_BESIDE: Final = WEEKDAYS | listed("the of on")
ORDINAL_ENDING: Final = "(?:st|nd|rd|th)"
ORDINAL: Final = re.compile(rf"(?<=[0-9]){ORDINAL_ENDING}\b")
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
