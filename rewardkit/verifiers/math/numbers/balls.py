"""Trees evaluated in ball arithmetic: every result encloses the exact value.

python-flint's arb and acb: an operation costs about a microsecond, its error bounds are proven,
and its precision is ours to choose; intervals of mpmath are 30 times slower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import reduce
from operator import methodcaller, mul
from typing import Any

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.numbers.exact import load_flint, rational, series_term
from rewardkit.verifiers.math.tree import Node, symbols

LARGEST = 1e12
"""Arguments of exponentials and of factorials beyond it are not evaluated."""

LONGEST_SERIES = 20_000
"""Terms of the longest sum or product that is added up."""

QUICK_STEPS = 8_000
"""Steps of all comparisons for one answer in the caller: some tens of milliseconds."""

MOST_STEPS = 200_000
"""Steps of one comparison in a worker."""

_BITS_PER_STEP = 2_048

Ball = Any  # flint.arb or flint.acb, which have no annotations

_HYPERBOLIC = ("sinh", "cosh", "tanh", "coth", "sech", "csch")
_ANALYTIC = ("sin", "cos", "tan", "cot", "sec", "csc", *_HYPERBOLIC)
_INVERTIBLE = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_FUNCTIONS: dict[tuple[str, int], Callable[..., Ball]] = {
    **{(name, 1): methodcaller(name) for name in (*_ANALYTIC, "sgn", "floor", "ceil")},
    **{(f"arc{name}", 1): methodcaller(f"a{name}") for name in _INVERTIBLE},
    ("arccot", 1): lambda value: (1 / value).atan(),
    ("arcsec", 1): lambda value: (1 / value).acos(),
    ("arccsc", 1): lambda value: (1 / value).asin(),
    ("abs", 1): abs,
    ("zeta()", 1): methodcaller("zeta"),
    ("max", 2): lambda first, other: first.max(other),
    ("min", 2): lambda first, other: first.min(other),
}
"""Functions by name and number of arguments, where no value needs a check."""


_NAMED = ("zeta()", "Gamma()")
"""Letters that name a known function."""


class StepsError(Exception):
    """The comparison takes more steps than it may."""


steps_left: ContextVar[list[int] | None] = ContextVar("steps_left", default=None)


class StepsLimit:
    """Raises StepsError where evaluators take more steps; the outermost limit holds."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def __enter__(self) -> None:
        self.token = steps_left.set(steps_left.get() or [self.steps])

    def __exit__(self, *error: object) -> None:
        steps_left.reset(self.token)


def take_steps(count: int) -> None:
    """Count steps outside of evaluators against the limit, if there is a limit."""
    left = steps_left.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise StepsError


class UndefinedError(Exception):
    """The tree has no value at the point, or none that can be computed."""


NO_VALUE_ERRORS = (UndefinedError, ArithmeticError, ValueError, LookupError)
"""The errors of evaluators for a tree without a value."""


class RealEvaluator:
    """Values over the reals: an even root or a logarithm of a negative number has none."""

    def __init__(self, point: Mapping[str, Fraction], *, natural_log: bool) -> None:
        self.flint = load_flint()
        self.point = point
        self.natural_log = natural_log

    def number(self, value: Fraction) -> Ball:
        """The ball round a rational."""
        if value.denominator == 1:
            return self.flint.arb(value.numerator)
        return self.flint.arb(self.flint.fmpq(value.numerator, value.denominator))

    def __call__(self, node: Node) -> Ball:
        """The ball that encloses the value of `node`; raises UndefinedError, StepsError."""
        take_steps(1 + self.flint.ctx.prec // _BITS_PER_STEP)
        match node:
            case tree.Number() | tree.Symbol() | tree.Constant():
                return self._leaf(node)
            case tree.Sum(terms):
                return sum(map(self, terms), self.number(Fraction(0)))
            case tree.Product(factors):
                return reduce(mul, map(self, factors))
            case tree.Power(base, exponent):
                return self._power(base, exponent)
            case tree.Call(name, arguments):
                return self._call(name, arguments)
            case tree.Ratio((first, second)):
                return self(first) * self.power(self(second), -1)
            case tree.Quantity(value, (("angle", 1),), _):
                return self(value) * self.flint.arb.pi() / 180
            case tree.Quantity(value, (("radian", 1),), _):
                return self(value)
            case tree.Quantity(value, (("share", 1),), _):
                return self(value) / 100
        raise UndefinedError(type(node).__name__)

    def _leaf(self, node: tree.Number | tree.Symbol | tree.Constant) -> Ball:
        if isinstance(node, tree.Constant):
            return self.constant(node.name)
        if isinstance(node, tree.Number):
            return self.number(node.value)
        if "_" in node.name and node.name not in self.point:  # x_3 of a sum over x_k
            return self._drawn(node.name)
        return self.number(self.point[node.name])

    def constant(self, name: str) -> Ball:
        """π or e."""
        if name not in ("π", "e"):
            raise UndefinedError(name)
        return self.flint.arb.pi() if name == "π" else self.flint.arb.const_e()

    def _power(self, base: Node, exponent: Node) -> Ball:
        value = rational(exponent, self.point)
        if value is not None and value.denominator == 1:
            return self.power(self(base), value.numerator)
        if value is not None and value.denominator < 1000:
            return self.power(self.root(self(base), value.denominator), value.numerator)
        return self.exp(self(exponent) * self.log(self(base)))

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
        if base.contains(0) and isinstance(base, self.flint.arb):  # whose own power would be nan
            return (self.flint.acb(base) ** exponent).real
        return base**exponent

    def root(self, value: Ball, index: int) -> Ball:
        """The real root."""
        if value.is_zero():
            return value
        if value.contains(0):
            return self.flint.arb(0, abs(value).upper().root(index))
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
        match name, arguments:
            case "det", (tree.Matrix(rows),):
                take_steps(len(rows) ** 3 * (1 + self.flint.ctx.prec // _BITS_PER_STEP))
                cells = [[self(cell) for cell in row] for row in rows]
                complexes = isinstance(cells[0][0], self.flint.acb)
                return (self.flint.acb_mat if complexes else self.flint.arb_mat)(cells).det()
            case (("sum" | "prod"), (body, tree.Symbol(index), low, high)):
                return self._series(name, body, index, low, high)
            case (
                ("floor" | "ceil" | "binomial" | "doublefactorial"),
                _,
            ):  # a ball round a whole number has two floors
                exact = rational(tree.Call(name, arguments), self.point)
                if exact is not None:
                    return self.number(exact)
            case _ if name.endswith("()") and name not in _NAMED:
                return self._drawn(f"{name} {[*map(self._digits, arguments)]}")
        if name in ("residue", "limit") or len(arguments) > 2:
            raise UndefinedError(name)
        return self._applied(name, [self(argument) for argument in arguments])

    def _applied(self, name: str, values: list[Ball]) -> Ball:
        """The value of a function of a number or of two."""
        match name, values:
            case (("log" | "ln" | "lg"), [value, *base]):
                if name == "lg" or (name == "log" and not self.natural_log):
                    base = base or [self.number(Fraction(10))]
                return self.log(value) / self.log(base[0]) if base else self.log(value)
            case "exp", [value]:
                return self.exp(value)
            case "factorial", [value]:
                return self.gamma(value + 1)
            case "Gamma()", [value]:
                return self.gamma(value)
            case "binomial", [over, under]:
                below = self.gamma(under + 1) * self.gamma(over - under + 1)
                return self.gamma(over + 1) / below
        try:
            return _FUNCTIONS[name, len(values)](*values)
        except (KeyError, AttributeError):  # acb lacks some of arb's functions
            raise UndefinedError(name) from None

    def _series(self, name: str, body: Node, index: str, low: Node, high: Node) -> Ball:
        ends = rational(low, self.point), rational(high, self.point)
        whole = [int(end) for end in ends if end is not None and end.denominator == 1]
        indexed = [part for part in symbols(body) if index in part.partition("_")[2]]
        several = any(tree.item_of(part, index) is None for part in indexed)
        if len(whole) < 2 or whole[1] - whole[0] > LONGEST_SERIES or several:
            raise UndefinedError("a series that is not short, or of terms with several indices")
        total = self.number(Fraction(int(name == "prod")))
        for value in range(whole[0], whole[1] + 1):
            term = self(series_term(body, index, value))
            total = total + term if name == "sum" else total * term
        return total

    def _drawn(self, name: str) -> Ball:
        """A value in (-2, -1) or (1, 2), the same for the same name."""
        drawn = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=5).digest())
        return self.number((1 + Fraction(drawn >> 1 | 1, 2**39)) * (-1) ** (drawn & 1))

    def _digits(self, argument: Node) -> str:
        """Its exact value, or most of the digits that the precision has."""
        exact = rational(argument, self.point)
        if exact is not None:
            return str(exact)
        value, digits = self(argument), self.flint.ctx.prec // 4
        if value.rel_accuracy_bits() < 3.5 * digits:
            raise UndefinedError("a function by a letter of a number that is not known well enough")
        shown: str = value.str(digits, radius=False)
        return shown

    def gamma(self, value: Ball) -> Ball:
        """(value - 1)!"""
        if not (value.imag.is_zero() and 0 < value.real < LARGEST):
            raise UndefinedError("a factorial of that number")
        return value.gamma()


class ComplexEvaluator(RealEvaluator):
    """Values over the complex numbers, with principal roots and logarithms."""

    def number(self, value: Fraction) -> Ball:
        """The ball round a rational."""
        return self.flint.acb(super().number(value))

    def constant(self, name: str) -> Ball:
        """π, e or i."""
        return self.flint.acb(0, 1) if name == "i" else self.flint.acb(super().constant(name))

    def root(self, value: Ball, index: int) -> Ball:
        """The principal root; for a negative number and an odd index, the real root."""
        if value.imag.is_zero():
            if value.real >= 0 or index % 2:
                return self.flint.acb(super().root(value.real, index))
            if index == 2:
                return self.flint.acb(0, (-value.real).sqrt())
        return value.sqrt() if index == 2 else self.exp(self.log(value) / index)

    def log(self, value: Ball) -> Ball:
        """The principal logarithm."""
        if value.contains(0):
            raise UndefinedError("the logarithm of zero")
        return value.log()
