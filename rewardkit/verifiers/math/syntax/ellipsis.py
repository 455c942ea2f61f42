"""Lists with an ellipsis: {1, 2, …, 10} written out."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rewardkit.verifiers.math.syntax.tree import Constant, Node, Number, Product
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

ELLIPSIS = Constant("…")
LONGEST = 100
"""Items of the longest list that is written out."""


def in_full(items: list[Node]) -> list[Node]:
    """The items with an ellipsis between whole numbers in even steps filled in.

    Raises UnreadableError where nothing says how the list goes on or where it ends.
    """
    if ELLIPSIS not in items:
        return items
    place = items.index(ELLIPSIS)
    before = [_whole(item) for item in items[:place]]
    after = [_whole(item) for item in items[place + 1 :]]
    if not before or len(after) != 1 or None in before or None in after:
        raise UnreadableError("a list without an end")
    known = [value for value in before if value is not None]
    last = after[0] or Fraction(0)
    step = known[1] - known[0] if len(known) > 1 else Fraction(1)
    even = all(second - first == step for first, second in pairwise(known))
    count = (last - known[0]) / step if step else Fraction(-1)
    if not even or count.denominator > 1 or not len(known) <= count < LONGEST:
        raise UnreadableError("a list whose steps differ")
    return [Number(known[0] + index * step) for index in range(int(count) + 1)]


def _whole(node: Node) -> Fraction | None:
    match node:
        case Number(value, None):
            return value
        case Product((Number(sign), Number(value, None))) if sign == -1:
            return -value
    return None
