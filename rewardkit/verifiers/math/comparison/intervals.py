"""Unions of intervals: joined, intersected and compared."""

from __future__ import annotations

from dataclasses import dataclass

from rewardkit.verifiers.math.numbers.equality import compare_size, same_value
from rewardkit.verifiers.math.syntax.tree import (
    MINUS_ONE,
    Constant,
    Node,
    Product,
    symbols,
)

MOST_PIECES = 24


INFINITY = Constant("∞")


MINUS_INFINITY = Product((MINUS_ONE, INFINITY))


class NoRegionError(Exception):
    """The tree isn't a set of real numbers that can be computed."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval; a point is closed and ends where it starts."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Region:
    """Intervals apart from each other, in order; and the variable that ranges over them."""

    pieces: tuple[Piece, ...]
    variable: str | None = None


ALL = Region((Piece(MINUS_INFINITY, False, INFINITY, False),))


def infinite(node: Node) -> bool:
    """Whether it is ∞ or -∞."""
    return node in (INFINITY, MINUS_INFINITY)


def interval(piece: Piece) -> Region:
    """The interval as a region; raises NoRegionError where its ends are in the wrong order."""
    low_is_infinite = piece.low == MINUS_INFINITY
    order = _order(piece.low, piece.high)
    if order > 0 or (low_is_infinite and piece.low_closed):
        raise NoRegionError
    if piece.high == INFINITY and piece.high_closed:
        raise NoRegionError
    if order == 0 and not (piece.low_closed and piece.high_closed):
        return Region(())
    return Region((piece,))


def _order(one: Node, other: Node) -> int:
    """-1, 0 or 1; raises NoRegionError where the order isn't certain."""
    if one == other:
        return 0
    if one == MINUS_INFINITY or other == INFINITY:
        return -1
    if one == INFINITY or other == MINUS_INFINITY:
        return 1
    if symbols(one) or symbols(other):
        raise NoRegionError
    order = compare_size(one, other)
    if order is None:
        raise NoRegionError
    return order


def operation(operator: str, left: Region, right: Region) -> Region:
    """∪, ∩ or ∖ of two regions."""
    if operator == "∪":
        return union([left, right])
    if operator == "∩":
        return intersection([left, right])
    return _without(left, right)


def _variable(regions: list[Region]) -> str | None:
    names = {found.variable for found in regions if found.variable}
    if len(names) > 1:
        raise NoRegionError
    return names.pop() if names else None


def union(regions: list[Region]) -> Region:
    """The numbers that any of them holds, as intervals apart from each other."""
    pieces = [piece for found in regions for piece in found.pieces]
    if len(pieces) > MOST_PIECES:
        raise NoRegionError
    merged: list[Piece] = []
    for piece in _sorted(pieces):
        if merged and _touch(merged[-1], piece):
            merged[-1] = _joined(merged[-1], piece)
        else:
            merged.append(piece)
    return Region(tuple(merged), _variable(regions))


def _sorted(pieces: list[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        place = len(found)
        while place and _starts_before(piece, found[place - 1]):
            place -= 1
        found.insert(place, piece)
    return found


def _starts_before(one: Piece, other: Piece) -> bool:
    order = _order(one.low, other.low)
    return order < 0 or (order == 0 and one.low_closed and not other.low_closed)


def _touch(before: Piece, after: Piece) -> bool:
    order = _order(after.low, before.high)
    return order < 0 or (order == 0 and (after.low_closed or before.high_closed))


def _joined(before: Piece, after: Piece) -> Piece:
    order = _order(before.high, after.high)
    high = after if order < 0 else before
    closed = high.high_closed or (order == 0 and after.high_closed)
    return Piece(before.low, before.low_closed, high.high, closed)


def intersection(regions: list[Region]) -> Region:
    """By complements: the numbers that no complement holds."""
    outside = union([complement(found) for found in regions])
    return Region(complement(outside).pieces, _variable(regions))


def _without(left: Region, right: Region) -> Region:
    return intersection([left, complement(right)])


def complement(found: Region) -> Region:
    """The numbers that it does not hold."""
    pieces: list[Piece] = []
    low: Node = MINUS_INFINITY
    closed = False
    for piece in found.pieces:
        if not infinite(piece.low):
            pieces.append(Piece(low, closed, piece.low, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
    if low != INFINITY:
        pieces.append(Piece(low, closed, INFINITY, False))
    return Region(tuple(pieces), found.variable)


def same_region(one: Region, other: Region) -> bool | None:
    """Whether both hold the same numbers; None: undecided."""
    if one.variable and other.variable and one.variable != other.variable:
        return False
    if len(one.pieces) != len(other.pieces):
        return False
    equal: bool | None = True
    for mine, theirs in zip(one.pieces, other.pieces, strict=True):
        if (mine.low_closed, mine.high_closed) != (theirs.low_closed, theirs.high_closed):
            return False
        for left, right in ((mine.low, theirs.low), (mine.high, theirs.high)):
            same = _same_end(left, right)
            if same is False:
                return False
            equal = equal and same
    return equal


def _same_end(one: Node, other: Node) -> bool | None:
    if infinite(one) or infinite(other):
        return one == other
    return same_value(one, other).equal
