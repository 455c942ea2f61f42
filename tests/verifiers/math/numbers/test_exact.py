"""Rational values, and rational functions compared modulo primes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.numbers.balls import RealEvaluator
from rewardkit.verifiers.math.numbers.exact import (
    LARGEST_FACTORIAL,
    rational,
    same_modulo,
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
        (r"\lcm(4, 6)", 12),
        (r"\min(3, 2)", 2),
        (r"\sqrt{2}", None),
        (r"\sqrt{\frac{9}{4}}", Fraction(3, 2)),
        (r"\sqrt[3]{-27}", -3),
        (r"\sqrt[3]{x}", 2),
        (r"\sqrt[3]{9}", None),
        (r"\sqrt{-4}", None),
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
        ("0.5x", r"\frac{x}{2}", True),
        (r"\frac{1}{x-x}", "1", None),
        ("x^{10^{100}}", "x^{10^{100}}y", None),
    ],
)
def test_rational_functions(one: str, other: str, same: bool | None) -> None:
    assert same_rational_function(read(one), read(other)) is same


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([[3]], 3),
        ([[1, 2], [3, 4]], -2),
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1),
        ([[2, 0, 1], [1, 3, 2], [1, 1, 4]], 18),
    ],
)
def test_determinants(rows: list[list[int]], value: int) -> None:
    cells = tuple(tuple(tree.Number(Fraction(cell)) for cell in row) for row in rows)
    found, expected = tree.Call("det", (tree.Matrix(cells),)), tree.Number(Fraction(value))
    assert same_rational_function(found, expected) is True
    assert RealEvaluator({}, natural_log=False)(found).contains(value)


@pytest.mark.parametrize(
    ("one", "other", "modulus", "same"),
    [
        ("7x+3", "2x-2", "5", True),
        ("7x+3", "2x-1", "5", False),
        (r"\frac{x}{2}", "2x", "3", True),
        (r"\frac{x}{2}", "x", "2", None),
        ("x+y", "x+y+2y", "2", None),
        ("x", "x+2", r"\frac{1}{2}", None),
    ],
)
def test_polynomials_modulo_a_number(one: str, other: str, modulus: str, same: bool | None) -> None:
    assert same_modulo(read(one), read(other), read(modulus)) is same
