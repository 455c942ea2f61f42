"""Values that are too close, or too wide a ball, to be told apart at the first look."""

from __future__ import annotations

import pytest

from rewardkit.verifiers.math.numbers.equality import (
    compare_size,
    same_value,
)
from rewardkit.verifiers.math.parser import read


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("1+1", "2", 0),
        (r"\sqrt{8}", r"2\sqrt{2}", 0),
        (r"\sqrt{2}", "1", 1),
        ("1", r"\sqrt{2}", -1),
        (r"\log 1000", "4", -1),
        (r"\pi", r"\pi+10^{-60}", -1),
        ("i", "1", None),
    ],
)
def test_sizes_are_compared(one: str, other: str, sign: int | None) -> None:
    assert compare_size(read(one), read(other)) == sign


@pytest.mark.parametrize(
    ("power", "other", "equal"),
    [(4000, r"\pi", True), (4000, r"\pi+\frac{1}{1000}", False), (40000, r"\pi", None)],
)
def test_what_cancels_is_never_equal_without_a_proof(
    power: int, other: str, equal: bool | None
) -> None:
    one = rf"e^{{{power}}}+\pi-e^{{{power}}}"
    assert same_value(read(one), read(other)).equal is equal


def test_powers_of_powers_are_compared_at_the_precision_that_they_need() -> None:
    assert same_value(read(r"1+((\sqrt2-1)^{30})^{30}"), read("1")).equal is False


@pytest.mark.parametrize(("more", "equal"), [("", True), ("+1", False)])
def test_points_whose_values_have_too_many_digits_are_passed_over(more: str, equal: bool) -> None:
    one = r"e^{2+\log_3(2+\log_3(z))}\cdot e^{\sqrt{z}\cdot e^{z}}"
    other = r"e^{\log_3(9\log_3(9z))+\sqrt{z}e^{z}}"
    assert same_value(read(one), read(other + more)).equal is equal


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (r"|\ln x-3|", r"3-\ln x", False),
        (r"|e^x-2000|", "2000-e^x", False),
        (r"\sqrt{(\ln x-7)^2}", r"7-\ln x", False),
        (r"|\arctan x-\frac{3}{2}|", r"\frac{3}{2}-\arctan x", False),
        (r"|\ln x-3|", r"|3-\ln x|", True),
        (r"|x-\pi|+|x-\frac{16}{5}|", r"|2x-\pi-\frac{16}{5}|", False),
        (r"|\ln x-1|+|\ln x-\frac{11}{10}|", r"|2\ln x-\frac{21}{10}|", False),
        (r"\lceil x\rceil", r"\lfloor x\rfloor+1", False),
        (r"\lfloor 2x-y\rfloor+\lfloor y-2x\rfloor", "-1", False),
        (r"\lfloor 2x-y\rfloor", r"-\lceil y-2x\rceil", True),
        (r"\lfloor\frac{n^2}{4}\rfloor", r"\frac{2n^2-1+(-1)^n}{8}", True),
    ],
)
def test_formulas_that_change_between_places(one: str, other: str, equal: bool) -> None:
    assert same_value(read(one), read(other)).equal is equal
