r"""Sets of real numbers as unions of intervals, piecewise functions, and sets by their letters.

Sets by their letters and statements of logic are equal where their truth tables are: an element is
in `P \cap Q^c` where it is in P and not in Q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key, reduce
from itertools import groupby, product, zip_longest
from operator import and_, itemgetter, or_

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.comparison import matrices
from rewardkit.verifiers.math.comparison.values import (
    Compare,
    Policy,
    all_equal,
    same_in_any_order,
)
from rewardkit.verifiers.math.numbers.equality import MathComparison, compare_size, same_value

INFINITY = tree.Constant("∞")
MINUS_INFINITY = tree.Product((tree.MINUS_ONE, INFINITY))
FLIPPED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


class NoRegionError(Exception):
    """The tree isn't a set of real numbers, or a formula in letters, that can be computed."""


Cut = tuple[tree.Node, bool]
"""A place between real numbers: just below a number or, if True, just above it."""


@dataclass(frozen=True, slots=True)
class Region:
    """Real numbers: whether it holds those from -∞ on, where that changes, and its variable."""

    cuts: tuple[Cut, ...] = ()
    first: bool = False
    variable: str | None = None


ALL = Region(first=True)


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
            return ALL if name == "R" else Region()
        case tree.SetOperation():
            return _joined(node)
        case tree.Relation(sides, operators):
            return _relation(sides, operators)
        case tree.Sequence((low, high), opening, closing, _) if {opening, closing} <= set("()[]"):
            return interval(low, opening == "[", high, closing == "]")
        case tree.Sequence((tree.Relation(_, ("|",)) as condition,), "⦃", _, _):
            return region(condition)
        case tree.Sequence(items, "⦃", _, _):
            return union([interval(item, True, item, True) for item in items])
        case tree.Sequence(items, "", "", joint) if items:
            regions = [region(item) for item in items]
            both = intersection(regions) if joint != "or" else Region()
            # a comma joins conditions that exclude each other as `or` does
            return both if both.cuts or both.first or joint == "and" else union(regions)
    raise NoRegionError


def _joined(node: tree.SetOperation) -> Region:
    if node.operator == "∖":
        return intersection([region(node.left), complement(region(node.right))])
    operands, left = [region(node.right)], node.left
    while isinstance(left, tree.SetOperation) and left.operator == node.operator:
        operands.append(region(left.right))
        left = left.left
    return (union if node.operator == "∪" else intersection)([*operands, region(left)])


def _relation(sides: tuple[tree.Node | None, ...], operators: tuple[str, ...]) -> Region:
    match sides, operators:
        case (tree.Symbol(name), tree.Node() as members), ("∈" | "∉" as operator,):
            found = region(members)
            return replace(found if operator == "∈" else complement(found), variable=name)
        case (
            tree.Relation((tree.Symbol(name), tree.NumberSet("R")), ("∈",)) | tree.Symbol(name),
            tree.Node() as condition,
        ), ("|",) if region(condition).variable in (name, None):
            return region(condition)
        case (tree.Symbol(name), value), ("=",) if value is not None and not tree.symbols(value):
            return replace(interval(value, True, value, True), variable=name)
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
        case tree.Power(inner, tree.Number(2)):
            left, right = tree.Call("abs", (inner,)), tree.Power(right, tree.Number(Fraction(1, 2)))
        case tree.Call("abs", (inner,)):
            pass
        case _:
            return _bounded(*_solved(left, operator, right))
    if tree.symbols(right) or compare_size(right, tree.ZERO) != 1:
        raise NoRegionError
    above = _bounded(*_solved(inner, operator, right))
    below = _bounded(*_solved(inner, FLIPPED[operator], tree.negative(right)))
    return (intersection if operator in "<≤≠" else union)([above, below])


def _bounded(name: str | None, operator: str, bound: tree.Node | None) -> Region:
    if bound is None or tree.symbols(bound):
        raise NoRegionError
    if operator == "≠":
        found = complement(interval(bound, True, bound, True))
    elif operator in "<≤":
        found = interval(MINUS_INFINITY, False, bound, operator == "≤")
    else:
        found = interval(bound, operator == "≥", INFINITY, False)
    return replace(found, variable=name)


def _solved(left: tree.Node, operator: str, right: tree.Node) -> tuple[str, str, tree.Node]:
    """`left operator right`, linear in its one variable, as the variable, a sign and the bound."""
    if isinstance(left, tree.Symbol) and not tree.symbols(right):
        return left.name, operator, right
    gap = tree.difference(left, right)
    names = tree.symbols(gap)
    found = matrices.line(gap, *names) if len(names) == 1 else None
    rising = compare_size(found[1], tree.ZERO) if found else None
    if found is None or not rising:
        raise NoRegionError
    at_zero, slope = found
    bound = tree.Product((tree.negative(at_zero), tree.reciprocal(slope)))
    return min(names), operator if rising > 0 else FLIPPED[operator], bound


def same_region(first: Region, second: Region) -> bool | None:
    """Whether both hold the same numbers; None: undecided."""
    shapes = [(found.first, [above for _, above in found.cuts]) for found in (first, second)]
    if len({first.variable, second.variable} - {None}) > 1 or shapes[0] != shapes[1]:
        return False
    pairs = zip(first.cuts, second.cuts, strict=True)
    return all_equal([same_value(mine, theirs) for (mine, _), (theirs, _) in pairs]).equal


def infinite(node: tree.Node) -> bool:
    """Whether it is ∞ or -∞."""
    return node in (INFINITY, MINUS_INFINITY)


def interval(low: tree.Node, with_low: bool, high: tree.Node, with_high: bool) -> Region:
    """Raises NoRegionError for ends in the wrong order, as in (1,1), and where it holds ∞."""
    ends = ((low, not with_low), (high, with_high))
    cuts = tuple(end for end in ends if not infinite(end[0]))
    closed = (infinite(low) and with_low) or (infinite(high) and with_high)
    if closed or low == INFINITY or high == MINUS_INFINITY:
        raise NoRegionError
    if len(cuts) > 1 and _order(*cuts) >= 0:
        raise NoRegionError
    return Region(cuts, infinite(low))


def _order(first: Cut, second: Cut) -> int:
    """Less than 0, 0 or more; raises NoRegionError where the order isn't certain."""
    order: int | None = 0
    if first[0] != second[0]:
        lettered = tree.symbols(first[0]) or tree.symbols(second[0])
        order = None if lettered else compare_size(first[0], second[0])
    if order is None:
        raise NoRegionError
    return order or first[1] - second[1]


def _where(holds: Callable[[int], bool], regions: list[Region]) -> Region:
    """The numbers for which it holds how many of the regions they are in."""
    names = {found.variable for found in regions} - {None}
    if len(names) > 1:
        raise NoRegionError
    place = cmp_to_key(_order)
    steps = [
        (place(cut), cut, 1 if number % 2 == found.first else -1)
        for found in regions
        for number, cut in enumerate(found.cuts)
    ]
    count = sum(found.first for found in regions)
    first = inside = holds(count)
    cuts: list[Cut] = []
    for _, equal in groupby(sorted(steps, key=itemgetter(0)), key=itemgetter(0)):
        changes = list(equal)
        count += sum(change for *_, change in changes)
        if holds(count) != inside:
            inside = not inside
            cuts.append(changes[0][1])
    return Region(tuple(cuts), first, *names)


def union(regions: list[Region]) -> Region:
    """The numbers that any of them holds."""
    return _where(bool, regions)


def intersection(regions: list[Region]) -> Region:
    """The numbers that all of them hold."""
    return _where(len(regions).__eq__, regions)


def complement(found: Region) -> Region:
    """The numbers that it does not hold."""
    return replace(found, first=not found.first)


_ELSEWHERE = frozenset(map(tree.Text, ("otherwise", "else", "elsewhere", "in all other cases")))


def is_piecewise(node: tree.Node) -> bool:
    """Whether it consists of values with conditions."""
    return isinstance(node, tree.Call) and node.name == "cases"


def same_pieces(
    answer: tree.Node, reference: tree.Node, policy: Policy, compare: Compare
) -> MathComparison:
    """Whether both hold for the same numbers, and have the same value wherever two pieces meet.

    An expression such as |x| is one piece for all numbers.
    """
    try:
        mine, theirs = _pieces(answer), _pieces(reference)
        if not same_region(*(union([place for _, place in side]) for side in (mine, theirs))):
            return MathComparison(False, "pieces for different numbers")
        shared = [
            (first, two, intersection([here, there]))
            for (first, here), (two, there) in product(mine, theirs)
        ]
    except NoRegionError:  # n/2 for even n
        rows = tree.children(answer), tree.children(reference)
        return same_in_any_order(*rows, lambda row, other: compare(row, other, policy), "pieces")
    return all_equal(
        [
            same_value(*(tree.substituted(side, {x: value}) for side in (first, two)))
            for first, two, place in shared
            for x in [tree.Symbol(place.variable or "x")]
            for ends in _intervals(place)
            for value in _values_between(x, *ends)
        ]
    )


def _intervals(found: Region) -> Iterator[tuple[Cut | None, Cut | None]]:
    """The ends of each interval; None: there is no end."""
    cuts = iter((None, *found.cuts) if found.first else found.cuts)
    return zip_longest(cuts, cuts)


def _values_between(x: tree.Symbol, low: Cut | None, high: Cut | None) -> list[tree.Node]:
    """Replacements of x: a formula whose values fill the interval, and the ends that it holds."""
    inside: tree.Node = x
    square = tree.Product((x, x))
    if low is not None and high is not None:
        part = tree.reciprocal(tree.Sum((tree.ONE, square)))
        square = tree.Product((tree.difference(high[0], low[0]), part))
    if low is not None:
        inside = tree.Sum((low[0], square))
    elif high is not None:
        inside = tree.difference(high[0], square)
    return [
        inside,
        *(end[0] for end, above in ((low, False), (high, True)) if end and end[1] == above),
    ]


def _pieces(node: tree.Node) -> list[tuple[tree.Node, Region]]:
    """Values and where they hold, `otherwise` as what the other conditions leave."""
    if not is_piecewise(node):
        return [(node, ALL)]
    rows = [row.items for row in tree.children(node) if isinstance(row, tree.Sequence)]
    places = [None if condition in _ELSEWHERE else region(condition) for _, condition in rows]
    rest = complement(union([place for place in places if place]))
    return [(value, place or rest) for (value, _), place in zip(rows, places, strict=True)]


MOST_LETTERS = 10
"""Letters of both formulas; a table has a row for each choice of their truth."""

_COMPLEMENTS = ("\\overline", "\\bar", "'")


def same_formula(answer: tree.Node, reference: tree.Node) -> MathComparison | None:
    """Compare two formulas by their truth tables; None if a side is no formula."""
    if not (is_formula(answer) or is_formula(reference)):
        return None
    letters = sorted({_letter(name) for side in (answer, reference) for name in tree.symbols(side)})
    if len(letters) > MOST_LETTERS:
        return None
    rows = range(1 << len(letters))
    columns = {
        letter: sum(1 << row for row in rows if row >> place & 1)
        for place, letter in enumerate(letters)
    }
    try:
        same = _table(answer, columns) == _table(reference, columns)
    except NoRegionError:
        return None
    return MathComparison(same, "truth tables")


def is_formula(node: tree.Node) -> bool:
    """Whether the tree is written with an operator of logic or of sets."""
    match node:
        case tree.Sequence(joint="∧" | "∨") | tree.SetOperation() | tree.Call("not()"):
            return True
        case tree.Relation(operators=("→",)) | tree.Power(tree.SetOperation()):
            return True
    return False


def _letter(name: str) -> str:
    for sign in _COMPLEMENTS:
        name = name.removesuffix(sign)
    return name


def _table(node: tree.Node, columns: Mapping[str, int]) -> int:
    """A bit for each row, set where the formula holds. Raises NoRegionError."""
    match node:
        case tree.Symbol(name):
            column = columns[_letter(name)]
            return column if name in columns else ~column
        case tree.Call("not()", (inner,)) | tree.Power(inner, tree.Symbol("c" | "C")):
            return ~_table(inner, columns)
        case tree.Relation(
            (tree.Symbol() | tree.Call() as left, tree.Symbol() | tree.Call() as right), ("→",)
        ):
            return ~_table(left, columns) | _table(right, columns)
        case tree.SetOperation("∖", left, right) | tree.Sum(
            (tree.Symbol() as left, tree.Product((tree.Number(-1), tree.Symbol() as right)))
        ):
            return _table(left, columns) & ~_table(right, columns)
        case tree.SetOperation(sign, left, right):
            parts: tuple[tree.Node, ...] = (left, right)
        case tree.Sequence(parts, "" | "(", _, "∧" | "∨" as sign):
            pass
        case _:
            raise NoRegionError
    return reduce(and_ if sign in "∧∩" else or_, [_table(part, columns) for part in parts])
