r"""Sets of real numbers as unions of intervals, piecewise functions, and sets by their letters.

Sets by their letters and statements of logic are equal where their truth tables are: an element is
in `P \cap Q^c` where it is in P and not in Q.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key, reduce
from operator import and_, or_

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.comparison import matrices
from rewardkit.verifiers.math.comparison.values import (
    DIFFERENT,
    Compare,
    Policy,
    all_equal,
    same_in_any_order,
)
from rewardkit.verifiers.math.numbers.equality import Comparison, compare_size, same_value

INFINITY = tree.Constant("∞")
MINUS_INFINITY = tree.Product((tree.MINUS_ONE, INFINITY))
FLIPPED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


class NoRegionError(Exception):
    """The tree isn't a set of real numbers that can be computed."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval; a point is closed and ends where it starts."""

    low: tree.Node
    low_closed: bool
    high: tree.Node
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Region:
    """Disjoint intervals, in order; and the variable that ranges over them."""

    pieces: tuple[Piece, ...]
    variable: str | None = None


ALL = Region((Piece(MINUS_INFINITY, False, INFINITY, False),))


def is_region(node: tree.Node) -> bool:
    """Whether the tree is written as a set of real numbers and as nothing else."""
    match node:
        case tree.SetOperation() | tree.NumberSet():
            return True
        case tree.Relation(_, operators):
            return not set(operators) <= {"=", "≡", "≈", "→"}
        case tree.Sequence((tree.Relation(_, ("|",)),), "⦃", _, _):
            return True
        case tree.Sequence(items, opening, closing, joint):
            if joint != "," and any(map(is_region, items)):
                return joint == "or" or all(map(is_region, items))  # x = 4 or 5 < x < 7
            brackets = {opening, closing} <= set("()[]") and opening != ""
            mixed = brackets and (opening, closing) not in (("(", ")"), ("[", "]"))
            return mixed or (brackets and any(map(infinite, items)))
    return False


def region(node: tree.Node) -> Region:
    """Convert the tree to a set of real numbers. Raises NoRegionError."""
    match node:
        case tree.NumberSet(("R" | "∅") as name):
            return ALL if name == "R" else Region(())
        case tree.SetOperation(operator, left, right):
            other = complement(region(right)) if operator == "∖" else region(right)
            return (union if operator == "∪" else intersection)([region(left), other])
        case tree.Relation(sides, operators):
            return _relation(sides, operators)
        case tree.Sequence((low, high), opening, closing, _) if {opening, closing} <= set("()[]"):
            return interval(Piece(low, opening == "[", high, closing == "]"))
        case tree.Sequence((tree.Relation(_, ("|",)) as condition,), "⦃", _, _):
            return region(condition)
        case tree.Sequence(items, "⦃", _, _):
            return union([interval(Piece(item, True, item, True)) for item in items])
        case tree.Sequence(items, "", "", joint) if items:
            regions = [region(item) for item in items]
            both = intersection(regions) if joint != "or" else Region(())
            # a comma joins conditions that exclude each other as `or` does
            return both if both.pieces or joint == "and" else union(regions)
    raise NoRegionError


def _relation(sides: tuple[tree.Node | None, ...], operators: tuple[str, ...]) -> Region:
    match sides, operators:
        case (tree.Symbol(name), members), ("∈",) if members is not None:
            return Region(region(members).pieces, name)
        case (tree.Symbol(name), members), ("∉",) if members is not None:
            return Region(complement(region(members)).pieces, name)
        case (
            tree.Relation((tree.Symbol(name), tree.NumberSet("R")), ("∈",)) | tree.Symbol(name),
            tree.Node() as condition,
        ), ("|",) if region(condition).variable in (name, None):
            return region(condition)
        case (tree.Symbol(name), value), ("=",) if value is not None and not tree.symbols(value):
            return Region((Piece(value, True, value, True),), name)
        case (left, right), (operator,) if operator in FLIPPED:
            return _inequality(left, operator, right)
        case (low, middle, high), (first, second) if first in FLIPPED and second in FLIPPED:
            below = _inequality(middle, FLIPPED[first], low)
            return intersection([below, _inequality(middle, second, high)])
    raise NoRegionError


def _inequality(left: tree.Node | None, operator: str, right: tree.Node | None) -> Region:
    """`left operator right`, where |f| < b is f < b and f > -b, and |f| > b is f > b or f < -b.

    f² < b is |f| < √b.
    """
    if left is None or right is None:
        return _bounded(None, operator if left is None else FLIPPED[operator], left or right)
    if isinstance(right, tree.Call):
        left, operator, right = right, FLIPPED[operator], left
    match left:
        case tree.Power(inner, tree.Number(exponent)) if (
            exponent == 2 and not tree.symbols(right) and compare_size(right, tree.ZERO) == 1
        ):
            root = tree.Power(right, tree.Number(1 / exponent))
            return _inequality(tree.Call("abs", (inner,)), operator, root)
        case tree.Call("abs", (inner,)) if (
            not tree.symbols(right) and compare_size(right, tree.ZERO) == 1
        ):
            above = _bounded(*_solved(inner, operator, right))
            below = _bounded(*_solved(inner, FLIPPED[operator], tree.negative(right)))
            return (intersection if operator in "<≤≠" else union)([above, below])
    return _bounded(*_solved(left, operator, right))


def _bounded(name: str | None, operator: str, bound: tree.Node | None) -> Region:
    if bound is None or tree.symbols(bound):
        raise NoRegionError
    low = Piece(MINUS_INFINITY, False, bound, operator == "≤")
    high = Piece(bound, operator == "≥", INFINITY, False)
    pieces = (low, high) if operator == "≠" else (low,) if operator in "<≤" else (high,)
    return Region(tuple(interval(piece).pieces[0] for piece in pieces), name)


def _solved(left: tree.Node, operator: str, right: tree.Node) -> tuple[str, str, tree.Node]:
    """`left operator right`, linear in its one variable, as the variable, a sign and the bound."""
    if isinstance(left, tree.Symbol) and not tree.symbols(right):
        return left.name, operator, right
    if isinstance(right, tree.Symbol) and not tree.symbols(left):
        return right.name, FLIPPED[operator], left
    gap = tree.difference(left, right)
    names = tree.symbols(gap)
    found = matrices.line(gap, *names) if len(names) == 1 else None
    if found is None:
        raise NoRegionError
    at_zero, slope = found
    rising = compare_size(slope, tree.ZERO)
    if not rising:
        raise NoRegionError
    bound = tree.Product((tree.negative(at_zero), tree.reciprocal(slope)))
    return min(names), operator if rising > 0 else FLIPPED[operator], bound


def same_region(one: Region, other: Region) -> bool | None:
    """Whether both hold the same numbers; None: undecided."""
    closed = [[(piece.low_closed, piece.high_closed) for piece in r.pieces] for r in (one, other)]
    if len({one.variable, other.variable} - {None}) > 1 or closed[0] != closed[1]:
        return False
    ends = [[end for piece in r.pieces for end in (piece.low, piece.high)] for r in (one, other)]
    verdicts = [
        one == other if infinite(one) or infinite(other) else same_value(one, other).equal
        for one, other in zip(*ends, strict=True)
    ]
    return False if False in verdicts else None if None in verdicts else True


def infinite(node: tree.Node) -> bool:
    """Whether it is ∞ or -∞."""
    return node in (INFINITY, MINUS_INFINITY)


def interval(piece: Piece) -> Region:
    """The interval as a region; raises NoRegionError where its ends are in the wrong order."""
    order = _order(piece.low, piece.high)
    closed_low = piece.low == MINUS_INFINITY and piece.low_closed
    closed_high = piece.high == INFINITY and piece.high_closed
    point = order == 0 and not (piece.low_closed and piece.high_closed)  # (1,1) is not empty
    if order > 0 or closed_low or closed_high or point:
        raise NoRegionError
    return Region((piece,))


def _order(one: tree.Node, other: tree.Node) -> int:
    """-1, 0 or 1; raises NoRegionError where the order isn't certain."""
    if one == other:
        return 0
    if one == MINUS_INFINITY or other == INFINITY:
        return -1
    if one == INFINITY or other == MINUS_INFINITY:
        return 1
    order = None if tree.symbols(one) or tree.symbols(other) else compare_size(one, other)
    if order is None:
        raise NoRegionError
    return order


def _variable(regions: list[Region]) -> str | None:
    names = {found.variable for found in regions if found.variable}
    if len(names) > 1:
        raise NoRegionError
    return names.pop() if names else None


def union(regions: list[Region]) -> Region:
    """The numbers that any of them holds, as disjoint intervals."""
    pieces = [piece for found in regions for piece in found.pieces]

    def by_start(one: Piece, other: Piece) -> int:
        return _order(one.low, other.low) or other.low_closed - one.low_closed

    merged: list[Piece] = []
    for piece in sorted(pieces, key=cmp_to_key(by_start)):
        joined = _joined(merged[-1], piece) if merged else None
        if joined is None:
            merged.append(piece)
        else:
            merged[-1] = joined
    return Region(tuple(merged), _variable(regions))


def _joined(before: Piece, after: Piece) -> Piece | None:
    """Both pieces as one; None where there is a gap between them."""
    order = _order(after.low, before.high)
    if order > 0 or (order == 0 and not (after.low_closed or before.high_closed)):
        return None
    order = _order(before.high, after.high)
    high = after if order < 0 else before
    closed = high.high_closed or (order == 0 and after.high_closed)
    return Piece(before.low, before.low_closed, high.high, closed)


def intersection(regions: list[Region]) -> Region:
    """By complements: the numbers that no complement holds."""
    outside = union([complement(found) for found in regions])
    return Region(complement(outside).pieces, _variable(regions))


def complement(found: Region) -> Region:
    """The numbers that it does not hold."""
    pieces: list[Piece] = []
    low: tree.Node = MINUS_INFINITY
    closed = False
    for piece in found.pieces:
        if not infinite(piece.low):
            pieces.append(Piece(low, closed, piece.low, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
    if low != INFINITY:
        pieces.append(Piece(low, closed, INFINITY, False))
    return Region(tuple(pieces), found.variable)


_ELSEWHERE = frozenset(("otherwise", "else", "elsewhere", "in all other cases"))


Place = Region | tree.Node
"""Where a piece holds; the condition as it is written if it isn't a set of numbers."""


def is_piecewise(node: tree.Node) -> bool:
    """Whether it consists of values with conditions."""
    return isinstance(node, tree.Call) and node.name == "cases"


def same_pieces(
    answer: tree.Node, reference: tree.Node, policy: Policy, compare: Compare
) -> Comparison:
    """Whether each piece has a partner of the same value where the same condition holds."""
    for node, other in ((answer, reference), (reference, answer)):
        if isinstance(node, tree.Call) and not is_piecewise(other):
            return _same_everywhere(node, other)
    assert isinstance(answer, tree.Call)
    assert isinstance(reference, tree.Call)

    def same_piece(mine: tuple[tree.Node, Place], theirs: tuple[tree.Node, Place]) -> Comparison:
        one, other = mine[1], theirs[1]
        same = one == other
        if isinstance(one, Region) and isinstance(other, Region):
            same = same_region(one, other) is True
        return compare(mine[0], theirs[0], policy) if same else DIFFERENT

    return same_in_any_order(_pieces(answer), _pieces(reference), same_piece, "pieces")


def _same_everywhere(node: tree.Call, other: tree.Node) -> Comparison:
    """Compare pieces that cover the real numbers with one expression, such as |x|, on each."""
    pieces = _pieces(node)
    try:
        covered = union([place for _, place in pieces if isinstance(place, Region)])
    except NoRegionError:
        return DIFFERENT
    comparable = isinstance(other, tree.Sum | tree.Product | tree.Power | tree.Call)
    if not comparable or covered.pieces != ALL.pieces or tree.symbols(other) != {covered.variable}:
        return DIFFERENT
    return all_equal(
        [
            same_value(tree.with_symbols(value, change), tree.with_symbols(other, change))
            for value, place in pieces
            if isinstance(place, Region)
            for piece in place.pieces
            for change in _substitutions(piece)
        ]
    )


def _substitutions(piece: Piece) -> list[Callable[[tree.Symbol], tree.Node]]:
    """What to put in place of x so that all real x give the whole interval; and its own ends."""
    low, high = piece.low, piece.high
    ends = [low] * piece.low_closed + [high] * piece.high_closed

    def inside(x: tree.Symbol) -> tree.Node:
        square = tree.Product((x, x))
        if infinite(low):
            return x if infinite(high) else tree.difference(high, square)
        if infinite(high):
            return tree.Sum((low, square))
        part = tree.reciprocal(tree.Sum((tree.ONE, square)))
        return tree.Sum((low, tree.Product((tree.difference(high, low), part))))

    return [inside, *(lambda _, end=end: end for end in ends)]


def _pieces(node: tree.Call) -> list[tuple[tree.Node, Place]]:
    """Values and where they hold, `otherwise` as what the other conditions leave."""
    rows = [row.items for row in node.arguments if isinstance(row, tree.Sequence)]
    conditions = [_region_or_node(condition) for _, condition in rows if not _is_rest(condition)]
    regions = [place for place in conditions if isinstance(place, Region)]
    rest = complement(union(regions)) if len(regions) == len(conditions) else None
    return [
        (value, rest or condition if _is_rest(condition) else _region_or_node(condition))
        for value, condition in rows
    ]


def _is_rest(condition: tree.Node) -> bool:
    return isinstance(condition, tree.Text) and condition.words in _ELSEWHERE


def _region_or_node(node: tree.Node) -> Place:
    try:
        return region(node)
    except NoRegionError:
        return node


MOST_LETTERS = 10
"""Letters of both formulas; a table has a row for each choice of their truth."""

_COMPLEMENTS = ("\\overline", "\\bar", "'")


class NoFormulaError(Exception):
    """The tree isn't a formula in letters."""


def same_formula(answer: tree.Node, reference: tree.Node) -> Comparison | None:
    """Compare two formulas row by row; None unless both are some, and one has an operator."""
    if not (_has_operator(answer) or _has_operator(reference)):
        return None
    letters = sorted({_letter(name) for side in (answer, reference) for name in tree.symbols(side)})
    if len(letters) > MOST_LETTERS:
        return None
    rows = 1 << len(letters)
    full = (1 << rows) - 1
    columns = {
        letter: sum(1 << row for row in range(rows) if row >> place & 1)
        for place, letter in enumerate(letters)
    }
    try:
        same = _table(answer, columns, full) == _table(reference, columns, full)
    except NoFormulaError:
        return None
    return Comparison(same, "truth tables")


def _has_operator(node: tree.Node) -> bool:
    match node:
        case tree.Sequence(joint="∧" | "∨") | tree.SetOperation() | tree.Call("not()"):
            return True
        case tree.Relation(operators=("→",)) | tree.Power(tree.SetOperation()):
            return True
    return False


def _letter(name: str) -> str:
    """The name without the signs of a complement."""
    for sign in _COMPLEMENTS:
        name = name.removesuffix(sign)
    return name


def _table(node: tree.Node, columns: Mapping[str, int], full: int) -> int:
    """A bit for each row, set where the formula holds. Raises NoFormulaError."""
    if isinstance(node, tree.Symbol):
        letter = _letter(node.name)
        return columns[letter] ^ (full if letter != node.name else 0)
    operator, parts = _operation(node)
    first, *others = (_table(part, columns, full) for part in parts)
    match operator:
        case "¬":
            return full ^ first
        case "→":
            return full ^ first | others[0]
        case "∖":
            return first & (full ^ others[0])
    return reduce(and_ if operator in "∧∩" else or_, others, first)


def _operation(node: tree.Node) -> tuple[str, tuple[tree.Node, ...]]:
    match node:
        case tree.Call("not()", (inner,)):
            return "¬", (inner,)
        case tree.Power(base, tree.Symbol("c" | "C")):
            return "¬", (base,)
        case tree.Relation(
            (tree.Symbol() | tree.Call() as left, tree.Symbol() | tree.Call() as right), ("→",)
        ):
            return "→", (left, right)
        case tree.SetOperation(operator, left, right):
            return operator, (left, right)
        case tree.Sum(
            (tree.Symbol() as left, tree.Product((tree.Number(sign), tree.Symbol() as right)))
        ) if sign == -1:
            return "∖", (left, right)
        case tree.Sequence(items, "" | "(", _, "∧" | "∨" as joint):
            return joint, items
    raise NoFormulaError
