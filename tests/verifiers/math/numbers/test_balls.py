"""Balls by known values: what each step of the tree adds."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from rewardkit.verifiers.math.numbers.balls import ComplexEvaluator, RealEvaluator, UndefinedError
from rewardkit.verifiers.math.parser import read


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (r"\sqrt[3]{-8}", -2),
        ("(-8)^{1/3}", -2),
        (r"\log 1000", 3),
        (r"\lg 1000", 3),
        (r"\ln e^2", 2),
        (r"\log_2 32", 5),
        (r"\sin 30°", Fraction(1, 2)),
        (r"50\%", Fraction(1, 2)),
        ("5!", 120),
        (r"\binom{6}{2}", 15),
        (r"\lfloor -\frac72 \rfloor", -4),
        (r"\lceil -\frac72 \rceil", -3),
        (r"\lfloor 7 \rfloor", 7),
        (r"\max(3, 8)", 8),
        (r"\sum_{k=1}^{4} k^2", 30),
        (r"\prod_{k=1}^{4} k", 24),
        (r"\arcsec 2 \cdot \frac{3}{\pi}", 1),
        ("3:4", Fraction(3, 4)),
        (r"2\text{ rad}", 2),
        (r"\log_2 \frac12", -1),
        (r"\lfloor \pi \rfloor", 3),
        # a ball round 1 would have two floors
        (r"\lfloor 3 \cdot \frac13 \rfloor", 1),
        (r"\lfloor x \cdot \frac13 \rfloor", 1),
        (r"\sum_{k=x}^{6} k", 18),
        (r"\sum_{k=600}^{605} k", 3615),
    ],
)
def test_balls_enclose_the_value(expression: str, value: Fraction) -> None:
    ball = RealEvaluator({"x": Fraction(3)}, natural_log=False)(read(expression))
    assert ball.overlaps(
        flint.arb(flint.fmpq(Fraction(value).numerator, Fraction(value).denominator))
    )
    assert abs(ball - float(value)) < 1e-9


@pytest.mark.parametrize(
    "expression",
    [
        r"\sqrt{-1}",
        r"\ln 0",
        r"\ln(-1)",
        r"\frac{1}{2-2}",
        "0^0",
        "(-3)!",
        r"\infty",
        r"e^{\pi \cdot 10^{13}}",
        "(10^{13})!",
        r"\sum_{k=1}^{30000} k",
        r"\sum_{k=1}^{\infty} k",
        r"\lim_{x \to 0} x",
    ],
)
def test_what_has_no_real_value(expression: str) -> None:
    with pytest.raises((UndefinedError, ArithmeticError, LookupError)):
        RealEvaluator({}, natural_log=False)(read(expression))


def test_complex_values() -> None:
    evaluate = ComplexEvaluator({}, natural_log=True)
    for expression, value in (
        (r"\sqrt{-4}", 2j),
        ("i^2", -1),
        (r"e^{i\pi}", -1),
        (r"\ln i", 1.5708j),
        (r"\sqrt{4}", 2),
        (r"\sqrt[4]{0}", 0),
        (r"\sqrt[3]{-8}", -2),
        (r"\sqrt[4]{-4}", 1 + 1j),
        ("5!", 120),
    ):
        ball = evaluate(read(expression))
        assert complex(float(ball.real.mid()), float(ball.imag.mid())) == pytest.approx(
            value, abs=1e-4
        )
