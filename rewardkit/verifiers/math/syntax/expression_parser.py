"""Tokens read into a typed tree: sums, products, powers and what they apply to."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax import unit_table
from rewardkit.verifiers.math.syntax.quantity_parser import QuantityParser, measured
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Node,
    Number,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Sum,
    Symbol,
    Text,
    negative,
    reciprocal,
)
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError
from rewardkit.verifiers.math.syntax.words import BASES, MODULO

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
        return Quantity(node, *unit_table.unit_table()[sign])

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
