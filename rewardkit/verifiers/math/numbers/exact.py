"""Exact arithmetic on trees: the rational that a tree is, and identities decided modulo a prime."""

from __future__ import annotations

import functools
import math
import operator
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rewardkit.errors import Unavailable
from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.tree import Node, reciprocal

Point = Mapping[str, Fraction]
"""The values of variables."""

MOST_BITS = 8_192
"""Bits of the largest numerator or denominator that is worked out."""

LARGEST_FACTORIAL = 1_000


def rational(node: Node, point: Point | None = None) -> Fraction | None:
    """The exact value of `node`, symbols taken from `point`; None where it is none or too long."""
    try:
        return _value(node, point or {})
    except (ZeroDivisionError, ValueError):  # 5 mod 0, (-1)!
        return None


def _value(node: Node, point: Point) -> Fraction | None:
    match node:
        case tree.Number(value, _):
            return value
        case tree.Symbol(name):
            return point.get(name)
        case tree.Sum(terms):
            return _folded(terms, point, Fraction.__add__)
        case tree.Product(factors):
            return _folded(factors, point, Fraction.__mul__)
        case tree.Power(base, exponent):
            return _power(_value(base, point), _value(exponent, point))
        case tree.Call(name, arguments):
            return _call(name, [_value(argument, point) for argument in arguments])
    return _measured(node, point)


def _measured(node: Node, point: Point) -> Fraction | None:
    match node:
        case tree.Quantity(value, (("share", 1),), factor):
            return _value(tree.Product((value, tree.Number(factor))), point)
        case tree.Ratio((first, second)):
            return _value(tree.Product((first, reciprocal(second))), point)
    return None


def _folded(
    parts: tuple[Node, ...], point: Point, combine: Callable[[Fraction, Fraction], Fraction]
) -> Fraction | None:
    total: Fraction | None = None
    for part in parts:
        value = _value(part, point)
        if value is None or (total is not None and _long(total)):
            return None
        total = value if total is None else combine(total, value)
    return total


def _power(base: Fraction | None, exponent: Fraction | None) -> Fraction | None:
    if base is None or exponent is None or base == exponent == 0 or exponent.denominator > 100:
        return None
    root = base if exponent.denominator == 1 else _root(base, exponent.denominator)
    if root is None:
        return None
    size = max(root.numerator.bit_length(), root.denominator.bit_length()) - 1
    if size * abs(exponent.numerator) > MOST_BITS:
        return None
    return Fraction(root**exponent.numerator)


def _root(value: Fraction | None, index: int) -> Fraction | None:
    """The exact real root, where it is rational."""
    if value is None or _long(value) or (value < 0 and index % 2 == 0):
        return None
    over, under = _whole_root(abs(value.numerator), index), _whole_root(value.denominator, index)
    if over is None or under is None:
        return None
    return Fraction(over if value >= 0 else -over, under)


def load_flint() -> Any:
    """The module of python-flint. Raises Unavailable where it can't be imported."""
    try:
        import flint
    except ImportError as error:
        raise Unavailable(f"{error}; run: pip install python-flint") from error
    return flint


def _whole_root(value: int, index: int) -> int | None:
    root = math.isqrt(value) if index == 2 else int(load_flint().fmpz(value).root(index))
    return root if root**index == value else None


_REAL: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
}
_WHOLE: dict[str, Callable[..., int]] = {
    "factorial": math.factorial,
    "doublefactorial": lambda value: math.prod(range(value, 0, -2)),
    "binomial": math.comb,
    "gcd": math.gcd,
    "lcm": math.lcm,
    "mod": operator.mod,
}
"""Functions of whole numbers alone."""

_GROWING = ("factorial", "doublefactorial", "binomial")


def _call(name: str, arguments: list[Fraction | None]) -> Fraction | None:
    known = [argument for argument in arguments if argument is not None]
    if len(known) < len(arguments):
        return None
    if name in _REAL:
        return Fraction(_REAL[name](*known))
    if name not in _WHOLE or any(_long(value) or value.denominator > 1 for value in known):
        return None
    whole = [int(value) for value in known]
    if name in _GROWING and not 0 <= whole[0] <= LARGEST_FACTORIAL:
        return None
    return Fraction(_WHOLE[name](*whole))


def _long(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS


def series_term(body: Node, index: str, value: int) -> Node:
    """The term of that number; x_{k+1} is the variable x_2 for k = 1."""

    def meant(symbol: tree.Symbol) -> Node:
        item = tree.item_of(symbol.name, index)
        if item is not None:
            return tree.Symbol(f"{item[0]}_{value + item[1]}")
        return tree.Number(Fraction(value)) if symbol.name == index else symbol

    return tree.with_symbols(body, meant)


class OpaqueError(Exception):
    """The tree, or a part of it, is no rational function that is worked out."""


Quotient = tuple[Any, Any]  # flint.fmpq_poly, which has no annotations


@dataclass(frozen=True, slots=True)
class Quotients:
    """Rational functions of one variable: numerators and denominators as polynomials.

    Raises OpaqueError for other expressions, and for those of too high a degree.
    """

    name: str
    point: Point
    highest_degree: int

    def __call__(self, node: Node) -> Quotient:
        """The numerator and the denominator."""
        flint = load_flint()
        first = flint.fmpq_poly([1])
        if self.name not in tree.symbols(node):
            value = rational(node, self.point)
            if value is None:
                raise OpaqueError
            return first * flint.fmpq(value.numerator, value.denominator), first
        match node:
            case tree.Symbol():
                return flint.fmpq_poly([0, 1]), first
            case tree.Sum(terms):
                return functools.reduce(self._added, map(self, terms))
            case tree.Product(factors):
                return functools.reduce(self._multiplied, map(self, factors))
            case tree.Power(base, exponent):
                return self._power(self(base), rational(exponent, self.point))
        raise OpaqueError

    def _power(self, base: Quotient, exponent: Fraction | None) -> Quotient:
        if exponent is None or exponent.denominator != 1:
            raise OpaqueError
        over, under = base if exponent >= 0 else base[::-1]
        count = abs(exponent.numerator)
        if max(over.degree(), under.degree(), 1) * count > self.highest_degree or not under:
            raise OpaqueError
        return over**count, under**count

    def _added(self, first: Quotient, second: Quotient) -> Quotient:
        over = first[0] * second[1] + second[0] * first[1]
        return self._bounded(over, first[1] * second[1])

    def _multiplied(self, first: Quotient, second: Quotient) -> Quotient:
        return self._bounded(first[0] * second[0], first[1] * second[1])

    def _bounded(self, over: Any, under: Any) -> Quotient:
        if max(over.degree(), under.degree()) > self.highest_degree:
            raise OpaqueError
        return over, under


HIGHEST_DEGREE = 1000
"""Degree of a polynomial over a field, whose coefficients are worked out one by one."""


def same_modulo(first: Node, second: Node, modulus: Node) -> bool | None:
    """Whether two polynomials in one variable have the same coefficients modulo a number.

    None where a side is something else, or has a degree beyond the limit.
    """
    gap = tree.difference(first, second)
    names, number = tree.symbols(gap), rational(modulus)
    if len(names) != 1 or number is None or number.denominator > 1 or number < 2:
        return None
    try:
        over, under = Quotients(min(names), {}, HIGHEST_DEGREE)(gap)
    except OpaqueError:
        return None
    if under.degree() > 0 or math.gcd(int(over.denom()), int(number)) > 1:
        return None
    return not any(int(coefficient) % int(number) for coefficient in over.numer())


LONGEST_EXPONENT = 64
"""Bits of the highest exponent, far from the prime's order."""

_draw = random.SystemRandom().getrandbits  # no text can anticipate the prime or the points


@functools.cache
def _prime() -> int:
    """A random prime of 255 bits."""
    candidate = 4
    while pow(2, candidate - 1, candidate) != 1:  # a random number that passes is prime
        candidate = _draw(254) | 2**254 | 1
    return candidate


def same_rational_function(first: Node, second: Node, largest_factorial: int = 0) -> bool | None:
    """Whether two expressions are one rational function of their variables; None: undecided.

    A rational function that is zero at a random point modulo a random prime is zero, but for a
    chance of its degree in 2^255 (Schwartz 1980, Zippel 1979); one that is not is not. Powers cost
    the length of their exponent, so (x - a)^6000 is never multiplied out. Parts of other kinds
    (roots, functions, π) count as variables of their own: equal is then proven, unequal is not.
    Factorials up to `largest_factorial` are multiplied out.
    """
    residue = _Residues(largest_factorial)
    try:
        if residue(first) == residue(second):
            return True
    except (ArithmeticError, ValueError, OpaqueError):
        return None
    return None if residue.opaque else False


class _Residues:
    def __init__(self, largest_factorial: int) -> None:
        self.largest_factorial = largest_factorial
        self.flint = load_flint()
        self.prime = _prime()
        self.opaque = False
        self.drawn: dict[Node, int] = {}

    def __call__(self, node: Node) -> int:
        match node:
            case tree.Number(value, _):
                return value.numerator * pow(value.denominator, -1, self.prime) % self.prime
            case tree.Symbol():
                return self._random(node)
            case tree.Sum(terms):
                return sum(map(self, terms)) % self.prime
            case tree.Product(factors):
                product = 1
                for factor in factors:
                    product = product * self(factor) % self.prime
                return product
            case tree.Power(base, exponent):
                return self._power(node, base, exponent)
            case tree.Call("det", (tree.Matrix(rows),)):
                cells = [[self(cell) for cell in row] for row in rows]
                return int(self.flint.fmpz_mat(cells).det()) % self.prime
        return self._part(node)

    def _power(self, node: Node, base: Node, exponent: Node) -> int:
        value = rational(exponent)
        if value is None or value.denominator != 1:
            return self._part(node)
        if value.numerator.bit_length() > LONGEST_EXPONENT:
            raise OpaqueError
        residue = self(base)
        if residue == 0 and value <= 0:
            raise ZeroDivisionError
        return pow(residue, value.numerator, self.prime)

    def _part(self, node: Node) -> int:
        match node:
            case tree.Call("factorial", (inner,)):
                count = rational(inner)
                if count in range(self.largest_factorial + 1):
                    return self._product(range(1, int(count or 0) + 1))
        if node == tree.Constant("i") or node == tree.Constant("∞"):
            raise OpaqueError  # neither is independent of the numbers
        self.opaque = True
        return self._random(node)

    def _product(self, factors: range) -> int:
        product = 1
        for factor in factors:
            product = product * factor % self.prime
        return product

    def _random(self, node: Node) -> int:
        if node not in self.drawn:
            self.drawn[node] = _draw(255) % self.prime
        return self.drawn[node]
