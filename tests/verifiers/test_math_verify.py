"""math-verify as a verifier of its own, and what is said without it."""

from __future__ import annotations

import sys

import pytest

import rewardkit
from rewardkit.errors import MissingExtra


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reference", "correct"),
    [
        (r"So \boxed{\frac{3}{4}}", "0.75", True),
        (r"So \boxed{\frac{3}{4}}", "$0.75$", True),
        (r"\boxed{1} is wrong. So it must be \boxed{\sqrt{8}}", r"2\sqrt{2}", True),
        (r"\boxed{4}", "5", False),
        ("I don't know.", "5", False),
        (r"\boxed{5}", "", None),
    ],
)
def test_verdicts(text: str, reference: str, correct: bool | None) -> None:
    verdict = rewardkit.verify("math_verify", text, reference)
    assert verdict.correct is correct
    if correct:
        assert verdict.message.startswith("by math-verify 0.9")


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rewardkit\[math-verify\]'"):
        rewardkit.load_verifier("math_verify")
