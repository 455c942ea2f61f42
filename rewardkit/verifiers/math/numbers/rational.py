"""Exact arithmetic on trees: the rational that a tree is, in bounded time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from rewardkit.verifiers.math.tree import (
    Call,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Ratio,
    Root,
    Sum,
    Symbol,
)

MOST_BITS = 8_192
"""Bits of the largest numerator or denominator that is worked out."""

LARGEST_FACTORIAL = 500


def rational(node: Node, point: Mapping[str, Fraction] | None = None) -> Fraction | None:
    """The exact value of `node`, symbols taken from `point`; None where it is none or too long."""
    try:
        value = _value(node, point or {})
    except ZeroDivisionError:
        return None
    return value


def _value(node: Node, point: Mapping[str, Fraction]) -> Fraction | None:
    match node:
        case Number(value, _):
            return value
        case Symbol(name):
            return point.get(name)
        case Sum(terms):
            return _total(terms, point)
        case Product(factors):
            return _product(factors, point)
        case Power(base, exponent):
            return _power(_value(base, point), _value(exponent, point))
        case Root(radicand, index):
            return _root(_value(radicand, point), index)
        case Call(name, arguments):
            return _call(name, [_value(argument, point) for argument in arguments])
        case _:
            return _measured(node, point)


def _measured(node: Node, point: Mapping[str, Fraction]) -> Fraction | None:
    match node:
        case Quantity(value, (("share", 1),), factor):
            return _product((value, Number(factor)), point)
        case Ratio((first, second)):
            return _product((first, Power(second, Number(Fraction(-1)))), point)
    return None


def _total(terms: tuple[Node, ...], point: Mapping[str, Fraction]) -> Fraction | None:
    total = Fraction(0)
    for term in terms:
        value = _value(term, point)
        if value is None or _long(total):
            return None
        total += value
    return total


def _product(factors: tuple[Node, ...], point: Mapping[str, Fraction]) -> Fraction | None:
    product = Fraction(1)
    for factor in factors:
        value = _value(factor, point)
        if value is None or _long(product):
            return None
        product *= value
    return product


def _power(base: Fraction | None, exponent: Fraction | None) -> Fraction | None:
    if base is None or exponent is None:
        return None
    if base == 0 and exponent == 0:
        return None
    if exponent.denominator > 1:
        if exponent.denominator > 100:
            return None
        base = _root(base, exponent.denominator)
        if base is None:
            return None
    size = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if size * abs(exponent.numerator) > MOST_BITS:
        return None
    return Fraction(base**exponent.numerator)


def _root(value: Fraction | None, index: int) -> Fraction | None:
    """The exact real root, where it is rational."""
    if value is None or _long(value) or (value < 0 and index % 2 == 0):
        return None
    over, under = _whole_root(abs(value.numerator), index), _whole_root(value.denominator, index)
    if over is None or under is None:
        return None
    return Fraction(over if value >= 0 else -over, under)


def _whole_root(value: int, index: int) -> int | None:
    if index == 2:
        root = math.isqrt(value)
    else:
        low, high = 0, 1 << (value.bit_length() // index + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**index <= value else (low, middle - 1)
        root = low
    return root if root**index == value else None


def _call(name: str, arguments: list[Fraction | None]) -> Fraction | None:
    known = [argument for argument in arguments if argument is not None]
    if len(known) < len(arguments):
        return None
    whole = [int(argument) for argument in known if argument.denominator == 1]
    match name, known:
        case "abs", [value]:
            return abs(value)
        case "floor", [value]:
            return Fraction(math.floor(value))
        case "ceil", [value]:
            return Fraction(math.ceil(value))
        case (("min" | "max"), [_, *_]):
            return min(known) if name == "min" else max(known)
    return _whole_call(name, whole) if len(whole) == len(known) else None


def _whole_call(name: str, whole: list[int]) -> Fraction | None:
    if any(abs(value).bit_length() > MOST_BITS for value in whole):
        return None
    match name, whole:
        case "factorial", [value] if 0 <= value <= LARGEST_FACTORIAL:
            return Fraction(math.factorial(value))
        case "doublefactorial", [value] if 0 <= value <= LARGEST_FACTORIAL:
            return Fraction(math.prod(range(value, 0, -2)))
        case "binomial", [over, under] if under >= 0 and 0 <= over <= 2 * LARGEST_FACTORIAL:
            return Fraction(math.comb(over, under))
        case "gcd", [_, *_]:
            return Fraction(math.gcd(*whole))
        case "lcm", [_, _]:
            return Fraction(math.lcm(*whole))
        case "mod", [value, modulus] if modulus:
            return Fraction(value % modulus)
    return None


def _long(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS
