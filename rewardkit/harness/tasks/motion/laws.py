"""Laws of motion for one coordinate, and how their parameters are drawn."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import chain, pairwise
from typing import Protocol

from rewardkit.errors import DataError, UsageError
from rewardkit.records import Sample
from rewardkit.verifiers.motion import five_points, grouped, rendered

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


LENGTH = 10
"""Points of a sequence, at t = 0…9."""

Range = tuple[float, float]
Uniform = Callable[[float, float], float]
"""Draws a number uniformly between two bounds."""


@dataclass(frozen=True, slots=True)
class Motion:
    """x_t = start + speed·t + acceleration·t²/2."""

    start: float
    speed: float
    acceleration: float

    @property
    def points(self) -> tuple[float, ...]:
        """x_t at t = 0…9, rounded to one decimal."""
        return _round_positions(
            lambda t: self.start + self.speed * t + self.acceleration * t * t / 2,
        )


@dataclass(frozen=True, slots=True)
class Oscillation:
    """x_t = start + amplitude · sin(2π·t / period + phase)."""

    start: float
    amplitude: float
    period: float
    phase: float

    @property
    def points(self) -> tuple[float, ...]:
        """x_t at t = 0…9, rounded to one decimal."""
        turn = 2 * math.pi / self.period
        return _round_positions(
            lambda t: self.start + self.amplitude * math.sin(turn * t + self.phase)
        )


class Law(Protocol):
    """A distribution of motions."""

    def draw(self, uniform: Uniform) -> Motion | Oscillation:
        """Draw the motion of one coordinate."""
        ...


@dataclass(frozen=True)
class Lines:
    """Uniform motions, or accelerated motions if `accelerations` is set."""

    starts: Range
    speeds: Range
    accelerations: Range | None = None

    def draw(self, uniform: Uniform) -> Motion:
        """Draw start, speed and acceleration, each uniform in its range."""
        start, speed = uniform(*self.starts), uniform(*self.speeds)
        return Motion(start, speed, uniform(*self.accelerations) if self.accelerations else 0.0)


@dataclass(frozen=True)
class Oscillations:
    """Periodic motions; `periods` are in steps of time."""

    starts: Range
    amplitudes: Range
    periods: Range

    def draw(self, uniform: Uniform) -> Oscillation:
        """Draw start, amplitude and period, each uniform in its range, and any phase."""
        start, amplitude = uniform(*self.starts), uniform(*self.amplitudes)
        return Oscillation(start, amplitude, uniform(*self.periods), uniform(0.0, 2 * math.pi))


def draw_paths(
    law: Law, count: int, *, dimensions: int, seed: int | str
) -> list[tuple[Motion | Oscillation, ...]]:
    """Draw `count` paths, each with an independent motion for every coordinate.

    The same seed gives the same paths on every machine; a higher count only appends paths.
    """
    uniform = random.Random(seed).uniform
    return [tuple(law.draw(uniform) for _ in range(dimensions)) for _ in range(count)]


def _round_positions(position: Callable[[int], float]) -> tuple[float, ...]:
    return tuple(round(position(t), 1) + 0.0 for t in range(LENGTH))  # + 0.0: no minus before zero


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


def sample_of_path(path: Sequence[Motion | Oscillation], name: str, distribution: str) -> Sample:
    """Make a sample: the first five points ask, the rest is the reference, the law the columns."""
    dimensions = len(path)
    points = list(chain.from_iterable(zip(*(motion.points for motion in path), strict=True)))
    first, rest = points[: GIVEN * dimensions], points[GIVEN * dimensions :]
    columns: dict[str, object] = {
        "points": grouped(dimensions, first),
        "targets": grouped(dimensions, rest),
    }
    for field in dataclasses.fields(path[0]):
        values = [getattr(motion, field.name) for motion in path]
        columns[field.name] = values if dimensions > 1 else values[0]
    kind = _kind(path[0])
    if kind != "uniform":
        columns["kind"] = kind
    columns["distribution"] = distribution
    return Sample(rendered(rest, dimensions), rendered(first, dimensions), name, columns)


def read_sample(row: Mapping[str, object], index: int) -> Sample:
    """Read a row as `MotionTask.sample` describes it. DataError names the row and the column."""
    dimensions, points = _five(row, ("points", "question"), index)
    target_dimensions, targets = _five(row, ("targets", "reference"), index)
    if dimensions != target_dimensions:
        raise DataError(
            f"row {index + 1}: its points have {dimensions} coordinates each and its targets "
            f"have {target_dimensions}; give both the same number"
        )
    columns = {
        **{name: value for name, value in row.items() if name != "id"},
        "points": grouped(dimensions, points),
        "targets": grouped(dimensions, targets),
    }
    identifier = str(row.get("id", index))
    return Sample(rendered(targets, dimensions), rendered(points, dimensions), identifier, columns)


def _kind(motion: Motion | Oscillation) -> str:
    if isinstance(motion, Oscillation):
        return "periodic"
    return "accelerated" if motion.acceleration else "uniform"


def _five(
    row: Mapping[str, object], columns: tuple[str, str], index: int
) -> tuple[int, list[float]]:
    column = next((name for name in columns if name in row), None)
    if column is None:
        raise DataError(
            f"row {index + 1} has neither a column {columns[0]!r} nor {columns[1]!r}; "
            f"it has {', '.join(row)}"
        )
    points = five_points(str(row[column]))
    if points is None:
        raise DataError(
            f"row {index + 1}, column {column!r}: {str(row[column])[:80]!r} isn't five "
            "coordinates; write a list or (2.0), (3.5), …"
        )
    return points


MOST_DRAWS = 1000
"""How many times a question is drawn again before the ranges count as too narrow."""


def draw_split(
    law: Law,
    split: str,
    count: int,
    *,
    dimensions: int,
    seed: int,
    distribution: str,
    excluded: Collection[str] = (),
) -> list[Sample]:
    """Return `count` samples by seed, none with a question in `excluded`.

    A question that is excluded is drawn again with a seed of its own, so that all other samples
    stay the same. UsageError if the law has no other question to offer.
    """
    paths = draw_paths(law, count, dimensions=dimensions, seed=f"{split}/{seed}")
    samples = []
    for index, path in enumerate(paths):
        identifier = f"{split}-{index:04d}"
        sample = sample_of_path(path, identifier, distribution)
        if sample.question in excluded:
            again = draw_paths(
                law, MOST_DRAWS, dimensions=dimensions, seed=f"{split}/{seed}/{index}"
            )
            others = (sample_of_path(path, identifier, distribution) for path in again)
            sample = _first_new(others, excluded, split)
        samples.append(sample)
    return samples


def _first_new(samples: Iterable[Sample], excluded: Collection[str], split: str) -> Sample:
    for sample in samples:
        if sample.question not in excluded:
            return sample
    raise UsageError(
        f"the ranges of motion are too narrow: the split {split!r} would repeat questions of "
        "another split; widen starts, speeds, amplitudes or periods"
    )
