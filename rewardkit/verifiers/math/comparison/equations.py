"""Compare equations and inequalities up to a factor."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rewardkit.verifiers.math.comparison.values import canonical
from rewardkit.verifiers.math.numbers.equality import Comparison, compare_size, same_value
from rewardkit.verifiers.math.tree import (
    Node,
    Number,
    Product,
    Relation,
    Symbol,
    difference,
    mapped,
    symbols,
)

ZERO = Number(Fraction(0))
_STEP = "proportional equations"
_TURNED = {">": "<", "≥": "≤"}


def same_relation(one: Relation, other: Relation) -> Comparison:
    """Compare relations with one sign each by their left minus their right sides."""
    if len(one.operators) > 1 < len(other.operators):
        return _same_chain(one, other)
    mine, theirs = _normal(one), _normal(other)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return Comparison(False, "different relations")
    left, right = mine[1], theirs[1]
    if not symbols(left) or not symbols(right):
        same = canonical(left) == canonical(right) or (mine[0] in "=≠" and _turned(one, other))
        return Comparison(same, "relations without a variable")
    for side in (left, right):
        identity = same_value(side, ZERO).equal
        if identity is not False:
            return Comparison(None if identity is None else False, "an identity states nothing")
    cross = Product((left, _primed(right))), Product((right, _primed(left)))
    found = same_value(*cross)
    if found.equal and mine[0] not in "=≠":
        positive = compare_size(_filled(Product((left, right))), ZERO)
        return Comparison(None if positive is None else positive > 0, _STEP)
    return Comparison(found.equal, _STEP)


def _same_chain(one: Relation, other: Relation) -> Comparison:
    """a < b < c and c > b > a: the same relations link by link, in any order."""
    mine, theirs = _links(one), _links(other)
    if len(mine) != len(theirs):
        return Comparison(False, "the number of links")
    undecided = False
    for link in theirs:
        outcomes = [same_relation(candidate, link).equal for candidate in mine]
        if True in outcomes:
            del mine[outcomes.index(True)]
        elif None in outcomes:
            undecided = True
        else:
            return Comparison(False, "the links of a chain")
    return Comparison(None if undecided else True, "the links of a chain")


def _links(relation: Relation) -> list[Relation]:
    pairs = zip(pairwise(relation.sides), relation.operators, strict=True)
    return [Relation(sides, (operator,)) for sides, operator in pairs]


def _turned(one: Relation, other: Relation) -> bool:
    """Whether the sides are exchanged."""
    return [side and canonical(side) for side in one.sides] == [
        side and canonical(side) for side in reversed(other.sides)
    ]


def _normal(relation: Relation) -> tuple[str, Node] | None:
    """The sign, turned to = ≠ < ≤, and left minus right."""
    if len(relation.operators) != 1 or relation.operators[0] not in "=≠<>≤≥":
        return None
    left, right = relation.sides
    if left is None or right is None:
        return None
    operator = relation.operators[0]
    if operator in _TURNED:
        return _TURNED[operator], difference(right, left)
    return operator, difference(left, right)


def _primed(node: Node) -> Node:
    """The same tree in other variables."""
    if isinstance(node, Symbol):
        return Symbol(f"{node.name} again")
    return mapped(node, _primed)


def _filled(node: Node) -> Node:
    """The tree at one point, far from where anything simple vanishes."""
    if isinstance(node, Symbol):
        return Number(Fraction(sum(map(ord, node.name)) * 7919 % 1009, 613))
    return mapped(node, _filled)
