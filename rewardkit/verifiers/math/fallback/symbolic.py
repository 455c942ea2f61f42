"""sympy, on trees of ours: for what numbers leave undecided. It runs in a worker only."""

from __future__ import annotations

from typing import Any

from rewardkit.verifiers.math.numbers.rational import LARGEST_FACTORIAL, rational
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Root,
    Sum,
    Symbol,
    nodes,
    symbols,
)

HIGHEST_POWER = 30
"""Constant exponents beyond it are left alone."""

_NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arccot": "acot",
    "arcsec": "asec",
    "arccsc": "acsc",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "ln": "log",
    "abs": "Abs",
    "ceil": "ceiling",
    "sgn": "sign",
    "min": "Min",
    "max": "Max",
    "binomial": "binomial",
    "factorial": "factorial",
    "doublefactorial": "factorial2",
}
_OWN = (
    "sin",
    "cos",
    "tan",
    "cot",
    "sec",
    "csc",
    "sinh",
    "cosh",
    "tanh",
    "coth",
    "exp",
    "log",
    "floor",
    "gcd",
    "lcm",
)


def equivalent(one: Node, other: Node) -> bool:
    """Whether sympy shows the difference to be zero."""
    if any(map(_heavy, (*nodes(one), *nodes(other)))):
        return False
    try:
        gap = _expression(one) - _expression(other)
    except NotImplementedError:
        return False
    if gap == 0:
        return True
    return bool(gap.simplify() == 0)


def _heavy(node: Node) -> bool:
    """Whether sympy would work out a number or expand a power without end."""
    match node:
        case Power(_, exponent) if not symbols(exponent):
            value = rational(exponent)
            return value is None or abs(value) > HIGHEST_POWER
        case Call(("factorial" | "doublefactorial" | "binomial"), arguments):
            values = map(rational, arguments)
            return any(value is not None and value > LARGEST_FACTORIAL for value in values)
    return False


def _expression(node: Node) -> Any:
    import sympy

    match node:
        case Number() | Symbol() | Constant():
            return _leaf(node)
        case Sum(terms):
            return sympy.Add(*map(_expression, terms))
        case Product(factors):
            return sympy.Mul(*map(_expression, factors))
        case Power(base, exponent):
            return sympy.Pow(_expression(base), _expression(exponent))
        case Root(radicand, index):
            return sympy.root(_expression(radicand), index)
        case Call(name, arguments):
            return _applied(name, [_expression(argument) for argument in arguments])
        case Quantity(value, (("angle", 1),), _):
            return _expression(value) * sympy.pi / 180
    raise NotImplementedError(type(node).__name__)


def _leaf(node: Number | Symbol | Constant) -> Any:
    import sympy

    if isinstance(node, Number):
        return sympy.Rational(node.value.numerator, node.value.denominator)
    if isinstance(node, Symbol):
        return sympy.Symbol(node.name)
    return {"π": sympy.pi, "e": sympy.E, "i": sympy.I, "∞": sympy.oo}[node.name]


def _applied(name: str, arguments: list[Any]) -> Any:
    import sympy

    if name.endswith("()"):
        return sympy.Function(name[:-2])(*arguments)
    if name in _NAMES or name in _OWN:
        return getattr(sympy, _NAMES.get(name, name))(*arguments)
    raise NotImplementedError(name)
