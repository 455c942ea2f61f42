"""The points at which two expressions are compared: random ones, and those that breakpoints ask
for."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rewardkit.verifiers.math.numbers.breakpoints import MOST_PLACES, Change, breakpoints

Point = Mapping[str, Fraction]

_NEAR = ((1, 2), (-1, -2), (2, -2), (1, 0), (20, -20))
"""Scale and twice the shift of a random number in (0, 1), by turns."""

_WIDE = ((0, 0), (1, -1), (20, -20), (200, -200))
"""The same where formulas change; the first turn draws whole numbers."""

BASES = 3
"""Random points from which each variable moves alone past its breakpoints."""


class SamplePoints:
    """Points for the variables `names`, the same for the same `seed`.

    `whole`: the expressions have values for whole numbers only. `pieces`: their formulas change
    from place to place.
    """

    def __init__(self, names: Sequence[str], seed: str, *, whole: bool, pieces: bool) -> None:
        self.names = names
        self.whole = whole
        self.pieces = pieces
        digest = hashlib.blake2b(seed.encode(errors="replace")).digest()
        self.generator = random.Random(int.from_bytes(digest))

    def draw(self, count: int) -> Iterator[Point]:
        """Random points; one without coordinates where there are no variables."""
        if not self.names:
            yield {}
            return
        for index in range(count):
            yield {name: self._coordinate(index) for name in self.names}

    def between(self, changes: Sequence[Change]) -> Iterator[Point]:
        """Points between the breakpoints of each variable, and beyond them."""
        bases = 1 if len(self.names) == 1 else BASES
        for base in itertools.islice(self.draw(bases), bases):
            for name in self.names:
                places = {place for change in changes for place in breakpoints(change, name, base)}
                for value in self._values(sorted(sorted(places, key=abs)[:MOST_PLACES])):
                    yield {**base, name: value}

    def _values(self, places: list[Fraction]) -> Iterator[Fraction]:
        """A value in each interval that the places bound; of whole numbers, those beside them."""
        if not places:
            return
        if self.whole:
            near = {int(place) + shift for place in places for shift in (-1, 0, 1, 2)}
            yield from (Fraction(value) for value in sorted(near) if value > 0)
            return
        yield places[0] - 1 - abs(places[0]) / 3
        for low, high in itertools.pairwise(places):
            yield (2 * low + 3 * high) / 5
        yield places[-1] + 1 + abs(places[-1]) / 3

    def _coordinate(self, index: int) -> Fraction:
        """In (1, 2), in (-2, -1), in (-1, 1) or beyond, by turns; or a small whole number.

        Where formulas change each variable takes its own turns, so that all orders occur, whole
        numbers, where floors jump, and far ones too.
        """
        drawn = self.generator.getrandbits(32)
        if self.whole:
            return Fraction(2 + drawn % 29)
        turn = self.generator.getrandbits(2) if self.pieces else index % 5
        if self.pieces and turn == 0:
            return Fraction(drawn % 41 - 20)
        scale, shift = (_WIDE if self.pieces else _NEAR)[turn]
        return Fraction(scale * (drawn | 1) + shift * 2**31, 2**32)
