"""Names before values: `x = 5` beside 5, `f(x) = 2x` beside `f(t) = 2t`."""

from __future__ import annotations

from collections.abc import Mapping

from rewardkit.verifiers.math.comparison.regions import is_region
from rewardkit.verifiers.math.comparison.statements import UNNAMED, definition
from rewardkit.verifiers.math.syntax.tree import Call, Node, Relation, Sequence, Symbol, mapped


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
