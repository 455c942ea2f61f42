"""Points at equal time steps, and the worked solution in the form of the prompt."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from rewardkit.harness.tasks.motion.laws import LENGTH, Lines, Motion, Range
from rewardkit.harness.tasks.motion.methods import METHODS, mean_speed
from rewardkit.harness.tasks.motion.vectors import (
    Point,
    Vector,
    format_in_brackets,
    format_point,
    format_term,
    minus,
    rounded,
    total,
    vector,
)

__all__ = ["GIVEN", "LENGTH", "Motion", "Range", "sequences", "write_solution"]

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
    """Draw `count` motions on a line, each parameter uniform in its range.

    Without `accelerations` the motion is uniform. The same seed gives the same motions on every
    machine; a higher count only appends motions.
    """
    law, uniform = Lines(starts, speeds, accelerations), random.Random(seed).uniform
    return [law.draw(uniform) for _ in range(count)]


def write_solution(
    points: Sequence[Point], answer: Sequence[Point] | None = None, *, kind: str = "uniform"
) -> str:
    """Write the full reply for five points, by the method for this kind of motion (see METHODS).

    `answer` replaces the points that the method predicts.
    """
    given = [vector(point) for point in points]
    differences = [minus(after, before) for before, after in pairwise(given)]
    speed = mean_speed(differences)
    prediction = METHODS[kind](given, differences, speed)
    answer_points = (
        [vector(p) for p in answer] if answer else [rounded(p, "0.1") for p in prediction.points]
    )
    lines = [
        *("[Analysis]", "S1: differences", *_difference_lines(given)),
        *("S2: mean speed", _speed_line(differences, speed), *prediction.notes),
        "S3: prediction",
        *(
            f"{reason} = {format_point(rounded(point, '0.01'))}"
            for reason, point in zip(prediction.reasons, prediction.points, strict=True)
        ),
        *("[ANSWER]", ", ".join(map(format_in_brackets, answer_points)), "[End]"),
    ]
    return "\n".join(lines)


def _difference_lines(given: Sequence[Vector]) -> list[str]:
    return [
        f"Δx{index} = {format_point(after)} - {format_term(before)} "
        f"= {format_point(minus(after, before))}"
        for index, (before, after) in enumerate(pairwise(given), 1)
    ]


def _speed_line(differences: Sequence[Vector], speed: Vector) -> str:
    terms, count = " + ".join(map(format_term, differences)), len(differences)
    mean = f"{format_point(total(differences))} / {count}"
    return f"v = ({terms}) / {count} = {mean} = {format_point(speed)}"
