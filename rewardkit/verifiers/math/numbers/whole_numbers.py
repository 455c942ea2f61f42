"""Whether two expressions are compared over the whole numbers only.

n! and binomials have values between whole numbers as well, by the gamma function; a sum up to n has
none. Were every expression beside a factorial compared over whole numbers alone, `n + 0·n!` would
equal `n + sin(πn)`.
"""

from __future__ import annotations

from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.syntax.tree import Call, Node, Power, nodes, symbols

_WHOLE_ONLY = frozenset(("doublefactorial", "gcd", "lcm", "mod", "sum", "prod"))
_BY_GAMMA = frozenset(("factorial", "binomial"))
_PERIODIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_COUNTERS = frozenset("jklmnpqrstKLMN")
"""Variables that stand for whole numbers by habit."""


def over_whole_numbers(one: Node, other: Node) -> bool:
    """Whether both sides speak of whole numbers, or one of them has values nowhere else."""
    sides = [[*nodes(one)], [*nodes(other)]]
    counting = [any(map(_counts, parts)) for parts in sides]
    if all(counting) or not any(counting):
        return all(counting)
    parts, others = sides if counting[0] else sides[::-1]
    if any(map(_alternates, parts)):
        return True
    return any(_has(part, _WHOLE_ONLY) for part in parts) and not any(
        _has(part, _PERIODIC) for part in others
    )


def _has(node: Node, names: frozenset[str]) -> bool:
    return isinstance(node, Call) and node.name in names and bool(symbols(node))


def _counts(node: Node) -> bool:
    return _has(node, _WHOLE_ONLY | _BY_GAMMA) or _signs(node)


def _signs(node: Node) -> bool:
    """Whether it is a power of a negative number, such as (-1)^n."""
    if not isinstance(node, Power):
        return False
    base = rational(node.base)
    return base is not None and base < 0 and bool(symbols(node.exponent))


def _alternates(node: Node) -> bool:
    return isinstance(node, Power) and _signs(node) and symbols(node.exponent) <= _COUNTERS
