"""Compare with math-verify, which is slow and unbounded, so it runs only in a worker."""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import re
from typing import Any

from rewardkit.verifiers.math.numbers.exact import LARGEST_FACTORIAL, rational
from rewardkit.verifiers.math.tree import (
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


DIGITS = 40
"""Decimal digits to which a difference without variables is worked out."""


def prepare_sympy() -> None:
    """Import sympy, before any deadline runs."""
    import sympy  # noqa: F401


def equal_by_sympy(one: Node, other: Node) -> bool | None:
    """Whether sympy shows the difference to be zero, or not to be; None: undecided."""
    if any(map(_heavy, (*nodes(one), *nodes(other)))):
        return None
    try:
        gap = _expression(one) - _expression(other)
    except NotImplementedError:
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


def _worked_out(name: str, body: Any, variable: Any, start: Any, end: Any) -> Any:
    """The value of an integral, a limit, a sum or a product; as it is where sympy finds none."""
    import sympy

    if name == "limit":
        sides = {0: "+-", 1: "+", -1: "-"}
        return sympy.Limit(body, variable, start, sides[int(end)]).doit()
    form = {"integral": sympy.Integral, "sum": sympy.Sum, "prod": sympy.Product}[name]
    return form(body, (variable, start, end)).doit()


def _applied(name: str, arguments: list[Any]) -> Any:
    import sympy

    if name in ("integral", "limit", "sum", "prod"):
        return _worked_out(name, *arguments)
    if name.endswith("()"):
        return sympy.Function(name[:-2])(*arguments)
    if name in _NAMES or name in _OWN:
        return getattr(sympy, _NAMES.get(name, name))(*arguments)
    raise NotImplementedError(name)


SERIES = "0.9"
"""The releases of math-verify whose verdicts are the documented ones."""

_RELATION = re.compile(r"\\(?:ne|le|ge|lt|gt|in|notin|approx|sim)(?![a-zA-Z])|[<>]")
_HEAVY = re.compile(r"\^\s*\{?[^{}]*\^|\^\s*\{?\s*-?[0-9]{4,}|!.*!")  # it works out all powers
_OPENERS, _CLOSERS = "([{", ")]}"


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


def prepare_math_verify() -> None:
    """Import math-verify and build its tables, before any deadline runs."""
    if missing_math_verify():
        return
    for name in ("math_verify", "latex2sympy2_extended", "sympy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    equal_by_math_verify(r"\frac{1}{2}", "0.5")


def readable(latex: str) -> bool:
    """Whether math-verify can read this as mathematics."""
    return bool(_parsed(latex))


def equal_by_math_verify(answer: str, reference: str) -> bool:
    """Whether math-verify finds both equal, and they are things of the same shape."""
    from math_verify import verify

    if _HEAVY.search(answer):
        return False
    if _shape(answer) != _shape(reference) or _states(answer) or _states(reference):
        return False
    read = _parse(answer)
    return bool(read) and bool(
        verify(_parsed(reference), read, timeout_seconds=None, raise_on_error=False)
    )


def elements(latex: str) -> int:
    """How many elements the outermost list, tuple or set has: its commas and one."""
    return _commas(_inside(latex)) + 1


def listed(latex: str) -> bool:
    """Whether it is a bare list or a set of several; a tuple or an interval is one thing."""
    inside = _inside(latex) if latex.startswith("\\{") else latex
    return _commas(inside) > 0


def _states(latex: str) -> bool:
    """Whether it is an equation: math-verify takes any two identities, and more, for equal."""
    return "=" in re.sub(r"_\{[^{}]*\}", "", latex)


def _shape(latex: str) -> tuple[object, ...]:
    """What must agree before values are compared: relations, the number of elements, and the
    brackets of a tuple or interval."""
    relations = tuple(sorted(_RELATION.findall(latex)))
    count = elements(latex)
    brackets = (latex[:1], latex[-1:]) if count > 1 and latex[:1] in tuple("([") else ("", "")
    return relations, count, brackets, tuple(re.findall(r"_\{?(\w+)", latex))


def _inside(latex: str) -> str:
    body = latex.strip()
    for opening, closing in (("(", ")"), ("[", "]"), (r"\{", r"\}"), ("(", "]"), ("[", ")")):
        if body.startswith(opening) and body.endswith(closing):
            return body[len(opening) : -len(closing)]
    return body


def _commas(body: str) -> int:
    """Commas outside all brackets, other than those that group thousands."""
    depth = count = 0
    for index, character in enumerate(body):
        if character in _OPENERS:
            depth += 1
        elif character in _CLOSERS:
            depth -= 1
        elif character == "," and depth <= 0 and not _groups_thousands(body, index):
            count += 1
    return count


def _groups_thousands(body: str, comma: int) -> bool:
    return bool(
        re.match(r"[0-9]{3}(?![0-9])", body[comma + 1 : comma + 5])
        and re.search(r"[0-9]$", body[max(0, comma - 1) : comma])
    )


@functools.lru_cache(maxsize=1024)
def _parsed(latex: str) -> list[Any]:
    return _parse(latex)


def _parse(latex: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    found: list[Any] = parse(
        rf"\boxed{{{latex}}}",
        [LatexExtractionConfig(boxed_match_priority=0)],
        fallback_mode="no_fallback",
        parsing_timeout=None,
    )
    return found
