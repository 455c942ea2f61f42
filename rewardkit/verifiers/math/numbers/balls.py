"""Trees evaluated in ball arithmetic: every result encloses the exact value.

python-flint's arb and acb: an operation costs about a microsecond, its error bounds are proven,
and its precision is ours to choose; intervals of mpmath are 30 times slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from rewardkit.errors import Unavailable
from rewardkit.verifiers.math.numbers.exact import rational
from rewardkit.verifiers.math.tree import (
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Ratio,
    Root,
    Sum,
    Symbol,
    symbols,
)

LARGEST = 1e12
"""Arguments of exponentials and of factorials beyond it are not evaluated."""

LONGEST_SERIES = 200
"""Terms of the longest sum or product that is added up."""

MOST_TERMS = 1_000
"""Terms of all sums inside each other."""

Ball = Any  # flint.arb or flint.acb, which have no annotations

_METHODS = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "cot": "cot",
    "sec": "sec",
    "csc": "csc",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "coth": "coth",
    "sech": "sech",
    "csch": "csch",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}
_ROUNDED: dict[str, Callable[[Fraction], Fraction]] = {
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
}
_INVERTED = {"arccot": "atan", "arcsec": "acos", "arccsc": "asin"}


def load_flint() -> Any:
    """The module of python-flint. Raises Unavailable where it can't be imported."""
    try:
        import flint
    except ImportError as error:
        raise Unavailable(f"{error}; run: pip install python-flint") from error
    return flint


class UndefinedError(Exception):
    """The tree has no value at the point, or none that can be computed."""


class RealEvaluator:
    """Values over the reals: an even root or a logarithm of a negative number has none."""

    def __init__(self, point: Mapping[str, Fraction], *, natural_log: bool) -> None:
        self.flint = load_flint()
        self.point = point
        self.natural_log = natural_log
        self.terms = 0

    def number(self, value: Fraction) -> Ball:
        """The ball round a rational."""
        if value.denominator == 1:
            return self.flint.arb(value.numerator)
        return self.flint.arb(self.flint.fmpq(value.numerator, value.denominator))

    def __call__(self, node: Node) -> Ball:
        """The ball that encloses the value of `node`; raises UndefinedError."""
        match node:
            case Number() | Symbol() | Constant():
                return self._leaf(node)
            case Sum(terms):
                return sum(map(self, terms), self.number(Fraction(0)))
            case Product(factors):
                return self._product(factors)
            case Power(base, exponent):
                return self._power(base, exponent)
            case Root(radicand, index):
                return self.root(self(radicand), index)
            case Call(name, arguments):
                return self._call(name, arguments)
            case Quantity() | Ratio():
                return self._measured(node)
            case _:
                raise UndefinedError(type(node).__name__)

    def _leaf(self, node: Number | Symbol | Constant) -> Ball:
        if isinstance(node, Number):
            return self.number(node.value)
        if isinstance(node, Symbol):
            return self.number(self.point[node.name])
        return self.constant(node.name)

    def _product(self, factors: tuple[Node, ...]) -> Ball:
        product = self(factors[0])
        for factor in factors[1:]:
            product *= self(factor)
        return product

    def _measured(self, node: Quantity | Ratio) -> Ball:
        match node:
            case Ratio((first, second)):
                return self(first) * self.power(self(second), -1)
            case Quantity(value, (("angle", 1),), _):
                return self(value) * self.flint.arb.pi() / 180
            case Quantity(value, (("radian", 1),), _):
                return self(value)
            case Quantity(value, (("share", 1),), _):
                return self(value) / 100
        raise UndefinedError("a quantity")

    def constant(self, name: str) -> Ball:
        """π or e."""
        if name == "π":
            return self.flint.arb.pi()
        if name == "e":
            return self.flint.arb.const_e()
        raise UndefinedError(name)

    def _power(self, base: Node, exponent: Node) -> Ball:
        value = rational(exponent, self.point)
        if value is not None and value.denominator == 1:
            return self.power(self(base), value.numerator)
        if value is not None and value.denominator < 1000:
            return self.power(self.root(self(base), value.denominator), value.numerator)
        raised = self(exponent)
        if base == Constant("e"):
            return self.exp(raised)
        return self.exp(raised * self.log(self(base)))

    def power(self, base: Ball, exponent: int) -> Ball:
        """A whole power."""
        if exponent.bit_length() > 60:
            raise UndefinedError("a power too high")
        if exponent < 0:
            if base.contains(0):
                raise UndefinedError("a division by zero")
            return 1 / base ** (-exponent)
        if exponent == 0 and base.contains(0):
            raise UndefinedError("zero to the zero")
        return base**exponent

    def root(self, value: Ball, index: int) -> Ball:
        """The real root."""
        if value.is_zero():
            return value
        if not value.contains(0):
            if value > 0:
                return value.sqrt() if index == 2 else value.root(index)
            if index % 2:
                return -((-value).root(index))
        raise UndefinedError("an even root of a negative number")

    def exp(self, value: Ball) -> Ball:
        """e to the value."""
        if not abs(value) < LARGEST:
            raise UndefinedError("an exponential too large")
        return value.exp()

    def log(self, value: Ball) -> Ball:
        """The natural logarithm."""
        if not value > 0:
            raise UndefinedError("the logarithm of a number that is not positive")
        return value.log()

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Ball:
        if name == "det" and isinstance(arguments[0], Matrix):
            return self.matrix([[self(cell) for cell in row] for row in arguments[0].rows])
        if name in ("sum", "prod"):
            return self._series(name, *arguments)
        if name.endswith("()") or name in ("residue", "limit") or len(arguments) > 2:
            raise UndefinedError(name)
        if name in _ROUNDED:
            return self._rounded(name, arguments[0])
        values = [self(argument) for argument in arguments]
        return self._applied(name, values)

    def _applied(self, name: str, values: list[Ball]) -> Ball:
        """The value of a function of one or two numbers."""
        if name in ("log", "ln", "lg"):
            return self._logarithm(name, values)
        if len(values) == 2:
            return self._two(name, *values)
        if name in _METHODS:
            return getattr(values[0], _METHODS[name])()
        if name in _INVERTED:
            return getattr(self.power(values[0], -1), _INVERTED[name])()
        return self._one(name, values[0])

    def _rounded(self, name: str, argument: Node) -> Ball:
        """The floor or the ceiling; a ball round a whole number has two, an exact value one."""
        exact = rational(argument, self.point)
        return (
            self.whole(self(argument), name)
            if exact is None
            else self.number(_ROUNDED[name](exact))
        )

    def _series(self, name: str, body: Node, index: Node, low: Node, high: Node) -> Ball:
        ends = rational(low, self.point), rational(high, self.point)
        whole = [int(end) for end in ends if end is not None and end.denominator == 1]
        if len(whole) < 2 or not isinstance(index, Symbol):
            raise UndefinedError("a series that is not finite")
        self.terms += max(0, whole[1] - whole[0])
        if (
            len(whole) < 2
            or self.terms > MOST_TERMS
            or whole[1] - whole[0] > LONGEST_SERIES
            or not isinstance(index, Symbol)
        ):
            raise UndefinedError("a series that is not finite and short")
        if any(index.name in below.partition("_")[2] for below in symbols(body)):
            raise UndefinedError("a series of indexed terms")
        outer, total = self.point, self.number(Fraction(int(name == "prod")))
        for value in range(whole[0], whole[1] + 1):
            self.point = {**outer, index.name: Fraction(value)}
            term = self(body)
            total = total + term if name == "sum" else total * term
        self.point = outer
        return total

    def _logarithm(self, name: str, values: list[Ball]) -> Ball:
        value = self.log(values[0])
        if len(values) == 2:
            return value / self.log(values[1])
        decimal = name == "lg" or (name == "log" and not self.natural_log)
        return value / self.log(self.number(Fraction(10))) if decimal else value

    def _one(self, name: str, value: Ball) -> Ball:
        match name:
            case "exp":
                return self.exp(value)
            case "abs":
                return abs(value)
            case "sgn":
                return value.sgn()
            case "factorial":
                return self.gamma(value + 1)
        raise UndefinedError(name)

    def _two(self, name: str, first: Ball, second: Ball) -> Ball:
        match name:
            case "binomial":
                below = self.gamma(second + 1) * self.gamma(first - second + 1)
                return self.gamma(first + 1) / below
            case "max":
                return first.max(second)
            case "min":
                return first.min(second)
        raise UndefinedError(name)

    def whole(self, value: Ball, name: str) -> Ball:
        """The whole number below or above, where it is certain."""
        return value.floor() if name == "floor" else value.ceil()

    def gamma(self, value: Ball) -> Ball:
        """(value - 1)!"""
        if not (value > 0 and value < LARGEST):
            raise UndefinedError("a factorial of that number")
        return value.gamma()

    def matrix(self, rows: list[list[Ball]]) -> Ball:
        """The determinant."""
        if len(rows) != len(rows[0]):
            raise UndefinedError("the determinant of a matrix that is not square")
        return self.flint.arb_mat(rows).det()


class ComplexEvaluator(RealEvaluator):
    """Values over the complex numbers; roots and logarithms are the principal ones."""

    def number(self, value: Fraction) -> Ball:
        """The ball round a rational."""
        return self.flint.acb(super().number(value))

    def constant(self, name: str) -> Ball:
        """π, e or i."""
        return self.flint.acb(0, 1) if name == "i" else self.flint.acb(super().constant(name))

    def root(self, value: Ball, index: int) -> Ball:
        """The principal root; the real one of a negative number where the index is odd."""
        if value.imag.is_zero():
            if value.real >= 0 or index % 2:
                return self.flint.acb(super().root(value.real, index))
            if index == 2:
                return self.flint.acb(0, (-value.real).sqrt())
        return value.sqrt() if index == 2 else self.exp(self.log(value) / index)

    def exp(self, value: Ball) -> Ball:
        """e to the value."""
        if not abs(value) < LARGEST:
            raise UndefinedError("an exponential too large")
        return value.exp()

    def log(self, value: Ball) -> Ball:
        """The principal logarithm."""
        if value.contains(0):
            raise UndefinedError("the logarithm of zero")
        return value.log()

    def gamma(self, value: Ball) -> Ball:
        """(value - 1)!"""
        if not value.imag.is_zero():
            raise UndefinedError("a factorial of that number")
        return self.flint.acb(super().gamma(value.real))

    def whole(self, value: Ball, name: str) -> Ball:
        """The whole number below or above a real number."""
        if not value.imag.is_zero():
            raise UndefinedError("the whole part of a complex number")
        return self.flint.acb(super().whole(value.real, name))

    def matrix(self, rows: list[list[Ball]]) -> Ball:
        """The determinant."""
        return self.flint.acb_mat(rows).det()
