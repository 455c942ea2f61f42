"""Points as exact decimals, and their text: one coordinate bare, several in brackets."""

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


def plus(left: Vector, right: Vector) -> Vector:
    """`left` + `right`, by coordinate."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def minus(left: Vector, right: Vector) -> Vector:
    """`left` - `right`, by coordinate."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def times(point: Vector, factor: Decimal | int) -> Vector:
    """`point` multiplied by `factor`."""
    return tuple(value * factor for value in point)


def total(vectors: Sequence[Vector]) -> Vector:
    """The sum of one or more vectors."""
    return tuple(sum(values, Decimal(0)) for values in zip(*vectors, strict=True))


def rounded(point: Vector, step: str) -> Vector:
    """Each coordinate rounded to the step; halves go away from zero."""
    # + 0: no minus before a zero
    return tuple(value.quantize(Decimal(step), context=_WIDE) + 0 for value in point)


def format_point(point: Vector) -> str:
    """Format a point: `1.5`, or `(1.5, 2.0)`."""
    return f"{point[0]:f}" if len(point) == 1 else format_in_brackets(point)


def format_term(point: Vector) -> str:
    """The point as a term of a sum: a negative number gets brackets."""
    return format_in_brackets(point) if point[0] < 0 else format_point(point)


def format_in_brackets(point: Vector) -> str:
    """Format a point in brackets: `(1.5)`, or `(1.5, 2.0)`."""
    return f"({', '.join(f'{value:f}' for value in point)})"
