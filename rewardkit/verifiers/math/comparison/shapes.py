"""One shape for what is written in several: nested lists as matrices, i + 2j as a vector."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.numbers.equality import same_value
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    Product,
    Quantity,
    Sequence,
    Sum,
    Symbol,
    mapped,
    nodes,
)

_ACCENTS = (r"\hat", r"\vec", r"\mathbf", r"\bar", r"\overrightarrow", r"\widehat")
_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))


def as_matrix(node: Node, other: Node) -> Node:
    """[[1,2],[3,4]] as a matrix, (1,2) as a row or a column beside one; anything else as it is."""
    if not isinstance(node, Sequence) or not node.items:
        return node
    rows = [item.items for item in node.items if isinstance(item, Sequence) and item.opening]
    if not rows and isinstance(other, Matrix) and node.opening in ("(", "[", "⟨"):
        column = len(other.rows) > 1 == len(other.rows[0])
        return Matrix(tuple((item,) for item in node.items) if column else (node.items,))
    even = len(rows) == len(node.items) and len({len(row) for row in rows}) == 1
    return Matrix(tuple(rows)) if even and node.opening in ("[", "(") else node


def as_point(node: Node, other: Node) -> Node:
    """P(1,2) as the tuple of its coordinates, beside a tuple."""
    if not isinstance(other, Sequence) or other.opening not in ("(", "⟨"):
        return node
    match node:
        case Call(name, (_, _, *_) as coordinates) if len(name) == 3 and name[0].isupper():
            return Sequence(tuple(coordinates), "(", ")")
        case Product((Symbol(name), Sequence((_, _, *_), "(", ")", _) as point)):
            return point if len(name) == 1 and name.isupper() else node
    return node


def as_vector(node: Node, size: int) -> Node:
    """i + 2j + 3k as a tuple of so many coordinates; anything else as it is."""
    axes = [_axis(node, letter) for letter in "ijk"[:size]]
    if size not in (2, 3) or axes[1:] == [None] * (size - 1):
        return node
    origin = _filled(node, axes, [])
    if same_value(origin, _ZERO).equal is not True:
        return node
    coordinates = [_filled(node, axes, [place]) for place in range(size)]
    corner = _filled(node, axes, list(range(size)))
    if same_value(corner, Sum(tuple(coordinates))).equal is not True:
        return node
    return Sequence(tuple(coordinates), "(", ")")


def vector_beside(other: Node, node: Node) -> Node:
    """i + 2j + 3k as a row or a column beside one; anything else as it is."""
    if not isinstance(other, Matrix) or 1 not in (len(other.rows), len(other.rows[0])):
        return node
    vector = as_vector(node, max(len(other.rows), len(other.rows[0])))
    return as_matrix(vector, other) if vector != node else node


def _axis(node: Node, letter: str) -> Node | None:
    """The leaf that is the unit vector of a letter."""
    spellings: list[Node] = [Symbol(f"{letter}{accent}") for accent in _ACCENTS]
    spellings.append(Constant("i") if letter == "i" else Symbol(letter))
    return next((part for part in nodes(node) if part in spellings), None)


def _filled(node: Node, axes: list[Node | None], ones: list[int]) -> Node:
    if node in axes:
        return _ONE if axes.index(node) in ones else _ZERO
    return mapped(node, lambda below: _filled(below, axes, ones))


def without_degrees(node: Node) -> Node:
    """180° - x as 180 - x: a sum whose terms are in degrees, without their sign."""
    if not isinstance(node, Sum):
        return node
    return Sum(tuple(_without_degree(term) for term in node.terms))


def _without_degree(node: Node) -> Node:
    match node:
        case Quantity(value, (("angle", 1),), _):
            return value
    return node
