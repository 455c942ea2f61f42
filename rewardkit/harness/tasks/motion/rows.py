"""Samples from generated motions, and from the rows of a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain

from rewardkit.errors import DataError
from rewardkit.harness.tasks.motion.laws import Motion, Oscillation
from rewardkit.harness.tasks.motion.sequences import GIVEN
from rewardkit.records import Sample
from rewardkit.verifiers.motion_reading import five_points, grouped, rendered


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
