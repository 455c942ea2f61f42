"""Check that an answer is in simplest form, for `require_simplified`."""

from __future__ import annotations

from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.syntax.tree import (
    MINUS_ONE,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Relation,
    Root,
    Sequence,
    Sum,
    children,
    nodes,
)


def simplest(node: Node) -> bool:
    """No constant that could be worked out, no fraction to reduce, no square under a root."""
    if isinstance(node, (Sequence, Relation, Quantity)):
        return all(map(simplest, children(node)))
    if rational(node) is not None:
        return _plain_number(node)
    return not any(map(_reducible, nodes(node)))


def _plain_number(node: Node) -> bool:
    """A whole number, a decimal or a reduced fraction, with a sign."""
    match node:
        case Number():
            return True
        case Product((Number(sign), inner)) if sign == -1:
            return _plain_number(inner)
        case Product((Number(over), Power(Number(under), Number(minus)))):
            whole = over.denominator == under.denominator == 1
            return minus == -1 and whole and under > 1 and (over / under).denominator == under
        case Sum((Number(whole), Number(part))):
            return whole.denominator == 1 and 0 < part < 1
    return False


def _reducible(node: Node) -> bool:
    match node:
        case Root(radicand, index):
            return _power_inside(radicand, index)
        case Sum(terms):
            return sum(rational(term) is not None for term in terms) > 1
        case Product(factors):
            values = [rational(factor) for factor in factors]
            return None not in values and not _plain_number(node)
        case Power(Number(), exponent):
            return exponent != MINUS_ONE and rational(node) is not None
    return False


def _power_inside(radicand: Node, index: int) -> bool:
    value = rational(radicand)
    if value is None:
        return False
    if value.denominator > 1 or abs(value) < 2:
        return True
    return any(value % (base**index) == 0 for base in range(2, 100) if base**index <= abs(value))
