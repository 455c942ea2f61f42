"""The words and signs of answers: signs, functions, number words, units, currencies, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final

from rewardkit.verifiers import reading
from rewardkit.verifiers.math.tree import (
    Constant,
    Node,
    Number,
    NumberSet,
    Product,
    Quantity,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UnreadableError,
)


def listed(words: str, between: str | None = None) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split(between))


_SIGNS: Final = {
    "≤": r"\le \leq \leqslant",
    "≥": r"\ge \geq \geqslant",
    "≠": r"\ne \neq",
    "<": r"\lt",
    ">": r"\gt",
    "∪": r"\cup \bigcup",
    "∩": r"\cap \bigcap",
    "∖": r"\setminus \backslash",
    "∈": r"\in",
    "∉": r"\notin",
    "⊂": r"\subset \subseteq",
    "≈": r"\approx \sim \simeq",
    "≡": r"\equiv",
    "·": r"\cdot \times \ast × ∙ ⋅ •",
    "/": r"\div ÷",
    "±": r"\pm",
    "∓": r"\mp",
    "°": r"\degree \circ º",
    "%": r"\%",
    "⦃": r"\{ \lbrace",
    "⦄": r"\} \rbrace",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "∞": r"\infty \infin",
    "π": r"\pi",
    "|": r"\mid \vert \lvert \rvert",
    "‖": r"\| \Vert",
    ":": r"\colon \ratio",
    "≅": r"\cong",
    "∝": r"\propto",
    "→": r"\to \rightarrow \longrightarrow \Rightarrow \implies ⇒",
    "↦": r"\mapsto \longmapsto",
    "∅": r"\emptyset \varnothing",
    "…": r"\dots \ldots \cdots",
    "√": r"\sqrt \surd",
    "∧": r"\wedge \land",
    "∨": r"\vee \lor",
    "¬": r"\lnot \neg",
    "¤": r"\$",
    "€": r"\euro",
    "£": r"\pounds",
    "¥": r"\yen",
    "∠": r"\angle",
    "△": r"\triangle \bigtriangleup",
    "#": r"\#",
    "and": r"\&",
    "-": "− – —",
    "\\\\": r"\cr \newline",
}
SIGNS: Final = {spelling: sign for sign, all_ in _SIGNS.items() for spelling in all_.split()}
"""Another spelling of a sign, and the sign."""

LATEX_SIGNS: Final = str.maketrans(
    {sign: f"{all_.split()[0]} " for sign, all_ in _SIGNS.items() if not sign.isascii()}
    | dict.fromkeys("⨯✕", r"\times ")
)
"""The sign in LaTeX."""

JOINTS: Final = {"∧": "and", "∨": "or"}
"""Words for the signs of logic."""

CROSSES: Final = {"⨯": "cross()", "✕": "times()"}
r"""\times between vectors, and between letters that may be vectors."""

OVER: Final = listed(r"\overline \vec \hat \bar \tilde \widehat \mathring")
"""Accents: part of a variable's name."""

FOREIGN: Final = listed(
    r"\int \iint \iiint \oint \lim \limsup \liminf \sup \inf \nabla \deg \dim \ker"
    r" \bigcup \bigcap \forall \exists \over \stackrel \cancel \substack"
)
"""Commands that we don't read and math-verify may."""
SUMS: Final = {r"\sum": "sum", r"\prod": "prod"}
MODULO: Final = frozenset((r"\pmod", r"\bmod", r"\mod", r"\pod"))

_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon"
    " phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"
)
GREEK_LETTERS: Final = dict(zip("αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΦΨΩ", _GREEK.split(), strict=True))
GREEK: Final = listed(f"{_GREEK} varepsilon vartheta varrho varphi Upsilon ell hbar Pi aleph")

_FUNCTIONS: Final = listed(
    "sin cos tan cot sec csc sinh cosh tanh coth sech csch arcsin arccos arctan arccot arcsec"
    " arccsc arcsinh arccosh arctanh log ln exp lg gcd lcm max min det sgn abs floor ceil sqrt cbrt"
    " mod Re Im arg cis"
)
_OTHER_NAMES: Final = (
    "asin=arcsin acos=arccos atan=arctan asinh=arcsinh acosh=arccosh atanh=arctanh cosec=csc tg=tan"
    " arctg=arctan ctg=cot sign=sgn ceiling=ceil"
)
FUNCTIONS: Final[dict[str, str]] = {
    **{name: name for name in _FUNCTIONS},
    **dict(pair.split("=") for pair in _OTHER_NAMES.split()),
}
"""Spelling and name of the functions that are read."""

_CONSTANT_WORDS: Final = {
    "π": "pi",
    "∞": "infty inf infinity Infinity oo",
    "∅": "emptyset",
    "and": "and und",
    "or": "or oder",
    "∪": "union cup",
    "%": "percent percentage pct",
    "°": "degrees degree deg",
    "R": "R",
    "U": "U",
}
CONNECTIVES: Final = {
    **dict.fromkeys(("and", "und", "et", "y", "и", "和", "与", "及"), "and"),
    **dict.fromkeys(("or", "oder", "ou", "или", "或", "或者", "または"), "or"),
}
CONSTANT_WORDS: Final = {
    word: sign for sign, all_ in _CONSTANT_WORDS.items() for word in all_.split()
}
"""Words that stand for a sign, and the sign."""


def _counted(words: str, start: int) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split(), start)}


UNITS_IN_WORDS: Final = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen",
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
    "half": 2,
    "halve": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "hundredth": 100,
}
SCALES: Final = {
    **{word: Fraction(size) for word, size in _GROUPS.items()},
    **{word: Fraction(1, parts) for word, parts in _DENOMINATORS.items()},
    "hundred": Fraction(100),
    "lakh": Fraction(10**5),
    "crore": Fraction(10**7),
    "dozen": Fraction(12),
    "gross": Fraction(144),
}
"""Words that multiply the number before them."""

_REFUSED: Final = listed(
    "nothing nobody"
    " not no non never isn't or either neither nor but at least most over under above below"
    " about approximately approx around roughly nearly almost less more fewer greater than"
    " between from to up maybe possibly perhaps probably unless except minus negative plus"
    " times equals if when where only some any all every impossible undefined unknown"
    " infinitely other another guess options option candidates half double twice triple"
    " thrice third quarter score scores gross squared cubed false wrong incorrect and"
    " pair pairs couple couples percentile percentiles"
    " reciprocal reciprocals inverse inverses opposite opposites factorial factorials root"
    " roots square squares cube cubes power powers log logs logarithm logarithms exponent"
    " exponents sine sines cosine cosines tangents derivative derivatives integrals"
    " percentages folds fold mod modulo base complement complements negatives positives ones"
    " twos threes fours fives sixes sevens eights nines tens elevens twelves doubles triples"
    " raised divided multiplied subtracted added increased decreased short off bounded"
    " within absolute conjugate conjugates thousandths"
)
"""Words that may change the value beside them."""

_UNCOUNTED: Final = listed(
    "people men women children feet teeth mice geese sheep fish deer dice money cattle oxen"
    " pence data series species bacteria fungi cacti larvae alumni criteria phenomena"
    " chance personnel staff folk poultry bread juice gold paint wood water sugar flour rice"
    " milk land increase decrease discount interest profit loss error"
)
_PREPOSITIONS: Final = listed(
    "in of for on by with left remaining total altogether each per long wide tall high old"
    " during during's through across after before that which"
)
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

_PREFIXES: Final = {
    word: (symbols.split(","), Fraction(10) ** int(power))
    for symbols, word, power in (
        prefix.split("=")
        for prefix in listed(
            "Y=yotta=24 Z=zetta=21 E=exa=18 P=peta=15 T=tera=12 G=giga=9 M=mega=6 k=kilo=3"
            " h=hecto=2 da=deca=1 d=deci=-1 c=centi=-2 m=milli=-3 μ,µ,u=micro=-6 n=nano=-9"
            " p=pico=-12 f=femto=-15 a=atto=-18"
        )
    )
}
"""The name of each prefix, its symbols and its size."""

_PREFIXED: Final = """
m meter metre | length
g gram gramme | mass | 1/1000
s second | time
A ampere amp | current
K kelvin | kelvin
mol mole | amount
cd candela | luminosity
l L liter litre | length^3 | 1/1000
N newton | mass length time^-2
J joule | mass length^2 time^-2
W watt | mass length^2 time^-3
V volt | mass length^2 time^-3 current^-1
C coulomb | current time
F farad | mass^-1 length^-2 time^4 current^2
Ω Omega ohm | mass length^2 time^-3 current^-2
S siemens | mass^-1 length^-2 time^3 current^2
Hz hertz | time^-1
Pa pascal | mass length^-1 time^-2
T tesla | mass time^-2 current^-1
H henry | mass length^2 time^-2 current^-2
Wb weber | mass length^2 time^-2 current^-1
lm lumen | luminosity
lx lux | luminosity length^-2
Bq becquerel | time^-1
Gy gray | length^2 time^-2
eV electronvolt | mass length^2 time^-2 | 1602176634/10000000000000000000000000000
bar | mass length^-1 time^-2 | 100000
cal calorie | mass length^2 time^-2 | 523/125
Wh | mass length^2 time^-2 | 3600
Ah | current time | 3600
bit | bit
B byte | bit | 8
"""
_PLAIN: Final = """
min minute | time | 60
h hr hour | time | 3600
day | time | 86400
week wk | time | 604800
fortnight | time | 1209600
yr year | year
month | year | 1/12
decade | year | 10
century centurie | year | 100
in inch inche | length | 127/5000
ft foot feet | length | 381/1250
yd yard | length | 1143/1250
mi mile | length | 201168/125
furlong | length | 201168/1000
Å angstrom | length | 1/10000000000
micron | length | 1/1000000
hectare ha | length^2 | 10000
acre | length^2 | 316160658/78125
gallon gal | length^3 | 473176473/125000000000
quart qt | length^3 | 473176473/500000000000
pint pt | length^3 | 473176473/1000000000000
cup | length^3 | 473176473/2000000000000
tablespoon tbsp | length^3 | 473176473/32000000000000
teaspoon tsp | length^3 | 157725491/32000000000000
cc | length^3 | 1/1000000
gm | mass | 1/1000
lb pound | mass | 45359237/100000000
oz ounce | mass | 45359237/1600000000
ton tonne | mass | 1000
stone | mass | 317514659/50000000
u amu dalton | atomic
mph | length time^-1 | 1397/3125
kph kmh kmph | length time^-1 | 5/18
knot kn | length time^-1 | 463/900
atm atmosphere | mass length^-1 time^-2 | 101325
psi | pound_per_inch
mmHg torr | mercury
rpm | turn time^-1 | 1/60
revolution turn | turn
° degree deg | angle
arcminute | angle | 1/60
arcsecond | angle | 1/3600
rad radian sr steradian | radian
°C ℃ celsius Celsius | °C
°F ℉ fahrenheit Fahrenheit | °F
% percent pct | share | 1/100
cent ¢ | dollar | 1/100
penny pence | sterling | 1/100
dB decibel | decibel
"""
_CURRENCY: Final[dict[str, Unit]] = {
    name: (((names.split()[0], 1),), Fraction(1))
    for names in listed(
        "dollar usd USD buck ¤;euro EUR €;sterling GBP £;yen JPY ¥;yuan rmb RMB CNY;rupee Rs INR ₹"
        ";ruble rouble RUB ₽;won KRW ₩;lira TRY ₺;peso MXN ₱;shekel ILS ₪;dong VND ₫;naira NGN ₦"
        ";baht THB ฿;franc CHF",
        ";",
    )
    for name in names.split()
}
CURRENCY_SIGNS: Final = "¢" + "".join(name for name in _CURRENCY if not name.isascii())
CODES: Final = frozenset(name for name in _CURRENCY if name[0].isupper())
"""Currencies that may stand before an amount."""


def _dimensions(text: str) -> tuple[tuple[str, int], ...]:
    found = [(name, int(power or 1)) for name, power in re.findall(r"([^\s^]+)(?:\^(-?\d))?", text)]
    return tuple(sorted(found)) if found != [("radian", 1)] else ()


def _units(table: str) -> Iterator[tuple[str, Unit]]:
    for line in table.strip().splitlines():
        names, dimensions, size = (*line.split(" | "), "1")[:3]
        for name in names.split():
            yield name, (_dimensions(dimensions), Fraction(size))


@cache
def unit_table() -> dict[str, Unit]:
    """Every known spelling of a unit, in the singular, and the unit."""
    table: dict[str, Unit] = {}
    for name, unit in _units(_PREFIXED):
        table.update(_with_prefixes(name, unit))
    return {**table, **dict(_units(_PREFIXED)), **dict(_units(_PLAIN)), **_CURRENCY}


def _with_prefixes(name: str, base: Unit) -> dict[str, Unit]:
    """A symbol with the symbols of prefixes, a word with their words."""
    symbol = len(name) <= 2 or name in ("mol", "bar", "cal", "bit")
    return {
        prefix + name: (base[0], base[1] * size)
        for word, (symbols, size) in _PREFIXES.items()
        for prefix in (symbols if symbol else [word])
    }


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


_ZERO, _INFINITY = Number(Fraction(0)), Constant("∞")
_BELOW: Final = Product((Number(Fraction(-1)), _INFINITY))
_PARTS_OF_REALS: Final[dict[str, Node]] = {
    "": NumberSet("R"),
    "+": Sequence((_ZERO, _INFINITY), "(", ")"),
    "-": Sequence((_BELOW, _ZERO), "(", ")"),
    "≥0": Sequence((_ZERO, _INFINITY), "[", ")"),
    "≤0": Sequence((_BELOW, _ZERO), "(", "]"),
    "*": SetOperation("∖", NumberSet("R"), Sequence((_ZERO,), "⦃", "⦄")),
}
"""What a sign behind ℝ leaves of the real numbers."""

_ONE_SIGN: Final = {">0": "+", "≥1": "+", "<0": "-", "·": "*", "≠0": "*"}
_SETS_IN_WORDS = re.compile(
    r"(?:(?:the )?set of )?(?:all (?:the )?|the |any )?"
    r"(?:(positive|negative|non-?negative|non-?positive|non-?zero) )?"
    r"(reals?(?: numbers?)?|integers|rational numbers|rationals|natural numbers|complex numbers)"
)
_SIGNS_IN_WORDS: Final = {
    "positive": "+",
    "negative": "-",
    "nonnegative": "≥0",
    "nonpositive": "≤0",
    "nonzero": "*",
}


def number_set(name: str, part: str) -> Node:
    """The set of numbers of a letter, or the part that a sign behind it leaves: ℝ⁺, ℤ_{>0}."""
    part = _ONE_SIGN.get(part, part)
    if name == "R" and part in _PARTS_OF_REALS:
        return _PARTS_OF_REALS[part]
    if name in ("Z", "N") and part in ("+", "*"):
        return NumberSet("Z+")
    return NumberSet("Z≥0" if (name, part) in (("N", "0"), ("N", "≥0")) else f"{name}{part}")


def _set_in_words(words: str) -> Node | None:
    """ℝ in `all real numbers`, [0,∞) in `non-negative reals`; None for any other words."""
    if (found := _SETS_IN_WORDS.fullmatch(words)) is None:
        return None
    name = {"i": "Z"}.get(found[2][0], found[2][0].upper() if found[2][:2] != "ra" else "Q")
    part = _SIGNS_IN_WORDS[found[1].replace("-", "")] if found[1] else ""
    return number_set(name, part) if name == "R" or part != "*" else None


def _multiples_of_two(more: int) -> Node:
    """2k + more for whole numbers k."""
    k = Symbol("k")
    value = Sum((Product((Number(Fraction(2)), k)), Number(Fraction(more))))
    return Sequence((value, Relation((k, NumberSet("Z")), ("∈",))))


_OF_A_SERIES = r"(?:(?:the |this )?(?:series|sequence|(?:improper )?integral) |it )?"
_PRONOUN = "(?:it|they|he|she|this|that)"
_AUXILIARY = "(?:is|are|was|were|does|do|did|has|have|can|could|will|would)"
_SUCH = "(?:such |real |integer |positive |valid )"
_TENDS = r"(?:(?:it |the limit )?(?:tends to|goes to|diverges to|approaches) )?"
_SENTENCES: tuple[tuple[re.Pattern[str], Node], ...] = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (
            r"(?:the )?empty set|(?:there (?:is|are|exists?) "
            r"|(?:the |this )?(?:equation|system|problem|it) has )?"
            rf"no (?:{_SUCH}{{0,2}}(?:solution|root|value|number|integer)s?|{_SUCH}+[a-z])"
            r"(?: exists?)?",
            NumberSet("∅"),
        ),
        (r"(?:the )?(?:limit |value |it )?(?:dne|do(?:es)? not exist|doesn't exist)", Text("dne")),
        (
            r"(?:it |(?:the )?(?:limit |value )?)?(?:is )?(?:undefined|not defined)",
            Text("undefined"),
        ),
        (
            r"(?:(?:there are |has )?infinitely many|infinite|(?:an )?infinite number of)"
            r"(?: real)?(?: solutions| values| roots)?",
            Constant("∞"),
        ),
        (rf"{_OF_A_SERIES}(?:converges|(?:is )?convergent)", Text("converges")),
        (
            rf"{_OF_A_SERIES}(?:diverges|(?:is )?divergent|does(?: not|n't) converge)",
            Text("diverges"),
        ),
        (rf"yes, {_PRONOUN} {_AUXILIARY}(?: possible| true| so)?", Text("yes")),
        (
            rf"no, {_PRONOUN} (?:(?:{_AUXILIARY} ?not|(?:{_AUXILIARY}|ca|wo)n['’]t)(?: possible)?"
            r"|is impossible)",
            Text("no"),
        ),
        (
            r"(?:it |the (?:answer|value) )?can(?: ?not|['’]t) be determined",
            Text("cannot be determined"),
        ),
        ("even", _multiples_of_two(0)),
        ("odd", _multiples_of_two(1)),
        (r"(?:there (?:is|are) )?none(?: of them)?(?: exists?)?", Text("none")),
        (
            r"(?:(?:it|this|that) is )?(?:impossible|not possible)"
            r"|(?:it|this|that) can(?: ?not|['’]t) be done",
            Text("impossible"),
        ),
        (_TENDS + "(?:positive )?infinity", _INFINITY),
        (_TENDS + "(?:negative|minus) infinity", _BELOW),
    )
)
"""Sentences that have one meaning in several wordings."""


def words_as_answer(text: str) -> Node:
    """The set or the number that the words name, else the words in one spelling."""
    words = " ".join(text.lower().split()).strip(".,:;! ")
    return meaning(words) or Text(words)


@lru_cache(maxsize=1024)
def meaning(words: str) -> Node | None:
    """The set, the number or the statement that lower-case words name; None for any others."""
    for pattern, stated in _SENTENCES:
        if pattern.fullmatch(words):
            return stated
    number = number_in_words(words)
    if number is not None:
        return Number(number)
    return _weekday(words) or _set_in_words(words) or _measured_in_words(words)


def _weekday(words: str) -> Node | None:
    """`on a Wednesday`, `Wed` and `Wednesdays` in one spelling."""
    day = words.removeprefix("on ").removeprefix("a ").rstrip(".s")
    found = [name for name in WEEKDAYS if len(day) > 2 and name.startswith(day)]
    return Text(found[0]) if found else None


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
                return Quantity(Number(value), *unit(unit_words, of_one=value == 1))
    return None


IN_WORDS: Final = listed(
    "yes no not is are all any for per true false none even odd where when if with from than"
    " then only both neither always never does exist undefined"
)
"""Words that are never read as products of variables."""

NAMED: Final = re.compile(r"(?:\s+[A-Za-z]+){0,4}\s*[=≈:]")
"""What follows a name: at most four words, then an equals sign or a colon."""
_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
_SYLLABLE = re.compile(r"[bcdfghjklmnpqrstvwxz][aeiou][bcdfghjklmnpqrstvwxz]", re.IGNORECASE)
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
    if run in ("sq", "cu"):
        return True
    if after_word or known(run) is not None or scale(run) is not None:
        return True
    word = _VOWEL.search(run) if len(run) > 3 else _SYLLABLE.fullmatch(run)
    return run not in GREEK and word is not None


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
