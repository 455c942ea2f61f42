"""Exact arithmetic on trees: the rational that a tree is, and identities decided modulo a prime."""

from __future__ import annotations

import functools
import math
import operator
import random
from collections.abc import Callable, Mapping
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


def _root(value: Fraction, index: int) -> Fraction | None:
    """The exact real root, where it is rational."""
    if _long(value) or (value < 0 and index % 2 == 0):
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


def _folded_up(node: Node, leaf: Callable[[Node], Any]) -> Any:
    """Sums, products and whole powers of the values that `leaf` gives the other parts."""
    match node:
        case tree.Sum(terms):
            return functools.reduce(operator.add, [_folded_up(term, leaf) for term in terms])
        case tree.Product(factors):
            return functools.reduce(operator.mul, [_folded_up(part, leaf) for part in factors])
        case tree.Power(base, exponent):
            value = rational(exponent)
            if value is not None and value.denominator == 1:
                if value.numerator.bit_length() > LONGEST_EXPONENT:
                    raise OpaqueError
                root = _folded_up(base, leaf)
                if value <= 0 and not root:
                    raise OpaqueError
                return root**value.numerator
    return leaf(node)


LONGEST_EXPONENT = 64
"""Bits of the highest exponent, far from the prime's order."""

HIGHEST_DEGREE = 1000
"""Degree of a polynomial over a field, whose coefficients are worked out one by one."""


class _Quotient:
    """A quotient of two polynomials in one variable, each of a degree up to a limit."""

    def __init__(self, over: Any, under: Any, limit: int) -> None:  # flint.fmpq_poly, not annotated
        if max(over.degree(), under.degree()) > limit:
            raise OpaqueError
        self.over, self.under, self.limit = over, under, limit

    def __add__(self, other: _Quotient) -> _Quotient:
        over = self.over * other.under + other.over * self.under
        return _Quotient(over, self.under * other.under, self.limit)

    def __mul__(self, other: _Quotient) -> _Quotient:
        return _Quotient(self.over * other.over, self.under * other.under, self.limit)

    def __pow__(self, exponent: int) -> _Quotient:
        count, degree = abs(exponent), max(self.over.degree(), self.under.degree(), 1)
        if degree * count > self.limit:
            raise OpaqueError
        over, under = (self.over, self.under)[:: 1 if exponent >= 0 else -1]
        return _Quotient(over**count, under**count, self.limit)

    def __bool__(self) -> bool:
        return bool(self.over)


def polynomials(node: Node, name: str, point: Point, highest_degree: int) -> tuple[Any, Any]:
    """The numerator and the denominator of a rational function of one variable, others at a point.

    Raises OpaqueError for other expressions, and for those of too high a degree.
    """
    flint = load_flint()
    others = {other: value for other, value in point.items() if other != name}

    def constant(part: Node) -> Node | None:
        value = rational(part, others)
        return None if value is None else tree.Number(value)

    def leaf(part: Node) -> _Quotient:
        if isinstance(part, tree.Number):
            over = flint.fmpq_poly([flint.fmpq(part.value.numerator, part.value.denominator)])
        elif part == tree.Symbol(name):
            over = flint.fmpq_poly([0, 1])
        else:
            raise OpaqueError
        return _Quotient(over, flint.fmpq_poly([1]), highest_degree)

    found = _folded_up(tree.replaced(node, constant), leaf)
    return found.over, found.under


def same_modulo(first: Node, second: Node, modulus: Node) -> bool | None:
    """Whether two polynomials in one variable have the same coefficients modulo a number.

    None where a side is something else, or has a degree beyond the limit.
    """
    gap = tree.difference(first, second)
    names, number = tree.symbols(gap), rational(modulus)
    if len(names) != 1 or number is None or number.denominator > 1 or number < 2:
        return None
    try:
        over, under = polynomials(gap, min(names), {}, HIGHEST_DEGREE)
    except OpaqueError:
        return None
    if under.degree() > 0 or math.gcd(int(over.denom()), int(number)) > 1:
        return None
    return not any(int(coefficient) % int(number) for coefficient in over.numer())


_draw = random.SystemRandom().getrandbits  # no text can anticipate the prime or the points


@functools.cache
def _field() -> Any:
    """The numbers modulo a random prime of 255 bits."""
    candidate = 4
    while pow(2, candidate - 1, candidate) != 1:  # a random number that passes is prime
        candidate = _draw(254) | 2**254 | 1
    return load_flint().fmpz_mod_ctx(candidate)


def same_rational_function(first: Node, second: Node, largest_factorial: int = 0) -> bool | None:
    """Whether two expressions are one rational function of their variables; None: undecided.

    A rational function that is zero at a random point modulo a random prime is zero, but for a
    chance of its degree in 2^255 (Schwartz 1980, Zippel 1979); one that is not is not. Powers cost
    the length of their exponent, so (x - a)^6000 is never multiplied out. Parts of other kinds
    (roots, functions, π) count as variables of their own: equal is then proven, unequal is not.
    Factorials up to `largest_factorial` are multiplied out.
    """
    field, drawn = _field(), dict[Node, Any]()

    def leaf(node: Node) -> Any:
        match node:
            case tree.Number(value, _):
                whole = field(value.numerator)
                return whole if value.denominator == 1 else whole / value.denominator
            case tree.Call("det", (tree.Matrix(rows),)):
                cells = [[_folded_up(cell, leaf) for cell in row] for row in rows]
                return load_flint().fmpz_mod_mat(cells, field).det()
            case tree.Call("factorial", (inner,)) if (
                count := rational(inner)
            ) is not None and count in range(largest_factorial + 1):
                return functools.reduce(operator.mul, range(1, int(count) + 1), field(1))
            case tree.Constant("i" | "∞"):
                raise OpaqueError  # neither is independent of the numbers
        if node not in drawn:
            drawn[node] = field(_draw(255))
        return drawn[node]

    try:
        if _folded_up(first, leaf) == _folded_up(second, leaf):
            return True
    except (ArithmeticError, ValueError, OpaqueError):
        return None
    return False if all(isinstance(node, tree.Symbol) for node in drawn) else None
