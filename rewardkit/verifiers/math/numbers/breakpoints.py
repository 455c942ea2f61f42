"""Where an expression's formula changes: the roots of what stands in | |, roots, floors and pieces.

Two expressions can agree on one piece and differ on the next, however far out it starts. So the
places are computed from the trees, and both are compared between them and beyond.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.numbers.balls import NO_VALUE_ERRORS, RealEvaluator
from rewardkit.verifiers.math.numbers.exact import OpaqueError, Point, polynomials, rational
from rewardkit.verifiers.math.tree import Node, difference, negative, nodes, substituted, symbols

MOST_CHANGES = 24
"""Maximum number of expressions whose roots are computed; more make a comparison slow."""

MOST_PLACES = 48
"""Breakpoints of one variable that are kept, those nearest to zero."""

HIGHEST_DEGREE = 24
"""Polynomials beyond it are searched for sign changes instead of solved."""

_INVERSE = ("arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc")
_PERIODIC = ("sin", "cos", "tan", "cot", "sec", "csc")
_PIECEWISE = ("abs", "floor", "ceil", "max", "min")
_PAIRS = ("min", "max", "mod", "gcd", "lcm", "binomial")
_STEP_LEVELS = (-1, 0, 1, 2)
_LEVELS = {
    **dict.fromkeys(("abs", "sgn", "arg", "factorial", "doublefactorial"), (0,)),
    **dict.fromkeys(("floor", "ceil"), _STEP_LEVELS),
}
_TURN_LEVELS = (-2, 2, 5)  # just beyond ±π/2 and 3π/2, where an inverse function turns back


@dataclass(frozen=True, slots=True)
class Change:
    """A formula changes where `expression` passes one of `levels`."""

    expression: Node
    levels: tuple[int, ...] = (0,)


def changes(parts: Iterable[Node]) -> list[Change]:
    """List what decides which formula holds, of nodes with variables, each once."""
    found: dict[Change, None] = {}
    for node in parts:
        for change in _changes_at(node):
            for variant in _without_pieces(change.expression):
                if symbols(variant):
                    found[Change(variant, change.levels)] = None
        if len(found) >= MOST_CHANGES:
            break
    return list(found)[:MOST_CHANGES]


def _changes_at(node: Node) -> list[Change]:
    match node:
        case tree.Call(name, (inner, *_)) if name in _LEVELS:
            return [Change(inner, _LEVELS[name])]
        case tree.Call(name, (first, second)) if name in _PAIRS:
            return [Change(difference(first, second))]
        case tree.Call(name, (inner, *_)) if name in _INVERSE:
            calls = (part for part in nodes(inner) if isinstance(part, tree.Call))
            turning = (call.arguments[0] for call in calls if call.name in _PERIODIC)
            return [Change(argument, _TURN_LEVELS) for argument in turning]
        case tree.Power(base, exponent) if (rational(exponent) or Fraction(1)).denominator > 1:
            return [Change(base)]
    return []


def _without_pieces(node: Node) -> list[Node]:
    pieces = [
        part for part in nodes(node) if isinstance(part, tree.Call) and part.name in _PIECEWISE
    ]
    variants = [node]
    for piece in pieces[:2]:
        inner = piece.arguments[0]
        formulas = (inner, negative(inner)) if piece.name == "abs" else piece.arguments
        variants = [
            substituted(variant, {piece: formula}) for variant in variants for formula in formulas
        ]
    return variants


def breakpoints(change: Change, name: str, point: Point) -> list[Fraction]:
    """Where `change` happens as the variable `name` moves, the others fixed at `point`.

    Roots of a rational function are computed, to about 50 bits; those of anything else are
    searched for among changes of sign at distances from 1/16 to 2^24.
    """
    if name not in symbols(change.expression):
        return []
    try:
        over, under = polynomials(change.expression, name, point, HIGHEST_DEGREE)
    except OpaqueError:
        return _sign_changes(change, name, point)
    places = _real_roots(under)
    for level in change.levels:
        places += _real_roots(over - under * level)
    return places


def _real_roots(polynomial: Any) -> list[Fraction]:
    if polynomial.degree() < 1:
        return []
    roots = (root for root, _ in polynomial.complex_roots())
    return [Fraction(float(root.real.mid())) for root in roots if root.imag.contains(0)]


_GRID = sorted([Fraction(0), *(sign * Fraction(2) ** n for n in range(-4, 25) for sign in (1, -1))])


def _sign_changes(change: Change, name: str, point: Point) -> list[Fraction]:
    """Places near changes of sign, and some at all distances, where (ln x - 7)² may touch 0."""

    def is_above(level: int, place: Fraction) -> bool | None:
        with suppress(*NO_VALUE_ERRORS):
            evaluate = RealEvaluator({**point, name: place}, natural_log=False)
            return bool(evaluate(change.expression) > level)
        return None

    places = _GRID[::4]
    for level in change.levels:
        found = [(place, is_above(level, place)) for place in _GRID]
        for (low, before), (high, after) in itertools.pairwise(found):
            for _ in range(16 if before is not after else 0):
                middle = (low + high) / 2
                low, high = (middle, high) if is_above(level, middle) is before else (low, middle)
            places += [low] if before is not after else []
    return places


_TURNS = ((1, 2), (-1, -2), (2, -2), (20, -20), (200, -200))
"""Scale and twice the shift of a random number in (0, 1), in turn."""

BASES = 3
"""Random points from which each variable moves alone past its breakpoints."""


class SamplePoints:
    """Points for the variables of two expressions, the same for either order of the two.

    `parts` are their nodes, `whole` those of their variables that stand for whole numbers.
    """

    def __init__(
        self, sides: tuple[Node, Node], names: list[str], parts: list[Node], whole: frozenset[str]
    ) -> None:
        self.names, self.whole = names, whole
        self.changes = changes(parts)
        self.constants = [int(abs(part.value)) for part in parts if isinstance(part, tree.Number)]
        self.generator = random.Random(repr(sorted(map(repr, sides))).encode(errors="replace"))

    def draw(self, count: int) -> Iterator[Point]:
        """Random points."""
        for index in range(count):
            yield {name: self._coordinate(name, index) for name in self.names}

    def between(self) -> Iterator[Point]:
        """Points between the breakpoints of each variable, beyond them, and where floors jump.

        Whole numbers also beyond all constants: n - 1, …, n - 50 have no zeros there.
        """
        for beyond in (max, sum) if self.whole and self.constants else ():
            for point in self.draw(1):
                yield {n: x + beyond(self.constants) * (n in self.whole) for n, x in point.items()}
        for base in self.draw(1 if len(self.names) == 1 else BASES):
            for name in self.names:
                found = [(x, way) for way in self.changes for x in breakpoints(way, name, base)]
                nearest = sorted(sorted({place for place, _ in found}, key=abs)[:MOST_PLACES])
                whole = name in self.whole
                jumps = [x for x, way in found if way.levels == _STEP_LEVELS and not whole]
                for value in (*jumps, *self._values(nearest, whole=whole)):
                    yield {**base, name: value}

    def _values(self, places: list[Fraction], *, whole: bool) -> Iterator[Fraction]:
        """A value in each interval that the places bound; of whole numbers, those beside them."""
        if not places:
            return
        if whole:
            near = {int(place) + shift for place in places for shift in (-1, 0, 1, 2)}
            yield from (Fraction(value) for value in sorted(near) if value > 0)
            return
        yield places[0] - 1 - abs(places[0]) / 3
        for low, high in itertools.pairwise(places):
            yield (2 * low + 3 * high) / 5
        yield places[-1] + 1 + abs(places[-1]) / 3

    def _coordinate(self, name: str, index: int) -> Fraction:
        """In (1, 2), in (-2, -1), in (-1, 1) or beyond, in turn; or a small whole number.

        If formulas change, each variable takes its turns alone at every other point, so that all
        orders occur.
        """
        drawn = self.generator.getrandbits(32)
        if name in self.whole:
            return Fraction(2 + drawn % 29)
        alone = self.changes and index % 2
        scale, shift = self.generator.choice(_TURNS) if alone else _TURNS[index % len(_TURNS)]
        return Fraction(scale * (drawn | 1) + shift * 2**31, 2**32)
