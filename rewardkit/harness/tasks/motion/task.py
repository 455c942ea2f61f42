"""The motion task: predict the next five points of a motion, in and out of distribution."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from msgspec import Meta

from rewardkit.config import PositiveInt, read_value
from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.prompts.wording import EXAMPLES, TaskWording
from rewardkit.harness.results.data_files import read_problems
from rewardkit.harness.results.documents import Number
from rewardkit.harness.tasks.motion.laws import (
    METHODS,
    Law,
    Motion,
    Oscillation,
    Range,
    draw_split,
    motion_solution,
)
from rewardkit.harness.tasks.motion.task_figures import MEASURES, motion_figures
from rewardkit.protocols import Verifier, VerifierCallable, verifier_for
from rewardkit.records import Sample
from rewardkit.verifiers.motion import (
    DIMENSIONS,
    MotionFlexible,
    five_points,
    group_coordinates,
    motion,
    render_points,
)

NotNegative = Annotated[float, Meta(ge=0, lt=1e300)]
SPLITS = ("test", "test_in", "test_out", "train")
OF_KIND = {
    "uniform": ("speeds", "out_speeds"),
    "accelerated": ("speeds", "out_speeds", "accelerations", "out_accelerations"),
    "periodic": ("amplitudes", "out_amplitudes", "periods", "out_periods"),
}
"""The ranges that each kind of motion draws from, besides `starts`."""
ACCELERATIONS: Mapping[str, Range] = {
    "accelerations": (0.1, 0.5),
    "out_accelerations": (0.5, 1.0),
}
"""The ranges of accelerated motion that are not given."""
RANGES = ("starts", *dict.fromkeys(name for names in OF_KIND.values() for name in names))


def _solve(sample: Sample) -> tuple[str, str]:
    points, targets = five_points(sample.question), five_points(sample.reference)
    if points is None or targets is None or points[0] != targets[0]:
        raise DataError(
            f"sample {sample.id!r}: question and reference must hold coordinates, "
            "such as (2.0), (3.5), …"
        )
    kind = str(sample.columns.get("kind", "uniform"))
    reply = motion_solution(group_coordinates(*points), kind=kind if kind in METHODS else "uniform")
    steps, _, answer = reply.removesuffix("\n[End]").partition("\n[ANSWER]\n")
    return steps, answer


WORDING = TaskWording(
    instruction="""\
An object moves along a line. Its coordinate is recorded at equal intervals of time and rounded to \
one decimal. From the first five coordinates predict the next five, each to one decimal and in \
round brackets, with a comma and a space between.""",
    working="""\
Open the reasoning with [Analysis], and write nothing before it. It has three steps:
S1: differences, a line each: Δx1 = x2 - x1 = value
S2: mean speed: v = (Δx1 + Δx2 + Δx3 + Δx4) / 4 = sum / 4 = value
S3: prediction, a line each: x6 = x5 + v = value""",
    noun="(x6), (x7), (x8), (x9), (x10)",
    forms={"motion": "[ANSWER]\n{}\n[End]"},
    problem="Which five points follow {{ question }}?",
    solution=lambda sample: _solve(sample)[0],
    answer=lambda sample: _solve(sample)[1],
    examples=EXAMPLES / "motion.toml",
    only=("cot", "auto_cot"),
)


@dataclass(frozen=True)
class MotionTask:
    """Ten points of uniform, accelerated or periodic motion, of which five are given.

    A seed generates the data, within the ranges and counts of the fields; a file replaces them.
    `kind` is uniform, accelerated or periodic; by default the one that the given ranges need.
    Each of the `dimensions` coordinates is drawn independently. `periods` are in time steps. Each
    given coordinate has a normal error of deviation `noise`; the points to predict have none.
    """

    name: str = "motion"
    prompt: str = "motion"
    max_tokens: int = 512
    group_by: tuple[str, ...] = ("distribution",)
    speeds: Range = (0.5, 2.0)
    out_speeds: Range = (2.0, 3.0)
    starts: Range = (-5.0, 5.0)
    accelerations: Range | None = None
    out_accelerations: Range | None = None
    train: int = 50
    test: int = 20
    kind: str = ""
    dimensions: int = 1
    amplitudes: Range = (1.0, 3.0)
    out_amplitudes: Range = (3.0, 5.0)
    periods: Range = (8.0, 12.0)
    out_periods: Range = (12.0, 16.0)
    noise: float = 0.0
    wording: TaskWording = WORDING

    measures: ClassVar = MEASURES
    figures: ClassVar = staticmethod(motion_figures)

    def __post_init__(self) -> None:
        if self.dimensions not in DIMENSIONS:
            raise UsageError(
                f"dimensions is {self.dimensions!r}; a point has 1, 2 or 3 coordinates"
            )
        for name in ("train", "test"):
            read_value(PositiveInt, getattr(self, name), name)
        for name in RANGES:
            if getattr(self, name) is not None:
                limits = _checked_range(name, getattr(self, name))
                object.__setattr__(self, name, limits)  # JSON has lists for tuples
        object.__setattr__(self, "kind", self._kind())
        for name, limits in ACCELERATIONS.items():
            if self.kind == "accelerated" and getattr(self, name) is None:
                object.__setattr__(self, name, limits)
        if min(self.periods[0], self.out_periods[0]) <= 0:
            raise UsageError("periods are numbers of steps, above 0")
        read_value(NotNegative, self.noise, "noise")

    def _kind(self) -> str:
        """The kind that is set; by default the first that draws from all given ranges.

        UsageError if the kind, or every kind, leaves one of them unused.
        """
        if self.kind and self.kind not in METHODS:
            raise UnknownName.among("kind of motion", str(self.kind), METHODS)
        defaults = {name: type(self).__dataclass_fields__[name].default for name in RANGES[1:]}
        given = [name for name, default in defaults.items() if getattr(self, name) != default]
        kinds = [self.kind] if self.kind else list(OF_KIND)
        for kind in kinds:
            if set(given) <= set(OF_KIND[kind]):
                return kind
        if not self.kind:
            raise UsageError(
                f"no kind of motion draws from all of {', '.join(given)}; leave some of them out"
            )
        unused = ", ".join(name for name in given if name not in OF_KIND[self.kind])
        raise UsageError(
            f"kind is {self.kind}, which does not draw from {unused}; leave it out, or set another "
            "kind"
        )

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """Generate the samples of `split` by `seed`, or read all rows of the file `data`.

        "train" and "test_in" use the training ranges, "test_out" the ranges beyond them;
        "test", the default, is both test splits. "train" shares no question with the test splits
        of the same seed and settings.
        """
        if data is not None:
            return [self.sample(row, index) for index, row in enumerate(read_problems(data))]
        if split not in (None, *SPLITS):
            raise UnknownName.among("split of motion", str(split), SPLITS)
        if split in (None, "test"):
            return [*self._generated("test_in", seed), *self._generated("test_out", seed)]
        return self._generated(str(split), seed)

    def sized(self, split: str | None, count: int) -> MotionTask:
        """The same task with at least `count` samples in this split.

        The split "test" has half of them in distribution and half out of distribution.
        """
        if split == "train":
            return replace(self, train=count)
        return replace(self, test=count if split in ("test_in", "test_out") else (count + 1) // 2)

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """Convert a row with `points` and `targets`, or `question` and `reference`.

        Each is five points, as a list or as text. DataError names the row and the column.
        """
        dimensions, points = _five(row, ("points", "question"), index)
        target_dimensions, targets = _five(row, ("targets", "reference"), index)
        if dimensions != target_dimensions:
            raise DataError(
                f"row {index + 1}: its points have {dimensions} coordinates each and its targets "
                f"have {target_dimensions}; give both the same number"
            )
        columns = {
            **{name: value for name, value in row.items() if name != "id"},
            "points": group_coordinates(dimensions, points),
            "targets": group_coordinates(dimensions, targets),
        }
        question, reference = render_points(points, dimensions), render_points(targets, dimensions)
        return Sample(reference, question, str(row.get("id", index)), columns)

    def verifier(self, reading: str | None = None) -> VerifierCallable:
        """Accuracy and format, 5:1; `flexible()` for "flexible". UsageError for other styles."""
        readings = {"motion": motion, "flexible": self.flexible()}
        return verifier_for(reading or "motion", readings, self.name)

    def flexible(self) -> Verifier:
        """Reads the last five points anywhere in the reply."""
        return MotionFlexible()

    def posed(self, answer: str, other: str) -> tuple[str, Sample]:
        """`answer` between the tags, and a sample with `other` as reference."""
        return f"[Analysis]\n[ANSWER]\n{answer}\n[End]", Sample(other)

    def perfect(self, sample: Sample) -> str:
        """Write the steps, with the reference as the answer, whatever the steps compute."""
        return f"{_solve(sample)[0]}\n[ANSWER]\n{sample.reference}\n[End]"

    def _generated(self, split: str, seed: int) -> list[Sample]:
        tests = ("test_in", "test_out") if split == "train" else ()
        outside = split == "test_out"  # the ranges beyond those of training
        if self.kind == "periodic":
            amplitudes = self.out_amplitudes if outside else self.amplitudes
            periods = self.out_periods if outside else self.periods
            law = Law(Oscillation, (self.starts, amplitudes, periods, (0.0, 2 * math.pi)))
        else:
            lines = (self.starts, self.out_speeds if outside else self.speeds)
            accelerations = self.out_accelerations if outside else self.accelerations
            law = Law(Motion, (*lines, accelerations) if accelerations else lines)
        return draw_split(
            law,
            split,
            self.train if split == "train" else self.test,
            dimensions=self.dimensions,
            seed=seed,
            noise=self.noise,
            excluded={sample.question for test in tests for sample in self._generated(test, seed)},
        )


def _checked_range(name: str, value: object) -> tuple[float, float]:
    """Return two finite numbers, the lower first, as a tuple. UsageError for any other value."""
    with contextlib.suppress(UsageError):
        low, high = read_value(tuple[Number, Number], value, name)
        if low <= high:
            return low, high
    raise UsageError(f"{name} is {value!r}; it must be two numbers, the lower first: [0.5, 2.0]")


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
