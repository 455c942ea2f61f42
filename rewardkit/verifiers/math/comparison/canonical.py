"""One order for what commutes: trees that differ in it only become the same tree."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.tree import Node, Product, Sequence, Sum, mapped


def canonical(node: Node) -> Node:
    """The tree with nested sums and products flattened, and their parts sorted."""
    node = mapped(node, canonical)
    match node:
        case Sum(terms):
            return Sum(tuple(sorted(_flat(terms, Sum), key=repr)))
        case Product(factors):
            return Product(tuple(sorted(_flat(factors, Product), key=repr)))
        case Sequence(items, "⦃", closing, joint):
            return Sequence(tuple(sorted(items, key=repr)), "⦃", closing, joint)
    return node


def _flat(parts: tuple[Node, ...], kind: type[Sum] | type[Product]) -> list[Node]:
    found: list[Node] = []
    for part in parts:
        if isinstance(part, Sum) and kind is Sum:
            found.extend(part.terms)
        elif isinstance(part, Product) and kind is Product:
            found.extend(part.factors)
        else:
            found.append(part)
    return found
