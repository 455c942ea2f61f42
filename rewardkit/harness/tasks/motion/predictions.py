"""The points that a reply to the motion task predicts, beside the true ones.

Only replies that give exactly five points, in the form asked for, predict a sequence. The error of
a point with several coordinates is the mean over these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.verifiers.motion import mean_absolute_error
from rewardkit.verifiers.motion_reading import PREDICTED

_POINT = re.compile(r"\(([^()]*)\)")

Coordinates = tuple[float, ...]


@dataclass(frozen=True)
class Prediction:
    """A reply with exactly five points, beside the five that are true."""

    row: SampleRow
    points: Sequence[Coordinates]
    targets: Sequence[Coordinates]

    @property
    def flat(self) -> tuple[list[float], list[float]]:
        """All coordinates that were predicted, and all that are true."""
        return list(chain(*self.points)), list(chain(*self.targets))

    @property
    def error(self) -> float:
        """The sequence's mean absolute error."""
        return mean_absolute_error(*self.flat)

    def at(self, position: int) -> float:
        """The error of the point at `position`, from 0."""
        return mean_absolute_error(self.points[position], self.targets[position])


def predictions_of(rows: Sequence[SampleRow]) -> list[Prediction]:
    """The predictions among the rows, in order."""
    predictions = []
    for row in rows:
        points, targets = _points(row.verdict.answer), _points(row.reference)
        if row.verdict.correct is None or len(targets) != PREDICTED:
            continue
        if list(map(len, points)) == list(map(len, targets)):
            predictions.append(Prediction(row, points, targets))
    return predictions


def _points(text: str | None) -> list[Coordinates]:
    """The points `(9.5), (11.0), …` or `(9.5, 2.0), …` of an answer or a reference."""
    written = _POINT.findall(text or "")
    try:
        return [tuple(float(value) for value in point.split(",")) for point in written]
    except ValueError:
        return []
