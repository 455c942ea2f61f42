"""Coordinate sequences: five points are given, the completion predicts the next five.

The reference shows how many coordinates a point has, from one to three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.motion_analysis import (
    differences_follow,
    given_points,
    has_differences,
    has_speed,
    has_steps,
    speed_follows,
)
from rewardkit.verifiers.motion_reading import (
    PREDICTED,
    TAGS,
    blocks,
    coordinates,
    five_points,
    is_separated,
    last_coordinates,
    rendered,
    section,
)
from rewardkit.verifiers.rubric import Rubric

TOLERANCE = 0.2
"""A prediction is right if its mean absolute error is below this."""

TOO_FEW, TOO_MANY = 0.8, 0.9
"""Factors on the accuracy of a completion with fewer or more than five points."""


@dataclass(frozen=True)
class MotionAccuracy(Bounded):
    """Score how close the coordinates are: exp(−MSE), less for a wrong count (see `accuracy`).

    0 without the three tags in order. Correct: exactly five points, mean absolute error below 0.2.
    """

    thinking: ClassVar = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on the coordinates between `[ANSWER]` and `[End]`."""
        reference = five_points(sample.reference)
        if reference is None:
            return _unreadable(sample.reference)
        dimensions, targets = reference
        tagged = blocks(text)
        if tagged is None:
            return _untagged(text, dimensions)
        predicted = coordinates(tagged[1], dimensions)
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no coordinates after [ANSWER]")
        return _compared(predicted, targets, dimensions)


@dataclass(frozen=True)
class MotionFormat(Bounded):
    """Score the form: structure 0.4, analysis 0.3, answer 0.3; correct at 1.0.

    Structure: the three tags, in order. Analysis: S1–S3 in order 0.1, four lines `Δx1 = b - a = c`
    0.1, a line `v = … = c` 0.1. Answer: five coordinates 0.2, each `(c)` and commas between 0.1.
    With `analysis="figures"`, the differences and the speed must follow from the points of the
    question; `analysis="form"` is the source's rule: any numbers in the right form will do.
    """

    thinking: ClassVar = "whole"

    analysis: Literal["figures", "form"] = "figures"

    def __post_init__(self) -> None:
        if self.analysis not in ("figures", "form"):
            raise ValueError(f"analysis is 'figures' or 'form', not {self.analysis!r}")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on the form; the reference only shows a point's dimensions."""
        dimensions, _ = five_points(sample.reference) or (1, [])
        tagged = blocks(text)
        analysis, answer = tagged or (section(text, TAGS[0]), section(text, TAGS[1]))
        predicted = coordinates(answer, dimensions)
        structure = 4 * (tagged is not None)
        reasoning = self._analysis_tenths(analysis, sample.question, dimensions)
        complete = predicted is not None and len(predicted) == PREDICTED * dimensions
        form = 2 * complete + is_separated(answer, dimensions)
        tenths = structure + reasoning + form
        return Verdict(
            correct=tenths == 10,
            score=tenths / 10,
            answer=None if predicted is None else rendered(predicted, dimensions),
            failure=None if tenths == 10 else _form_failure(analysis, predicted),
            parts={"structure": structure / 10, "analysis": reasoning / 10, "answer": form / 10},
        )

    def _analysis_tenths(self, analysis: str, question: str, dimensions: int) -> int:
        """Return the analysis's score in tenths, 0 to 3."""
        steps = has_steps(analysis)
        if self.analysis == "form":
            return steps + has_differences(analysis, dimensions) + has_speed(analysis, dimensions)
        given = given_points(question, dimensions)
        differences = differences_follow(analysis, given, dimensions)
        return steps + differences + speed_follows(analysis, given, dimensions)


@dataclass(frozen=True)
class MotionFlexible(Bounded):
    """Ignore the form: five points in the answer's block, else the last five anywhere."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return a verdict that is right if the mean absolute error is below 0.2."""
        reference = five_points(sample.reference)
        if reference is None:
            return _unreadable(sample.reference)
        dimensions, targets = reference
        tagged = blocks(text)
        predicted = coordinates(tagged[1], dimensions) if tagged else None
        if predicted is None or len(predicted) != len(targets):
            predicted = last_coordinates(text, dimensions)
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="fewer than five numbers")
        return Verdict.judged(within(predicted, targets), answer=rendered(predicted, dimensions))


motion = Rubric(
    parts={"accuracy": MotionAccuracy(), "format": MotionFormat()},
    weights={"accuracy": 5.0, "format": 1.0},
    decides="accuracy",
)


def position_errors(predicted: Sequence[float], targets: Sequence[float]) -> list[float]:
    """Return the absolute error of each pair; may hold inf."""
    return [abs(guess - target) for guess, target in zip(predicted, targets, strict=False)]


def mean_squared_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the MSE over the pairs, in [0, inf]. Raises ValueError without pairs."""
    return _mean([error * error for error in position_errors(predicted, targets)])


def mean_absolute_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the MAE over the pairs, in [0, inf]. Raises ValueError without pairs."""
    return _mean(position_errors(predicted, targets))


def within(
    predicted: Sequence[float], targets: Sequence[float], tolerance: float = TOLERANCE
) -> bool:
    """Return whether the mean absolute error is below `tolerance`.

    The error is rounded to 1e-9 first: 9.7 - 9.5 is 0.1999… in floats, but not below 0.2.
    """
    return round(mean_absolute_error(predicted, targets), 9) < tolerance


def accuracy(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the score in [0, 1] of `predicted` (at least one) against the five targets.

    exp(−MSE) over the pairs; × 0.8·n/5 for n < 5 predicted, × 0.9 for more than 5. For points with
    several coordinates, every coordinate is a pair.
    """
    closeness = math.exp(-mean_squared_error(predicted, targets))
    if len(predicted) < len(targets):
        return closeness * TOO_FEW * len(predicted) / len(targets)
    return closeness if len(predicted) == len(targets) else closeness * TOO_MANY


def _compared(predicted: list[float], targets: list[float], dimensions: int) -> Verdict:
    complete = len(predicted) == len(targets)
    correct = complete and within(predicted, targets)
    error = mean_absolute_error(predicted, targets)
    points = len(predicted) // dimensions
    count = "" if complete else f"; {points} points instead of {PREDICTED}"
    wrong = Failure.WRONG if complete else Failure.FORMAT
    return Verdict(
        correct,
        accuracy(predicted, targets),
        answer=rendered(predicted, dimensions),
        failure=None if correct else wrong,
        message=f"mean absolute error {error:.4g}{count}",
    )


def _unreadable(reference: str) -> Verdict:
    return Verdict.unjudged(
        f"the reference {reference[:80]!r} isn't five coordinates such as (9.5), (11.0), …"
    )


def _untagged(text: str, dimensions: int) -> Verdict:
    if last_coordinates(text, dimensions) is None:
        return Verdict.wrong(
            Failure.NO_ANSWER, message="there are neither the tags nor five numbers"
        )
    return Verdict.wrong(Failure.FORMAT, message=f"not {', '.join(TAGS)} in this order")


def _form_failure(analysis: str, predicted: list[float] | None) -> Failure:
    if predicted is None:
        return Failure.NO_ANSWER
    return Failure.FORMAT if analysis.strip() else Failure.NO_REASONING


def _mean(values: list[float]) -> float:
    if not values:
        raise ValueError("no coordinates to compare")
    return sum(values) / len(values)
