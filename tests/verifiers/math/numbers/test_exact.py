"""Rational values, and rational functions compared modulo primes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from rewardkit.verifiers.math.numbers.exact import (
    LARGEST_FACTORIAL,
    rational,
    same_rational_function,
)
from rewardkit.verifiers.math.parser import read


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (r"50\%", Fraction(1, 2)),
        (r"x\%", Fraction(2, 25)),
        ("3:4", Fraction(3, 4)),
        ("x:4", 2),
        ("0^0", None),
        ("1^{1/101}", None),
        ("0!", 1),
        (f"{LARGEST_FACTORIAL}!", math.factorial(LARGEST_FACTORIAL)),
        (f"{LARGEST_FACTORIAL + 1}!", None),
        ("0!!", 1),
        ("7!!", 105),
        (r"\binom{0}{0}", 1),
        (r"\binom{6}{2}", 15),
        (rf"\binom{{{2 * LARGEST_FACTORIAL + 1}}}{{2}}", None),
        (r"\gcd(12, 18)", 6),
        (r"\sqrt{2}", None),
    ],
)
def test_exact_values(expression: str, value: Fraction | None) -> None:
    assert rational(read(expression), {"x": Fraction(8)}) == value


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(x-a)^{6000}", "(a-x)^{6000}", True),
        ("(x-a)^{6001}", "(a-x)^{6001}", False),
        ("(x+y)^{100000}", "(y+x)^{100000}", True),
        (r"\frac{x^{500}-1}{x^{250}-1}", "x^{250}+1", True),
        (r"\frac{x^{500}-1}{x^{250}-1}", "x^{250}-1", False),
        ("2^{3000}x", "8^{1000}x", True),
        ("2^{3000}x", "8^{1000}x+1", False),
        ("x+(2^{127}-1)(2^{107}-1)", "x", False),
        ("x+2^{255}-19", "x", False),
        # what is no rational function counts as a variable: equal is proven, unequal is not
        (r"(\sqrt{2}+x)^{5000}", r"(x+\sqrt{2})^{5000}", True),
        (r"\sqrt{2}^{5000}x", "2^{2500}x", None),
        (r"\sin^2 x+\cos^2 x", "1", None),
        ("ix", "xi", None),
        (r"\frac{1}{x-x}", "1", None),
        ("x^{10^{100}}", "x^{10^{100}}y", None),
    ],
)
def test_rational_functions(one: str, other: str, same: bool | None) -> None:
    assert same_rational_function(read(one), read(other)) is same
