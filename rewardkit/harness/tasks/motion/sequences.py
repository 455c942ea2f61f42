"""Points at equal times, and the worked solution that the prompt asks for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from rewardkit.harness.tasks.motion.laws import LENGTH, Lines, Motion, Range
from rewardkit.harness.tasks.motion.methods import METHODS, mean_speed
from rewardkit.harness.tasks.motion.vectors import (
    Point,
    Vector,
    bracketed,
    minus,
    rounded,
    term,
    total,
    vector,
    written,
)

__all__ = ["GIVEN", "LENGTH", "Motion", "Range", "sequences", "worked"]

GIVEN = 5
"""How many of a sequence's ten points are given; the rest are predicted."""


def sequences(
    count: int,
    *,
    seed: int | str,
    speeds: Range = (0.5, 2.0),
    starts: Range = (-5.0, 5.0),
    accelerations: Range | None = None,
) -> list[Motion]:
    """`count` motions on a line, each parameter uniform in its range; None is uniform motion.

    The same seed gives the same motions on every machine, and a longer run starts with a shorter.
    """
    law, uniform = Lines(starts, speeds, accelerations), random.Random(seed).uniform
    return [law.draw(uniform) for _ in range(count)]


def worked(
    points: Sequence[Point], answer: Sequence[Point] | None = None, *, kind: str = "uniform"
) -> str:
    """The whole reply for five points, by the method for this kind of motion (see METHODS).

    `answer` replaces the points that the method itself arrives at.
    """
    known = [vector(point) for point in points]
    differences = [minus(after, before) for before, after in pairwise(known)]
    speed = mean_speed(differences)
    predicted = METHODS[kind](known, differences, speed)
    stated = (
        [vector(p) for p in answer] if answer else [rounded(p, "0.1") for p in predicted.points]
    )
    lines = [
        *("[Analysis]", "S1: differences", *_difference_lines(known)),
        *("S2: mean speed", _speed_line(differences, speed), *predicted.notes),
        "S3: prediction",
        *(
            f"{reason} = {written(rounded(point, '0.01'))}"
            for reason, point in zip(predicted.reasons, predicted.points, strict=True)
        ),
        *("[ANSWER]", ", ".join(map(bracketed, stated)), "[End]"),
    ]
    return "\n".join(lines)


def _difference_lines(known: Sequence[Vector]) -> list[str]:
    return [
        f"Δx{index} = {written(after)} - {term(before)} = {written(minus(after, before))}"
        for index, (before, after) in enumerate(pairwise(known), 1)
    ]


def _speed_line(differences: Sequence[Vector], speed: Vector) -> str:
    terms, count = " + ".join(map(term, differences)), len(differences)
    return f"v = ({terms}) / {count} = {written(total(differences))} / {count} = {written(speed)}"
