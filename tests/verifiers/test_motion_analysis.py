"""Whether the figures of an analysis follow from the points; its form is in test_motion.py."""

from __future__ import annotations

import pytest

from rewardkit import load_verifier
from rewardkit.records import Sample
from rewardkit.verifiers.motion import MotionFormat

GIVEN = "(2.0), (3.5), (5.1), (6.5), (8.0)"
REFERENCE = "(9.5), (11.0), (12.5), (14.0), (15.5)"
DIFFERENCES = """\
Δx1 = 3.5 - 2.0 = 1.5
Δx2 = 5.1 - 3.5 = 1.6
Δx3 = 6.5 - 5.1 = 1.4
Δx4 = 8.0 - 6.5 = 1.5"""
SPEED = "v = (1.5 + 1.6 + 1.4 + 1.5) / 4 = 6.0 / 4 = 1.50"
INVENTED = "\n".join(f"Δx{index} = 1 - 2 = 99" for index in range(1, 5))
AGREEING = "\n".join(f"Δx{index} = 3 - 1 = 2" for index in range(1, 5))


def tenths(
    differences: str = DIFFERENCES,
    speed: str = SPEED,
    *,
    question: str = GIVEN,
    verifier: MotionFormat | None = None,
) -> int:
    """The analysis's score in tenths: the steps alone are 1."""
    text = f"[Analysis]\nS1\n{differences}\nS2\n{speed}\nS3\nx6 = x5 + v = 9.50\n[ANSWER]\n"
    verdict = (verifier or MotionFormat())(f"{text}{REFERENCE}\n[End]", Sample(REFERENCE, question))
    return round(10 * verdict.parts["analysis"])


@pytest.mark.parametrize(
    ("differences", "question", "score"),
    [
        (DIFFERENCES, GIVEN, 3),
        (DIFFERENCES, "", 3),
        (DIFFERENCES.replace("1.6", "1.60"), GIVEN, 3),
        (DIFFERENCES.replace("-", "−"), GIVEN, 3),
        (DIFFERENCES.replace("3.5 - 2.0", "(3.5) - (2.0)"), GIVEN, 3),
        ("Δx1 = 1.5, Δx2 = 1.6, Δx3 = 1.4, Δx4 = 1.5", GIVEN, 3),
        (INVENTED, GIVEN, 2),
        (INVENTED, "", 1),  # nor is the speed 1.5 the mean of four times 99
        (AGREEING, GIVEN, 2),  # the arithmetic holds; the operands are not the points
        (DIFFERENCES.replace("= 1.6", "= 1.5"), GIVEN, 2),
        (DIFFERENCES.replace("= 1.6", "= 2"), GIVEN, 2),  # no rounding by a whole unit
        (DIFFERENCES.replace("5.1 - 3.5", "3.5 - 5.1"), GIVEN, 2),
        ("\n".join(reversed(DIFFERENCES.splitlines())), GIVEN, 2),
        ("Δx1 = 1.5, Δx2 = 1.6, Δx3 = 1.4, Δx4 = 9.9", GIVEN, 2),
        (DIFFERENCES.rpartition("\n")[0], GIVEN, 2),
    ],
)
def test_differences_are_those_of_neighbouring_points(
    differences: str, question: str, score: int
) -> None:
    assert tenths(differences, question=question) == score


@pytest.mark.parametrize(
    ("speed", "score"),
    [
        (SPEED, 3),
        ("v = 1.5", 3),
        ("v = (Δx1 + Δx2 + Δx3 + Δx4) / 4 = 6.0 / 4 = 1.50", 3),
        (r"v = \frac{6}{4} = 1.5", 3),
        ("mean speed: v = total / 4 = 1.5", 3),
        ("v = 99", 2),
        ("v = 6.0 / 4 = 1.6", 2),
        ("v = 6.4 / 4 = 1.5", 2),
        ("v = (Δx1 + Δx2 + Δx3) / 4 = 1.5", 2),
        ("v = 6.0 / 0 = 1.5", 2),
        ("v = 6.0 / 4 = 2", 2),  # no rounding by a whole unit
    ],
)
def test_the_speed_is_the_mean_difference_and_its_chain_agrees(speed: str, score: int) -> None:
    assert tenths(speed=speed) == score


@pytest.mark.parametrize(("speed", "score"), [("v = 2", 3), ("v = 1.5", 2)])
def test_without_points_the_speed_follows_from_the_stated_differences(
    speed: str, score: int
) -> None:
    assert tenths(AGREEING, speed, question="") == score


@pytest.mark.parametrize(
    ("speed", "score"),
    [
        ("v = ((1.5, -0.5) + (1.5, -0.4)) / 2 = (3.0, -0.9) / 2 = (1.50, -0.45)", 3),
        ("v = (Δx1 + Δx2 + Δx3 + Δx4) / 4 = (1.5, -0.45)", 3),
        ("v = (3.0, -0.9) / 2 = (1.50, 0.45)", 2),
        ("v = (3.0, -2.0) / 2 = (1.50, -0.45)", 2),
    ],
)
def test_points_of_a_plane_are_checked_in_each_coordinate(speed: str, score: int) -> None:
    points = ["(2.0, 1.0)", "(3.5, 0.5)", "(5.0, 0.1)", "(6.5, -0.4)", "(8.0, -0.8)"]
    values = ["(1.5, -0.5)", "(1.5, -0.4)", "(1.5, -0.5)", "(1.5, -0.4)"]
    lines = [
        f"Δx{index + 1} = {points[index + 1]} - {points[index]} = {value}"
        for index, value in enumerate(values)
    ]
    reference = ", ".join(f"({x}.0, -{x}.0)" for x in range(5))
    text = f"[Analysis] S1\n{chr(10).join(lines)}\nS2\n{speed}\nS3\n[ANSWER] {reference} [End]"
    verdict = MotionFormat()(text, Sample(reference, ", ".join(points)))
    assert round(10 * verdict.parts["analysis"]) == score


def test_the_form_alone_is_the_sources_rule() -> None:
    by_form = load_verifier("motion_format", analysis="form")
    assert isinstance(by_form, MotionFormat)
    assert tenths(INVENTED, "v = 99", verifier=by_form) == 3
    assert tenths(INVENTED, "v = 99") == 1
