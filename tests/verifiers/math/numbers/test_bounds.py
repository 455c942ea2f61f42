"""Separation bounds and balls by known values: what each step of the tree adds.

The rules are Burnikel, Fleischer, Mehlhorn and Schirra's (Algorithmica 27, 2000), worked out here
by hand: for a rational p/q the sizes are log2|p| and log2 q; a product adds them; a sum takes one
bit more than its larger cross product; an n-th root divides the numerator's size by n and adds
(n-1)/n of the denominator's; each root of index n multiplies the degree by n.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from rewardkit.verifiers.math.numbers.balls import ComplexEvaluator, RealEvaluator, UndefinedError
from rewardkit.verifiers.math.numbers.equality import SeparationBound, TranscendentalError
from rewardkit.verifiers.math.parser import read


@pytest.mark.parametrize(
    ("expression", "over", "under"),
    [
        ("8", 3, 0),
        (r"\frac{1}{4}", 0, 2),
        (r"\frac{8}{4}x", 6, 2),
        ("8+8", 4, 0),
        (r"\frac14+\frac14", 3, 4),
        (r"8\cdot\frac14", 3, 2),
        (r"\sqrt{16}", 2, 0),
        (r"\sqrt[4]{16}", 1, 0),
        (r"\sqrt{\frac{1}{16}}", 0, 2),
        (r"\sqrt{\frac{64}{16}}", 5, 4),
        (r"\sqrt{\frac{4}{64}}", 2, 4),
        ("8^3", 9, 0),
        ("8^{-3}", 0, 9),
        ("16^{1/2}", 2, 0),
        ("16^{3/2}", 6, 0),
        ("i", 0, 0),
    ],
)
def test_sizes(expression: str, over: float, under: float) -> None:
    bound = SeparationBound({"x": Fraction(8)})
    assert bound.size(read(expression)) == pytest.approx((over, under))


@pytest.mark.parametrize(
    ("left", "right", "bits", "size"),
    [
        ("8", "4", 1, 3),
        ("4", "8", 1, 3),
        (r"\frac14", r"\frac12", 4, 0),
        (r"\sqrt{16}", r"\frac14", 8, 2),
        ("i", "1", 2, 0),
        (r"\sqrt{16}", "4", 4, 2),
        (r"\sqrt{16}+\sqrt{256}", "4", 19, 5),
        (r"\sqrt[3]{8}", "2", 5, 1),
    ],
)
def test_bits(left: str, right: str, bits: float, size: float) -> None:
    """bits = log2(1 + the larger side) x (degree - 1) + both denominators + 1."""
    assert SeparationBound({}).bits(read(left), read(right)) == pytest.approx((bits, size))


@pytest.mark.parametrize("expression", [r"\pi", r"2^{\pi}", r"\sin 1", "2^{1/101}", "3^{1000001}"])
def test_what_has_no_bound(expression: str) -> None:
    with pytest.raises(TranscendentalError):
        SeparationBound({"x": Fraction(1, 3)}).size(read(expression))


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
