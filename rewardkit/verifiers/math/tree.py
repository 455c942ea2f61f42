"""The typed tree into which an answer is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction


class UnreadableError(Exception):
    """The text isn't mathematics that the parser reads. `foreign`: math-verify may read it."""

    def __init__(self, reason: str, *, foreign: bool = False) -> None:
        super().__init__(reason)
        self.foreign = foreign


@dataclass(frozen=True, slots=True)
class Number:
    """A rational. `places` is how many decimals were written; None: no decimal point."""

    value: Fraction
    places: int | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, subscript included."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """π, e, i or ∞."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms added up."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors multiplied; a quotient is a product with a power of -1."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`base` to the `exponent`."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Root:
    """The real root where there is one, else the principal one."""

    radicand: Node
    index: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function by name."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """±term, or ∓term where `upper` is False."""

    term: Node
    upper: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """Items in brackets: `(`, `[`, `⟨`, `⦃` (a set) or none (a list); `joint` is `,`, or, and."""

    items: tuple[Node, ...]
    opening: str = ""
    closing: str = ""
    joint: str = ","


@dataclass(frozen=True, slots=True)
class SetOperation:
    """∪, ∩ or ∖ of two sets."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class NumberSet:
    """ℝ, ℤ, … or ∅."""

    name: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain such as a < b ≤ c; a side that is missing is None."""

    sides: tuple[Node | None, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of equal length."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit: what kind of unit it is, and how many basic ones it holds."""

    value: Node
    kind: tuple[tuple[str, int], ...]
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Numeral:
    """Digits in a base other than ten."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """a : b : …"""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `stated` is False where `5:10` may be a ratio."""

    hour: int
    minute: int
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """Words, lower-case, one space between."""

    words: str


Node = (
    Number
    | Symbol
    | Constant
    | Sum
    | Product
    | Power
    | Root
    | Call
    | PlusMinus
    | Sequence
    | SetOperation
    | NumberSet
    | Relation
    | Matrix
    | Quantity
    | Numeral
    | Ratio
    | Clock
    | Text
)

_LEAVES = (Number, Symbol, Constant, Text, NumberSet, Numeral, Clock)
MINUS_ONE = Number(Fraction(-1))


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Sum(items) | Product(items) | Ratio(items) | Call(_, items):
            return items
        case Sequence():
            return node.items
        case Power(base, exponent):
            return (base, exponent)
        case Root(below, _) | PlusMinus(below, _) | Quantity(below, _, _):
            return (below,)
        case SetOperation(_, left, right):
            return (left, right)
        case Relation(sides, _):
            return tuple(side for side in sides if side is not None)
        case Matrix(rows):
            return tuple(cell for row in rows for cell in row)
        case _:
            return ()


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with its children changed."""
    match node:
        case Sum(items):
            return Sum(tuple(map(change, items)))
        case Product(items):
            return Product(tuple(map(change, items)))
        case Power(base, exponent):
            return Power(change(base), change(exponent))
        case Root(radicand, index):
            return Root(change(radicand), index)
        case Call(name, items):
            return Call(name, tuple(map(change, items)))
        case Quantity(value, kind, factor):
            return Quantity(change(value), kind, factor)
    return _mapped_whole(node, change)


def _mapped_whole(node: Node, change: Callable[[Node], Node]) -> Node:
    match node:
        case Sequence(items, opening, closing, joint):
            return Sequence(tuple(map(change, items)), opening, closing, joint)
        case Relation(sides, operators):
            changed = (None if side is None else change(side) for side in sides)
            return Relation(tuple(changed), operators)
        case Matrix(rows):
            return Matrix(tuple(tuple(map(change, row)) for row in rows))
        case PlusMinus(term, upper):
            return PlusMinus(change(term), upper)
        case SetOperation(operator, left, right):
            return SetOperation(operator, change(left), change(right))
        case Ratio(items):
            return Ratio(tuple(map(change, items)))
    return node


def replaced(node: Node, replacement: Callable[[Node], Node | None]) -> Node:
    """The tree with each part that has a replacement replaced, from the top down."""
    new = replacement(node)
    return mapped(node, lambda below: replaced(below, replacement)) if new is None else new


def nodes(root: Node) -> Iterator[Node]:
    """The node and all below it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _LEAVES):
            waiting.extend(children(node))


def symbols(root: Node) -> frozenset[str]:
    """The names of the variables."""
    return frozenset(node.name for node in nodes(root) if isinstance(node, Symbol))


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
