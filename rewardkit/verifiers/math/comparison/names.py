"""Names before values: `x = 5` beside 5, `f(x) = 2x` beside `f(t) = 2t`."""

from __future__ import annotations

from collections.abc import Mapping

from rewardkit.verifiers.math.comparison.sets import is_region
from rewardkit.verifiers.math.comparison.statements import UNNAMED, definition
from rewardkit.verifiers.math.numbers.equality import same_value
from rewardkit.verifiers.math.tree import (
    Call,
    Node,
    Product,
    Relation,
    Sequence,
    Symbol,
    mapped,
    nodes,
    symbols,
)

MOST_CALLS = 24
"""Maximum number of different calls of unknown functions."""

_FACTORS_BY_HABIT = frozenset(("h()", "P()"))


def calls_unknown(node: Node) -> bool:
    """Whether a function by a letter occurs."""
    return any(isinstance(part, Call) and part.name.endswith("()") for part in nodes(node))


def as_factors(answer: Node, reference: Node) -> tuple[Node, Node]:
    """Both trees with a letter before brackets as a factor if the letter also occurs alone."""
    alone = symbols(answer) | symbols(reference)
    names = frozenset(f"{name}()" for name in alone)
    return _multiplied(answer, names), _multiplied(reference, names)


def as_factors_by_habit(node: Node) -> Node:
    """The tree with the letters that mostly are factors, h and P, as factors."""
    return _multiplied(node, _FACTORS_BY_HABIT)


def _multiplied(node: Node, names: frozenset[str]) -> Node:
    match node:
        case Call(name, (argument,)) if name in names:
            return Product((Symbol(name[:-2]), _multiplied(argument, names)))
    return mapped(node, lambda below: _multiplied(below, names))


class Opaque:
    """Replaces calls of unknown functions by variables: equal calls by the same one."""

    def __init__(self) -> None:
        self.known: list[tuple[Call, Symbol]] = []

    def __call__(self, node: Node) -> Node:
        """The tree without calls of unknown functions."""
        node = mapped(node, self)
        if not (isinstance(node, Call) and node.name.endswith("()")):
            return node
        for call, variable in self.known:
            if call.name == node.name and _same_arguments(call, node):
                return variable
        if len(self.known) >= MOST_CALLS:
            return node
        variable = Symbol(f"{node.name} {len(self.known)}")
        self.known.append((node, variable))
        return variable


def _same_arguments(one: Call, other: Call) -> bool:
    return len(one.arguments) == len(other.arguments) and all(
        mine == theirs or same_value(mine, theirs).equal is True
        for mine, theirs in zip(one.arguments, other.arguments, strict=True)
    )


def unnamed(node: Node, other: Node) -> Node:
    """The value of `x = 5` beside a value or another name's; the member of a set of one.

    Two variables, two functions, two segments of different names keep them: they differ.
    """
    if isinstance(node, Sequence) and len(node.items) == 1 and node.opening == "⦃":
        plain = not isinstance(other, Sequence) and not is_region(other)
        return node.items[0] if plain else node
    pair = definition(node)
    if pair is None:
        return node
    theirs = definition(other)
    if theirs is None:
        return node if isinstance(other, Relation) and other.operators == ("=",) else pair[1]
    (name, value), other_name = pair, theirs[0]
    if name == other_name or type(name) is not type(other_name) or UNNAMED in (name, other_name):
        return value
    if isinstance(name, Call) and isinstance(other_name, Call) and name.name == other_name.name:
        return _with_arguments_of(name, value, other_name)
    return node


def _with_arguments_of(name: Call, value: Node, other: Call) -> Node:
    """f(x) = 2x in the variables of f(t) = 2t, where both have as many.

    One side alone is renamed, the one whose variables come first.
    """
    mine, theirs = name.arguments, other.arguments
    symbolic = all(isinstance(argument, Symbol) for argument in (*mine, *theirs))
    if not symbolic or len(mine) != len(theirs) or repr(mine) > repr(theirs):
        return value
    return _renamed(value, dict(zip(mine, theirs, strict=True)))


def _renamed(node: Node, names: Mapping[Node, Node]) -> Node:
    if isinstance(node, Symbol):
        return names.get(node, node)
    return mapped(node, lambda below: _renamed(below, names))
