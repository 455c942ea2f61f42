"""Laws of motion: how motions are drawn, solved step by step, and made into samples."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from itertools import chain, pairwise

from rewardkit.errors import UsageError
from rewardkit.records import Sample
from rewardkit.verifiers.motion import group_coordinates, render_points

LENGTH = 10
"""Points of a sequence, at t = 0…9."""

GIVEN = 5
"""How many of a sequence's ten points are given; the rest are predicted."""

AHEAD = LENGTH - GIVEN
"""How many points are predicted."""

MOST_DRAWS = 1000
"""How many times a question is drawn again before the ranges count as too narrow."""

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Motion:
    """x_t = start + speed·t + acceleration·t²/2."""

    start: float
    speed: float
    acceleration: float = 0.0

    @property
    def kind(self) -> str:
        """The name of its method in METHODS."""
        return "accelerated" if self.acceleration else "uniform"

    def position(self, t: int) -> float:
        return self.start + self.speed * t + self.acceleration * t * t / 2


@dataclass(frozen=True, slots=True)
class Oscillation:
    """x_t = start + amplitude · sin(2π·t / period + phase)."""

    start: float
    amplitude: float
    period: float
    phase: float

    kind = "periodic"

    def position(self, t: int) -> float:
        return self.start + self.amplitude * math.sin(2 * math.pi / self.period * t + self.phase)


def _rounded_positions(positions: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(position, 1) + 0.0 for position in positions)  # + 0.0: no minus before zero


Path = tuple[Motion | Oscillation, ...]
"""A motion for each coordinate."""


@dataclass(frozen=True)
class Law:
    """A distribution of motions: each parameter of `motion` is uniform in its range."""

    motion: type[Motion] | type[Oscillation]
    ranges: tuple[Range, ...]
    """The ranges of the parameters in order; a parameter without one has its default."""


def draw_paths(law: Law, count: int, *, dimensions: int, seed: int | str) -> list[Path]:
    """Draw `count` paths, each with an independent motion for every coordinate.

    The same seed gives the same paths on every machine; a higher count only appends paths.
    """
    uniform = random.Random(seed).uniform
    return [
        tuple(law.motion(*(uniform(*limits) for limits in law.ranges)) for _ in range(dimensions))
        for _ in range(count)
    ]


def motion_sequences(
    count: int, *, seed: int | str, speeds: tuple[float, float] = (0.5, 2.0)
) -> list[tuple[float, ...]]:
    """Draw `count` uniform motions of ten points each; a reply predicts the last five.

    Speeds are uniform in `speeds`. The same seed gives the same points on every machine.
    """
    law = Law(Motion, ((-5.0, 5.0), speeds))
    paths = draw_paths(law, count, dimensions=1, seed=seed)
    return [_rounded_positions(map(path[0].position, range(LENGTH))) for path in paths]


Vector = tuple[Decimal, ...]
Point = float | Sequence[float]
"""A number, or a point of several coordinates."""

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # holds any float to two decimals


def vector(point: Point) -> Vector:
    """The point exactly as its coordinates are written."""
    coordinates = point if isinstance(point, Sequence) else [point]
    return tuple(Decimal(repr(float(value))) for value in coordinates)


def total(*vectors: Vector) -> Vector:
    """The sum of one or more vectors."""
    return tuple(sum(values, Decimal(0)) for values in zip(*vectors, strict=True))


def times(point: Vector, factor: Decimal | int) -> Vector:
    """`point` multiplied by `factor`."""
    return tuple(value * factor for value in point)


def minus(left: Vector, right: Vector) -> Vector:
    """`left` - `right`, by coordinate."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


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


Prediction = tuple[Sequence[Vector], Sequence[str], Sequence[str]]
"""Predicted points to two decimals, each computed from those before as they are written; the
formula of each; and the lines after the mean speed in step S2."""

Method = Callable[[Sequence[Vector], Sequence[Vector], Vector], Prediction]
"""Takes the five points, their four differences and the rounded mean of the differences."""


def uniform(given: Sequence[Vector], differences: Sequence[Vector], speed: Vector) -> Prediction:
    """Each point is its predecessor plus the mean speed."""
    steps = range(1, AHEAD + 1)
    points = [total(given[-1], times(speed, step)) for step in steps]
    return points, [f"x{GIVEN + step} = x{GIVEN + step - 1} + v" for step in steps], []


def accelerated(
    given: Sequence[Vector], differences: Sequence[Vector], speed: Vector
) -> Prediction:
    """The differences grow evenly; their mean lies half way between the second and the third."""
    growth = minus(differences[-1], differences[0])
    gain = rounded(times(growth, Decimal(1) / 3), "0.01")
    points, reasons = [given[-1]], []
    for step in range(1, AHEAD + 1):
        factor = Decimal("1.5") + step
        points.append(rounded(total(points[-1], speed, times(gain, factor)), "0.01"))
        reasons.append(f"x{GIVEN + step} = x{GIVEN + step - 1} + v + {factor:f}a")
    note = (
        f"a = (Δx4 - Δx1) / 3 = ({format_point(differences[-1])} - {format_term(differences[0])}) "
        f"/ 3 = {format_point(gain)}"
    )
    return points[1:], reasons, [note]


def periodic(given: Sequence[Vector], differences: Sequence[Vector], speed: Vector) -> Prediction:
    """A sine's differences obey Δ(n+1) = k·Δn - Δ(n-1), with k = 2 cos ω, by least squares."""
    turning = tuple(_turning(axis) for axis in zip(*differences, strict=True))
    steps, points, reasons = list(differences), [given[-1]], []
    for before in range(GIVEN, LENGTH):
        following = tuple(k * b - a for k, a, b in zip(turning, steps[-2], steps[-1], strict=True))
        points.append(rounded(total(points[-1], following), "0.01"))
        steps.append(minus(points[-1], points[-2]))
        reasons.append(f"x{before + 1} = x{before} + (kΔx{before - 1} - Δx{before - 2})")
    note = f"k = (Δx2(Δx1 + Δx3) + Δx3(Δx2 + Δx4)) / (Δx2Δx2 + Δx3Δx3) = {format_point(turning)}"
    return points[1:], reasons, [note]


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


METHODS: dict[str, Method] = {
    "uniform": uniform,
    "accelerated": accelerated,
    "periodic": periodic,
}


def motion_solution(points: Sequence[Point], *, kind: str = "uniform") -> str:
    """The worked reply of the task `motion` to five points, by the method for this kind of motion.

    The answer is what the steps compute; the rounding of the points makes some answers wrong.
    """
    given = [vector(point) for point in points]
    differences = [minus(after, before) for before, after in pairwise(given)]
    sum_of_differences, count = total(*differences), len(differences)
    speed = rounded(times(sum_of_differences, Decimal(1) / count), "0.01")
    predicted, reasons, notes = METHODS[kind](given, differences, speed)
    answer = ", ".join(format_in_brackets(rounded(point, "0.1")) for point in predicted)
    terms, mean = " + ".join(map(format_term, differences)), format_point(sum_of_differences)
    pairs = enumerate(zip(pairwise(given), differences, strict=True), 1)
    lines = [
        *("[Analysis]", "S1: differences"),
        *(
            f"Δx{n} = {format_point(after)} - {format_term(before)} = {format_point(difference)}"
            for n, ((before, after), difference) in pairs
        ),
        "S2: mean speed",
        f"v = ({terms}) / {count} = {mean} / {count} = {format_point(speed)}",
        *notes,
        "S3: prediction",
        *(
            f"{reason} = {format_point(point)}"
            for reason, point in zip(reasons, predicted, strict=True)
        ),
        *("[ANSWER]", answer, "[End]"),
    ]
    return "\n".join(lines)


def _sample_of(path: Path, name: str, *, distribution: str, noise: float, seed: int) -> Sample:
    """Make a sample of the first five points as question and the rest as reference.

    The columns hold the points and the parameters of the law.
    """
    dimensions, draw = len(path), random.Random(f"noise/{seed}/{name}")
    recorded = []
    for motion in path:  # the given points have a normal error before rounding
        errors = [draw.gauss(0, noise) if t < GIVEN else 0.0 for t in range(LENGTH)]
        recorded.append(_rounded_positions([motion.position(t) + errors[t] for t in range(LENGTH)]))
    points = list(chain.from_iterable(zip(*recorded, strict=True)))
    first, rest = points[: GIVEN * dimensions], points[GIVEN * dimensions :]
    columns: dict[str, object] = {
        "points": group_coordinates(dimensions, first),
        "targets": group_coordinates(dimensions, rest),
    }
    for field in dataclasses.fields(path[0]):
        values = [getattr(motion, field.name) for motion in path]
        columns[field.name] = values if dimensions > 1 else values[0]
    if path[0].kind != "uniform":
        columns["kind"] = path[0].kind
    columns["distribution"] = distribution
    return Sample(render_points(rest, dimensions), render_points(first, dimensions), name, columns)


def draw_split(
    law: Law,
    split: str,
    count: int,
    *,
    dimensions: int,
    seed: int,
    noise: float = 0.0,
    excluded: Collection[str] = (),
) -> list[Sample]:
    """Return `count` samples by seed, none with a question in `excluded`.

    Each given coordinate has a normal error of deviation `noise`.

    A question that is excluded is drawn again with a seed of its own, so that all other samples
    stay the same. UsageError if the law has no other question to offer.
    """
    distribution = "out" if split == "test_out" else "in"
    paths = draw_paths(law, count, dimensions=dimensions, seed=f"{split}/{seed}")
    make = partial(_sample_of, distribution=distribution, noise=noise, seed=seed)
    samples = []
    for index, path in enumerate(paths):
        sample = make(path, f"{split}-{index:04d}")
        if sample.question in excluded:
            again = draw_paths(
                law, MOST_DRAWS, dimensions=dimensions, seed=f"{split}/{seed}/{index}"
            )
            others = (make(path, sample.id) for path in again)
            sample = next((other for other in others if other.question not in excluded), sample)
        if sample.question in excluded:
            raise UsageError(
                f"the ranges of motion are too narrow: the split {split!r} would repeat questions "
                "of another split; widen starts, speeds, amplitudes or periods"
            )
        samples.append(sample)
    return samples
