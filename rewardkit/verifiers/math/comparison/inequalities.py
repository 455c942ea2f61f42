"""Inequalities in one variable, linear or of an absolute value, solved for it."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.numbers.equality import compare_size, same_value
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Node,
    Number,
    Product,
    Sum,
    Symbol,
    difference,
    mapped,
    negative,
    nodes,
    reciprocal,
    symbols,
)

FLIPPED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}
_ZERO = Number(Fraction(0))

Solved = tuple[str, str, Node]
"""A variable, a sign, and the bound."""


def solved(left: Node, operator: str, right: Node) -> Solved | None:
    """`left operator right`, linear in its one variable, as `variable sign bound`; else None."""
    if isinstance(left, Symbol) and not symbols(right):
        return left.name, operator, right
    if isinstance(right, Symbol) and not symbols(left):
        return right.name, FLIPPED[operator], left
    gap = difference(left, right)
    names = symbols(gap)
    if len(names) != 1:
        return None
    name = next(iter(names))
    if any(isinstance(node, Call) and symbols(node) for node in nodes(gap)):
        return None
    at_zero, at_one, at_two = (_at(gap, Number(Fraction(place))) for place in range(3))
    slope = difference(at_one, at_zero)
    line = Sum((at_two, negative(at_one), negative(slope)))
    if same_value(line, _ZERO).equal is not True:
        return None
    rising = compare_size(slope, _ZERO)
    if not rising:
        return None
    bound = Product((negative(at_zero), reciprocal(slope)))
    return name, operator if rising > 0 else FLIPPED[operator], bound


def without_bars(
    left: Node, operator: str, right: Node
) -> tuple[str, list[tuple[Node, str, Node]]]:
    """|f| < b as f < b and f > -b, |f| > b as f > b or f < -b: "and" or "or", and both parts.

    Without bars on the left there is one part.
    """
    if isinstance(left, Call) and left.name == "abs" and compare_size_or_none(right) == 1:
        inner = left.arguments[0]
        parts = [(inner, operator, right), (inner, FLIPPED[operator], negative(right))]
        return ("and" if operator in "<≤≠" else "or"), parts
    return "or", [(left, operator, right)]


def compare_size_or_none(bound: Node) -> int | None:
    """The sign of a bound without variables."""
    return None if symbols(bound) else compare_size(bound, _ZERO)


def _at(node: Node, value: Number) -> Node:
    if isinstance(node, Symbol):
        return value
    return mapped(node, lambda below: _at(below, value))
