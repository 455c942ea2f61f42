"""The table of what is equal and what is not, in both directions, and the policies."""

from __future__ import annotations

import pytest
from semantics import EQUAL, ONE_WAY, UNEQUAL, Row

import rewardkit
from rewardkit import Verdict
from rewardkit.verifiers.math import Math

BACK = [(kind, reference, answer) for kind, answer, reference in EQUAL]
NOT_BACK = [
    *((kind, reference, answer) for kind, answer, reference in ONE_WAY),
    *((kind, b, a) for kind, a, b in UNEQUAL if kind not in ("decimal", "percent")),
]


def judged(answer: str, reference: str, math: Math | None = None) -> Verdict:
    return rewardkit.verify(math or Math(), rf"\boxed{{{answer}}}", reference, timeout=5.0)


@pytest.mark.parametrize(("kind", "answer", "reference"), [*EQUAL, *ONE_WAY, *BACK])
def test_equal(kind: str, answer: str, reference: str) -> None:
    verdict = judged(answer, reference)
    assert verdict.correct is True, verdict


@pytest.mark.parametrize(("kind", "answer", "reference"), [*UNEQUAL, *NOT_BACK])
def test_unequal(kind: str, answer: str, reference: str) -> None:
    verdict = judged(answer, reference)
    assert verdict.correct is False, verdict


@pytest.mark.parametrize("row", [*EQUAL, *UNEQUAL], ids=lambda row: f"{row[1]} | {row[2]}")
def test_everything_equals_itself(row: Row) -> None:
    for side in row[1:]:
        assert judged(side, side).correct is True


def test_the_message_names_the_step_that_decided() -> None:
    assert "exact numbers" in judged("1/2", "0.5").message
    assert "same text" in judged(r"\frac{x}{2}", r"\frac{x}{2}").message
    assert "exact zero test" in judged(r"\sqrt8", r"2\sqrt2").message
    assert "sets of real numbers" in judged("x>2", r"(2,\infty)").message
    assert "proportional equations" in judged("y=x", "x=y").message


@pytest.mark.parametrize(
    ("tolerance", "answer", "reference", "correct"),
    [
        (None, r"\pi", "3.14", True),
        (0.0, r"\pi", "3.14", False),
        (0.01, "3.15", r"\pi", False),
        (0.01, "99.5", "100", True),
        (0.01, "98", "100", False),
        (0.01, r"\frac13", "0.333", True),
    ],
)
def test_the_tolerance_is_a_policy(
    tolerance: float | None, answer: str, reference: str, correct: bool
) -> None:
    assert judged(answer, reference, Math(tolerance=tolerance)).correct is correct


@pytest.mark.parametrize(
    ("units", "answer", "reference", "correct"),
    [
        ("lenient", r"3\text{ cm}", "3", True),
        ("strict", r"3\text{ cm}", "3", False),
        ("strict", "3", r"3\text{ cm}", False),
        ("strict", r"3\text{ cm}", r"3\text{ cm}", True),
        ("strict", r"90^\circ", r"\frac{\pi}{2}", True),
        ("ignored", r"3\text{ cm}", r"3\text{ m}", True),
    ],
)
def test_units_are_a_policy(units: str, answer: str, reference: str, correct: bool) -> None:
    math = rewardkit.load_verifier("math", units=units)
    assert rewardkit.verify(math, rf"\boxed{{{answer}}}", reference).correct is correct


def test_a_policy_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        Math(tolerance=-1)
    with pytest.raises(ValueError, match="units"):
        Math(units="metric")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        (r"2\sqrt{2}", r"\sqrt{8}", True),
        (r"\sqrt{8}", r"2\sqrt{2}", False),
        ("x+1", "1+x", True),
        (r"\frac{2x}{4}", r"\frac{x}{2}", True),
        ("2+3", "5", False),
        (r"(\frac{2}{4}, 1)", "(0.5, 1)", False),
        (r"(\frac{1}{2}, 1)", "(0.5, 1)", True),
    ],
)
def test_simplest_form_of_expressions(answer: str, reference: str, correct: bool) -> None:
    assert judged(answer, reference, Math(require_simplified=True)).correct is correct
