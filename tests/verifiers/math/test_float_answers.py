"""A float that was printed in full stays wrong, and the message says what accepts it."""

from __future__ import annotations

import pytest

from rewardkit import verify
from rewardkit.verifiers.math.verifier import Math

FLOATS = [
    ("0.33333333333333331", "1/3"),
    ("3.3333333333333335", r"\frac{10}{3}"),
    ("0.30000000000000004", "0.3"),
    ("1.4142135623730951", r"\sqrt2"),
    ("12.566370614359172", r"4\pi"),
    ("2.23606797749979", r"\sqrt{5}"),
]


@pytest.mark.parametrize(("answer", "reference"), FLOATS)
def test_the_message_names_the_tolerance_that_accepts_a_float(answer: str, reference: str) -> None:
    verdict = verify("math", rf"\boxed{{{answer}}}", reference)
    assert verdict.correct is False
    assert "tolerance=1e-12" in verdict.message
    assert verify(Math(tolerance=1e-12), rf"\boxed{{{answer}}}", reference).correct


@pytest.mark.parametrize(
    ("answer", "reference"),
    [("0.333", "1/3"), ("0.33333333333333337", "1/4"), ("0.3333333334", "1/3"), ("5", "6")],
)
def test_other_wrong_numbers_have_no_such_advice(answer: str, reference: str) -> None:
    assert "tolerance" not in verify("math", rf"\boxed{{{answer}}}", reference).message


def test_a_policy_that_refuses_is_named() -> None:
    verdict = verify(Math(require_simplified=True), r"\boxed{2/4}", "0.5")
    assert "require_simplified" in verdict.message
