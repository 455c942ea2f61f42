"""Values that are too close, or too wide a ball, to be told apart at the first look."""

from __future__ import annotations

import pytest

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.numbers.equality import (
    as_rational,
    compare_size,
    same_value,
    written_out,
)
from rewardkit.verifiers.math.numbers.exact import rational
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
    ("expression", "value"),
    [
        (r"\sqrt{3+2\sqrt{2}}-\sqrt{2}", 1),
        (r"\sqrt{2}", None),
        ("x", None),
    ],
)
def test_roots_that_make_a_rational_number(expression: str, value: int | None) -> None:
    assert as_rational(read(expression)) == value


@pytest.mark.parametrize(
    ("series", "terms"),
    [
        (r"\sum_{k=1}^{3} k^2", "1+4+9"),
        (r"\sum_{k=2}^{2} k", "2"),
        (r"\prod_{k=2}^{4} k", r"2\cdot 3\cdot 4"),
    ],
)
def test_finite_series_are_written_out(series: str, terms: str) -> None:
    written = written_out(read(series))
    assert not isinstance(written, tree.Call)
    assert rational(written) == rational(read(terms))
