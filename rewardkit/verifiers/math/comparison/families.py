"""Families, the sets that parameters run through, compared as sets and never by their spelling.

A family is a progression (`x = π/4 + kπ`, `n ≡ 3 (mod 7)`, pairs of integers), a line or a plane,
or what constants leave free (`y = C_1 e^x + C_2`, an antiderivative).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

from rewardkit.verifiers.math.comparison.matrices import NoMatrixError, as_vector, worked_out
from rewardkit.verifiers.math.comparison.statements import assigned, both_signs, definition
from rewardkit.verifiers.math.numbers.equality import Comparison, as_rational, same_value
from rewardkit.verifiers.math.numbers.exact import rational
from rewardkit.verifiers.math.tree import (
    Call,
    Matrix,
    Node,
    Number,
    NumberSet,
    Power,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    difference,
    negative,
    nodes,
    reciprocal,
    replaced,
    symbols,
    with_symbols,
)

MOST_MEMBERS = 60
"""Members of a finite family that is written out."""

MOST_CLASSES = 24
"""Residue classes that two unions of progressions have in their common step."""

MOST_DETERMINANTS = 40
MOST_SHIFT = 4
"""Steps by which the parameter of a family that is no progression may be shifted."""

Point = tuple[Node, ...]
"""Coordinates; a number or a function has one."""


@dataclass(frozen=True, slots=True)
class Range:
    """Real numbers, or whole numbers with bounds; `natural`: ℕ, which starts at 0 or at 1."""

    whole: bool = False
    low: int | None = None
    high: int | None = None
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """All points in all values of the parameters; `ranges` is empty where none is named."""

    points: tuple[Point, ...]
    ranges: dict[str, Range]
    name: Node | None = None

    @property
    def symbols(self) -> frozenset[str]:
        """The letters of all points."""
        return frozenset().union(*(symbols(part) for point in self.points for part in point))


_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))
_STEP = "sets of values, points or functions in parameters"
_SAME, _OTHER = Comparison(True, _STEP), Comparison(False, _STEP)
_RANGES = {
    "Z": Range(True),
    "N": Range(True, natural=True),
    "Z+": Range(True, low=1),
    "Z≥0": Range(True, low=0),
    "R": Range(),
}
_COUNTERS = frozenset("ijklmnpqrstKLMN")
"""Letters that stand for any whole number where the other side says that there is one."""

_LINES = frozenset(("t", "s", "r", "u", "v", "k", "lambda", "mu", "alpha", "beta", "tau"))
"""Parameters of lines and planes by habit."""

_CONSTANTS = frozenset(("C", "c", "K")) | {f"{letter}_{n}" for letter in "CcKkAB" for n in range(6)}
_RENAMED = frozenset("ABDEK")
"""Letters of free constants where the other side has others in their place."""


def same_family(answer: Node, reference: Node) -> Comparison | None:
    """Compare two families as sets; None where a side is none, or where that isn't decided."""
    if not (_may_be(answer) or _may_be(reference)) or answer == reference:
        return None
    mine, theirs = _read(answer), _read(reference)
    if mine is None or theirs is None:
        return None
    mine, theirs = _natural(mine, theirs), _natural(theirs, mine)
    mine, theirs = _fitted(mine, theirs), _fitted(theirs, mine)
    mine, theirs = _with_ranges(mine, theirs), _with_ranges(theirs, mine)
    if not mine.ranges and not theirs.ranges:
        mine, theirs = _with_habits(mine, theirs, answer, reference)
    if not mine.ranges or not theirs.ranges or _names_differ(mine, theirs):
        return None
    return _compared(mine, theirs)


def written_out(node: Node) -> Node:
    """The members of {n² : 1 ≤ n ≤ 4, n ∈ ℤ}; f(x) = 1 of `f(x) = 1, x ∈ ℚ`; else the node."""
    family = _read(node) if isinstance(node, Sequence) and _may_be(node) else None
    if isinstance(node, Sequence) and not node.opening:
        shape, conditions = _split(node)
        return shape if shape is not None and all(map(_membership, conditions)) else node
    if family is None or len(family.ranges) != 1 or len(family.points) != 1:
        return node
    ((name, run),) = family.ranges.items()
    if run.low is None or run.high is None or run.high - run.low >= MOST_MEMBERS:
        return node
    points = [_at(family.points[0], {name: k}) for k in range(run.low, run.high + 1)]
    items = [point[0] if len(point) == 1 else Sequence(point, "(", ")") for point in points]
    return Sequence(tuple(items), "⦃", "⦄")


def _may_be(node: Node) -> bool:
    """Whether anything in the tree looks like a family: a range, a residue, a vector."""
    for part in nodes(node):
        match part:
            case Relation(_, ("∈" | "|" | "≡",)) | Call("residue"):
                return True
            case Sum() | Product() if _vectors(part):
                return True
            case Symbol() if _is_constant(part):
                return True
            case Sequence(items) if len(items) > 1 and symbols(part) & _LINES:
                return True
    return False


def _vectors(node: Sum | Product) -> bool:
    parts = node.terms if isinstance(node, Sum) else node.factors
    return any(isinstance(part, Matrix) or _is_tuple(part) for part in parts)


def _is_tuple(node: Node) -> bool:
    return isinstance(node, Sequence) and node.opening in ("(", "⟨", "[") and len(node.items) > 1


# Reading


def _read(node: Node) -> Family | None:
    """The family that a tree states; None where it has conditions that aren't understood."""
    shape, conditions = _split(node)
    ranges = _ranges(conditions)
    if ranges is None or shape is None:
        return None
    name, values = _alternatives(shape)
    free = frozenset().union(*map(symbols, values)) - _arguments(name)
    ranges = {letter: run for letter, run in ranges.items() if letter in free}
    points: list[Point] = []
    for value in values:
        if isinstance(value, Call) and value.name == "residue":
            first, modulus = map(rational, (value.arguments[0], value.arguments[-1]))
            if first is None or not modulus or len(value.arguments) != 2:
                return None
            ranges["residue"] = Range(True)
            step = Product((Number(modulus), Symbol("residue")))
            value = Sum((Number(first % modulus), step))
        points += [_coordinates(signed) for signed in both_signs(value)]
    if not points or len({len(point) for point in points}) > 1:
        return None
    return Family(tuple(points), ranges, name)


def _arguments(name: Node | None) -> frozenset[str]:
    """The letters on which a named function or sequence depends: x of f(x), n of a_n."""
    if isinstance(name, Symbol):
        return frozenset(name.name.partition("_")[2])
    return symbols(name) if isinstance(name, Call | Sequence) else frozenset()


def _split(node: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """What runs through the set, and the conditions."""
    match node:
        case Sequence((Relation((shape, condition), ("|",)),), "⦃") if condition is not None:
            listed = isinstance(condition, Sequence) and not condition.opening
            given = condition.items if isinstance(condition, Sequence) and listed else (condition,)
            if isinstance(shape, Relation) and shape.operators == ("∈",):
                given = (shape, *given)
                shape = shape.sides[0]
            stated = [item for item in given if _defines(item, shape)]
            if stated:
                shape = stated[0] if len(stated) == 1 else Sequence(tuple(stated), joint="or")
            return shape, tuple(item for item in given if item not in stated)
        case Sequence(items, "", ""):
            return _split_list(items, node.joint)
    return node, ()


def _split_list(items: tuple[Node, ...], joint: str) -> tuple[Node | None, tuple[Node, ...]]:
    members = {item.sides[0] for item in items if _membership(item) and isinstance(item, Relation)}
    conditions = [item for item in items if _membership(item) or _bounds(item, members)]
    for place in range(len(items) - 1, 0, -1):  # the k of `k, m ∈ ℤ`
        if isinstance(items[place - 1], Symbol) and items[place] in conditions and place > 1:
            kinds = items[place]
            assert isinstance(kinds, Relation)
            conditions.append(replace(kinds, sides=(items[place - 1], *kinds.sides[1:])))
    letters = [item.sides[0] for item in conditions if isinstance(item, Relation)]
    rest = [item for item in items if item not in conditions and item not in letters]
    if not rest:
        return (letters[0] if len(members) == 1 else None), tuple(conditions)
    shape = rest[0] if len(rest) == 1 else Sequence(tuple(rest), joint=joint)
    return shape, tuple(conditions)


def _defines(item: Node, name: Node | None) -> bool:
    return isinstance(item, Relation) and item.operators == ("=",) and item.sides[0] == name


def _membership(item: Node) -> bool:
    match item:
        case Relation((Symbol(), NumberSet()), ("∈",)):
            return True
    return False


def _bounds(item: Node, members: set[Node | None]) -> bool:
    """Whether it is `k ≥ 1` or `1 ≤ k < 5`, for a letter that is in a set."""
    if not isinstance(item, Relation) or not {*item.operators} <= set("<>≤≥"):
        return False
    return any(side in members for side in item.sides)


def _ranges(conditions: tuple[Node, ...]) -> dict[str, Range] | None:
    found: dict[str, Range] = {}
    for item in conditions:
        match item:
            case Relation((Symbol(name), NumberSet(kind)), ("∈",)) if kind in _RANGES:
                found[name] = _RANGES[kind]
            case Relation() if _membership(item):
                return None
    for item in conditions:
        if not _membership(item) and not (isinstance(item, Relation) and _narrow(found, item)):
            return None
    return found


def _narrow(found: dict[str, Range], item: Relation) -> bool:
    """Apply bounds of whole numbers; False where they aren't understood."""
    if not {*item.operators} <= {*"<>≤≥"}:
        return False
    for place, operator in enumerate(item.operators):
        left, right = item.sides[place], item.sides[place + 1]
        if isinstance(right, Symbol):
            left, right, operator = right, left, {"<": ">", "≤": "≥", ">": "<", "≥": "≤"}[operator]
        bound = rational(right) if right is not None else None
        if not isinstance(left, Symbol) or left.name not in found or bound is None:
            return False
        run = found[left.name]
        if not run.whole:
            return False
        if operator in "<≤":
            high = math.ceil(bound) - 1 if operator == "<" else math.floor(bound)
            run = replace(run, high=min(high, run.high) if run.high is not None else high)
        else:
            low = math.floor(bound) + 1 if operator == ">" else math.ceil(bound)
            low = max(low, run.low) if run.low is not None else low
            run = replace(run, low=low, natural=run.natural and low < 1)
        found[left.name] = run
    return True


def _alternatives(shape: Node) -> tuple[Node | None, list[Node]]:
    """The name that the shape has, and its values: several where it lists alternatives."""
    tuples = assigned(shape)
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
        elif (pair := definition(item)) is not None and not _is_constant(pair[0]):
            name, stated = pair
        if isinstance(stated, Call) and stated.name == "residue":
            modulus = stated.arguments[-1]
        elif modulus is not None:
            stated = Call("residue", (stated, modulus))
        values.append(stated)
    return name, values[::-1]


def _is_constant(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name in _CONSTANTS


def _coordinates(value: Node) -> Point:
    """The coordinates of a tuple, a column, or a sum of them; anything else is one coordinate."""
    columns = replaced(
        value,
        lambda part: (
            Matrix(tuple((item,) for item in part.items))
            if isinstance(part, Sequence) and _is_tuple(part)
            else None
        ),
    )
    try:
        matrix = worked_out(columns)
    except NoMatrixError:
        return (value,)
    if not isinstance(matrix, Matrix):
        return (value,)
    if len(matrix.rows) == 1:
        return matrix.rows[0]
    return tuple(row[0] for row in matrix.rows) if len(matrix.rows[0]) == 1 else (value,)


# Fitting two families to each other


def _natural(family: Family, other: Family) -> Family:
    """Residue classes as natural numbers, beside numbers that start somewhere."""
    starts = any(run.low is not None or run.natural for run in other.ranges.values())
    residues = starts and "residue" in family.ranges
    return replace(family, ranges={"residue": Range(True, low=0)}) if residues else family


def _fitted(family: Family, other: Family) -> Family:
    """The family in the other's arguments, with unit vectors as coordinates beside a tuple."""
    size = len(other.points[0])
    if len(family.points[0]) == 1 and size > 1:
        vectors = [as_vector(point[0], size) for point in family.points]
        if all(isinstance(vector, Sequence) for vector in vectors):
            return replace(family, points=tuple(map(_coordinates, vectors)))
    match family.name, other.name:
        case Call(one, mine), Call(two, theirs) if one == two and len(mine) == len(theirs):
            if repr(mine) < repr(theirs) and all(isinstance(item, Symbol) for item in theirs):
                names = dict(zip(mine, theirs, strict=True))
                return replace(family, name=other.name, points=_in_letters(family, names))
    return family


def _in_letters(family: Family, names: dict[Node, Node]) -> tuple[Point, ...]:
    return tuple(_replaced(point, names) for point in family.points)


def _replaced(point: Point, new: dict[Node, Node]) -> Point:
    return tuple(replaced(part, new.get) for part in point)


def _names_differ(mine: Family, theirs: Family) -> bool:
    one, other = mine.name, theirs.name
    if one is None or other is None or one == other:
        return False
    return type(one) is type(other) and len(mine.points[0]) == 1


def _with_ranges(family: Family, other: Family) -> Family:
    """The family with the ranges that only the other one names, where its letters allow it."""
    runs = list(other.ranges.values())
    if family.ranges or not runs or len(set(runs)) > 1:
        return family
    free = family.symbols - (other.symbols - set(other.ranges))
    habit = (_COUNTERS if runs[0].whole else _CONSTANTS | _LINES) | set(other.ranges)
    if len(free) != len(runs) or not (free <= habit or len(family.points[0]) > 1):
        return family
    return replace(family, ranges=dict.fromkeys(sorted(free), runs[0]))


def _with_habits(
    mine: Family, theirs: Family, answer: Node, reference: Node
) -> tuple[Family, Family]:
    """Both families with the parameters that a line, a plane or a free constant has by habit."""
    if len(mine.points[0]) > 1:
        free = [family.symbols & _LINES for family in (mine, theirs)]
        if any(family.symbols - _LINES for family in (mine, theirs)):
            return mine, theirs
        line = len(mine.points[0]) > 2 or any(
            isinstance(part, Sum | Product) and _vectors(part)
            for part in (*nodes(answer), *nodes(reference))
        )
        if not line or len(free[0]) != len(free[1]):
            return mine, theirs
    else:
        free = _free_constants(mine, theirs)
    runs = [dict.fromkeys(sorted(names), Range()) for names in free]
    return replace(mine, ranges=runs[0]), replace(theirs, ranges=runs[1])


def _free_constants(mine: Family, theirs: Family) -> list[frozenset[str]]:
    """The free constants of both sides; none where a letter may be a given one."""
    none: list[frozenset[str]] = [frozenset(), frozenset()]
    shared = mine.symbols & theirs.symbols
    free = []
    for family in (mine, theirs):
        habit = family.symbols & (_CONSTANTS | _RENAMED)
        free.append(frozenset(n for n in habit if n not in shared or n not in ("c", *_RENAMED)))
    given = [family.symbols - names for family, names in zip((mine, theirs), free, strict=True)]
    lower = all(name == name.lower() for names in given for name in names)
    named = frozenset(
        family.name.name for family in (mine, theirs) if isinstance(family.name, Symbol)
    )
    if len(free[0]) != len(free[1]) or not (lower and given[0] and given[0] ^ given[1] <= named):
        return none
    if not any(names & _CONSTANTS for names in free) or given[0] <= frozenset("abd"):
        return none  # c beside a and b is a letter like them
    if _adds_number(mine) or _adds_number(theirs):
        return none
    return free


def _adds_number(family: Family) -> bool:
    """Whether a number stands beside the constant: x + 1 + C may be about a given C."""
    (value,) = family.points[0]
    terms = [part for part in nodes(value) if isinstance(part, Sum)]
    return any(rational(term) is not None for part in terms[:1] for term in part.terms)


# Comparing


def _compared(mine: Family, theirs: Family) -> Comparison | None:
    if len(mine.points[0]) != len(theirs.points[0]):
        return _OTHER
    kinds = {run.whole for family in (mine, theirs) for run in family.ranges.values()}
    if len(kinds) > 1:
        return _OTHER
    if kinds == {True}:
        found = _progressions(mine, theirs)
        return _renamed(mine, theirs) if found is None else found
    if len(mine.points) > 1 or len(theirs.points) > 1:
        return None
    found = _affine_sets(mine, theirs)
    return _renamed(mine, theirs) if found is None else found


def _whole(value: int) -> Node:
    return Number(Fraction(value))


def _at(point: Point, values: dict[str, int]) -> Point:
    """The point with whole numbers in place of some letters."""
    return _replaced(point, {Symbol(name): _whole(value) for name, value in values.items()})


def _affine(point: Point, names: Items[str]) -> tuple[Point, list[Point]] | None:
    """Where all parameters are 0, and the step of each; None where the steps aren't even."""
    zero = dict.fromkeys(names, 0)
    origin = _at(point, zero)
    steps = [_minus(_at(point, {**zero, name: 1}), origin) for name in names]
    for place, part in enumerate(point):
        terms = [Product((Symbol(n), step[place])) for n, step in zip(names, steps, strict=True)]
        if same_value(part, Sum((origin[place], *terms))).equal is not True:
            return None
    return origin, steps


def _minus(one: Point, other: Point) -> Point:
    return tuple(difference(left, right) for left, right in zip(one, other, strict=True))


def _level_sets(mine: Family, theirs: Family) -> Comparison | None:
    """Compare curves F(x, y) = C: each F is a multiple of the other, and a number added to it."""
    levels: list[Point] = [(_ONE,)]
    for family in (mine, theirs):
        match family.name, family.points[0][0]:
            case _, Relation((left, right), ("=",)) if left is not None and right is not None:
                gap = difference(left, right)
            case Symbol() as left, right:
                gap = difference(left, right)
            case _:
                return None
        affine = _affine((gap,), [*family.ranges])
        if affine is None or len(family.ranges) != 1:
            return None
        levels.append((Product((affine[0][0], reciprocal(affine[1][0][0]))),))
    variables = frozenset().union(*(symbols(level) for (level,) in levels))
    if not all(_independent([levels[0], level], variables) for level in levels[1:]):
        return None
    return _SAME if _dependent(levels, variables) else _OTHER


def _affine_sets(mine: Family, theirs: Family) -> Comparison | None:
    """Compare a point plus all real multiples of steps: the same span, and it holds the gap."""
    if any(isinstance(family.points[0][0], Relation) for family in (mine, theirs)):
        return _level_sets(mine, theirs)
    sets = [_affine(family.points[0], [*family.ranges]) for family in (mine, theirs)]
    if sets[0] is None or sets[1] is None:
        return None
    (origin, steps), (origin2, steps2) = sets[0], sets[1]
    free = (mine.symbols | theirs.symbols) - {*mine.ranges, *theirs.ranges}
    if len(steps) != len(steps2) or not (_independent(steps, free) and _independent(steps2, free)):
        return _OTHER if len(steps) != len(steps2) else None
    for point in (*steps2, _minus(origin2, origin)):
        inside = _dependent([*steps, point], free)
        if not inside:
            return None if inside is None else _OTHER
    return _SAME


def _independent(points: list[Point], variables: frozenset[str]) -> bool:
    return _dependent(points, variables) is False


def _dependent(points: list[Point], variables: frozenset[str]) -> bool | None:
    """Whether one point is a combination of the others: no determinant of their values is not 0."""
    verdicts = []
    for rows in _rows(points, variables):
        verdicts.append(same_value(_determinant(rows), _ZERO).equal)
        if verdicts[-1] is not True:
            return verdicts[-1]
    return True


def _rows(points: list[Point], variables: frozenset[str]) -> Iterator[list[Point]]:
    """Square tables of values: coordinates and, for functions, several values of the variables."""
    size, count = len(points[0]), len(points)
    choose = combinations_with_replacement if variables else combinations
    for number, places in enumerate(choose(range(size), count)):
        if number == MOST_DETERMINANTS:
            return
        yield [
            tuple(_renumbered(point[place], variables, copy) for point in points)
            for copy, place in enumerate(places)
        ]


def _renumbered(node: Node, variables: frozenset[str], copy: int) -> Node:
    return with_symbols(
        node, lambda symbol: Symbol(f"{symbol.name} {copy}") if symbol.name in variables else symbol
    )


def _determinant(rows: list[Point]) -> Node:
    terms: list[Node] = []
    for order in permutations(range(len(rows))):
        swaps = sum(one > other for one, other in combinations(order, 2))
        product = Product(tuple(row[place] for row, place in zip(rows, order, strict=True)))
        terms.append(negative(product) if swaps % 2 else product)
    return Sum(tuple(terms))


def _renamed(mine: Family, theirs: Family) -> Comparison:
    """Compare by the letters alone, one parameter also shifted and with either sign."""
    if len(mine.ranges) != len(theirs.ranges) or len(mine.points) != len(theirs.points):
        return _OTHER
    one, other = mine.points[0], theirs.points[0]
    for order in permutations(mine.ranges):
        pairs = list(zip(order, theirs.ranges, strict=True))
        if [mine.ranges[n] for n, _ in pairs] != [theirs.ranges[n] for _, n in pairs]:
            continue
        for change in _changes([name for _, name in pairs], [*theirs.ranges.values()]):
            letters: list[Node] = [Symbol(name) for name, _ in pairs]
            names = dict(zip(letters, change, strict=True))
            changed = _replaced(one, names)
            if all(same_value(*pair).equal for pair in zip(changed, other, strict=True)):
                return _SAME
    return _OTHER


def _changes(names: list[str], runs: list[Range]) -> Iterator[tuple[Node, ...]]:
    if len(names) > 1 or runs[0].low is not None or runs[0].natural:
        yield tuple(map(Symbol, names))
        return
    for shift in sorted(range(-MOST_SHIFT, MOST_SHIFT + 1), key=abs):
        for sign in (1, -1):
            yield (Sum((Product((_whole(sign), Symbol(names[0]))), _whole(shift))),)


# Progressions


@dataclass(frozen=True, slots=True)
class _Progression:
    """`origin`, and `step` added to it on and on: both ways, or only `forward`."""

    origin: Point
    step: Point
    forward: bool


def _progressions(mine: Family, theirs: Family) -> Comparison | None:
    """Compare unions of progressions; None where a side is something else."""
    natural = any(run.natural for family in (mine, theirs) for run in family.ranges.values())
    for start in (0, 1) if natural else (0,):
        one, other = _union(mine, start), _union(theirs, start)
        same = one and other and _same_union(one, other)
        if not isinstance(same, bool):
            return None
        if same:
            return _SAME
    return _OTHER


def _union(family: Family, natural_start: int) -> list[_Progression] | None:
    """The progressions that the family consists of; None where its steps aren't even."""
    if len(family.ranges) != 1:
        return None
    ((name, run),) = family.ranges.items()
    low = natural_start if run.natural else run.low
    found = []
    for point in family.points:
        for part, first in _without_alternation(point, name, low):
            affine = _affine(part, [name])
            if affine is None or run.high is not None:
                return None
            found.append(_Progression(_at(part, {name: first}), affine[1][0], low is not None))
    return found


def _without_alternation(point: Point, name: str, low: int | None) -> list[tuple[Point, int]]:
    """The point and where its letter starts; beside (-1)^k, one for even and one for odd k."""
    signs = {part for value in point for part in nodes(value) if _alternates(part, name)}
    if not signs:
        return [(point, low or 0)]
    found = []
    for rest in (0, 1):
        new: dict[Node, Node] = {sign: _at((sign,), {name: rest})[0] for sign in signs}
        new[Symbol(name)] = Sum((Product((Number(Fraction(2)), Symbol(name))), _whole(rest)))
        start = 0 if low is None else (low - rest + 1) // 2
        found.append((_replaced(point, new), start))
    return found


def _alternates(node: Node, name: str) -> bool:
    """Whether it is (-1)^k, (-1)^{k+1} and the like."""
    if not isinstance(node, Power) or rational(node.base) != -1 or name not in symbols(node):
        return False
    exponents = [rational(node.exponent, {name: Fraction(place)}) for place in range(2)]
    return all(value is not None and value.denominator == 1 for value in exponents)


def _same_union(one: list[_Progression], other: list[_Progression]) -> bool | None:
    """Compare two unions class by class in a common step; None where no step is common."""
    unit = one[0].step
    found = [_ratio(progression.step, unit) for progression in (*one, *other)]
    ratios = [ratio for ratio in found if ratio]
    forward = [progression.forward for progression in (*one, *other)]
    if len(ratios) < len(found):
        return None
    if len(set(forward)) > 1 or (forward[0] and min(ratios) < 0):
        return False
    under = math.lcm(*(ratio.denominator for ratio in ratios))
    common = Fraction(math.lcm(*(int(ratio * under) for ratio in ratios)), under)
    if sum(common / abs(ratio) for ratio in ratios) > MOST_CLASSES:
        return None
    step = _times(unit, common)
    sides = [_starts(side, common, unit) for side in (one, other)]
    if forward[0]:
        sides = [_earliest(side, step) for side in sides]
    highest = 0 if forward[0] else None
    return all(
        any(_is_step(gap, step, highest) for gap in (_minus(start, match) for match in matches))
        for starts, matches in (sides, sides[::-1])
        for start in starts
    )


def _starts(side: list[_Progression], common: Fraction, unit: Point) -> list[Point]:
    """The first member of each class that the progressions have in the common step."""
    return [
        _plus(progression.origin, _times(progression.step, Fraction(place)))
        for progression in side
        for place in range(int(abs(common / (_ratio(progression.step, unit) or 1))))
    ]


def _earliest(starts: list[Point], step: Point) -> list[Point]:
    """Without those that come later in the class of another one."""
    return [
        start
        for start in starts
        if not any((_ratio(_minus(start, other), step) or 0) in range(1, 1000) for other in starts)
    ]


def _is_step(gap: Point, step: Point, highest: int | None) -> bool:
    ratio = _ratio(gap, step)
    return ratio is not None and ratio.denominator == 1 and (highest is None or ratio == highest)


def _ratio(point: Point, unit: Point) -> Fraction | None:
    """The rational by which the unit is multiplied; None where there is none."""
    pivot = next((place for place, part in enumerate(unit) if rational(part) != 0), 0)
    ratio = as_rational(Product((point[pivot], reciprocal(unit[pivot]))))
    if ratio is None or len(unit) == 1:
        return ratio
    pairs = zip(point, _times(unit, ratio), strict=True)
    return ratio if all(same_value(*pair).equal for pair in pairs) else None


def _times(point: Point, factor: Fraction) -> Point:
    return tuple(Product((Number(factor), part)) for part in point)


def _plus(one: Point, other: Point) -> Point:
    return tuple(Sum(pair) for pair in zip(one, other, strict=True))
