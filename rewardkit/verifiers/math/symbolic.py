"""The last step, slow and unbounded, so only workers take it: sympy.

It compares two trees that numbers don't decide, such as integrals, sums, limits and derivatives.
"""

from __future__ import annotations

from typing import Any

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.lexicon import spellings
from rewardkit.verifiers.math.numbers.exact import LARGEST_FACTORIAL, rational
from rewardkit.verifiers.math.tree import Node, nodes, symbols

HIGHEST_POWER = 30
"""Constant exponents beyond it are left alone."""

DIGITS = 40
"""Decimal digits to which a difference without variables is worked out."""

_SAME_NAME = ("exp", "log", "floor", "binomial", "factorial")
_CIRCULAR = ("sin", "cos", "tan", "cot", "sec", "csc")
_HYPERBOLIC = ("sinh", "cosh", "tanh")
_SYMPY_NAMES = {
    **{name: name for name in (*_SAME_NAME, *_CIRCULAR, *_HYPERBOLIC, "coth")},
    **{f"arc{name}": f"a{name}" for name in (*_CIRCULAR, *_HYPERBOLIC)},
    **spellings(
        "log ln; Abs abs; ceiling ceil; sign sgn; Min min; Max max; factorial2 doublefactorial"
        "; zeta zeta(); gamma Gamma()"
    ),
}


def equal_by_sympy(first: Node, second: Node) -> bool | None:
    """Whether sympy shows the difference to be zero, or not to be; None: undecided."""
    import sympy

    if any(map(_heavy, (*nodes(first), *nodes(second)))):
        return None
    try:
        values = _expression(first), _expression(second)
    except NotImplementedError:
        return None
    if values[0] == values[1] and values[0].is_infinite:
        return True
    gap = values[0] - values[1]
    if gap.has(sympy.zoo, sympy.nan):  # tan(π/2), which has no value
        return None
    if gap == 0 or gap.simplify() == 0:
        return True
    if gap.free_symbols or not gap.is_number:
        return None
    value = gap.evalf(DIGITS, maxn=4 * DIGITS)
    return False if value.is_comparable and abs(value) > 10 ** -(DIGITS // 2) else None


def _heavy(node: Node) -> bool:
    match node:
        case tree.Power(_, exponent) if not symbols(exponent):
            value = rational(exponent)
            return value is None or abs(value) > HIGHEST_POWER
        case tree.Call(("factorial" | "doublefactorial" | "binomial"), arguments):
            values = map(rational, arguments)
            return any(value is not None and value > LARGEST_FACTORIAL for value in values)
    return False


def _expression(node: Node) -> Any:
    import sympy

    match node:
        case tree.Number(value, _):
            return sympy.Rational(value.numerator, value.denominator)
        case tree.Symbol(name):
            return sympy.Symbol(name)
        case tree.Constant(name):
            return {"π": sympy.pi, "e": sympy.E, "i": sympy.I, "∞": sympy.oo}[name]
        case tree.Sum(terms):
            return sympy.Add(*map(_expression, terms))
        case tree.Product(factors):
            return sympy.Mul(*map(_expression, factors))
        case tree.Power(base, exponent):
            powers = _expression(base), _expression(exponent)
            if powers == (0, 0):
                raise NotImplementedError("0^0 has no value")
            return sympy.Pow(*powers)
        case tree.Call(name, arguments):
            return _applied(name, [_expression(argument) for argument in arguments])
        case tree.Quantity(angle, (("angle", 1),), _):
            return _expression(angle) * sympy.pi / 180
    raise NotImplementedError(type(node).__name__)


def _applied(name: str, arguments: list[Any]) -> Any:
    import sympy

    if name in ("integral", "limit", "sum", "prod"):
        return _worked_out(name, *arguments)
    if name in _SYMPY_NAMES:
        return getattr(sympy, _SYMPY_NAMES[name])(*arguments)
    if name == "derivative":
        return sympy.diff(*arguments)
    if name in ("gcd", "lcm"):  # sympy's own take letters for indeterminates: gcd(m, n) = 1
        return sympy.Function(name)(*sorted(arguments, key=str))
    if name.endswith("()"):
        return sympy.Function(name[:-2])(*arguments)
    raise NotImplementedError(name)


def _worked_out(name: str, body: Any, variable: Any, start: Any, end: Any) -> Any:
    """The value of an integral, a limit, a sum or a product; as it is where sympy finds none."""
    import sympy

    if name == "limit":
        sides = {0: "+-", 1: "+", -1: "-"}
        return sympy.Limit(body, variable, start, sides[int(end)]).doit()
    form = {"integral": sympy.Integral, "sum": sympy.Sum, "prod": sympy.Product}[name]
    return form(body, (variable, start, end)).doit()
