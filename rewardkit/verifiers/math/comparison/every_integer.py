"""Solutions for every integer: nπ, n ∈ ℤ."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.tree import (
    Node,
    NumberSet,
    Relation,
    Sequence,
    Symbol,
    mapped,
    symbols,
)


def for_every_integer(node: Node) -> Node:
    """nπ in `nπ, n ∈ ℤ`."""
    match node:
        case Sequence((value, Relation((Symbol() as name, NumberSet("Z" | "N" | "Z+")), ("∈",)))):
            if name.name in symbols(value) and not node.opening:
                return value
    return node


def with_integer_of(reference: Node, answer: Node) -> Node:
    """kπ, k ∈ ℤ in the letter that the reference has for the integer."""
    match answer:
        case Sequence((value, Relation((Symbol() as name, NumberSet("Z")), ("∈",)))):
            theirs = symbols(for_every_integer(reference)) - symbols(value)
            if len(theirs) == 1 and name.name not in symbols(reference):
                return _renamed(value, name, Symbol(*theirs))
    return answer


def _renamed(node: Node, name: Symbol, other: Symbol) -> Node:
    return other if node == name else mapped(node, lambda below: _renamed(below, name, other))
