"""Piecewise functions compared piece by piece, in any order."""

from __future__ import annotations

from collections.abc import Callable

from rewardkit.verifiers.math.comparison.intervals import (
    NoRegionError,
    Region,
    complement,
    same_region,
    union,
)
from rewardkit.verifiers.math.comparison.regions import region
from rewardkit.verifiers.math.comparison.values import DIFFERENT, Policy, all_equal
from rewardkit.verifiers.math.numbers.equality import Outcome
from rewardkit.verifiers.math.syntax.tree import Call, Node, Sequence, Text

Compare = Callable[[Node, Node, Policy], Outcome]
_ELSEWHERE = frozenset(("otherwise", "else", "elsewhere", "in all other cases"))


def is_piecewise(node: Node) -> bool:
    """Whether it consists of values with conditions."""
    return isinstance(node, Call) and node.name == "cases"


def same_pieces(answer: Node, reference: Node, policy: Policy, compare: Compare) -> Outcome:
    """Whether each piece has a partner of the same value where the same condition holds."""
    if not (isinstance(answer, Call) and isinstance(reference, Call)):
        return DIFFERENT
    mine, theirs = _pieces(answer), _pieces(reference)
    if len(mine) != len(theirs):
        return Outcome(False, "the number of pieces")
    outcomes = []
    for value, condition in theirs:
        partner = next((piece for piece in mine if _same_condition(piece[1], condition)), None)
        if partner is None:
            return Outcome(False, "the conditions of the pieces")
        mine.remove(partner)
        outcomes.append(compare(partner[0], value, policy))
    return all_equal(outcomes)


def _pieces(node: Call) -> list[tuple[Node, Region | Node]]:
    """Values and where they hold, `otherwise` as what the other conditions leave."""
    rows = [row.items for row in node.arguments if isinstance(row, Sequence)]
    found: list[tuple[Node, Region | Node]] = []
    for value, condition in rows:
        if not _is_rest(condition):
            found.append((value, _condition(condition)))
    regions = [place for _, place in found if isinstance(place, Region)]
    for value, condition in rows:
        if _is_rest(condition):
            whole = len(regions) == len(found)
            found.append((value, complement(union(regions)) if whole else condition))
    return found


def _is_rest(condition: Node) -> bool:
    return isinstance(condition, Text) and condition.words in _ELSEWHERE


def _condition(node: Node) -> Region | Node:
    try:
        return region(node)
    except NoRegionError:
        return node


def _same_condition(one: Region | Node, other: Region | Node) -> bool:
    if isinstance(one, Region) and isinstance(other, Region):
        return same_region(one, other) is True
    return one == other
