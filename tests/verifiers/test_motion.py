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
    is_within,
    last_coordinates,
    mean_absolute_error,
    mean_squared_error,
    motion,
    render_points,
)

REFERENCE = "(9.5), (11.0), (12.5), (14.0), (15.5)"
TARGETS = [9.5, 11.0, 12.5, 14.0, 15.5]
SAMPLE = Sample(REFERENCE)

DIFFERENCES = """\
Δx1 = 3.5 - 2.0 = 1.5
Δx2 = 5.0 - 3.5 = 1.5
Δx3 = 6.5 - 5.0 = 1.5
Δx4 = 8.0 - 6.5 = 1.5"""
SPEED = "v = (1.5 + 1.5 + 1.5 + 1.5) / 4 = 1.5"


def reply(answer: str = REFERENCE, *, differences: str = DIFFERENCES, speed: str = SPEED) -> str:
    return (
        f"[Analysis]\nS1: differences\n{differences}\nS2: mean speed\n{speed}\n"
        f"S3: prediction\nx6 = 8.0 + 1.5 = 9.5\n[ANSWER]\n{answer}\n[End]"
    )


PERFECT = reply()


def shifted(*errors: float) -> str:
    pairs = zip(TARGETS, errors, strict=False)
    return reply(render_points([round(target + error, 6) for target, error in pairs]))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (PERFECT, 1.0),
        (shifted(0.1, 0.1, 0.1, 0.1, 0.1), math.exp(-0.01)),
        (shifted(1.0, 0.0, 0.0, 0.0, -2.0), math.exp(-1.0)),
        (shifted(0.0, 0.0, 0.0), 0.8 * 3 / 5),
        (shifted(0.0, 1.0), math.exp(-0.5) * 0.8 * 2 / 5),
        (shifted(0.0), 0.8 / 5),
        (reply(f"{REFERENCE}, (17.0)"), 0.9),
        (reply("(10.5), (12.0), (13.5), (15.0), (16.5), (99.0), (0.0)"), math.exp(-1.0) * 0.9),
        (reply(""), 0.0),
        (REFERENCE, 0.0),
    ],
)
def test_accuracy_follows_the_formula(text: str, score: float) -> None:
    assert MotionAccuracy()(text, SAMPLE).score == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        (PERFECT, True),
        (shifted(0.1, -0.1, 0.1, -0.1, 0.1), True),
        (shifted(0.9, 0.0, 0.0, 0.0, 0.0), True),
        (shifted(1.0, 0.0, 0.0, 0.0, 0.0), False),  # a mean of exactly 0.2 is not below 0.2
        (shifted(0.2, 0.2, 0.2, 0.2, 0.2), False),
        (shifted(0.0, 0.0, 0.0, 0.0), False),
        (reply(f"{REFERENCE}, (17.0)"), False),
    ],
)
def test_correct_is_five_coordinates_with_a_mean_error_below_a_fifth(
    text: str, correct: bool
) -> None:
    assert MotionAccuracy()(text, SAMPLE).correct is correct


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("", Failure.NO_ANSWER),
        ("I can't say.", Failure.NO_ANSWER),
        ("[Analysis] S1 S2 S3 [ANSWER] none [End]", Failure.NO_ANSWER),
        (REFERENCE, Failure.FORMAT),
        (PERFECT.replace("[End]", ""), Failure.FORMAT),
        (PERFECT.replace("[Analysis]", ""), Failure.FORMAT),
        (PERFECT.replace("[ANSWER]", "[Answer]"), Failure.FORMAT),
        (f"[ANSWER] {REFERENCE} [End] [Analysis]", Failure.FORMAT),
        (shifted(0.0, 0.0, 0.0), Failure.FORMAT),
        (reply(f"{REFERENCE}, (17.0)"), Failure.FORMAT),
        (shifted(3.0, 3.0, 3.0, 3.0, 3.0), Failure.WRONG),
    ],
)
def test_a_failure_says_what_was_missing(text: str, failure: Failure) -> None:
    assert MotionAccuracy()(text, SAMPLE).failure is failure


@pytest.mark.parametrize("verifier", [MotionAccuracy(), MotionFlexible(), motion])
@pytest.mark.parametrize(
    "reference", ["", "nothing", "(1.0), (2.0)", "1, 2, 3, 4, 5, 6", "[1, 2, 3, 4, null]", "(nan)"]
)
def test_an_unreadable_reference_is_unjudged(verifier: MotionAccuracy, reference: str) -> None:
    verdict = verifier(PERFECT, Sample(reference))
    assert verdict.correct is None
    assert verdict.failure is Failure.ERROR


@pytest.mark.parametrize(
    "reference", [REFERENCE, json.dumps(TARGETS), "9.5, 11, 12.5, 14, 15.5", "9.5 11 12.5 14 15.5"]
)
def test_a_reference_is_read_in_each_form_and_judges_itself_right(reference: str) -> None:
    verdict = motion(PERFECT, Sample(reference))
    assert verdict.correct is True
    assert verdict.score == 1.0
    assert verdict.answer == REFERENCE


NO_TAGS = "\n".join(line for line in PERFECT.splitlines() if not line.startswith("["))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (PERFECT, 1.0),
        ("", 0.0),
        (NO_TAGS, 0.0),
        (PERFECT.replace("\n[End]", ""), 0.6),
        (PERFECT.replace("[Analysis]\n", ""), 0.3),
        (f"[Analysis][ANSWER]{REFERENCE}[End]", 0.7),
        (f"[ANSWER]{REFERENCE}[End]", 0.3),
        (PERFECT.replace("S2: mean speed\n", ""), 0.9),
        (PERFECT.replace("S1", "S4").replace("S3", "S1").replace("S4", "S3"), 0.9),
        (reply(differences=DIFFERENCES.replace("Δx3 = ", "")), 0.9),
        (reply(differences=DIFFERENCES.replace("- 5.0 = 1.5", "- 5.0")), 0.9),
        (reply(differences=DIFFERENCES.replace("3.5 - 2.0", "-0.5 - (-2.0)")), 1.0),
        (reply(differences="Δx1 = 1.5, Δx2 = 1.5, Δx3 = 1.5, Δx4 = 1.5"), 1.0),
        (reply(speed="about one and a half"), 0.9),
        (reply(speed="value = 1.5"), 0.9),
        (reply(speed="v = (1.5 + 1.5 + 1.5 + 1.5) / 4"), 0.9),
        (reply(speed="v_avg = (Δx1 + Δx2 + Δx3 + Δx4) / 4 = 6.0 / 4 = 1.50"), 1.0),
        (reply(speed="mean speed: 1.5"), 1.0),
        (reply("(9.5), (11.0), (12.5), (14.0)"), 0.8),
        (reply("(9.5) (11.0) (12.5) (14.0) (15.5)"), 0.9),
        (reply("9.5, 11.0, 12.5, 14.0, 15.5"), 0.9),
        (reply("unknown"), 0.7),
    ],
)
def test_format_is_scored_by_its_pieces(text: str, score: float) -> None:
    verdict = MotionFormat()(text, SAMPLE)
    assert verdict.score == pytest.approx(score, abs=1e-9)
    assert verdict.correct is (score == 1.0)
    assert sum(verdict.parts.values()) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (PERFECT.replace("[End]", ""), Failure.FORMAT),
        (f"[Analysis]\n[ANSWER]{REFERENCE}[End]", Failure.NO_REASONING),
        (reply("unknown"), Failure.NO_ANSWER),
    ],
)
def test_a_format_failure_names_the_worst_gap(text: str, failure: Failure) -> None:
    assert MotionFormat()(text, SAMPLE).failure is failure


def test_the_reward_is_five_to_one() -> None:
    verdict = motion(f"[Analysis][ANSWER]{REFERENCE}[End]", SAMPLE)
    assert verdict.parts == {"accuracy": 1.0, "format": 0.7}
    assert motion.reward(verdict) == pytest.approx(5.7, abs=1e-9)
    assert verdict.score == pytest.approx(5.7 / 6, abs=1e-9)
    assert verdict.correct is True


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (PERFECT, True),
        (REFERENCE, True),
        (f"First (2.0), (3.5). So: {REFERENCE}.", True),
        ("The points are 9.5, 11, 12.5, 14 and 15.5", True),
        (PERFECT + "\nPoints: (1.0), (2.0), (3.0), (4.0), (5.0)", True),  # ran on after its end
        ("(9.5), (11.0), (12.5), (14.0), (17.5)", False),
        ("(9.5), (11.0)", False),
    ],
)
def test_the_flexible_reading_takes_the_last_five_anywhere(text: str, right: bool) -> None:
    assert MotionFlexible()(text, SAMPLE).correct is right


def test_the_last_answer_before_the_end_counts_and_what_follows_it_does_not() -> None:
    changed = PERFECT.replace("[ANSWER]", "[ANSWER] (0.0) or rather\n[ANSWER]")
    assert MotionAccuracy()(changed, SAMPLE).score == 1.0
    assert MotionAccuracy()(PERFECT + "\n[ANSWER] (0.0) [End]", SAMPLE).score == 1.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(9.5), (-11), (+.5)", [9.5, -11.0, 0.5]),
        ("x6 = ( 9.5 )", [9.5]),
        ("(−2.5)", [-2.5]),
        ("[1, 2.5]", [1.0, 2.5]),
        ("(1e2)", [100.0]),
        ("(nan), (inf)", None),
        ("x6 = 9.5", None),
        ("", None),
    ],
)
def test_coordinates_are_read(text: str, values: list[float] | None) -> None:
    assert coordinates(text) == values


def test_an_answer_is_read_back_to_the_same_floats() -> None:
    values = [0.1 + 0.2, -1e-7, 1e22, 15.0]
    assert coordinates(render_points(values)) == values


def test_errors_are_by_position() -> None:
    assert mean_absolute_error([1.0, 2.0], [1.5, 2.0, 9.0]) == 0.25
    assert mean_absolute_error([1.0, 2.0], [2.0, 4.0]) == 1.5
    assert mean_squared_error([1.0, 2.0], [2.0, 4.0]) == 2.5
    assert is_within([1.05], [1.0], tolerance=0.1)
    assert last_coordinates("1 2 3 4") is None
    with pytest.raises(ValueError, match="no coordinates"):
        mean_squared_error([], [1.0])


@pytest.mark.parametrize(
    "number",
    ["1e999", "-1e999", "9" * 10**6, "1e-999", "0." + "0" * 10**6],
    ids=["overflow", "-overflow", "a million digits", "underflow", "a million zeros"],
)
def test_a_coordinate_beyond_all_floats_leaves_the_score_finite(number: str) -> None:
    verdict = motion(reply(REFERENCE.replace("15.5", number)), SAMPLE)
    assert verdict.correct is False
    assert verdict.parts["accuracy"] == pytest.approx(0.0, abs=1e-9)
