"""Where formulas change, and the points at which two expressions are compared there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rewardkit.verifiers.math.numbers.breakpoints import SamplePoints, breakpoints, changes
from rewardkit.verifiers.math.parser import read
from rewardkit.verifiers.math.tree import nodes, symbols


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        ("|x-700|", [700]),
        (r"\sqrt{(x+31)^2}", [-31]),
        (r"((x-5)^2)^{1/2}", [5]),
        (r"\lfloor x/40 \rfloor", [-40, 0, 40, 80]),
        (r"\max(3x, 12)", [4]),
        ("|x^2-9|", [-3, 3]),
        (r"|\frac{x-2}{x-8}|", [2, 8]),
        ("||x|-6|", [-6, 0, 6]),
        (r"\arcsin(\sin(x/10))", [-20, 20, 50]),
        ("x^2+1", []),
        ("|y-3|", []),
    ],
)
def test_breakpoints(expression: str, places: list[int]) -> None:
    found = {
        float(place)
        for change in changes(nodes(read(expression)))
        for place in breakpoints(change, "x", {"y": Fraction(1)})
    }
    assert sorted(found) == pytest.approx(places, abs=1e-3)


def points(one: str, other: str, whole: str = "") -> SamplePoints:
    sides = read(one), read(other)
    parts = [*nodes(sides[0]), *nodes(sides[1])]
    return SamplePoints(sides, sorted(symbols(sides[0])), parts, frozenset(whole))


@pytest.mark.parametrize("whole", ["", "x"])
def test_points_lie_on_both_sides_of_every_breakpoint(whole: str) -> None:
    steps = r"\lfloor\frac{x}{100}\rfloor"
    values = sorted(point["x"] for point in points(steps, steps, whole).between())
    for place in (100, 200):
        assert any(place - 100 < value < place for value in values)
        assert any(place < value < place + 100 for value in values)
    assert not whole or all(value > 0 and value.denominator == 1 for value in values)


def test_a_point_lies_beyond_each_end_of_the_breakpoints() -> None:
    values = sorted(point["x"] for point in points("|x-1|", "|x-2|").between())
    assert values[0] < 1 < values[1] < 2 < values[2]


def test_the_same_sides_give_the_same_points_in_either_order() -> None:
    drawn = [[*points(*sides).draw(8)] for sides in (("x+y", "x-y"), ("x-y", "x+y"), ("x", "x-y"))]
    assert drawn[0] == drawn[1] != drawn[2]
