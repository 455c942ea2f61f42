"""The last readers, slow and unbounded, so only workers call them: sympy and math-verify.

sympy compares two trees that numbers don't decide, such as integrals. math-verify compares LaTeX
that our parser refuses, such as derivatives and `{3 \\over 4}`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import re
from typing import Any

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.lexicon import spellings
from rewardkit.verifiers.math.numbers.exact import LARGEST_FACTORIAL, rational
from rewardkit.verifiers.math.tree import Node, nodes, symbols

HIGHEST_POWER = 30
"""Constant exponents beyond it are left alone."""

DIGITS = 40
"""Decimal digits to which a difference without variables is worked out."""

_SAME_NAME = ("exp", "log", "floor", "gcd", "lcm", "binomial", "factorial")
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


def prepare() -> None:
    """Import sympy and math-verify and build their tables, before any deadline runs."""
    import sympy  # noqa: F401

    if missing_math_verify() is None:
        for name in ("math_verify", "latex2sympy2_extended", "sympy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        equal_by_math_verify(r"\frac{1}{2}", "0.5")


def equal_by_sympy(one: Node, other: Node) -> bool | None:
    """Whether sympy shows the difference to be zero, or not to be; None: undecided."""
    import sympy

    if any(map(_heavy, (*nodes(one), *nodes(other)))):
        return None
    try:
        gap = _expression(one) - _expression(other)
    except NotImplementedError:
        return None
    if gap.has(sympy.zoo, sympy.nan):  # tan(π/2), which has no value
        return None
    if gap == 0 or gap.simplify() == 0:
        return True
    if gap.free_symbols or not gap.is_number:
        return None
    value = gap.evalf(DIGITS, maxn=4 * DIGITS)
    return False if value.is_comparable and abs(value) > 10 ** -(DIGITS // 2) else None


def _heavy(node: Node) -> bool:
    """Whether sympy would compute a huge number or expand a huge power."""
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
        case tree.Number() | tree.Symbol() | tree.Constant():
            return _leaf(node)
        case tree.Sum(terms):
            return sympy.Add(*map(_expression, terms))
        case tree.Product(factors):
            return sympy.Mul(*map(_expression, factors))
        case tree.Power(base, exponent):
            return sympy.Pow(_expression(base), _expression(exponent))
        case tree.Call(name, arguments):
            return _applied(name, [_expression(argument) for argument in arguments])
        case tree.Quantity(value, (("angle", 1),), _):
            return _expression(value) * sympy.pi / 180
    raise NotImplementedError(type(node).__name__)


def _leaf(node: tree.Number | tree.Symbol | tree.Constant) -> Any:
    import sympy

    if isinstance(node, tree.Number):
        return sympy.Rational(node.value.numerator, node.value.denominator)
    if isinstance(node, tree.Symbol):
        return sympy.Symbol(node.name)
    return {"π": sympy.pi, "e": sympy.E, "i": sympy.I, "∞": sympy.oo}[node.name]


def _applied(name: str, arguments: list[Any]) -> Any:
    import sympy

    if name in ("integral", "limit", "sum", "prod"):
        return _worked_out(name, *arguments)
    if name in _SYMPY_NAMES:
        return getattr(sympy, _SYMPY_NAMES[name])(*arguments)
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


SERIES = "0.9"
"""The releases of math-verify whose verdicts are the documented ones."""

_HEAVY = re.compile(r"\^\s*\{?[^{}]*\^|\^\s*\{?\s*-?[0-9]{4,}|!.*!")  # it works out all powers
_RELATION = re.compile(r"\\(?:ne|le|ge|lt|gt|in|notin|approx|sim)(?![a-zA-Z])|[<>]")
_SUBSCRIPT = re.compile(r"(?<!int)(?<!sum)(?<!prod)(?<!lim)_(?:\{[^{}]*\}|\w+)")


@functools.cache
def missing_math_verify() -> str | None:
    """What is missing where math-verify isn't installed, or in another series; None: nothing."""
    try:
        version = importlib.metadata.version("math-verify")
    except importlib.metadata.PackageNotFoundError:
        state = f"math-verify {SERIES} isn't installed"
    else:
        if version.startswith(f"{SERIES}."):
            return None
        state = f"math-verify {version} is installed, and {SERIES} is needed"
    return f"{state}; run: pip install 'rewardkit[math-verify]'"


def readable(latex: str) -> bool:
    """Whether math-verify can read this as mathematics."""
    return bool(_parsed(latex))


def equal_by_math_verify(answer: str, reference: str) -> bool:
    """Whether math-verify finds both equal, and they have the same shape."""
    from math_verify import verify

    if _HEAVY.search(answer) or _shape(answer) != _shape(reference) or _states(answer):
        return False
    read = _parsed(answer)
    return bool(read) and bool(
        verify(_parsed(reference), read, timeout_seconds=None, raise_on_error=False)
    )


def _states(latex: str) -> bool:
    """Whether it is an equation: math-verify considers any two identities equal."""
    return "=" in _SUBSCRIPT.sub("", latex)


def _shape(latex: str) -> tuple[object, ...]:
    """What must agree before values are compared: relations, commas, brackets, subscripts."""
    brackets = (latex[:1], latex[-1:]) if "," in latex and latex[:1] in ("(", "[") else None
    relations = sorted(_RELATION.findall(latex))
    return _states(latex), relations, latex.count(","), brackets, _SUBSCRIPT.findall(latex)


@functools.lru_cache(maxsize=1024)
def _parsed(latex: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    try:
        found: list[Any] = parse(
            rf"\boxed{{{latex}}}",
            [LatexExtractionConfig(boxed_match_priority=0)],
            fallback_mode="no_fallback",
            parsing_timeout=None,
            raise_on_error=True,
        )
    except (MemoryError, ImportError):  # no text is unreadable for lack of these
        raise
    except Exception:  # its grammar's, antlr's and sympy's
        return []
    return found
