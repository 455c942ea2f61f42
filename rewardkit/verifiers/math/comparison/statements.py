"""What an answer states: the value in `x = 5`, both values of `1 ± √5`, the list in `n = 1, 2`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rewardkit.verifiers.math.numbers.equality import compare_size, same_value
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Node,
    Number,
    PlusMinus,
    Product,
    Relation,
    Sequence,
    Symbol,
    Text,
    difference,
    mapped,
    negative,
    nodes,
    symbols,
)

ROUNDING = Number(Fraction(1, 100))
"""How far a rounded value may be from the exact one that it follows."""

MOST_SIGNS = 16
"""Items with ± that are expanded."""


def definition(node: Node | None) -> tuple[Node, Node] | None:
    """The name and the value of `x = 5`, `5 = x`, `f(x) = …` or `(x, y) = …`; else None."""
    if (
        not isinstance(node, Relation)
        or not set(node.operators) <= {"=", "≡"}
        or None in node.sides
    ):
        return None
    sides = [side for side in node.sides if side is not None]
    if len(sides) == 2 and not _names(sides[0]) and isinstance(sides[1], Symbol):
        sides.reverse()
    name, *values = sides
    if not _names(name) or _occurs(name, values[-1]):
        return None
    if any(same_value(one, other).equal is not True for one, other in pairwise(values)):
        return None
    return name, values[-1]


def _names(node: Node) -> bool:
    match node:
        case Symbol() | Text():
            return True
        case Call(name, _):
            return name.endswith("()")
        case Sequence(items, "(", ")", _):
            return all(isinstance(item, Symbol) for item in items)
    return False


def _occurs(name: Node, value: Node) -> bool:
    """Whether the value depends on what it is to define."""
    if isinstance(name, Call):
        return any(isinstance(node, Call) and node.name == name.name for node in nodes(value))
    return not symbols(name).isdisjoint(symbols(value))


def stated(node: Node) -> Node:
    """The answer with ± expanded and, in a list, names before values dropped."""
    node = _expanded(_before_rounding(node))
    match node:
        case Relation((Symbol(), Sequence(_, "⦃", _, _) as members), ("∈",)):
            return members
    if not isinstance(node, Sequence) or node.opening or len(node.items) < 2:
        return node
    defined = [definition(item) for item in node.items]
    names = {pair[0] for pair in defined if pair is not None}
    if len(names) != 1 or defined[0] is None:
        return node
    values = [
        pair[1] if pair is not None else item
        for item, pair in zip(node.items, defined, strict=True)
    ]
    if any(isinstance(value, Relation) for value in values):
        return node
    return Sequence(tuple(values), joint=node.joint)


def _before_rounding(node: Node) -> Node:
    """The exact value in `√2 ≈ 1.41` or `x = √2 ≈ 1.41`, where the rounded one is near it."""
    match node:
        case Relation((*sides, rounded), (*operators, "≈")) if rounded is not None:
            exact = sides[-1]
            if exact is None or symbols(exact) or symbols(rounded):
                return node
            gap = Call("abs", (difference(exact, rounded),))
            if compare_size(gap, Product((ROUNDING, Call("abs", (exact,))))) in (-1, 0):
                return Relation(tuple(sides), tuple(operators)) if operators else exact
    return node


def assigned(node: Node) -> tuple[Node, ...] | None:
    """The values of `x = 1, y = 2` in the order of the names; else None."""
    if not isinstance(node, Sequence) or node.opening not in ("", "("):
        return None
    pairs = [definition(item) for item in node.items]
    found = {pair[0].name: pair[1] for pair in pairs if pair and isinstance(pair[0], Symbol)}
    if len(found) < len(node.items):
        return None
    return tuple(found[name] for name in sorted(found))


def _expanded(node: Node) -> Node:
    if not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return node
    if isinstance(node, Sequence) and node.opening in ("", "⦃", "["):
        items: list[Node] = []
        for item in node.items:
            items.extend(_both(item))
        return Sequence(tuple(items[: 2 * MOST_SIGNS]), node.opening, node.closing, node.joint)
    both = _both(node)
    return Sequence(both, joint="or") if len(both) == 2 else node


def _both(node: Node) -> tuple[Node, ...]:
    bound = isinstance(node, Relation) and not {*node.operators} <= {"=", "∈"}
    if bound or not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return (node,)
    return _signed(node, True), _signed(node, False)


def _signed(node: Node, upper: bool) -> Node:
    """The tree with the upper or with the lower signs."""
    if isinstance(node, PlusMinus):
        inner = _signed(node.term, upper)
        return inner if node.upper == upper else negative(inner)
    return mapped(node, lambda below: _signed(below, upper))
