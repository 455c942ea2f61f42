"""Units, number words and degrees after a value."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rewardkit.verifiers.math.syntax import units
from rewardkit.verifiers.math.syntax.cursor import Cursor
from rewardkit.verifiers.math.syntax.nouns import scale
from rewardkit.verifiers.math.syntax.tree import Node, Number, Product, Quantity, Sum
from rewardkit.verifiers.math.syntax.unit_table import RADIANS, Unit, unit_table
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

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
    kind, size = units.unit(words, of_one=of_one)
    if not kind and words.strip(" .") in _RADIANS:
        kind, size = RADIANS
    if isinstance(value, Quantity):
        kind, size = units.product((value.kind, value.factor), (kind, size))
        value = value.value
    return Quantity(value, kind, size) if kind else value


def _exponent(node: Node) -> int:
    if isinstance(node, Number) and node.value.denominator == 1:
        return int(node.value)
    raise UnreadableError("a unit to an odd power")
