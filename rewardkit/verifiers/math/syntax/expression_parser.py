"""Tokens read into a typed tree: sums, products, powers and what they apply to."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax import units
from rewardkit.verifiers.math.syntax.cursor import Reader
from rewardkit.verifiers.math.syntax.tokens import Token, UnreadableError
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Root,
    Sum,
    Symbol,
    negative,
    reciprocal,
)
from rewardkit.verifiers.math.syntax.words import (
    BASES,
    BINOMIALS,
    FOREIGN,
    FRACTIONS,
    MODULO,
    OVER,
    SUMS,
)

_STARTERS = frozenset("(⦃[{|⌊⌈√π∞⟨∠¤‖")
_VALUE_KINDS = frozenset(("symbol", "word", "begin", "command", "number"))
_SUFFIX_COMMANDS = MODULO | {r"\choose"}
_ONE = Number(Fraction(1))
_FUNCTION_NAMES = frozenset("fghFGHP")


class ExpressionParser(Reader):
    """Reads sums and below; what brackets, functions and matrices hold is its subclass's."""

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
                terms.append(_with_sign(sign, self.product()))
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
            if self._unit_follows():
                return self._quantity(factors)
            if (sign := self.mark("·/*")) is not None:
                factor = self._after_operator()
                factors.append(reciprocal(factor) if sign == "/" else factor)
            elif self._factor_follows():
                self._juxtapose(factors)
            else:
                return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def _after_operator(self) -> Node:
        return negative(self.factor()) if self.mark("-") is not None else self.factor()

    def _factor_follows(self) -> bool:
        token = self.peek
        if token.kind != "mark":
            return token.kind in _VALUE_KINDS and token.text not in _SUFFIX_COMMANDS
        if token.text in "|‖" and (self.inside_bars or self.inside_set):
            return False
        return token.text in _STARTERS

    def _juxtapose(self, factors: list[Node]) -> None:
        """Add the next factor; a fraction below one is added to the whole number before it."""
        before = factors[-1]
        whole = isinstance(before, Number) and before.value.denominator == 1
        if self.peek.kind == "number":
            spaced = self.peek.spaced and isinstance(before, Power)
            if spaced or isinstance(before, (Call, Sum)):
                factors.append(self.factor())
                return
            if not whole or len(factors) > 1:
                raise UnreadableError("a number that follows without an operator")
            factors[-1] = Sum((before, self._slashed()))
            return
        by_command = self.peek.text in FRACTIONS
        factor = self.factor()
        if isinstance(before, Symbol) and factor == Number(Fraction(0)):
            raise UnreadableError("the value of a function at 0")
        part = whole_fraction(factor) if by_command and whole and len(factors) == 1 else None
        if part is None:
            factors.append(factor)
        elif 0 <= part.value < 1:
            factors[-1] = Sum((before, part))
        else:
            raise UnreadableError("a mixed number whose fraction is not below one")

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
            return self._suffixed(base, "°")
        if self.mark("°") is not None:
            return self._suffixed(base, "°")
        if self.peek.text in ("T", r"\top", r"\prime", "'"):
            if self.take().text not in ("T", r"\top"):
                raise UnreadableError("a prime")
            return Call("transpose", (base,))
        return Power(base, self.argument())

    def _suffixed(self, node: Node, sign: str) -> Node:
        if sign == "!":
            doubled = self.mark("!") is not None
            if self.peek.text == "!":
                raise UnreadableError("three factorial signs")
            return Call("doublefactorial" if doubled else "factorial", (node,))
        if sign == "'":
            raise UnreadableError("a prime")
        if sign == "°" and self.peek.text in ("C", "F"):
            return Quantity(node, ((f"°{self.take().text}", 1),), Fraction(1))
        return Quantity(node, *units.UNITS[sign])

    def argument(self) -> Node:
        """What a command or ^ applies to: a group, or one value."""
        with self.deeper():
            if self.mark("-") is not None:
                return negative(self.argument())
            return self.group() if self.peek.text == "{" else self.base()

    def _half(self) -> Node:
        """An argument of a fraction: a group, one digit or one value."""
        return self.digit() if self.peek.kind == "number" else self.argument()

    def base(self) -> Node:
        """Numbers, symbols, functions, brackets."""
        token = self.peek
        match token.kind:
            case "number":
                return self._numeral(self.number())
            case "symbol":
                return self._symbol()
            case "word":
                return self.function(self.take().text)
            case "begin":
                return self.matrix()
            case "command":
                return self._command(self.take().text)
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

    def _base_of_numeral(self) -> Node:
        word = self.ahead(1) if self.peek.text == "{" else self.peek
        if word.kind == "text" and word.text in BASES:
            self.at += 3 if self.peek.text == "{" else 1
            return Number(Fraction(BASES[word.text]))
        return self.argument()

    def _symbol(self) -> Node:
        name = self.take().text
        if self.mark("_") is not None:
            return Symbol(f"{name}_{self.subscript()}")
        if name in ("e", "i"):
            return Constant(name)
        if name in _FUNCTION_NAMES and self.peek.text == "(" and not self.peek.spaced:
            return Call(f"{name}()", self.arguments())
        return Symbol(name)

    def _command(self, command: str) -> Node:
        if command in FRACTIONS:
            over = self._half()
            if isinstance(over, Symbol) and over.name in ("d", "partial"):
                raise UnreadableError("a derivative", foreign=True)
            return Product((over, reciprocal(self._half())))
        if command in SUMS:
            return self._series(SUMS[command])
        if command in (r"\int", r"\lim"):
            return self._integral() if command == r"\int" else self._limit()
        if command in BINOMIALS:
            over = self._half()
            return Call("binomial", (over, self._half()))
        if command in OVER:
            inner = self.argument()
            if isinstance(inner, Symbol):
                return Symbol(f"{inner.name}{command}")
        raise UnreadableError(f"the command {command}", foreign=command in FOREIGN)

    def _series(self, name: str) -> Node:
        r"""What \sum or \prod adds up or multiplies."""
        self.expect("_")
        self.expect("{")
        index = self.base()
        self.expect("=")
        low = self.sum()
        self.expect("}")
        self.expect("^")
        high = self.argument()
        if not isinstance(index, Symbol):
            raise UnreadableError("a sum over no variable")
        return Call(name, (self.product(), index, low, high))

    def _integral(self) -> Node:
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

    def _limit(self) -> Node:
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

    def root(self) -> Node:
        r"""What follows \sqrt, with its index."""
        index: Node = Number(Fraction(2))
        if self.mark("[") is not None:
            index = self.sum()
            self.expect("]")
        if not (isinstance(index, Number) and index.value in range(2, 1000)):
            raise UnreadableError("a root that is no whole number's")
        return Root(self.argument(), int(index.value))

    def _unit_follows(self) -> bool:
        token = self.peek
        if token.text in ("/", "¤") and token.kind == "mark":
            following = self.ahead(1).kind
            return following == "text" if token.text == "/" else following != "number"
        return token.kind == "text"

    def _quantity(self, factors: list[Node]) -> Node:
        """The factors with the unit that follows them."""
        value = factors[0] if len(factors) == 1 else Product(tuple(factors))
        if self.mark("¤") is not None:
            return Quantity(value, *units.UNITS["dollar"])
        kind, size = units.unit(self.unit_words())
        if isinstance(value, Quantity):
            kind, size = units.product((value.kind, value.factor), (kind, size))
            value = value.value
        quantity = Quantity(value, kind, size) if kind else value
        if self.peek.kind == "number" and isinstance(quantity, Quantity):
            return self._compound(quantity)
        return quantity

    def _compound(self, first: Quantity) -> Node:
        """5 feet 3 inches as one quantity."""
        second = self.product()
        if not (isinstance(second, Quantity) and second.kind == first.kind):
            raise UnreadableError("a number that follows without an operator")
        smaller = Product((second.value, Number(second.factor / first.factor)))
        return Quantity(Sum((first.value, smaller)), first.kind, first.factor)

    def unit_words(self) -> str:
        """The words that follow, with their powers."""
        found: list[str] = []
        while True:
            token = self.peek
            if token.kind == "text":
                found.append(self.take().text)
            elif token.text == "/" and _names_unit(self.ahead(1)):
                self.take()
                found += ["/", self.take().text]
            elif token.text == "^" and found:
                self.take()
                found[-1] = _raised(found[-1], self.argument())
            else:
                return " ".join(found)

    # what the subclass reads
    def group(self) -> Node:
        """Braces."""
        raise NotImplementedError

    def bracketed(self) -> Node:
        """What starts with a sign."""
        raise NotImplementedError

    def function(self, name: str) -> Node:
        """A function's argument."""
        raise NotImplementedError

    def arguments(self) -> tuple[Node, ...]:
        """Arguments in round brackets."""
        raise NotImplementedError

    def subscript(self) -> str:
        """A variable's subscript."""
        raise NotImplementedError

    def matrix(self) -> Node:
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


def _names_unit(token: Token) -> bool:
    return token.kind == "text" or (token.kind == "symbol" and token.text in units.UNITS)


def _raised(word: str, exponent: Node) -> str:
    if not (isinstance(exponent, Number) and exponent.value in (2, 3)):
        raise UnreadableError("a unit to an odd power")
    return f"{'square' if exponent.value == 2 else 'cubic'} {word}"
