"""Points of two and three coordinates: read, compared and scored as those of one are."""

from __future__ import annotations

import json
import math

import pytest

from rewardkit.records import Failure, Sample
from rewardkit.verifiers.motion import (
    MotionAccuracy,
    MotionFlexible,
    MotionFormat,
    coordinates,
    five_points,
    group_coordinates,
    motion,
    render_points,
)

PLANE = [9.5, -1.5, 11.0, -2.0, 12.5, -2.5, 14.0, -3.0, 15.5, -3.5]
SPACE = [float(value) for value in range(15)]
SAMPLES = {2: Sample(render_points(PLANE, 2)), 3: Sample(render_points(SPACE, 3))}
TARGETS = {2: PLANE, 3: SPACE}

DIFFERENCES = "\n".join(f"Δx{i} = (3.5, 0.5) - (2.0, 1.0) = (1.5, -0.5)" for i in range(1, 5))
TERMS = " + ".join(["(1.5, -0.5)"] * 4)
SPEED = f"v = ({TERMS}) / 4 = (6.0, -2.0) / 4 = (1.50, -0.50)"


def reply(answer: str, *, differences: str = DIFFERENCES, speed: str = SPEED) -> str:
    return f"[Analysis]\nS1\n{differences}\nS2\n{speed}\nS3\n[ANSWER]\n{answer}\n[End]"


def shifted(dimensions: int, *errors: float) -> str:
    """The reply whose first coordinates are off by these errors, the rest left out."""
    pairs = zip(TARGETS[dimensions], errors, strict=False)
    return reply(render_points([target + error for target, error in pairs], dimensions))


@pytest.mark.parametrize(
    ("dimensions", "text", "score"),
    [
        (2, shifted(2, *[0.0] * 10), 1.0),
        (3, shifted(3, *[0.0] * 15), 1.0),
        (2, shifted(2, 1.0, *[0.0] * 9), math.exp(-0.1)),
        (2, shifted(2, *[1.0, 0.0] * 5), math.exp(-0.5)),
        (3, shifted(3, *[0.0, 0.0, 3.0] * 5), math.exp(-3.0)),
        (2, shifted(2, *[0.0] * 6), 0.8 * 3 / 5),
        (2, reply(f"{render_points(PLANE, 2)}, (0.0, 0.0)"), 0.9),
        (2, reply("(9.5), (11.0), (12.5), (14.0), (15.5)"), 0.0),
        (2, reply(render_points(SPACE, 3)), 0.0),
        (2, render_points(PLANE, 2), 0.0),
    ],
)
def test_accuracy_is_over_all_coordinates_of_the_points_compared(
    dimensions: int, text: str, score: float
) -> None:
    found = MotionAccuracy()(text, SAMPLES[dimensions]).score
    assert found == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("dimensions", "text", "correct"),
    [
        (2, shifted(2, *[0.3, 0.0] * 5), True),
        (2, shifted(2, *[0.4, 0.0] * 5), False),  # a mean of exactly 0.2 is not below 0.2
        (3, shifted(3, *[0.0, 0.5, 0.0] * 5), True),
        (2, reply("; ".join(render_points(PLANE, 2).split(", ("))), False),
    ],
)
def test_correct_is_a_mean_error_below_a_fifth(dimensions: int, text: str, correct: bool) -> None:
    assert MotionAccuracy()(text, SAMPLES[dimensions]).correct is correct


@pytest.mark.parametrize(
    ("text", "score", "failure"),
    [
        (reply(render_points(PLANE, 2)), 1.0, None),
        (reply(render_points(PLANE, 2), differences="Δx1 = 1.5\n" * 4), 0.9, Failure.FORMAT),
        (
            reply(render_points(PLANE, 2), differences="Δx1 = (1.5, -0.5)\n" * 3),
            0.9,
            Failure.FORMAT,
        ),
        (reply(render_points(PLANE, 2), speed="v = 1.5"), 0.9, Failure.FORMAT),
        (reply(render_points(PLANE[:8], 2)), 0.8, Failure.FORMAT),
        (reply(render_points(PLANE, 2).replace("), (", ") (")), 0.9, Failure.FORMAT),
        (reply("9.5, -1.5"), 0.7, Failure.NO_ANSWER),
        ("", 0.0, Failure.NO_ANSWER),
    ],
)
def test_format_asks_for_points_throughout(
    text: str, score: float, failure: Failure | None
) -> None:
    verdict = MotionFormat()(text, SAMPLES[2])
    assert verdict.score == pytest.approx(score, abs=1e-9)
    assert verdict.failure is failure


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (reply(render_points(PLANE, 2)), True),
        (f"First (2.0, 1.0), then {render_points(PLANE, 2)}.", True),
        (f"They are {' '.join(map(str, PLANE))}", True),
        (render_points([*PLANE[:9], 9.0], 2), False),
        (render_points(PLANE[:8], 2), False),
    ],
)
def test_the_flexible_reading_takes_the_last_five_points_anywhere(text: str, right: bool) -> None:
    assert MotionFlexible()(text, SAMPLES[2]).correct is right


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_reference_is_read_as_points_or_as_lists(dimensions: int) -> None:
    values = TARGETS[dimensions]
    for text in (
        render_points(values, dimensions),
        json.dumps(group_coordinates(dimensions, values)),
    ):
        assert five_points(text) == (dimensions, values)
        verdict = motion(reply(render_points(values, dimensions)), Sample(text))
        assert verdict.parts["accuracy"] == 1.0
        assert verdict.answer == render_points(values, dimensions)


@pytest.mark.parametrize(
    "reference",
    [
        render_points(PLANE[:8], 2),
        "(1, 2), (3, 4), (5, 6), (7, 8), (9)",
        "(1, 2), (3, 4), (5, 6), (7, 8), (9, 10, 11)",
        "[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]",
        "[[1, 2], [3, 4], [5, 6], [7, 8], [9, null]]",
    ],
)
def test_what_is_not_five_points_alike_is_unjudged(reference: str) -> None:
    for verifier in (MotionAccuracy(), MotionFlexible(), motion):
        verdict = verifier(reply(render_points(PLANE, 2)), Sample(reference))
        assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)


@pytest.mark.parametrize(
    ("text", "dimensions", "values"),
    [
        ("(1, 2), (3, 4)", 2, [1.0, 2.0, 3.0, 4.0]),
        ("x6 = ( −1.5 ,2e1 ) and (7)", 2, [-1.5, 20.0]),
        ("[1, 2], [3, 4]", 2, [1.0, 2.0, 3.0, 4.0]),
        ("[[1, 2, 3]]", 3, [1.0, 2.0, 3.0]),
        ("[[1, 2, 3]]", 2, None),
        ("(1, 2)", 3, None),
        ("(nan, 1)", 2, None),
    ],
)
def test_points_are_read(text: str, dimensions: int, values: list[float] | None) -> None:
    assert coordinates(text, dimensions) == values
