"""Where formulas change, and the points at which two expressions are compared there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rewardkit.verifiers.math.numbers.breakpoints import Change, SamplePoints, breakpoints, changes
from rewardkit.verifiers.math.parser import read
from rewardkit.verifiers.math.tree import nodes


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


@pytest.mark.parametrize("whole", [False, True])
def test_points_lie_on_both_sides_of_every_breakpoint(whole: bool) -> None:
    steps = Change(read(r"\frac{x}{100}"), (0, 1, 2))
    points = SamplePoints(["x"], "seed", whole=frozenset("x" * whole), pieces=True)
    values = sorted(point["x"] for point in points.between([steps]))
    for place in (100, 200):
        assert any(place - 100 < value < place for value in values)
        assert any(place < value < place + 100 for value in values)
    assert not whole or all(value > 0 and value.denominator == 1 for value in values)


def test_a_point_lies_beyond_each_end_of_the_breakpoints() -> None:
    points = SamplePoints(["x"], "seed", whole=frozenset(), pieces=True)
    values = sorted(point["x"] for point in points.between([Change(read("x"), (1, 2))]))
    assert values[0] < 1 < values[1] < 2 < values[2]


def test_the_same_seed_gives_the_same_points() -> None:
    def points(seed: str) -> list[dict[str, Fraction]]:
        drawn = SamplePoints(["x", "y"], seed, whole=frozenset(), pieces=False).draw(8)
        return [dict(point) for point in drawn]

    assert points("a") == points("a") != points("b")
