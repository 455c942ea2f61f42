"""Sums, products and multiples of matrices worked out cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rewardkit.verifiers.math.comparison.values import DIFFERENT, Policy, all_equal
from rewardkit.verifiers.math.numbers.equality import Outcome
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Sequence,
    Sum,
    children,
    negative,
    reciprocal,
)

Compare = Callable[[Node, Node, Policy], Outcome]

MOST_WORK = 4_000

HIGHEST_POWER = 8


class NoMatrixError(Exception):
    """The operation is undefined, or not supported."""


def has_matrix(node: Node) -> bool:
    """Whether the expression contains a matrix to compute with."""
    if isinstance(node, Matrix):
        return True
    match node:
        case Sum() | Product() | Call("transpose", _) | Power(Matrix(), _):
            return any(map(has_matrix, children(node)))
    return False


def worked_out(node: Node) -> Node:
    """Compute the tree's matrix, or return the tree if it has none. Raises NoMatrixError."""
    match node:
        case Sum(terms):
            parts = [worked_out(term) for term in terms]
            if not any(isinstance(part, Matrix) for part in parts):
                return node
            return _added(parts)
        case Product(factors):
            product = worked_out(factors[0])
            for factor in factors[1:]:
                product = _multiplied(product, worked_out(factor))
            return product
        case Power(base, Number(exponent)) if has_matrix(base) and exponent.denominator == 1:
            return _raised(worked_out(base), int(exponent))
        case Call("transpose", (inner,)):
            return _transposed(inner) or node
    return node


def _transposed(inner: Node) -> Node | None:
    matrix = worked_out(inner)
    if isinstance(matrix, Matrix):
        return Matrix(tuple(zip(*matrix.rows, strict=True)))
    if isinstance(inner, Sequence) and inner.opening in ("(", "["):
        return Matrix(tuple((item,) for item in inner.items))
    return None


def _raised(base: Node, exponent: int) -> Node:
    """A small power of a matrix, or its inverse."""
    if not isinstance(base, Matrix) or not 1 <= abs(exponent) <= HIGHEST_POWER:
        raise NoMatrixError
    factor: Node = base if exponent > 0 else _inverse(base)
    found = factor
    for _ in range(abs(exponent) - 1):
        found = _multiplied(found, factor)
    return found


def _inverse(matrix: Matrix) -> Matrix:
    """Cofactors over the determinant."""
    size = len(matrix.rows)
    if size not in (1, 2, 3) or len(matrix.rows[0]) != size:
        raise NoMatrixError
    under = reciprocal(Call("det", (matrix,)))
    places = range(size)
    return Matrix(
        tuple(tuple(Product((_cofactor(matrix, j, i), under)) for j in places) for i in places)
    )


def _cofactor(matrix: Matrix, row: int, column: int) -> Node:
    rows = [
        tuple(cell for place, cell in enumerate(cells) if place != column)
        for index, cells in enumerate(matrix.rows)
        if index != row
    ]
    minor: Node = Call("det", (Matrix(tuple(rows)),)) if rows else Number(Fraction(1))
    return minor if (row + column) % 2 == 0 else negative(minor)


def _added(parts: list[Node]) -> Matrix:
    matrices = [part for part in parts if isinstance(part, Matrix)]
    shapes = {(len(matrix.rows), len(matrix.rows[0])) for matrix in matrices}
    if len(matrices) < len(parts) or len(shapes) > 1:
        raise NoMatrixError
    rows = zip(*(matrix.rows for matrix in matrices), strict=True)
    return Matrix(tuple(tuple(map(_sum, zip(*row, strict=True))) for row in rows))


def _sum(cells: tuple[Node, ...]) -> Node:
    return Sum(tuple(cells))


def _multiplied(one: Node, other: Node) -> Node:
    if isinstance(one, Matrix) and isinstance(other, Matrix):
        return _matrix_product(one, other)
    if isinstance(other, Matrix):
        one, other = other, one
    if isinstance(one, Matrix):
        return Matrix(tuple(tuple(Product((other, cell)) for cell in row) for row in one.rows))
    return Product((one, other))


def _matrix_product(one: Matrix, other: Matrix) -> Matrix:
    inner = len(other.rows)
    if len(one.rows[0]) != inner:
        raise NoMatrixError
    if len(one.rows) * inner * len(other.rows[0]) > MOST_WORK:
        raise NoMatrixError
    columns = list(zip(*other.rows, strict=True))
    return Matrix(
        tuple(
            tuple(_sum(tuple(map(_product, zip(row, column, strict=True)))) for column in columns)
            for row in one.rows
        )
    )


def _product(pair: tuple[Node, Node]) -> Node:
    return Product(pair)


def same_matrices(answer: Node, reference: Node, policy: Policy, compare: Compare) -> Outcome:
    """Compare matrices cell by cell, after working out what can be."""
    try:
        mine, theirs = worked_out(answer), worked_out(reference)
    except NoMatrixError:
        return Outcome(False, "matrices that don't fit")
    if not (isinstance(mine, Matrix) and isinstance(theirs, Matrix)):
        return DIFFERENT
    if [len(row) for row in mine.rows] != [len(row) for row in theirs.rows]:
        return Outcome(False, "matrices of different shapes")
    cells = zip(sum(mine.rows, ()), sum(theirs.rows, ()), strict=True)
    return all_equal([compare(one, other, policy) for one, other in cells])
