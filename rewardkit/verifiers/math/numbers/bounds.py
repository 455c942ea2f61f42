"""How near zero an algebraic number can be without being zero.

The bound of Burnikel, Fleischer, Mehlhorn and Schirra (Algorithmica 27, 2000): where E is built
from rationals by + - · / and roots, and every root is of a small order, a number that is not zero
is at least 2^-b in size, with b worked out from the tree. A ball smaller than that which holds zero
therefore proves that E is zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.syntax.tree import (
    Constant,
    Node,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)

Size = tuple[float, float]
"""log2 of bounds of all conjugates of the numerator and of the denominator."""


class TranscendentalError(Exception):
    """The tree isn't built from rationals by roots and the four operations alone."""


class SeparationBound:
    """Collects the roots of trees while it works out their sizes."""

    def __init__(self, point: Mapping[str, Fraction]) -> None:
        self.point = point
        self.roots: dict[tuple[Node, int], None] = {}

    def bits(self, left: Node, right: Node) -> tuple[float, float]:
        """b such that |left - right| is zero or at least 2^-b; and log2 of how large they are."""
        (over1, under1), (over2, under2) = self.size(left), self.size(right)
        over = 1 + max(over1 + under2, over2 + under1)
        degree = math.prod(index for _, index in self.roots)
        apart = max(over, 0) * max(degree - 1, 0) + under1 + under2 + 1
        return apart, max(over1, over2, 0)

    def size(self, node: Node) -> Size:
        """The size of one tree; raises TranscendentalError."""
        match node:
            case Number(value, _):
                return _of(value)
            case Symbol(name):
                return _of(self.point[name])
            case Constant("i"):
                self.roots[node, 2] = None
                return 0.0, 0.0
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                sizes = [self.size(factor) for factor in factors]
                return sum(over for over, _ in sizes), sum(under for _, under in sizes)
            case Root(radicand, index):
                return self._root(self.size(radicand), radicand, index)
            case Power(base, exponent):
                return self._power(base, exponent)
        raise TranscendentalError

    def _sum(self, terms: tuple[Node, ...]) -> Size:
        over, under = self.size(terms[0])
        for term in terms[1:]:
            over2, under2 = self.size(term)
            over, under = 1 + max(over + under2, over2 + under), under + under2
        return over, under

    def _root(self, size: Size, radicand: Node, index: int) -> Size:
        self.roots[radicand, index] = None
        over, under = size
        if over >= under:
            return (over + (index - 1) * under) / index, under
        return over, ((index - 1) * over + under) / index

    def _power(self, base: Node, exponent: Node) -> Size:
        value = rational(exponent, self.point)
        if value is None or value.denominator > 100 or abs(value) > 1e6:
            raise TranscendentalError
        over, under = self.size(base)
        if value.denominator > 1:
            over, under = self._root((over, under), base, value.denominator)
        if value < 0:
            over, under = under, over
        count = abs(value.numerator)
        return over * count, under * count


def _of(value: Fraction) -> Size:
    return math.log2(abs(value.numerator) or 1), math.log2(value.denominator)
