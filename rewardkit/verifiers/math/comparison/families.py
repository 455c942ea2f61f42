"""Families, the sets that parameters run through, compared as sets and never by their spelling.

A family is a progression (`x = π/4 + kπ`, `n ≡ 3 (mod 7)`, pairs of integers), a line or a plane,
or what constants leave free (`y = C_1 e^x + C_2`, an antiderivative).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise, permutations, product

from rewardkit.verifiers.math.comparison import statements
from rewardkit.verifiers.math.comparison.matrices import (
    Point,
    affine,
    as_column,
    as_vector,
    at,
    coordinates,
    dependent,
    line,
    minus,
    whole,
    with_parts,
)
from rewardkit.verifiers.math.comparison.sets import NoRegionError, region
from rewardkit.verifiers.math.numbers.balls import NO_VALUE_ERRORS, Ball, UndefinedError, take_steps
from rewardkit.verifiers.math.numbers.equality import (
    Evaluator,
    MathComparison,
    agree,
    precisely,
    same_value,
)
from rewardkit.verifiers.math.numbers.exact import rational
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    ONE,
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Product,
    Quantity,
    Relation,
    Sequence,
    Sum,
    Symbol,
    children,
    difference,
    nodes,
    symbols,
)

MOST_MEMBERS = 60
"""Members of a finite family that is written out."""

MOST_CLASSES = 24
"""Members of each progression that are compared, as many as a common step of two unions has."""

MOST_SHIFT = 4
"""Steps by which the parameter of a family that is no progression may be shifted."""


@dataclass(frozen=True, slots=True)
class Range:
    """Real numbers, or whole numbers with bounds; `natural`: ℕ, which starts at 0 or at 1."""

    whole: bool = False
    low: int | None = None
    high: int | None = None
    natural: bool = False


Progression = tuple[list[Ball], list[Ball]]
"""The first point and the step, as numbers."""

Ranges = dict[str, Range]
"""What each letter runs through."""


@dataclass(frozen=True, slots=True)
class Family:
    """All points in all values of the parameters; `ranges` is empty where none is named."""

    points: tuple[Point, ...]
    ranges: Ranges
    name: Node | None = None
    brackets: frozenset[str] = frozenset()

    @property
    def symbols(self) -> frozenset[str]:
        """The letters of all points."""
        return frozenset().union(*(symbols(part) for point in self.points for part in point))


_STEP = "sets of values, points or functions in parameters"
_SAME, _OTHER = MathComparison(True, _STEP), MathComparison(False, _STEP)
_RANGES = {
    "Z": Range(True),
    "N": Range(True, natural=True),
    "Z+": Range(True, low=1),
    "Z≥0": Range(True, low=0),
    "R": Range(),
}
_COUNTERS = frozenset("ijklmnpqrstKLMN")
"""Letters that stand for any whole number if the other side says that a letter does."""

_TURNS = frozenset("klmn")
"""Letters that count turns by habit: in x = π/4 + kπ."""

_ANGLES = frozenset("xyztuvw") | {"alpha", "beta", "gamma", "theta", "phi", "varphi"}
"""What such an equation is solved for: A = nπ is about a given n."""

_LINES = frozenset(("t", "s", "r", "u", "v", "k", "lambda", "mu", "alpha", "beta", "tau"))
"""Parameters of lines and planes by habit."""

_CONSTANTS = frozenset(("C", "c", "K")) | {f"{letter}_{n}" for letter in "CcKkAB" for n in range(6)}
_RENAMED = frozenset("ABDEK")
"""Letters of free constants where the other side has others in their place."""


def same_family(answer: Node, reference: Node) -> MathComparison | None:
    """Compare two families as sets; None where a side is none, or where that isn't decided."""
    if not (_may_be(answer) or _may_be(reference)) or answer == reference:
        return None
    if (found := _same_curves(answer, reference)) is not None:
        return found
    mine, theirs = map(_read, statements.as_products(answer, reference))
    if mine is None or theirs is None:
        return None
    for family, other in ((mine, theirs), (theirs, mine)):
        equation = other.points[0][0]
        if isinstance(equation, Relation) and len(family.points[0]) in (2, 3):
            return _solves(family, equation)
    mine, theirs = _fitted(mine, theirs, given=True), _fitted(theirs, mine)
    if not mine.ranges and not theirs.ranges:
        vectors = _has_vectors(answer) or _has_vectors(reference)
        free, run = _by_habit(mine, theirs, vectors)
        mine, theirs = (
            replace(family, ranges=dict.fromkeys(sorted(letters), run))
            for family, letters in zip((mine, theirs), free, strict=True)
        )
    named = {type(family.name) for family in (mine, theirs)}
    differ = mine.name != theirs.name and len(named) == 1 == len(mine.points[0])
    if differ or not (mine.ranges and theirs.ranges):
        return None
    if mine.brackets and theirs.brackets and mine.brackets != theirs.brackets:
        return _OTHER  # an open and a closed interval
    return None if len(mine.brackets) > 1 else _compared(mine, theirs)


def _same_curves(answer: Node, reference: Node) -> MathComparison | None:
    """x² + y² = K for x²/2 + y²/2 = C: curves on which a function is constant, up to a factor."""
    first, second = map(_constant_on, (answer, reference))
    if first is None or second is None:
        return None
    names = symbols(first) | symbols(second)
    varies = [dependent([(part,), (ONE,)], names) is False for part in (first, second)]
    same = dependent([(first,), (second,), (ONE,)], names)
    return MathComparison(same, _STEP) if all(varies) and same is not None else None


def _constant_on(node: Node) -> Node | None:
    """The function of two letters that an equation says to be a free constant."""
    constants = {name for name in symbols(node) & _CONSTANTS if name[0].isupper()}
    if not isinstance(node, Relation) or node.operators != ("=",) or len(constants) != 1:
        return None
    left, right = node.sides
    if left is None or right is None or len(symbols(node)) != 3:
        return None
    found = line(difference(left, right), *constants)
    alone = found and any(same_value(found[1], sign).equal for sign in (ONE, MINUS_ONE))
    return found[0] if found and alone else None


def written_out(node: Node) -> Node:
    """The members of {n² : 1 ≤ n ≤ 4, n ∈ ℤ}; f(x) = 1 of `f(x) = 1, x ∈ ℚ`; else the node."""
    if not isinstance(node, Sequence) or not _may_be(node):
        return node
    shape, _, bounded = _split(node)
    if not node.opening and not (bounded and isinstance(shape, Symbol)):
        return node if shape is None or bounded else shape
    family = _read(node)
    if family is None or len(family.ranges) != 1 or len(family.points) != 1:
        return node
    ((name, run),) = family.ranges.items()
    if run.low is None or run.high is None or run.high - run.low >= MOST_MEMBERS:
        return node
    points = [at(family.points[0], {name: k}) for k in range(run.low, run.high + 1)]
    items = [point[0] if len(point) == 1 else Sequence(point, "(", ")") for point in points]
    return Sequence(tuple(items), "⦃", "⦄")


def is_family(node: Node) -> bool:
    """Whether the tree says what its letters run through."""
    family = _read(node) if _may_be(node) else None
    return family is not None and bool(family.ranges)


def _may_be(node: Node) -> bool:
    parts = nodes(node)
    lettered = any(isinstance(part, Symbol) and part.name in _LINES for part in parts)
    tupled = any(isinstance(part, (Sequence, Matrix)) for part in parts)
    return (lettered and tupled) or any(map(_is_hint, parts))


def _is_hint(node: Node) -> bool:
    if isinstance(node, Relation):
        return node.operators in (("∈",), ("|",), ("≡",))
    if isinstance(node, Product):
        return bool(_TURNS & symbols(node)) and any(
            part == Constant("π") or (isinstance(part, Quantity) and part.kind == (("angle", 1),))
            for part in nodes(node)
        )
    return is_constant(node) or (isinstance(node, Call) and node.name == "residue")


def is_constant(node: Node | None) -> bool:
    """Whether it is a letter of free constants, such as C."""
    return isinstance(node, Symbol) and node.name in _CONSTANTS


def _has_vectors(node: Node) -> bool:
    parts = (part for part in nodes(node) if isinstance(part, Sum | Product))
    inner = chain.from_iterable(map(children, parts))
    return any(isinstance(part, Matrix) or as_column(part) for part in inner)


# Reading


def _read(node: Node) -> Family | None:
    """The family that a tree states; None where it has conditions that aren't understood."""
    shape, given, _ = _split(node)
    if shape is None:
        return None
    name, values = _alternatives(shape)
    free = frozenset().union(*map(symbols, values)) - _arguments(name)
    if any(letter in free and run is None for letter, run in given.items()):
        return None
    ranges = {letter: run for letter, run in given.items() if run is not None and letter in free}
    points: list[Point] = []
    brackets: set[str] = set()
    for value in map(_interval, chain.from_iterable(map(statements.both_signs, values))):
        if isinstance(value, Call) and value.name == "residue":
            first, modulus = map(rational, (value.arguments[0], value.arguments[-1]))
            if first is None or not modulus or len(value.arguments) != 2:
                return None
            ranges["residue"] = Range(True)
            value = Sum(
                (
                    Number(first % modulus),
                    Product((Number(modulus), Symbol("residue"))),
                )
            )
        if isinstance(value, Sequence) and value.opening in ("(", "[", "⟨"):
            written = f"{value.opening}{value.closing}"
            brackets.add(written.replace("⟨", "(").replace("⟩", ")"))
        points.append(coordinates(value) or (value,))
    if not points or len({len(point) for point in points}) > 1:
        return None
    return Family(tuple(points), ranges, name, frozenset(brackets))


def _interval(node: Node) -> Node:
    """(2kπ, 2kπ + π) of x ∈ (2kπ, 2kπ + π) and of 2kπ < x < 2kπ + π; any other node as it is."""
    match node:
        case Relation((Symbol(), Sequence((_, _), "(" | "[") as ends), ("∈",)):
            return ends
        case Relation((Node() as low, Symbol(), Node() as high), (first, second)):
            if {first, second} <= {"<", "≤"}:
                return Sequence((low, high), "[("[first == "<"], "])"[second == "<"])
    return node


def _arguments(name: Node | None) -> frozenset[str]:
    if isinstance(name, Symbol):
        return frozenset(name.name.partition("_")[2])
    return symbols(name) if isinstance(name, Call | Sequence) else frozenset()


def _split(node: Node) -> tuple[Node | None, dict[str, Range | None], bool]:
    """What runs through the set, the ranges of letters, and whether any of them is bounded.

    A range is None where its set isn't known, the shape is None where a condition isn't.
    """
    shape: Node | None = None
    match node:
        case Sequence((Relation((shape, Sequence(items, "", "")), ("|",)),), "⦃"):
            pass
        case Sequence((Relation((shape, condition), ("|",)),), "⦃") if condition is not None:
            items = (condition,)
        case Sequence(items, "", ""):
            pass
        case Relation((Symbol(), Sequence(_, "⦃") as members), ("∈",)):
            return _split(members)
        case _:
            return node, {}, False
    if isinstance(shape, Relation):  # x ∈ ℤ
        items, shape = (shape, *items), shape.sides[0]
    ranges, rest = _memberships(items)
    bounds = [item for item in rest if isinstance(item, Relation) and _bounds(item, ranges)]
    understood = sum(_narrow(ranges, item) for item in bounds) == len(bounds)
    rest = [item for item in rest if item not in bounds]
    names = shape.items if isinstance(shape, Sequence) else (shape,)
    defined = shape is None or all(
        (isinstance(item, Relation) and (item.operators == ("=",) and item.sides[0] in names))
        or (isinstance(item, Relation) and item.sides[1] in names)
        for item in rest
    )
    if rest:
        shape = rest[0] if len(rest) == 1 else Sequence(tuple(rest), joint=node.joint)
    elif shape is None and len(ranges) == 1:
        shape = Symbol(*ranges)
    return shape if understood and defined else None, ranges, bool(bounds)


def _memberships(items: tuple[Node, ...]) -> tuple[dict[str, Range | None], list[Node]]:
    """The ranges in `k, m ∈ ℤ` and the like, and the other items."""
    ranges: dict[str, Range | None] = {}
    rest: list[Node] = []
    letters: str | None = None
    for item in reversed(items):
        match item:
            case Relation((Symbol(name), NumberSet(letters)), ("∈",)):
                ranges[name] = _RANGES.get(letters)
            case Symbol(name) if letters is not None and item is not items[0]:
                ranges[name] = _RANGES.get(letters)
            case _:
                letters = None
                rest.insert(0, item)
    return ranges, rest


def _bounds(item: Relation, ranges: dict[str, Range | None]) -> bool:
    """Whether it bounds a letter that is in a set: `k ≥ 1`, `1 ≤ k < 5`, `|k| ≤ 2`."""
    return {*item.operators} <= {*"<>≤≥"} and bool(symbols(item)) and symbols(item) <= {*ranges}


def _narrow(ranges: dict[str, Range | None], item: Relation) -> bool:
    """Apply bounds to a range of whole numbers; False where they aren't understood."""
    try:
        found = region(item)
    except NoRegionError:
        return False
    (name,) = symbols(item)
    run = ranges[name]
    ends = [(rational(end), above) for end, above in found.cuts]
    # the first whole number beyond each end
    firsts = [
        math.floor(end) + 1 if above else math.ceil(end) for end, above in ends if end is not None
    ]
    if run is None or not run.whole or not 0 < len(firsts) == len(ends) <= 2 - found.first:
        return False
    if not found.first:
        low = firsts[0] if run.low is None else max(firsts[0], run.low)
        run = replace(run, low=low, natural=run.natural and low < 1)
    if found.first or len(firsts) > 1:
        run = replace(run, high=firsts[-1] - 1)
    ranges[name] = run
    return True


def _alternatives(shape: Node) -> tuple[Node | None, list[Node]]:
    """The name that the shape has, and its values: several where it lists alternatives."""
    tuples = statements.assigned(shape)
    if tuples is not None:
        return None, list(tuples.items) if not tuples.opening else [tuples]
    listed = isinstance(shape, Sequence) and not shape.opening
    items = shape.items if isinstance(shape, Sequence) and listed else (shape,)
    name, values = None, []
    modulus: Node | None = None
    for item in reversed(items):
        stated = item
        if isinstance(item, Relation) and item.operators == ("≡",) and len(item.sides) == 2:
            name, stated = item.sides[0], item.sides[1] or item
        elif (pair := statements.definition(item)) is not None and not is_constant(pair[0]):
            name, stated = pair
        if isinstance(stated, Call) and stated.name == "residue":
            modulus = stated.arguments[-1]
        elif modulus is not None:
            stated = Call("residue", (stated, modulus))
        values.append(stated)
    return name, values[::-1]


# Fitting two families to each other


def _fitted(family: Family, other: Family, *, given: bool = False) -> Family:
    """The family with the other's arguments, coordinates and ranges, if it has none itself.

    `given`: the other is the reference, whose range holds for any letter that it lacks.
    """
    runs, points, size = list(other.ranges.values()), family.points, len(other.points[0])
    if any(run.low is not None or run.natural for run in runs) and "residue" in family.ranges:
        return replace(family, ranges={"residue": Range(True, low=0)})
    if len(points[0]) == 1 < size:  # unit vectors
        vectors = (as_vector(point[0], size) for point in points)
        points = tuple(coordinates(vector) or (vector,) for vector in vectors)
    family = replace(family, points=points)
    free = family.symbols - (other.symbols - set(other.ranges))
    if family.ranges or len(set(runs)) != 1 or len(free) != len(runs):
        return family
    habit = (_COUNTERS if runs[0].whole else _CONSTANTS | _LINES) | set(other.ranges)
    fits = given or free <= habit or len(points[0]) > 1
    return replace(family, ranges=dict.fromkeys(sorted(free), runs[0])) if fits else family


def _by_habit(mine: Family, theirs: Family, vectors: bool) -> tuple[list[frozenset[str]], Range]:
    """The letters that are parameters though no side says so, and what they run through."""
    free, size = [mine.symbols, theirs.symbols], len(mine.points[0])
    if constants := _free_constants(mine, theirs):
        return constants, Range()
    if size == 2 and any(isinstance(side.name, Sequence) for side in (mine, theirs)):
        pairs = free[0] | free[1] <= _LINES | _TURNS and len(free[0]) == len(free[1])
        return (free if pairs else [frozenset()] * 2), Range(whole=True)
    line = size > 2 or (vectors and size == 2)
    if line and free[0] | free[1] <= _LINES and len(free[0]) == len(free[1]):
        return free, Range()
    names = {side.name.name for side in (mine, theirs) if isinstance(side.name, Symbol)}
    solved = names <= _ANGLES and (bool(names) or free[0] != free[1])
    turns = all(len(letters) == 1 and letters <= _TURNS for letters in free)
    if solved and turns and size == len(theirs.points[0]) == 1:
        return free, Range(whole=True)
    return [frozenset()] * 2, Range()


def _free_constants(mine: Family, theirs: Family) -> list[frozenset[str]]:
    """The free constants of both sides; none if a letter may stand for a given number."""
    kept = (mine.symbols & theirs.symbols) & {"c", *_RENAMED}
    free = [
        side.symbols & (_CONSTANTS | _RENAMED | _beside(other)) - kept
        for side, other in ((mine, theirs), (theirs, mine))
    ]
    given = [mine.symbols - free[0], theirs.symbols - free[1]]
    named = {side.name.name for side in (mine, theirs) if isinstance(side.name, Symbol)}
    points = (mine.points[0], theirs.points[0])
    certain = (
        len(points[0]) == len(points[1]) == 1
        and len(free[0]) == len(free[1])
        and not given[0] <= frozenset("abd")  # c beside a and b is a letter like them
        and given[0] ^ given[1] <= named
        and all(name == name.lower() for name in given[0] | given[1])
        and bool((free[0] | free[1]) & _CONSTANTS)
    )
    # x + 1 + C may be about a given C
    sums = [value.terms for value, *_ in points if isinstance(value, Sum)]
    flat = [
        tuple(part for t in terms for part in (children(t) if isinstance(t, Sum) else (t,)))
        for terms in sums
    ]
    added = any(
        any(map(is_constant, terms)) and any(rational(term) is not None for term in terms)
        for terms in flat
    )
    return free if certain and not added else []


def _beside(other: Family) -> frozenset[str]:
    """The letters that are constants beside C_1 and C_2, where these are all that the side has."""
    numbered = {"C_1", "C_2"} <= other.symbols and not other.symbols & {"a", "b"}
    return frozenset("ab") if numbered else frozenset()


# Comparing


def _compared(mine: Family, theirs: Family) -> MathComparison | None:
    kinds = {run.whole for family in (mine, theirs) for run in family.ranges.values()}
    if len(mine.points[0]) != len(theirs.points[0]) or len(kinds) > 1:
        return _OTHER
    if kinds == {True}:
        return _progressions(mine, theirs) or _renamed(mine, theirs)
    if len(mine.points) > 1 or len(theirs.points) > 1:
        return None
    return _affine_sets(mine, theirs) or _renamed(mine, theirs)


def _solves(family: Family, equation: Relation) -> MathComparison | None:
    """Compare a line or a plane in parameters with its equations in x, y and z."""
    point, names = family.points[0], "xyz"[: len(family.points[0])]
    sides = tuple(side for side in equation.sides if side is not None)
    parameters = sorted(family.ranges or family.symbols & _LINES)
    whole = any(run.whole for run in family.ranges.values())
    equal = {*equation.operators} == {"="} and symbols(equation) <= {*names}
    if whole or len(family.points) > 1 or not equal or family.symbols != {*parameters}:
        return None
    gaps = [affine((difference(*pair),), names) for pair in pairwise(sides)]
    normals = [tuple(step[0] for step in gap[1]) for gap in gaps if gap is not None]
    steps = affine(point, parameters)
    if steps is None or len(normals) < len(gaps) or len(gaps) + len(parameters) != len(point):
        return None
    if dependent(normals) is not False or dependent(steps[1]) is not False:
        return None
    values: dict[Node, Node] = {Symbol(n): part for n, part in zip(names, point, strict=True)}
    inside = (same_value(*pair).equal for pair in pairwise(with_parts(sides, values)))
    return _SAME if all(inside) else _OTHER


def _affine_sets(mine: Family, theirs: Family) -> MathComparison | None:
    """Compare a point plus all real multiples of steps: the same span, and it holds the gap."""
    first, second = (affine(family.points[0], family.ranges) for family in (mine, theirs))
    if first is None or second is None:
        return None
    (origin, steps), (origin2, steps2) = first, second
    free = (mine.symbols | theirs.symbols) - {*mine.ranges, *theirs.ranges}
    if len(steps) != len(steps2):
        return _OTHER
    if dependent(steps, free) is not False or dependent(steps2, free) is not False:
        return None
    for point in (*steps2, minus(origin2, origin)):
        inside = dependent([*steps, point], free)
        if not inside:
            return None if inside is None else _OTHER
    return _SAME


def _from_start(family: Family, other: Family) -> Family:
    """The family with ℕ from 0 or from 1 on, where the other side says from which."""
    starts = [run for run in other.ranges.values() if run.low in (0, 1) and run.high is None]
    natural = all(run.natural for run in family.ranges.values())
    fits = natural and len(starts) == len(other.ranges) == 1
    return replace(family, ranges=dict.fromkeys(family.ranges, starts[0])) if fits else family


def _renamed(mine: Family, theirs: Family) -> MathComparison:
    """Compare by the letters alone, one parameter also shifted and with either sign."""
    if len(mine.ranges) != len(theirs.ranges) or len(mine.points) + len(theirs.points) > 2:
        return _OTHER
    mine, theirs = _from_start(mine, theirs), _from_start(theirs, mine)
    first, runs = next(iter(mine.ranges.values())), list(theirs.ranges.values())
    shifts = range(-MOST_SHIFT, MOST_SHIFT + 1)
    if len(runs) > 1 or runs[0].low is not None or runs[0].natural:
        shifts = range(1)
    orders = [o for o in permutations(mine.ranges) if [mine.ranges[name] for name in o] == runs]
    if len(runs) == 1 and first.low is not None and runs[0].low is not None:  # k ≥ 1 and k ≥ 0
        begin, last = first.low - runs[0].low, runs[0].high
        moved = replace(runs[0], low=first.low, high=None if last is None else last + begin)
        shifts, orders = range(begin, begin + 1), [tuple(mine.ranges)] * (first == moved)
    for order, shift, sign in product(orders, shifts, (1, -1)[: len(shifts)]):
        new: dict[Node, Node] = {
            Symbol(letter): Sum((Product((whole(sign), Symbol(other))), whole(shift)))
            for letter, other in zip(order, theirs.ranges, strict=True)
        }
        pairs = zip(with_parts(mine.points[0], new), theirs.points[0], strict=True)
        if all(same_value(*pair).equal for pair in pairs):
            return _SAME
    return _OTHER


# Progressions


def _progressions(mine: Family, theirs: Family) -> MathComparison | None:
    """Compare unions of progressions as sets of numbers; None where a side is something else."""
    runs = [*mine.ranges.values(), *theirs.ranges.values()]
    lettered = mine.symbols | theirs.symbols != {*mine.ranges, *theirs.ranges}
    if len(runs) != 2 or lettered or any(run.high is not None for run in runs):
        return None
    forward = {run.natural or run.low is not None for run in runs}
    if len(forward) > 1:
        return _OTHER
    parts = [*chain.from_iterable((*mine.points, *theirs.points))]
    with precisely(parts) as evaluator:
        for start in (0, 1) if any(run.natural for run in runs) else (0,):
            try:
                first, second = (_union(side, start, evaluator) for side in (mine, theirs))
            except NO_VALUE_ERRORS:
                return None
            pairs = ((first, second), (second, first))
            if all(_holds(*pair, forward=True in forward) for pair in pairs):
                return _SAME
    return _OTHER


def _union(family: Family, natural_start: int, evaluator: Evaluator) -> list[Progression]:
    """The values at even and at odd numbers, for (-1)^k; raises where a step isn't even."""
    ((name, run),) = family.ranges.items()
    low = natural_start if run.natural else run.low or 0
    found = []
    for point, first in product(family.points, (low, low + 1)):
        evaluates = [evaluator({name: Fraction(first + 2 * count)}) for count in range(3)]
        values = [[evaluate(part) for part in point] for evaluate in evaluates]
        steps = [_moved(after, before, -1) for before, after in pairwise(values)]
        if not all(map(agree, *steps)) or all(map(agree, values[0], values[1])):
            raise UndefinedError("a family that is no progression")
        found.append((values[0], steps[0]))
    return found


def _moved(point: list[Ball], step: list[Ball], times: int) -> list[Ball]:
    return [part + times * move for part, move in zip(point, step, strict=True)]


def _holds(first: list[Progression], second: list[Progression], *, forward: bool) -> bool:
    """Whether the second union holds as many members of the first as a period has, at most."""
    take_steps(len(first) * len(second) * MOST_CLASSES)
    members = (
        _moved(*progression, count) for progression in first for count in range(MOST_CLASSES)
    )
    return all(any(_is_member(point, other, forward) for other in second) for point in members)


def _is_member(point: list[Ball], progression: Progression, forward: bool) -> bool:
    """Whether it is a whole number of steps from the first, none of them back where both go on."""
    origin, step = progression
    place = next(place for place, part in enumerate(step) if not agree(part, 0 * part))
    count = ((point[place] - origin[place]) / step[place]).real.unique_fmpz()
    if count is None or (forward and count < 0):
        return False
    return all(map(agree, point, _moved(origin, step, count)))
