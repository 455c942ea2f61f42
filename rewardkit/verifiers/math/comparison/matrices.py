"""Linear algebra: matrices worked out cell by cell, points that are linear in some letters."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement, islice, pairwise

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.comparison.values import DIFFERENT, Compare, Policy, all_equal
from rewardkit.verifiers.math.numbers.balls import take_steps
from rewardkit.verifiers.math.numbers.equality import MathComparison, same_value

_ACCENTS = (r"\hat", r"\bar", r"\widehat")


def as_matrix(node: tree.Node) -> tree.Node:
    """[[1,2],[3,4]] as a matrix; anything else as it is."""
    if not isinstance(node, tree.Sequence) or node.opening not in ("[", "("):
        return node
    rows = [item.items for item in node.items if isinstance(item, tree.Sequence) and item.opening]
    even = len(rows) == len(node.items) and len({len(row) for row in rows}) == 1
    return tree.Matrix(tuple(rows)) if even else node


def as_tuple(node: tree.Node, other: tree.Node) -> tree.Node:
    """P(1,2), i + 2j, a row, a column and "the origin" as a tuple, beside a tuple or a vector."""
    match other:
        case tree.Sequence(items, "(" | "⟨" | "[" as opening):
            size, plain = len(items), opening == "["
        case tree.Matrix() if 1 in _shape(other) and not isinstance(node, tree.Matrix):
            size, plain = max(_shape(other)), False
        case _:
            return node
    found: tuple[tree.Node, ...] = ()
    match node:
        case tree.Matrix() if 1 in _shape(node):
            found = sum(node.rows, ())
        case _ if plain:
            return node
        case tree.Call(name, (_, _, *_) as arguments) if len(name) == 3 and name[0].isupper():
            found = arguments
        case tree.Text("origin"):
            found = (tree.ZERO,) * size
        case tree.Product((tree.Symbol(name), tree.Sequence((_, _, *_) as items, "("))) if (
            len(name.partition("_")[0]) == 1 and name.isupper()
        ):
            found = items
        case tree.Sum() | tree.Product() | tree.Symbol() | tree.Call("transpose"):
            return as_vector(node, size)
    return tree.Sequence(found, "(", ")") if found else node


def coordinates(node: tree.Node) -> tuple[tree.Node, ...]:
    """Those of a tuple, a row, a column or a sum of their multiples; none of anything else."""
    with suppress(NoMatrixError):
        matrix = worked_out(tree.replaced(node, as_column))
        if isinstance(matrix, tree.Matrix) and 1 in _shape(matrix):
            return sum(matrix.rows, ())
    return ()


def as_column(node: tree.Node) -> tree.Matrix | None:
    """Several items in brackets as a column; None for anything else."""
    match node:
        case tree.Sequence((_, _, *_) as items, "(" | "⟨" | "["):
            return tree.Matrix(tuple((item,) for item in items))
    return None


def as_vector(node: tree.Node, size: int) -> tree.Node:
    """i + 2j + 3k or ½(1, √3) as a tuple of so many coordinates; anything else as it is."""
    if vector := coordinates(node):
        return tree.Sequence(vector, "(", ")") if len(vector) == size else node
    axes = {letter: _axis(node, letter) for letter in "ijk"[:size]}
    if size not in (2, 3) or [*axes.values()][1:] == [None] * (size - 1):
        return node
    units: dict[tree.Node, tree.Node] = {
        leaf: tree.Symbol(f"{letter} axis") for letter, leaf in axes.items() if leaf
    }
    found = affine((tree.substituted(node, units),), [f"{letter} axis" for letter in axes])
    if found is None or same_value(found[0][0], tree.ZERO).equal is not True:
        return node
    return tree.Sequence(tuple(step for (step,) in found[1]), "(", ")")


def _axis(node: tree.Node, letter: str) -> tree.Node | None:
    unit = tree.Constant("i") if letter == "i" else tree.Symbol(letter)
    spellings = [unit, *(tree.Symbol(f"{letter}{accent}") for accent in _ACCENTS)]
    return next((part for part in tree.nodes(node) if part in spellings), None)


def without_degrees(node: tree.Node) -> tree.Node:
    """180° - x as 180 - x: a sum whose terms are in degrees, without their sign."""
    if not isinstance(node, tree.Sum):
        return node
    terms = (
        term.value if isinstance(term, tree.Quantity) and term.kind == (("angle", 1),) else term
        for term in node.terms
    )
    return tree.Sum(tuple(terms))


MOST_WORK = 4_000
"""Products of cells in the largest product of matrices."""

HIGHEST_POWER = 8


class NoMatrixError(Exception):
    """The operation is undefined, or not supported."""


def has_matrix(node: tree.Node) -> bool:
    """Whether the expression contains a matrix to compute with."""
    if isinstance(node, tree.Matrix):
        return True
    match node:
        case tree.Sum() | tree.Product() | tree.Call("transpose", _) | tree.Power(_, tree.Number()):
            return any(map(has_matrix, tree.children(node)))
    return False


def worked_out(node: tree.Node) -> tree.Node:
    """Compute the tree's matrix, or return the tree if it has none. Raises NoMatrixError."""
    match node:
        case tree.Sum(terms):
            parts = [worked_out(term) for term in terms]
            if not any(isinstance(part, tree.Matrix) for part in parts):
                return node
            return _added(parts)
        case tree.Product(factors):
            return reduce(_multiplied, map(worked_out, factors))
        case tree.Power(base, tree.Number(exponent)) if (
            has_matrix(base) and exponent.denominator == 1
        ):
            base = worked_out(base)
            if not isinstance(base, tree.Matrix) or not 1 <= abs(exponent) <= HIGHEST_POWER:
                raise NoMatrixError
            factor: tree.Node = base if exponent > 0 else _inverse(base)
            return reduce(_multiplied, [factor] * abs(int(exponent)))
        case tree.Call("transpose", (inner,)):
            matrix = worked_out(inner)
            if isinstance(matrix, tree.Matrix):
                return tree.Matrix(tuple(zip(*matrix.rows, strict=True)))
    return node


def _inverse(matrix: tree.Matrix) -> tree.Matrix:
    """By Cramer's rule: each cell has a column replaced by one of the unit matrix."""
    if _shape(matrix) not in ((1, 1), (2, 2), (3, 3)):
        raise NoMatrixError
    under, places = tree.reciprocal(tree.Call("det", (matrix,))), range(len(matrix.rows))

    def cell(place: int, unit: int) -> tree.Node:
        rows = (
            (*cells[:place], tree.ONE if row == unit else tree.ZERO, *cells[place + 1 :])
            for row, cells in enumerate(matrix.rows)
        )
        return tree.Product((tree.Call("det", (tree.Matrix(tuple(rows)),)), under))

    return tree.Matrix(tuple(tuple(cell(place, unit) for unit in places) for place in places))


def _added(parts: list[tree.Node]) -> tree.Matrix:
    matrices = [part for part in parts if isinstance(part, tree.Matrix)]
    if len(matrices) < len(parts) or len({_shape(matrix) for matrix in matrices}) > 1:
        raise NoMatrixError
    rows = zip(*(matrix.rows for matrix in matrices), strict=True)
    return tree.Matrix(tuple(tuple(map(tree.Sum, zip(*row, strict=True))) for row in rows))


def _shape(matrix: tree.Matrix) -> tuple[int, int]:
    return len(matrix.rows), len(matrix.rows[0])


def _multiplied(first: tree.Node, second: tree.Node) -> tree.Node:
    if isinstance(first, tree.Matrix) and isinstance(second, tree.Matrix):
        return _matrix_product(first, second)
    if isinstance(second, tree.Matrix):
        first, second = second, first
    if isinstance(first, tree.Matrix):
        return tree.Matrix(
            tuple(tuple(tree.Product((second, cell)) for cell in row) for row in first.rows)
        )
    return tree.Product((first, second))


def _matrix_product(first: tree.Matrix, second: tree.Matrix) -> tree.Matrix:
    inner = len(second.rows)
    if len(first.rows[0]) != inner or len(first.rows) * inner * len(second.rows[0]) > MOST_WORK:
        raise NoMatrixError
    sizes = (
        sum(1 for cell in sum(side.rows, ()) for _ in tree.nodes(cell)) for side in (first, second)
    )
    take_steps(next(sizes) * len(second.rows[0]) + next(sizes) * len(first.rows))
    columns = list(zip(*second.rows, strict=True))
    rows = [[zip(row, column, strict=True) for column in columns] for row in first.rows]
    return tree.Matrix(
        tuple(tuple(tree.Sum(tuple(map(tree.Product, cell))) for cell in row) for row in rows)
    )


def same_by_names(
    answer: tree.Node, reference: tree.Node, policy: Policy, compare: Compare
) -> MathComparison | None:
    """Compare products of matrices by name, such as P^{-1}AP, which don't commute; else None."""
    parts = [*tree.nodes(answer), *tree.nodes(reference)]
    if not any(map(is_of_matrix, parts)):
        return None
    sides = tree.replaced(answer, _in_numbers), tree.replaced(reference, _in_numbers)
    return same_matrices(*sides, policy, compare) if all(map(has_matrix, sides)) else None


def is_of_matrix(node: tree.Node) -> bool:
    """Whether the order of factors counts in it: P^{-1}, A^T, AB - BA."""
    match node:
        case tree.Power(_, exponent):
            return exponent == tree.WRITTEN_INVERSE
        case tree.Call("transpose", (inner,)):
            return tree.is_matrix_name(inner)
        case tree.Sum(terms):  # AB - BA
            orders = [
                [
                    part
                    for part in tree.nodes(term)
                    if isinstance(part, tree.Symbol) and tree.is_matrix_name(part)
                ]
                for term in terms
            ]
            return any(
                first != second and {*first} == {*second} for first, second in pairwise(orders)
            )
    return False


def _in_numbers(node: tree.Node) -> tree.Node | None:
    """A matrix of numbers in place of its name, the same for the same name."""
    if node == tree.WRITTEN_INVERSE:
        return tree.MINUS_ONE
    if not isinstance(node, tree.Symbol) or not tree.is_matrix_name(node):
        return None
    if node.name == "I":
        return tree.Matrix(((tree.ONE, tree.ZERO), (tree.ZERO, tree.ONE)))
    draw = random.Random(node.name).randrange
    cells = [tree.Number(Fraction(draw(2, 10**6))) for _ in range(4)]
    return tree.Matrix(((cells[0], cells[1]), (cells[2], cells[3])))


def same_matrices(
    answer: tree.Node, reference: tree.Node, policy: Policy, compare: Compare
) -> MathComparison:
    """Compare matrices cell by cell, after working out what can be."""
    try:
        mine, theirs = worked_out(answer), worked_out(reference)
    except NoMatrixError:
        return MathComparison(False, "matrices that don't fit")
    if not (isinstance(mine, tree.Matrix) and isinstance(theirs, tree.Matrix)):
        return DIFFERENT
    if _shape(mine) != _shape(theirs):
        return MathComparison(False, "matrices of different shapes")
    cells = zip(sum(mine.rows, ()), sum(theirs.rows, ()), strict=True)
    return all_equal([compare(first, second, policy) for first, second in cells])


MOST_DETERMINANTS = 40

Point = tuple[tree.Node, ...]
"""Coordinates; a number or a function has one."""

Parts = dict[tree.Node, tree.Node]
"""Parts of trees, and what takes their places."""


def whole(value: int) -> tree.Node:
    """A whole number."""
    return tree.Number(Fraction(value))


def with_parts(point: Point, new: Parts) -> Point:
    """The point with other parts in place of some."""
    return tuple(tree.substituted(part, new) for part in point)


def at(point: Point, values: dict[str, int]) -> Point:
    """The point with whole numbers in place of some letters."""
    new: Parts = {tree.Symbol(name): whole(value) for name, value in values.items()}
    return tuple(map(_without_zeros, with_parts(point, new)))


def _without_zeros(node: tree.Node) -> tree.Node:
    """The tree without terms that are 0 times something, which would cost steps."""
    node = tree.mapped(node, _without_zeros)
    match node:
        case tree.Product(factors) if tree.ZERO in factors:
            return tree.ZERO
        case tree.Sum(terms):
            return tree.summed([term for term in terms if term != tree.ZERO] or [tree.ZERO])
    return node


def minus(first: Point, second: Point) -> Point:
    """Coordinate by coordinate."""
    return tuple(tree.difference(left, right) for left, right in zip(first, second, strict=True))


def affine(point: Point, names: Iterable[str]) -> tuple[Point, list[Point]] | None:
    """Where all letters are 0, and the step of each; None where the steps aren't even."""
    zero = dict.fromkeys(names, 0)
    origin = at(point, zero)
    steps = [minus(at(point, {**zero, name: 1}), origin) for name in zero]
    letters = [tree.Symbol(name) for name in zero]
    for place, part in enumerate(point):
        terms = (tree.Product((x, step[place])) for x, step in zip(letters, steps, strict=True))
        if same_value(part, tree.Sum((origin[place], *terms))).equal is not True:
            return None
    return origin, steps


def line(gap: tree.Node, name: str) -> tuple[tree.Node, tree.Node] | None:
    """The value at 0 and the slope of what is linear in a letter; None for anything else."""
    found = affine((gap,), [name]) if name in tree.symbols(gap) else None
    return (found[0][0], found[1][0][0]) if found else None


def dependent(points: list[Point], variables: frozenset[str] = frozenset()) -> bool | None:
    """Whether one point is a combination of the others: no determinant of their values is not 0."""
    choose = combinations_with_replacement if variables else combinations
    for places in islice(choose(range(len(points[0])), len(points)), MOST_DETERMINANTS):
        rows = []
        for copy, place in enumerate(places):
            new: Parts = {tree.Symbol(name): tree.Symbol(f"{name} {copy}") for name in variables}
            rows.append(with_parts(tuple(point[place] for point in points), new))
        table = tree.Call("det", (tree.Matrix(tuple(rows)),))
        if not (same := same_value(table, tree.ZERO).equal):
            return same
    return True
