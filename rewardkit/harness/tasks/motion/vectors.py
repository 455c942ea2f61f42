"""Points as exact decimals, and how a worked solution writes them: one coordinate bare, several in
brackets."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

Vector = tuple[Decimal, ...]
Point = float | Sequence[float]
"""A number, or a point of several coordinates."""

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # holds any float to two decimals


def vector(point: Point) -> Vector:
    """The point exactly as its coordinates are written."""
    coordinates = point if isinstance(point, Sequence) else [point]
    return tuple(Decimal(repr(float(value))) for value in coordinates)


def plus(one: Vector, other: Vector) -> Vector:
    """Their sum."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def minus(one: Vector, other: Vector) -> Vector:
    """`one` less `other`."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def times(one: Vector, factor: Decimal | int) -> Vector:
    """Each coordinate so many times."""
    return tuple(value * factor for value in one)


def total(vectors: Sequence[Vector]) -> Vector:
    """The sum of at least one."""
    return tuple(sum(values, Decimal(0)) for values in zip(*vectors, strict=True))


def rounded(one: Vector, step: str) -> Vector:
    """Each coordinate to the step, halves away from zero."""
    # + 0: no minus before a zero
    return tuple(value.quantize(Decimal(step), context=_WIDE) + 0 for value in one)


def written(one: Vector) -> str:
    """`1.5`, or `(1.5, 2.0)`."""
    return f"{one[0]:f}" if len(one) == 1 else bracketed(one)


def term(one: Vector) -> str:
    """As it stands in a sum: a negative number in brackets."""
    return bracketed(one) if one[0] < 0 else written(one)


def bracketed(one: Vector) -> str:
    """`(1.5)`, or `(1.5, 2.0)`."""
    return f"({', '.join(f'{value:f}' for value in one)})"
