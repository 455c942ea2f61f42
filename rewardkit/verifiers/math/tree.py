"""The typed tree into which an answer is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter
from typing import Any, ClassVar


class UnreadableError(Exception):
    """The text isn't mathematics that the parser reads."""


class Node:
    """A part of an answer."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A rational. `places` is how many decimals were written; None: no decimal point."""

    value: Fraction
    places: int | None = None


@dataclass(frozen=True, slots=True)
class Symbol(Node):
    """A variable, subscript included."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """π, e, i or ∞."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """Terms added up."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product(Node):
    """Factors multiplied; a quotient is a product with a power of -1."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Power(Node):
    """`base` to the `exponent`; a root has 1/n as one number, and is real where it can be."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function by name."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus(Node):
    """±term, or ∓term where `upper` is False."""

    term: Node
    upper: bool


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Items in brackets: `(`, `[`, `⟨`, `⦃` (a set) or none (a list); `joint` is `,`, or, and."""

    items: tuple[Node, ...]
    opening: str = ""
    closing: str = ""
    joint: str = ","


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """∪, ∩ or ∖ of two sets."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class NumberSet(Node):
    """ℝ, ℤ, … or ∅."""

    name: str


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """A chain such as a < b ≤ c; a side that is missing is None."""

    sides: tuple[Node | None, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    """Rows of equal length."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with a unit: what kind of unit it is, and how many basic ones it holds."""

    value: Node
    kind: tuple[tuple[str, int], ...]
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Numeral(Node):
    """Digits in a base other than ten."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio(Node):
    """a : b : …"""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Clock(Node):
    """A time of day; `stated` is False where `5:10` may be a ratio."""

    hour: int
    minute: int
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Text(Node):
    """Words, lower-case, one space between."""

    words: str


ZERO, ONE, MINUS_ONE = Number(Fraction(0)), Number(Fraction(1)), Number(Fraction(-1))
WRITTEN_INVERSE = Product((MINUS_ONE, ONE))
"""The exponent of A^{-1} where the capital may name a matrix; that of 1/A is MINUS_ONE."""


def is_matrix_name(node: Node) -> bool:
    """Whether it is a capital, or a product of capitals in brackets."""
    match node:
        case Symbol(name):
            return name[0].isupper() and name.partition("_")[0] == name[0]
        case Product(factors):
            return all(map(is_matrix_name, factors))
        case Call("transpose", (inner,)) | Power(inner, Product()):
            return is_matrix_name(inner)
    return False


_CHILDREN: dict[type, Callable[[Any], tuple[Node, ...]]] = {
    Sum: attrgetter("terms"),
    Product: attrgetter("factors"),
    Power: attrgetter("base", "exponent"),
    Call: attrgetter("arguments"),
    PlusMinus: lambda node: (node.term,),
    Sequence: attrgetter("items"),
    SetOperation: attrgetter("left", "right"),
    Relation: lambda node: tuple(side for side in node.sides if side is not None),
    Matrix: lambda node: sum(node.rows, ()),
    Quantity: lambda node: (node.value,),
    Ratio: attrgetter("terms"),
}
"""The nodes directly below, of each kind that has some."""


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    return _CHILDREN[type(node)](node) if type(node) in _CHILDREN else ()


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with its children changed."""
    if type(node) not in _CHILDREN:
        return node
    kind: Callable[..., Node] = type(node)
    return kind(*(_changed(getattr(node, name), change) for name in node.__match_args__))


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(item, change) for item in value)
    return change(value) if isinstance(value, Node) else value


def replaced(node: Node, replacement: Callable[[Node], Node | None]) -> Node:
    """The tree with each part that has a replacement replaced, from the top down."""
    new = replacement(node)
    return mapped(node, lambda below: replaced(below, replacement)) if new is None else new


def substituted(node: Node, new: Mapping[Node, Node]) -> Node:
    """The tree with other parts in place of some."""
    return replaced(node, new.get)


def with_symbols(node: Node, value: Callable[[Symbol], Node]) -> Node:
    """The tree with a value in place of each variable."""
    return replaced(node, lambda part: value(part) if isinstance(part, Symbol) else None)


def nodes(root: Node) -> list[Node]:
    """The node and all below it."""
    found = [root]
    for node in found:  # it grows while it is read
        if type(node) in _CHILDREN:
            found.extend(_CHILDREN[type(node)](node))
    return found


def symbols(root: Node) -> frozenset[str]:
    """The names of the variables."""
    return frozenset([node.name for node in nodes(root) if isinstance(node, Symbol)])


def item_of(name: str, index: str) -> tuple[str, int] | None:
    """The letter and the shift of x_{k+1}, a variable's name, under the index k; None: no item."""
    letter, underscore, shift = name.partition(f"_{index}")
    whole = re.fullmatch(r"([+-]\d+)?", shift)
    return (letter, int(shift or 0)) if underscore and whole else None


def negative(node: Node) -> Node:
    """-node."""
    if isinstance(node, Number):
        return Number(-node.value, node.places)
    if isinstance(node, Quantity):
        return replace(node, value=negative(node.value))
    return Product((MINUS_ONE, node))


def difference(left: Node, right: Node) -> Node:
    """left - right."""
    return Sum((left, negative(right)))


def reciprocal(node: Node) -> Node:
    """1/node."""
    return Power(node, MINUS_ONE)


def summed(terms: list[Node]) -> Node:
    """The sum of the terms; a single term as it is."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def multiplied(factors: list[Node]) -> Node:
    """The product of the factors; a single factor as it is."""
    return factors[0] if len(factors) == 1 else Product(tuple(factors))
