"""Points on a line at equal times, and the worked solution that the prompt asks for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import pairwise

GIVEN = 5
"""How many of a sequence's ten points are given; the rest are predicted."""

LENGTH = 10

Range = tuple[float, float]

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # holds any float to two decimals


@dataclass(frozen=True, slots=True)
class Motion:
    """x_t = start + speed·t + acceleration·t²/2 at t = 0…9, each rounded to one decimal."""

    start: float
    speed: float
    acceleration: float
    points: tuple[float, ...]


def sequences(
    count: int,
    *,
    seed: int | str,
    speeds: Range = (0.5, 2.0),
    starts: Range = (-5.0, 5.0),
    accelerations: Range | None = None,
) -> list[Motion]:
    """`count` motions, each parameter uniform in its range; None is uniform motion.

    The same seed gives the same motions on every machine, and a longer run starts with a shorter.
    """
    draw = random.Random(seed).uniform
    drawn = [
        (draw(*starts), draw(*speeds), draw(*accelerations) if accelerations else 0.0)
        for _ in range(count)
    ]
    return [
        Motion(start, speed, acceleration, _points(start, speed, acceleration))
        for start, speed, acceleration in drawn
    ]


def worked(points: Sequence[float], answer: Sequence[float] | None = None) -> str:
    """The whole reply for five points, by the mean of their differences.

    `answer` replaces the coordinates that the method itself arrives at.
    """
    known = [_decimal(point) for point in points]
    differences = [after - before for before, after in pairwise(known)]
    speed = _rounded(sum(differences, Decimal(0)) / len(differences), "0.01")
    predicted = [known[-1] + speed * step for step in range(1, LENGTH - GIVEN + 1)]
    stated = map(_decimal, answer) if answer else (_rounded(point, "0.1") for point in predicted)
    lines = [
        *("[Analysis]", "S1: differences", *_difference_lines(known)),
        *("S2: mean speed", _speed_line(differences, speed)),
        *("S3: prediction", *_prediction_lines(predicted, len(known))),
        *("[ANSWER]", ", ".join(f"({point:f})" for point in stated), "[End]"),
    ]
    return "\n".join(lines)


def _points(start: float, speed: float, acceleration: float) -> tuple[float, ...]:
    exact = (start + speed * t + acceleration * t * t / 2 for t in range(LENGTH))
    return tuple(round(point, 1) + 0.0 for point in exact)  # + 0.0: no minus before a zero


def _difference_lines(known: Sequence[Decimal]) -> list[str]:
    return [
        f"Δx{index} = {after:f} - {_bracketed(before)} = {after - before:f}"
        for index, (before, after) in enumerate(pairwise(known), 1)
    ]


def _speed_line(differences: Sequence[Decimal], speed: Decimal) -> str:
    terms = " + ".join(map(_bracketed, differences))
    total, count = sum(differences, Decimal(0)), len(differences)
    return f"v = ({terms}) / {count} = {total:f} / {count} = {speed:f}"


def _prediction_lines(predicted: Sequence[Decimal], known: int) -> list[str]:
    return [
        f"x{position} = x{position - 1} + v = {_rounded(point, '0.01'):f}"
        for position, point in enumerate(predicted, known + 1)
    ]


def _bracketed(value: Decimal) -> str:
    return f"({value:f})" if value < 0 else f"{value:f}"


def _decimal(value: float) -> Decimal:
    return Decimal(repr(float(value)))


def _rounded(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), context=_WIDE) + 0  # + 0: no minus before a zero
