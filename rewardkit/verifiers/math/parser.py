"""Whole answers: lists, sets, ratios, relations, and the labels before them."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import chain, pairwise

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.lexicon import (
    BASES,
    BINOMIALS,
    FOREIGN,
    FRACTIONS,
    MODULO,
    OVER,
    POSITIVE_REALS,
    RADIANS,
    SUMS,
    SYNONYMS,
    Unit,
    known,
    listed,
    refuses,
    scale,
    unit_table,
    words_as_answer,
)
from rewardkit.verifiers.math.tokens import Token, tokens
from rewardkit.verifiers.math.tree import (
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Root,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Text,
    UnreadableError,
    mapped,
    negative,
    nodes,
    reciprocal,
)

DEEPEST = 60
"""Levels of brackets, powers and functions inside each other."""

LONGEST_NUMBER = 1_000
"""Digits of the longest number that is read."""

HIGHEST_EXPONENT = 2_000
"""Largest power of ten in scientific notation."""

_END = Token("end of text", "")


class Cursor:
    """Peeks at tokens and takes them."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.level = 0

    @property
    def peek(self) -> Token:
        """The next token."""
        try:
            return self.tokens[self.at]
        except IndexError:
            return _END

    def ahead(self, count: int) -> Token:
        """The token so many places after the next one."""
        place = self.at + count
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def take(self) -> Token:
        """The next token, passed."""
        token = self.peek
        self.at += 1
        return token

    def mark(self, marks: str) -> str | None:
        """The next token's sign, passed, where it is one of `marks`."""
        token = self.peek
        if token.kind == "mark" and token.text in marks:
            self.at += 1
            return token.text
        return None

    def named(self, *names: str) -> bool:
        """Whether the next token is a sign of one of these names; it is passed then."""
        if self.peek.kind == "mark" and self.peek.text in names:
            self.at += 1
            return True
        return False

    def expect(self, marks: str) -> str:
        """One of `marks`, passed."""
        found = self.mark(marks)
        if found is None:
            raise UnreadableError(f"{self.peek.text or 'the end'!r} where {marks!r} should stand")
        return found

    def number(self) -> Number:
        """The next token as a number."""
        written = self.take().text
        if len(written) < 20 and written.isdecimal():
            return Number(Fraction(int(written)))
        mantissa, _, exponent = written.replace("E", "e").partition("e")
        if len(mantissa) > LONGEST_NUMBER or abs(int(exponent or 0)) > HIGHEST_EXPONENT:
            raise UnreadableError("a number too long")
        whole, point, places = mantissa.partition(".")
        value = Fraction(int(whole + places or 0), 10 ** len(places)) * Fraction(10) ** int(
            exponent or 0
        )
        return Number(value, len(places) if point and not exponent else None)

    def digit(self) -> Number:
        r"""The first digit of the next token, the others left: \frac12 is a half."""
        token = self.take()
        if not token.text[0].isdigit():
            raise UnreadableError("a decimal point without a digit")
        if len(token.text) > 1:
            self.at -= 1
            self.tokens[self.at] = Token("number", token.text[1:])
        return Number(Fraction(token.text[0]))

    def deeper(self) -> Cursor:
        """One level down, for the length of a `with` block."""
        return self

    def __enter__(self) -> None:
        self.level += 1
        if self.level > DEEPEST:
            raise UnreadableError("too deep to be an answer")

    def __exit__(self, *_: object) -> None:
        self.level -= 1


CURRENCIES = {
    "¤": "dollar",
    "€": "euro",
    "£": "£",
    "¥": "yen",
    "₹": "rupee",
    "₽": "ruble",
    "₩": "won",
    "₺": "lira",
    "₱": "peso",
    "₪": "shekel",
    "₫": "dong",
    "₦": "naira",
    "฿": "baht",
}
"""The sign of a currency, and its name in the table of units."""

_SCALES_OF_TEMPERATURE = {"c": "°C", "celsius": "°C", "f": "°F", "fahrenheit": "°F"}
_RADIANS = ("rad", "radian", "radians")
_PARTS_OF_DEGREE = (Fraction(1, 60), Fraction(1, 3600))


class QuantityParser(Cursor):
    """Reads what may follow the factors of a term."""

    def unit_follows(self) -> bool:
        """Whether the next token is a word, a currency sign, or a slash before a unit."""
        token = self.peek
        if token.kind != "mark":
            return token.kind == "text"
        if token.text == "/":
            return self.ahead(1).kind == "text"
        return token.text in CURRENCIES and self.ahead(1).kind != "number"

    def quantity(self, factors: list[Node]) -> Node:
        """The factors with the number words and the unit that follow them."""
        if self.peek.kind == "mark" and self.peek.text in CURRENCIES:
            return Quantity(_product(factors), *currency(self.take().text))
        words = self._unit_words()
        while words and (size := scale(words[0])) is not None:
            factors[-1] = _scaled(factors[-1], Number(size))
            del words[0]
        joined = bool(words) and words[-1].lower() == "and"
        if joined:
            words.pop()
        quantity = measured(factors, " ".join(words))
        if isinstance(quantity, Quantity) and self._smaller_unit_follows(joined):
            return self._compound(quantity)
        if joined:
            raise UnreadableError("the word 'and' at the end")
        return quantity

    def _smaller_unit_follows(self, joined: bool) -> bool:
        """Whether `30 min` follows `1 h`, with or without an `and` between."""
        if self.peek.kind == "number":
            return True
        listed = self.peek.text == "and" and self.ahead(1).kind == "number"
        if joined or not listed or self.ahead(2).kind != "text":
            return False
        self.take()
        return True

    def _compound(self, first: Quantity) -> Node:
        """5 feet 3 inches as one quantity."""
        second = self.product()
        if not (isinstance(second, Quantity) and second.kind == first.kind):
            raise UnreadableError("a number that follows without an operator")
        if not second.factor < first.factor:
            raise UnreadableError("units that are not in descending order")
        smaller = Product((second.value, Number(second.factor / first.factor)))
        return Quantity(Sum((first.value, smaller)), first.kind, first.factor)

    def _unit_words(self) -> list[str]:
        """The words that follow, with their powers."""
        found: list[str] = []
        while True:
            token = self.peek
            if token.kind == "text":
                found += self.take().text.split()
            elif token.text in ("/", "·") and token.kind == "mark" and self._names_unit(1):
                found += [self.take().text, self.take().text]
            elif found and token.kind == "symbol" and token.spaced and self._names_unit(0):
                found.append(self.take().text)
            elif token.text == "^" and found:
                self.take()
                found.append(f"^{_exponent(self.argument())}")
            else:
                return found

    def _names_unit(self, count: int) -> bool:
        token = self.ahead(count)
        return token.kind == "text" or (token.kind == "symbol" and token.text in unit_table())

    def degrees(self, node: Node) -> Node:
        """What a sign for degrees makes of the value before it."""
        following = self.peek
        spelled = _SCALES_OF_TEMPERATURE.get(following.text.lower())
        if following.kind in ("symbol", "text") and spelled is not None:
            self.take()
            return Quantity(node, *unit_table()[spelled])
        terms = [node]
        for size in _PARTS_OF_DEGREE:
            if self.peek.kind != "number" or not self._primes(1):
                break
            terms.append(Product((self.number(), Number(size))))
            self._take_primes()
        value = terms[0] if len(terms) == 1 else Sum(tuple(terms))
        return Quantity(value, *unit_table()["°"])

    def _primes(self, count: int) -> bool:
        signs = [self.ahead(count + place).text for place in range(3)]
        return signs[0] == "'" or (signs[0] == "^" and r"\prime" in signs[1:])

    def _take_primes(self) -> None:
        while self.peek.text in ("'", "^", "{", "}", r"\prime") and self.peek.text:
            self.take()

    # what the expression parser reads
    def product(self) -> Node:
        """Factors."""
        raise NotImplementedError

    def argument(self) -> Node:
        """What ^ applies to."""
        raise NotImplementedError


def currency(sign: str) -> Unit:
    """The unit of a currency's sign."""
    return unit_table()[CURRENCIES[sign]]


def _scaled(value: Node, size: Number) -> Node:
    """$5 million as an amount of money."""
    if isinstance(value, Quantity):
        return replace(value, value=Product((value.value, size)))
    return Product((value, size))


def _product(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def measured(factors: list[Node], words: str) -> Node:
    """The product of the factors with the unit that the words name."""
    value = _product(factors)
    of_one = isinstance(value, Number) and abs(value.value) == 1
    kind, size = lexicon.unit(words, of_one=of_one)
    if not kind and words.strip(" .") in _RADIANS:
        kind, size = RADIANS
    if isinstance(value, Quantity):
        kind, size = lexicon.product((value.kind, value.factor), (kind, size))
        value = value.value
    return Quantity(value, kind, size) if kind else value


def _exponent(node: Node) -> int:
    if isinstance(node, Number) and node.value.denominator == 1:
        return int(node.value)
    raise UnreadableError("a unit to an odd power")


_STARTERS = frozenset("(⦃[{|⌊⌈√π∞⟨∠△¤€£¥₹₽₩₺₱₪₫₦฿‖")
_VALUE_KINDS = frozenset(("symbol", "word", "begin", "command", "number", "numeral"))
_SUFFIX_COMMANDS = MODULO | {r"\choose"}
_AFTER_INTERVAL = frozenset(("", "∪", "∩", "∖", ",", "and", "or"))


class ExpressionParser(QuantityParser):
    """Reads sums and below; subclasses read brackets, functions and environments."""

    inside_bars = 0

    @property
    def inside_set(self) -> bool:
        """Whether a bar parts a set's members from their condition."""
        return False

    def sum(self) -> Node:
        """Terms with + - ± ∓ between."""
        with self.deeper():
            terms = [self._signed()]
            while (sign := self.mark("+-±∓")) is not None:
                terms.append(_with_sign(sign, self._signed()))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _signed(self) -> Node:
        signs = []
        while (sign := self.mark("+-±∓")) is not None:
            signs.append(sign)
        if "±" in signs or "∓" in signs:
            if len(signs) > 1:
                raise UnreadableError("several signs")
            return _with_sign(signs[0], self.product())
        node = self.product()
        return negative(node) if signs.count("-") % 2 else node

    def product(self) -> Node:
        """Factors with · / or nothing between; a unit after them makes a quantity."""
        factors = [self.factor()]
        while True:
            if self.unit_follows():
                return self.quantity(factors)
            if (sign := self.mark("·/*")) is not None:
                factor = self.factor_after_operator()
                factors.append(reciprocal(factor) if sign == "/" else factor)
            elif self.factor_follows():
                self._juxtapose(factors)
            else:
                return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def factor_after_operator(self) -> Node:
        """A factor with a sign of its own."""
        return negative(self.factor()) if self.mark("-") is not None else self.factor()

    def factor_follows(self) -> bool:
        """Whether the next token starts a factor that no operator parts from the last one."""
        token = self.peek
        if token.kind != "mark":
            return token.kind in _VALUE_KINDS and token.text not in _SUFFIX_COMMANDS
        if token.text in "|‖" and (self.inside_bars or self.inside_set):
            return False
        if token.text == "[" and self.ahead(1).text in _AFTER_INTERVAL:
            return False
        return token.text in _STARTERS

    def _juxtapose(self, factors: list[Node]) -> None:
        """Add the next factor; a fraction below one is added to the whole number before it."""
        before = factors[-1]
        whole = isinstance(before, Number) and before.value.denominator == 1
        if self.peek.kind == "number" and not isinstance(before, (Number, Quantity)):
            factors.append(self._number_after(before))
            return
        if self.peek.kind == "number":
            if not whole or len(factors) > 1:
                raise UnreadableError("a number that follows without an operator")
            factors[-1] = Sum((before, self._slashed()))
            return
        by_command = self.peek.text in (r"\frac", r"\dfrac", r"\tfrac", r"\sfrac", r"\nicefrac")
        factor = self.factor()
        if isinstance(factor, Text):
            factors[:] = [measured(factors, factor.words)]
            return
        if isinstance(before, Symbol) and factor == Number(Fraction(0)):
            raise UnreadableError("the value of a function at 0")
        part = whole_fraction(factor) if by_command and whole and len(factors) == 1 else None
        if part is None:
            factors.append(factor)
        elif 0 <= part.value < 1:
            factors[-1] = Sum((before, part))
        else:
            raise UnreadableError("a mixed number whose fraction is not below one")

    def _number_after(self, before: Node) -> Node:
        """A number after a power, brackets or a function, or a power of one: n2^{n-1}."""
        spaced = self.peek.spaced and isinstance(before, Power)
        raised = self.ahead(1).text == "^"
        if spaced or raised or isinstance(before, (Call, Sum)):
            return self.factor()
        raise UnreadableError("a number that follows without an operator")

    def _slashed(self) -> Number:
        """The fraction of a mixed number such as 3 1/2."""
        over = self.number()
        if self.mark("/") is None or self.peek.kind != "number":
            raise UnreadableError("two numbers without an operator between")
        under = self.number()
        if not (over.value.denominator == under.value.denominator == 1):
            raise UnreadableError("a mixed number of decimals")
        if not over.value < under.value:
            raise UnreadableError("a mixed number whose fraction is not below one")
        return Number(over.value / under.value)

    def factor(self) -> Node:
        """A base with its powers, factorials, degrees and percent signs."""
        with self.deeper():
            node = self.base()
            while True:
                token = self.peek
                if token.text == "^" or (token.text == "*" and self.ahead(1).text == "*"):
                    node = self._power(node)
                elif token.kind == "mark" and token.text in "!°%'":
                    node = self._suffixed(node, self.take().text)
                else:
                    return node

    def _power(self, base: Node) -> Node:
        if self.take().text == "*":
            self.take()
        if self.peek.text == "{" and self.ahead(1).text == "°" and self.ahead(2).text == "}":
            self.at += 3
            return self.degrees(base)
        if self.mark("°") is not None:
            return self.degrees(base)
        if (primes := self._raised_primes()) and isinstance(base, Symbol):
            return Symbol(base.name + "'" * primes)
        if self.peek.text in ("T", r"\top") or primes:
            if primes:
                raise UnreadableError("a prime")
            self.take()
            return Call("transpose", (base,))
        return Power(base, self.argument())

    def _raised_primes(self) -> int:
        """How many primes follow, passed, with or without braces."""
        braced = self.peek.text == "{" and self.ahead(1).text in (r"\prime", "'")
        if not braced and self.peek.text not in (r"\prime", "'"):
            return 0
        self.at += braced
        count = 0
        while self.peek.text in (r"\prime", "'"):
            self.take()
            count += 1
        if braced:
            self.expect("}")
        return count

    def _suffixed(self, node: Node, sign: str) -> Node:
        if sign == "!":
            doubled = self.mark("!") is not None
            if self.peek.text == "!":
                raise UnreadableError("three factorial signs")
            return Call("doublefactorial" if doubled else "factorial", (node,))
        if sign == "'":
            raise UnreadableError("a prime")
        if sign == "°":
            return self.degrees(node)
        return Quantity(node, *lexicon.unit_table()[sign])

    def argument(self) -> Node:
        """What a command or ^ applies to: a group, or one value."""
        with self.deeper():
            if self.mark("-") is not None:
                return negative(self.argument())
            return self.group() if self.peek.text == "{" else self.base()

    def half(self) -> Node:
        """An argument of a fraction: a group, one digit or one value."""
        return self.digit() if self.peek.kind == "number" else self.argument()

    def base(self) -> Node:
        """Numbers, symbols, functions, brackets."""
        token = self.peek
        match token.kind:
            case "number":
                return self._numeral(self.number())
            case "numeral":
                return self._lettered_numeral()
            case "symbol":
                return self.symbol()
            case "word":
                return self.function(self.take().text)
            case "begin":
                return self.environment()
            case "command":
                return self.command(self.take().text)
            case "mark":
                return self.bracketed()
            case _:
                raise UnreadableError(f"{token.text or 'the end'!r} where a value should stand")

    def _numeral(self, number: Number) -> Node:
        """The number, or a numeral with its base as a subscript."""
        if self.mark("_") is None:
            return number
        base = self._base_of_numeral()
        digits = str(number.value)
        if not (isinstance(base, Number) and base.value.denominator == 1 and digits.isdigit()):
            raise UnreadableError("a number with a subscript")
        if not 2 <= base.value <= 36 or any(int(digit) >= base.value for digit in digits):
            raise UnreadableError("a digit that its base does not have")
        return number if base.value == 10 else Numeral(digits, int(base.value))

    def _lettered_numeral(self) -> Node:
        digits = self.take().text.upper()
        self.expect("_")
        base = self._base_of_numeral()
        if not (isinstance(base, Number) and base.value in range(11, 37)):
            raise UnreadableError("a numeral without a base")
        if any(int(digit, 36) >= base.value for digit in digits):
            raise UnreadableError("a digit that its base does not have")
        return Numeral(digits, int(base.value))

    def _base_of_numeral(self) -> Node:
        word = self.ahead(1) if self.peek.text == "{" else self.peek
        if word.kind == "text" and word.text.lower() in BASES:
            self.at += 3 if self.peek.text == "{" else 1
            return Number(Fraction(BASES[word.text.lower()]))
        return self.argument()

    # what subclasses read
    def group(self) -> Node:
        """Braces."""
        raise NotImplementedError

    def bracketed(self) -> Node:
        """What starts with a sign."""
        raise NotImplementedError

    def symbol(self) -> Node:
        """A variable, a constant, or a function by a letter."""
        raise NotImplementedError

    def command(self, command: str) -> Node:
        """A LaTeX command with its arguments."""
        raise NotImplementedError

    def function(self, name: str) -> Node:
        """A function's argument."""
        raise NotImplementedError

    def environment(self) -> Node:
        """An environment."""
        raise NotImplementedError


def _with_sign(sign: str, node: Node) -> Node:
    if sign in "±∓":
        return PlusMinus(node, sign == "±")
    return negative(node) if sign == "-" else node


def whole_fraction(node: Node) -> Number | None:
    """The value of a quotient of whole numbers."""
    match node:
        case Product((Number(over), Power(Number(under), Number(minus)))):
            if minus == -1 and under.denominator == over.denominator == 1 and under:
                return Number(over / under)
    return None


ELLIPSIS = Constant("…")
_LONGEST_LIST = 100
"""Items of the longest list that is written out."""


def in_full(items: list[Node]) -> list[Node]:
    """The items with an ellipsis between whole numbers in even steps filled in.

    Raises UnreadableError where nothing says how the list goes on or where it ends.
    """
    if ELLIPSIS not in items:
        return items
    place = items.index(ELLIPSIS)
    before = [_whole(item) for item in items[:place]]
    after = [_whole(item) for item in items[place + 1 :]]
    if not before or len(after) != 1 or None in before or None in after:
        raise UnreadableError("a list without an end")
    known = [value for value in before if value is not None]
    last = after[0] or Fraction(0)
    step = known[1] - known[0] if len(known) > 1 else Fraction(1)
    even = all(second - first == step for first, second in pairwise(known))
    count = (last - known[0]) / step if step else Fraction(-1)
    if not even or count.denominator > 1 or not len(known) <= count < _LONGEST_LIST:
        raise UnreadableError("a list whose steps differ")
    return [Number(known[0] + index * step) for index in range(int(count) + 1)]


def _whole(node: Node) -> Fraction | None:
    match node:
        case Number(value, None):
            return value
        case Product((Number(sign), Number(value, None))) if sign == -1:
            return -value
    return None


_CLOSERS = {"(": ")][", "[": "])[", "]": "])[", "⦃": "⦄", "{": "}", "⟨": "⟩>"}
"""Opening brackets and what may close them, their own partner first."""
_SEPARATORS = (",", ";", "and", "or", "∧", "∨", "\\\\")
_JOINTS = {"∧": "and", "∨": "or"}


class BracketParser(ExpressionParser):
    """Reads brackets and bars; a subclass reads the clauses in them."""

    open_brackets = ""

    @property
    def inside_set(self) -> bool:
        """Whether a bar parts a set's members from their condition."""
        return self.open_brackets.endswith("⦃")

    def group(self) -> Node:
        """The content of braces."""
        return self.enclosed(self.expect("{"))

    def enclosed(self, opening: str) -> Node:
        """Parse the content of brackets whose opening one is already taken."""
        before, bars = self.open_brackets, self.inside_bars
        self.open_brackets, self.inside_bars = before + opening, 0
        with self.deeper():
            items: list[Node] = []
            if self.peek.text not in _CLOSERS[opening].removesuffix("["):
                items = self._items(opening)
            closing = self.expect(_CLOSERS[opening])
        self.open_brackets, self.inside_bars = before, bars
        items = in_full(items)
        if opening == "]" or closing == "[":
            opening, closing = _turned(opening, closing)
        if len(items) == 1 and opening not in "⦃⟨" and closing == _CLOSERS[opening][0]:
            return items[0]
        if opening == "{":
            return Sequence(tuple(items))
        return Sequence(tuple(items), opening, closing)

    def _items(self, opening: str) -> list[Node]:
        if self.peek.kind == "text" and opening != "⦃":
            items: list[Node] = [words_as_answer(self.texts())]
        else:
            items = [self._item(opening)]
        if opening == "⦃" and self.mark("|:") is not None:
            return [Relation((items[0], self.listing()), ("|",))]
        while self.separator() is not None:
            items.append(self._item(opening))
        return items

    def _item(self, opening: str) -> Node:
        """A clause; in bare braces, one in braces of its own is a set: {{1},2}."""
        if self.mark("…") is not None:
            return ELLIPSIS
        braced, start = opening == "{" and self.peek.text == "{", self.at
        item = self.clause()
        if braced and self.closing_brace(start) == self.at - 1 and self.peek.text in (",", "}"):
            listed = isinstance(item, Sequence) and not item.opening
            items = item.items if listed and isinstance(item, Sequence) else (item,)
            whole = self.peek.text == "}" and self.tokens[start - 1].text == "{"
            return item if whole else Sequence(items, "⦃", "⦄")
        return item

    def closing_brace(self, start: int) -> int:
        """Where the brace that opens at `start` closes; -1 where it does not."""
        depth = 0
        for place in range(start, len(self.tokens)):
            text = self.tokens[place].text
            depth += (text == "{") - (text == "}")
            if depth == 0:
                return place
        return -1

    def texts(self) -> str:
        """Take the words that follow."""
        found = []
        while self.peek.kind == "text":
            found.append(self.take().text)
        return " ".join(found)

    def separator(self) -> str | None:
        """Take what separates two items: `,`, `and` or `or`; None if nothing does."""
        found = None
        while self.peek.kind == "mark" and self.peek.text in _SEPARATORS:
            mark = _JOINTS.get(self.peek.text, self.peek.text)
            if found is not None and (found in ("and", "or") or mark not in ("and", "or")):
                raise UnreadableError("an empty place in a list")
            found = mark if mark in ("and", "or") else ","
            self.take()
        return found

    def bracketed(self) -> Node:
        """What starts with a sign: brackets, bars, roots, constants, currency."""
        sign = self.take().text
        if sign == "⦃" and self.peek.kind == "begin":
            return self._braced_environment()
        if sign in _CLOSERS:
            return self.enclosed(sign)
        if sign in CURRENCIES:
            return Quantity(self.factor(), *currency(sign))
        return self._signed_value(sign)

    def _signed_value(self, sign: str) -> Node:
        match sign:
            case "√":
                return self.root()
            case "π" | "∞":
                return Constant(sign)
            case "|" | "‖":
                return self._bars(sign)
            case "⌊" | "⌈":
                return self._rounded(sign)
            case "∠" | "△":
                return self._figure(sign)
        raise UnreadableError(f"the sign {sign!r}")

    def _braced_environment(self) -> Node:
        r"""\left\{\begin{array} … \end{array}\right., whose brace may have no partner."""
        node = self.environment()
        self.mark("⦄")
        return node

    def _bars(self, sign: str) -> Node:
        self.inside_bars += 1
        inner = self.sum()
        self.inside_bars -= 1
        self.expect(sign)
        return Call("abs", (inner,))

    def _rounded(self, sign: str) -> Node:
        inner = self.sum()
        self.expect("⌋" if sign == "⌊" else "⌉")
        return Call("floor" if sign == "⌊" else "ceil", (inner,))

    def _figure(self, sign: str) -> Node:
        letters = ""
        while self.peek.kind == "symbol":
            letters += self.take().text
        return Symbol(f"{sign}{letters}")

    # what subclasses read
    def clause(self) -> Node:
        """A relation, a set or an expression."""
        raise NotImplementedError

    def listing(self) -> Node:
        """Clauses with separators between."""
        raise NotImplementedError

    def root(self) -> Node:
        """A root's argument."""
        raise NotImplementedError


def _turned(opening: str, closing: str) -> tuple[str, str]:
    """]0,1[ as (0,1)."""
    return "(" if opening == "]" else opening, ")" if closing == "[" else closing


_ONE = Number(Fraction(1))
_I, _INDEX = Constant("i"), Symbol("index i")


class CalculusParser(BracketParser):
    """Reads what binds a variable."""

    def series(self, name: str) -> Node:
        r"""What \sum or \prod adds up or multiplies."""
        self.expect("_")
        self.expect("{")
        index = self.base()
        self.expect("=")
        low = self.sum()
        self.expect("}")
        self.expect("^")
        high = self.argument()
        if index == _I:
            return Call(name, (_with_index(self.product()), _INDEX, low, high))
        if not isinstance(index, Symbol):
            raise UnreadableError("a sum over no variable")
        return Call(name, (self.product(), index, low, high))

    def integral(self) -> Node:
        r"""What follows \int: two bounds, the integrand and dx."""
        if self.mark("_") is None:
            raise UnreadableError("an integral without bounds", foreign=True)
        low = self.argument()
        self.expect("^")
        high = self.argument()
        for place, token in enumerate(self.tokens[self.at :], self.at):
            if token.kind == "text" and token.text == "d":  # an upright d is no day here
                self.tokens[place] = Token("symbol", "d")
        integrand, variable = without_differential(self.sum())
        if variable is None:
            raise UnreadableError("an integral without a variable", foreign=True)
        return Call("integral", (integrand, variable, low, high))

    def limit(self) -> Node:
        r"""What follows \lim: the variable, where it goes, and the expression."""
        self.expect("_")
        self.expect("{")
        variable = self.base()
        self.expect("→")
        target = self._target_of_limit()
        side = self._side_of_limit()
        self.expect("}")
        if not isinstance(variable, Symbol):
            raise UnreadableError("a limit over no variable")
        return Call("limit", (self.product(), variable, target, side))

    def _target_of_limit(self) -> Node:
        """A value with a sign, or a quotient of two."""
        negated = self.mark("-") is not None
        target = self.base()
        if self.mark("/") is not None:
            target = Product((target, reciprocal(self.base())))
        return negative(target) if negated else target

    def _side_of_limit(self) -> Number:
        """1 or -1 for a limit from above or below, 0 from both sides."""
        if self.mark("^") is None:
            return Number(Fraction(0))
        braced = self.mark("{") is not None
        side = 1 if self.expect("+-") == "+" else -1
        if braced:
            self.expect("}")
        return Number(Fraction(side))


def _with_index(node: Node) -> Node:
    """The term of a sum over i, where i is no imaginary unit."""
    return _INDEX if node == _I else mapped(node, _with_index)


def without_differential(integrand: Node) -> tuple[Node, Symbol | None]:
    """The integrand without its dx, and x; None where there is no differential."""
    match integrand:
        case Product((*before, Symbol("d"), Symbol() as variable)):
            rest = tuple(before)
            return (rest[0] if len(rest) == 1 else Product(rest)) if rest else _ONE, variable
        case Product((Product() as over, *rest)):
            inner, name = without_differential(over)
            return Product((inner, *rest)), name
        case Sum((*terms, last)):
            inner, name = without_differential(last)
            return Sum((*terms, inner)), name
        case Product((*before, Call() as last)):
            inner, name = without_differential(last)
            return Product((*before, inner)), name
        case Call(function, (argument,)):  # \sin x dx reads as the sine of x dx
            inner, name = without_differential(argument)
            return Call(function, (inner,)), name
    return integrand, None


_SEVERAL = range(1, 50)
ARITIES = {
    "log": range(1, 3),
    "mod": range(2, 3),
    "gcd": _SEVERAL,
    "lcm": _SEVERAL,
    "max": _SEVERAL,
    "min": _SEVERAL,
}
"""How many arguments functions of other than one take."""

HIGHEST_INDEX = 1000
"""Roots of a higher index are read as powers."""

FUNCTION_NAMES = frozenset("fghFGHPE")
"""Letters that mostly are functions before brackets."""
_I = Constant("i")


class FunctionParser(CalculusParser):
    """Reads what applies to arguments."""

    def symbol(self) -> Node:
        """A variable, a constant, or a function by a letter."""
        name = self.take().text
        if self.mark("_") is not None:
            name = f"{name}_{self.subscript()}"
        primes = 0
        while name.isidentifier() and self.peek.text == "'" and self.peek.kind == "mark":
            self.take()
            primes += 1
        if name in ("e", "i") and not primes:
            return Constant(name)
        if self.peek.text == "(" and not self.peek.spaced:
            if name in FUNCTION_NAMES and name != "E":
                return Call(f"{name}{chr(39) * primes}()", self.arguments())
            if name == "C":
                return self._choose()
            if (self.ahead(1).text, self.ahead(2).text) == ("0", ")"):
                return Call(f"{name}()", self.arguments())
        return Symbol(name + "'" * primes)

    def _choose(self) -> Node:
        """C(n, k); C before other brackets is a factor."""
        arguments = self.arguments()
        if len(arguments) == 2:
            return Call("binomial", arguments)
        return Product((Symbol("C"), *arguments))

    def command(self, command: str) -> Node:
        """A LaTeX command with its arguments."""
        if command in FRACTIONS:
            over = self.half()
            if isinstance(over, Symbol) and over.name in ("d", "partial"):
                raise UnreadableError("a derivative", foreign=True)
            return Product((over, reciprocal(self.half())))
        if command in SUMS:
            return self.series(SUMS[command])
        if command in (r"\int", r"\lim"):
            return self.integral() if command == r"\int" else self.limit()
        if command in BINOMIALS:
            over = self.half()
            return Call("binomial", (over, self.half()))
        if command in OVER:
            return self._accented(command)
        raise UnreadableError(f"the command {command}", foreign=command in FOREIGN)

    def _accented(self, command: str) -> Node:
        r"""A name with an accent, a segment \overline{AB}, or the conjugate of a number."""
        inner = self.argument()
        match inner:
            case Symbol(name) | Constant(("e" | "i") as name):
                return Symbol(f"{name}{command}")
            case Product(factors) if all(isinstance(factor, Symbol) for factor in factors):
                letters = "".join(factor.name for factor in factors if isinstance(factor, Symbol))
                return Symbol(f"{letters}{command}")
        if command == r"\overline" and _I in nodes(inner):
            return _conjugate(inner)
        raise UnreadableError(f"the command {command}")

    def root(self) -> Node:
        r"""What follows \sqrt, with its index."""
        index: Node = Number(Fraction(2))
        if self.mark("[") is not None:
            index = self.sum()
            self.expect("]")
        if isinstance(index, Number) and index.value in range(2, HIGHEST_INDEX):
            return Root(self.argument(), int(index.value))
        if isinstance(index, Number) and index.value < 1:
            raise UnreadableError("a root that is no whole number's")
        return Power(self.argument(), reciprocal(index))

    def function(self, name: str) -> Node:
        """A function with its power, its base and its argument."""
        if name in ("sqrt", "cbrt"):
            return self.root() if name == "sqrt" else Root(self.argument(), 3)
        base, power = None, None
        while (sign := self.mark("_^")) is not None:
            if sign == "_":
                base = self._base_of_logarithm()
            else:
                power = self.argument()
        return _applied(name, self._applied_to(), base, power)

    def _base_of_logarithm(self) -> Node:
        r"""A subscript: one digit where the others are the argument, as in \log_23."""
        if self.peek.kind != "number":
            return self.argument()
        following = self.ahead(1)
        applies = following.text in ("(", "{", r"\frac", "√", "[") or following.kind in (
            "number",
            "symbol",
        )
        return self.number() if applies or len(self.peek.text) == 1 else self.digit()

    def _applied_to(self) -> tuple[Node, ...]:
        if self.peek.text == "(" or (self.peek.text == "[" and self.peek.kind == "mark"):
            return self.arguments()
        if self.peek.text == "{":
            return (self.group(),)
        factors = [self.factor_after_operator()]
        while self.factor_follows() and self.peek.kind != "word" and self.peek.text != "(":
            if self.peek.kind == "number":
                raise UnreadableError("a number that follows without an operator")
            factors.append(self.factor())
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)

    def arguments(self) -> tuple[Node, ...]:
        """Arguments in brackets."""
        inner = self.enclosed(self.take().text)
        listed = isinstance(inner, Sequence) and inner.opening in ("(", "[")
        return inner.items if listed and isinstance(inner, Sequence) else (inner,)

    def subscript(self) -> str:
        """A variable's subscript, as written."""
        return self.take().text if self.mark("{") is None else self.until_brace()

    def until_brace(self) -> str:
        """Take everything up to and including the closing brace; return the text before it."""
        letters = []
        while self.peek.text not in ("}", ""):
            letters.append(self.take().text)
        self.expect("}")
        return "".join(letters)


def _applied(name: str, arguments: tuple[Node, ...], base: Node | None, power: Node | None) -> Node:
    if name == "cis":
        sine = Product((_I, Call("sin", arguments)))
        return Sum((Call("cos", arguments), sine))
    if base is not None:
        arguments = (*arguments, base)
    if len(arguments) not in ARITIES.get(name, range(1, 2)):
        raise UnreadableError(f"{len(arguments)} arguments of {name}")
    if isinstance(power, Number) and power.value == -1:
        return Call(f"arc{name}", arguments)
    call = Call(name, arguments)
    return call if power is None else Power(call, power)


def _conjugate(node: Node) -> Node:
    return negative(node) if node == _I else mapped(node, _conjugate)


_MOST_CELLS = 100
_CONDITION_WORDS = listed("if for when where while and")
_END_OF_ROW = "\\\\"


class EnvironmentParser(FunctionParser):
    """Reads rows of cells."""

    def environment(self) -> Node:
        """What an environment holds, as what it means."""
        kind = self.take().text
        rows = self._rows()
        if kind.endswith(("aligned", "align", "gathered", "gather", "split")):
            return _system([self._line([*chain.from_iterable(row)]) for row in rows])
        if kind.endswith("cases"):
            return self._cases(rows)
        cells = [[self._line(cell) for cell in row] for row in rows]
        if len({len(row) for row in cells}) != 1:
            raise UnreadableError("a matrix with rows of different lengths")
        if kind == "array" and all(isinstance(cell, Relation) for row in cells for cell in row):
            return _system([cell for row in cells for cell in row])
        if len(cells) == len(cells[0]) == 1 and kind in ("array", "matrix"):
            return cells[0][0]
        matrix = Matrix(tuple(map(tuple, cells)))
        return Call("det", (matrix,)) if kind == "vmatrix" else matrix

    def _rows(self) -> list[list[list[Token]]]:
        """The tokens of each cell of each row, up to the end of the environment."""
        rows: list[list[list[Token]]] = [[[]]]
        depth = cells = 0
        while depth or self.peek.kind != "end":
            token = self.take()
            if not token.text:
                raise UnreadableError("an environment without an end")
            depth += (token.kind == "begin") - (token.kind == "end")
            if depth or token.kind != "mark" or token.text not in ("&", _END_OF_ROW):
                rows[-1][-1].append(token)
                continue
            cells += 1
            if cells > _MOST_CELLS:
                raise UnreadableError("a matrix too large")
            if token.text == "&":
                rows[-1].append([])
            else:
                rows.append([[]])
        self.take()
        return [row for row in rows if any(row)]

    def _line(self, tokens: list[Token]) -> Node:
        """The list or clause that tokens of their own spell."""
        part = type(self)(tokens)
        part.level = self.level + 1
        return part.whole_listing()

    def _cases(self, rows: list[list[list[Token]]]) -> Node:
        """Equations one below the other as a system; values with conditions as pieces."""
        if all(len(row) == 1 for row in rows):
            return _system([self._line(row[0]) for row in rows])
        pieces: list[Node] = []
        for row in rows:
            if len(row) != 2:
                raise UnreadableError("a piece without a condition")
            value, condition = (list(cell) for cell in row)
            while value and value[-1].text in (",", ";"):
                value.pop()
            pieces.append(Sequence((self._line(value), self._condition(condition)), "(", ")"))
        return Call("cases", tuple(pieces))

    def _condition(self, tokens: list[Token]) -> Node:
        while tokens and tokens[-1].text in (",", ".", ";"):
            tokens.pop()
        while tokens and tokens[0].text.strip(" ,").lower() in _CONDITION_WORDS:
            del tokens[0]
        if all(token.kind == "text" for token in tokens):
            return words_as_answer(" ".join(token.text for token in tokens))
        try:
            return self._line(tokens)
        except UnreadableError:
            return words_as_answer(" ".join(token.text for token in tokens))

    def drop_end(self) -> None:
        """Drop a full stop, a comma or an empty line at the end, but no ellipsis."""
        while len(self.tokens) > 1 and self.tokens[-1].text in (".", ",", ";", _END_OF_ROW):
            if self.tokens[-2].text == self.tokens[-1].text == ".":
                return
            self.tokens.pop()

    def whole_listing(self) -> Node:
        """All of the tokens as one list or clause."""
        self.drop_end()
        node = self.listing()
        if self.at < len(self.tokens):
            raise UnreadableError(f"{self.peek.text!r} at a place where nothing should stand")
        return node


def _system(lines: list[Node]) -> Node:
    """Lines that hold together; one line alone is that line."""
    if not lines:
        raise UnreadableError("an environment that holds nothing")
    return lines[0] if len(lines) == 1 else Sequence(tuple(lines), joint="and")


RELATIONS = "=≠<>≤≥∈∉≈≡⊂→"
_LABEL = re.compile(
    r"(?:so |thus |hence |therefore |and )?(?:the |my |our )?(?:final |correct |exact )?"
    r"(?:answer|result|solution|value)s?(?: is| are)?(?: is)?"
    r"|so|thus|hence|therefore|finally|exactly|precisely"
)
_STATES = re.compile(
    r"(?:\Awe (?:get|find|obtain)|(?:\A|\s)(?:is|are|equals?|(?:is|are) equal to|diverges to"
    r"|tends to|has|have|needs?|costs?|weighs?|takes?|gets?|earns?|pays?|ans))\Z"
)
"""How words end that say what follows: `the vertex is`, `there are`."""

_BOUND = re.compile(r"(?:all )?(?:the )?(?:real )?numbers (greater|less) than( or equal to)?")
_OPERATORS = {"greater": (">", "≥"), "less": ("<", "≤")}
_CURRENCY = listed(
    "money euro sterling yen yuan rupee ruble won lira peso shekel dong naira baht franc"
)
_ZERO, _INFINITY = Number(Fraction(0)), Constant("∞")
_ONLY_ZERO = Sequence((_ZERO,), "⦃", "⦄")
_PARTS_OF_REALS: dict[str, Node] = {
    "+": POSITIVE_REALS,
    ">0": POSITIVE_REALS,
    "-": Sequence((negative(_INFINITY), _ZERO), "(", ")"),
    "<0": Sequence((negative(_INFINITY), _ZERO), "(", ")"),
    "≥0": Sequence((_ZERO, _INFINITY), "[", ")"),
    "≤0": Sequence((negative(_INFINITY), _ZERO), "(", "]"),
    "*": SetOperation("∖", NumberSet("R"), _ONLY_ZERO),
    "·": SetOperation("∖", NumberSet("R"), _ONLY_ZERO),
}
"""What a sign behind ℝ leaves of the real numbers."""


def read(text: str) -> Node:
    """The answer `text` as a tree; raises UnreadableError where it is none that we read."""
    return AnswerParser(tokens(text)).answer()


class AnswerParser(EnvironmentParser):
    """Parses relations, sets and lists."""

    def answer(self) -> Node:
        """All of the tokens as one answer."""
        self.drop_end()
        if self.peek.kind == "text" and not self._named():
            return self._labelled(self.texts())
        if self.at == len(self.tokens):
            raise UnreadableError("nothing")
        return self.whole_listing()

    def _labelled(self, words: str) -> Node:
        """What follows words that only say that an answer comes; the words where nothing does."""
        self.mark(".")
        if self.at == len(self.tokens):
            return words_as_answer(words)
        plain = " ".join(words.lower().split()).strip(".,:;! ")
        meant = self._by_first_words(plain)
        if meant is not None:
            return meant
        colon = words.rstrip().endswith(":") or self.mark(":") is not None
        subject = _STATES.sub("", plain)
        refused = any(map(refuses, re.split(r"[\s,]+", subject)))
        if refused or not (colon or subject != plain or _LABEL.fullmatch(plain)):
            raise UnreadableError(f"the words {plain!r}")
        return self.whole_listing()

    def _by_first_words(self, plain: str) -> Node | None:
        """What a currency, a sign, a bound or `all real numbers except` makes of what follows."""
        unit = known(plain.removesuffix(".").upper()) or known(plain.capitalize())
        if unit is not None and unit[0][0][0] in _CURRENCY:
            return Quantity(self.whole_listing(), *unit)
        every = SYNONYMS.get(plain.removesuffix(" except for").removesuffix(" except"))
        if every is not None and "except" in plain:
            left_out = self.whole_listing()
            if isinstance(left_out, Relation) and left_out.operators == ("=",):
                left_out = left_out.sides[1] or left_out
            items = left_out.items if isinstance(left_out, Sequence) else (left_out,)
            return SetOperation("∖", every, Sequence(items, "⦃", "⦄"))
        if plain in ("minus", "negative"):
            return negative(self._one_value())
        bound = _BOUND.fullmatch(plain)
        if bound is not None:
            operator = _OPERATORS[bound[1]][bound[2] is not None]
            return Relation((None, self._one_value()), (operator,))
        return None

    def _one_value(self) -> Node:
        """All of the remaining tokens as one value."""
        value = self.whole_listing()
        if isinstance(value, (Sequence, Relation)):
            raise UnreadableError("several values after words about one")
        return value

    def _named(self) -> bool:
        """Whether the words that come next are the name of what follows an equals sign."""
        count = 0
        while self.ahead(count).kind == "text":
            count += 1
        if count and self.ahead(count).text == "(":
            count = self._closing(self.at + count) + 1 - self.at
        return count > 0 and self.ahead(count).text in ("=", "≈")

    def listing(self) -> Node:
        """Clauses with commas, and, or between."""
        items = [self.clause()]
        joint = ","
        while (separator := self.separator()) is not None:
            joint = separator if joint == "," else joint
            items.append(ELLIPSIS if self.mark("…") is not None else self.clause())
        items = in_full(items)
        return items[0] if len(items) == 1 else Sequence(tuple(items), joint=joint)

    def clause(self) -> Node:
        """A set, sum or ratio, or several of them with relations between."""
        first = None if self.peek.text in RELATIONS and self.peek.text else self._first_side()
        sides, operators = [first], []
        while (operator := self.mark(RELATIONS)) is not None:
            operators.append(operator)
            sides.append(self._sets())
        if operators:
            return Relation(tuple(sides), tuple(operators))
        assert first is not None
        return first

    def _first_side(self) -> Node:
        if self.peek.kind == "text":
            if self._named():
                words = self.texts()
                if self.peek.text == "(":
                    self.at = self._closing(self.at) + 1
                return Text(" ".join(words.lower().split()))
            raise UnreadableError(f"the word {self.peek.text!r} where a value should stand")
        return self._function_named() or self._sets()

    def _function_named(self) -> Node | None:
        """What is defined in `u(x,t) = …` or `P(X=1) = …`; None where nothing is."""
        bracket = 1
        inverse = [self.ahead(place).text for place in range(1, 6)]
        if inverse == ["^", "{", "-", "1", "}"]:
            bracket += 5
        while self.ahead(bracket).text in ("_", "'") and bracket < 4:
            bracket += 1 + (self.ahead(bracket).text == "_")
        if self.peek.kind != "symbol" or self.ahead(bracket).text not in ("(", "["):
            return None
        end = self._closing(self.at + bracket)
        if end < 0 or self.ahead(end + 1 - self.at).text not in ("=", "≈", "≡"):
            return None
        name = "".join(token.text for token in self.tokens[self.at : self.at + bracket])
        inner = AnswerParser(self.tokens[self.at + bracket : end + 1])
        try:
            arguments = inner.arguments()
        except UnreadableError:
            words = (token.text for token in self.tokens[self.at + bracket : end + 1])
            arguments = (Text("".join(words)),)
        plain = all(isinstance(argument, (Symbol, Text)) for argument in arguments)
        if not plain and self.peek.text not in FUNCTION_NAMES:
            return None
        self.at = end + 1
        return Call(f"{name}()", arguments)

    def _closing(self, start: int) -> int:
        """Where the bracket at `start` closes; -1 where it does not."""
        depth = 0
        for place in range(start, len(self.tokens)):
            text = self.tokens[place].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0:
                return place
        return -1

    def _sets(self) -> Node:
        node = self._ratio()
        while (operator := self.mark("∪∩∖" if not _is_set(node) else "∪∩∖-")) is not None:
            node = SetOperation("∖" if operator == "-" else operator, node, self._ratio())
        if self.peek.kind == "command" and self.peek.text in MODULO:
            return self._residue(node)
        if self.peek.text == r"\choose":
            self.take()
            return Call("binomial", (node, self.sum()))
        return node

    def _residue(self, node: Node) -> Node:
        self.take()
        if self.peek.text == "(":
            return Call("residue", (node, *self.arguments()))
        return Call("residue", (node, self.argument()))

    def _ratio(self) -> Node:
        if self.peek.kind == "set":
            return self._number_set(self.take().text)
        if self.peek.text in ("∅", "ℝ") and self.peek.kind == "mark":
            return self._number_set(self.take().text.replace("ℝ", "R"))
        terms = [self.sum()]
        while self.peek.text == ":" and "⦃" not in self.open_brackets:
            self.take()
            terms.append(self.sum())
        return terms[0] if len(terms) == 1 else Ratio(tuple(terms))

    def _number_set(self, name: str) -> Node:
        """A set of numbers, or the part of it that a sign behind it leaves: ℝ⁺, ℤ_{>0}."""
        if self.mark("^_") is None:
            return NumberSet(name)
        part = self.subscript()
        if name == "R" and part in _PARTS_OF_REALS:
            return _PARTS_OF_REALS[part]
        if name in ("Z", "N") and part in ("+", ">0", "*", "≥1"):
            return NumberSet("Z+")
        return NumberSet(f"{name}{part}")


def _is_set(node: Node) -> bool:
    """Whether a minus sign after it takes members away."""
    return isinstance(node, (NumberSet, SetOperation))
