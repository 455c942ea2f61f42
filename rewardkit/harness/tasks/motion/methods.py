"""Methods that predict the next points from five, one for each kind of motion.

All are exact except for the rounding of the points. The error that it causes grows with the number
of parameters to estimate, so the third method is often wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rewardkit.harness.tasks.motion.vectors import (
    Vector,
    format_point,
    format_term,
    minus,
    plus,
    rounded,
    times,
    total,
)

AHEAD = 5
"""How many points are predicted."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted points, the formula of each, and the lines after the mean speed in step S2."""

    points: tuple[Vector, ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()


Method = Callable[[Sequence[Vector], Sequence[Vector], Vector], Prediction]
"""Takes the five points, their four differences and the rounded mean of the differences."""


def uniform(given: Sequence[Vector], differences: Sequence[Vector], speed: Vector) -> Prediction:
    """Each point is its predecessor plus the mean speed."""
    last = len(given)
    return Prediction(
        tuple(plus(given[-1], times(speed, step)) for step in range(1, AHEAD + 1)),
        tuple(f"x{last + step} = x{last + step - 1} + v" for step in range(1, AHEAD + 1)),
    )


def accelerated(
    given: Sequence[Vector], differences: Sequence[Vector], speed: Vector
) -> Prediction:
    """The differences grow evenly; their mean lies half way between the second and the third."""
    growth = minus(differences[-1], differences[0])
    gain = rounded(times(growth, Decimal(1) / 3), "0.01")
    points, reasons, last = [given[-1]], [], len(given)
    for step in range(1, AHEAD + 1):
        factor = Decimal("1.5") + step
        points.append(plus(points[-1], plus(speed, times(gain, factor))))
        reasons.append(f"x{last + step} = x{last + step - 1} + v + {factor:f}a")
    note = (
        f"a = (Δx4 - Δx1) / 3 = ({format_point(differences[-1])} - {format_term(differences[0])}) "
        f"/ 3 = {format_point(gain)}"
    )
    return Prediction(tuple(points[1:]), tuple(reasons), (note,))


def periodic(given: Sequence[Vector], differences: Sequence[Vector], speed: Vector) -> Prediction:
    """A sine's differences obey Δ(n+1) = k·Δn - Δ(n-1), with k = 2 cos ω, by least squares."""
    turning = tuple(_turning(axis) for axis in zip(*differences, strict=True))
    steps, points, reasons, last = list(differences), [given[-1]], [], len(given)
    for step in range(1, AHEAD + 1):
        following = tuple(k * b - a for k, a, b in zip(turning, steps[-2], steps[-1], strict=True))
        steps.append(following)
        points.append(plus(points[-1], following))
        before = last + step - 1
        reasons.append(f"x{last + step} = x{before} + (kΔx{before - 1} - Δx{before - 2})")
    note = f"k = (Δx2(Δx1 + Δx3) + Δx3(Δx2 + Δx4)) / (Δx2Δx2 + Δx3Δx3) = {format_point(turning)}"
    return Prediction(tuple(points[1:]), tuple(reasons), (note,))


METHODS: dict[str, Method] = {
    "uniform": uniform,
    "accelerated": accelerated,
    "periodic": periodic,
}


def mean_speed(differences: Sequence[Vector]) -> Vector:
    """The mean of the differences, to two decimals."""
    return rounded(times(total(differences), Decimal(1) / len(differences)), "0.01")


def _turning(differences: Sequence[Decimal]) -> Decimal:
    """The factor k of one coordinate, to two decimals, in [-2, 2].

    A coordinate that rests in the middle has k = 2, a straight line.
    """
    first, second, third, fourth = differences
    square = second * second + third * third
    if not square:
        return Decimal(2)
    k = (second * (first + third) + third * (second + fourth)) / square
    return rounded((max(Decimal(-2), min(Decimal(2), k)),), "0.01")[0]
