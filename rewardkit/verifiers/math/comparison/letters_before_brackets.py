"""f(x) and h(a+b): functions by a letter, or factors before brackets."""

from __future__ import annotations

from rewardkit.verifiers.math.numbers.equality import same_value
from rewardkit.verifiers.math.syntax.tree import Call, Node, Product, Symbol, mapped, nodes, symbols

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
