"""Sets of real numbers as unions of intervals: from brackets, inequalities and set operations."""

from __future__ import annotations

from rewardkit.verifiers.math.comparison.inequalities import FLIPPED, solved, without_bars
from rewardkit.verifiers.math.comparison.intervals import (
    ALL,
    INFINITY,
    MINUS_INFINITY,
    NoRegionError,
    Piece,
    Region,
    complement,
    infinite,
    intersection,
    interval,
    operation,
    union,
)
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Node,
    NumberSet,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    symbols,
)


def is_region(node: Node) -> bool:
    """Whether the tree is written as a set of real numbers and as nothing else."""
    match node:
        case SetOperation() | NumberSet():
            return True
        case Relation(_, operators):
            return not set(operators) <= {"=", "≡", "≈", "→"}
        case Sequence((Relation(_, ("|",)),), "⦃", _, _):
            return True
        case Sequence(items, opening, closing, joint):
            if joint != "," and items and all(map(is_region, items)):
                return True
            brackets = {opening, closing} <= set("()[]") and opening != ""
            mixed = brackets and (opening, closing) not in (("(", ")"), ("[", "]"))
            return mixed or (brackets and any(map(infinite, items)))
    return False


def region(node: Node) -> Region:
    """Convert the tree to a set of real numbers. Raises NoRegionError."""
    match node:
        case NumberSet(("R" | "∅") as name):
            return ALL if name == "R" else Region(())
        case SetOperation(operator, left, right):
            return operation(operator, region(left), region(right))
        case Relation(sides, operators):
            return _relation(sides, operators)
        case Sequence((low, high), opening, closing, _) if {opening, closing} <= set("()[]"):
            return interval(Piece(low, opening == "[", high, closing == "]"))
        case Sequence(items, "⦃", _, _):
            return _members(items)
        case Sequence(items, "", "", joint) if items:
            regions = [region(item) for item in items]
            return _listed(regions, joint)
    raise NoRegionError


def _listed(regions: list[Region], joint: str) -> Region:
    """Conditions joined by and, by or, or by a comma: or where they exclude each other."""
    both = intersection(regions) if joint != "or" else Region(())
    return both if both.pieces or joint == "and" else union(regions)


def _members(items: tuple[Node, ...]) -> Region:
    match items:
        case (Relation(_, ("|",)) as condition,):
            return region(condition)
    return union([interval(Piece(item, True, item, True)) for item in items])


def _relation(sides: tuple[Node | None, ...], operators: tuple[str, ...]) -> Region:
    match sides, operators:
        case (Symbol(name), members), ("∈",) if members is not None:
            return Region(region(members).pieces, name)
        case (Symbol(name), members), ("∉",) if members is not None:
            return Region(complement(region(members)).pieces, name)
        case (first, condition), ("|",) if first is not None and condition is not None:
            return _condition(first, condition)
        case (left, right), (operator,) if operator in FLIPPED:
            return _inequality(left, operator, right)
        case (low, middle, high), (first, second) if first in FLIPPED and second in FLIPPED:
            below = _inequality(middle, FLIPPED[first], low)
            return intersection([below, _inequality(middle, second, high)])
    raise NoRegionError


def _condition(first: Node, condition: Node) -> Region:
    match first:
        case Relation((Symbol(name), NumberSet("R")), ("∈",)) | Symbol(name):
            found = region(condition)
            if found.variable in (name, None):
                return found
    raise NoRegionError


def _inequality(left: Node | None, operator: str, right: Node | None) -> Region:
    if left is None or right is None:
        return _bounded(None, operator if left is None else FLIPPED[operator], left or right)
    if isinstance(right, Call):
        left, operator, right = right, FLIPPED[operator], left
    joint, parts = without_bars(left, operator, right)
    found = [solved(*part) for part in parts]
    regions = [_bounded(*part) for part in found if part is not None]
    if len(regions) < len(found):
        raise NoRegionError
    return intersection(regions) if joint == "and" else union(regions)


def _bounded(name: str | None, operator: str, bound: Node | None) -> Region:
    if bound is None or symbols(bound):
        raise NoRegionError
    if infinite(bound):
        if (operator, bound) in (("<", INFINITY), (">", MINUS_INFINITY)):
            return Region(ALL.pieces, name)
        raise NoRegionError
    low = Piece(MINUS_INFINITY, False, bound, operator == "≤")
    high = Piece(bound, operator == "≥", INFINITY, False)
    pieces = (low, high) if operator == "≠" else (low,) if operator in "<≤" else (high,)
    return Region(pieces, name)
