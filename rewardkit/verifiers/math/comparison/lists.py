"""Lists, tuples and sets: in any order or by position, item by item."""

from __future__ import annotations

from collections.abc import Callable

from rewardkit.verifiers.math.comparison.matrices import same_matrices
from rewardkit.verifiers.math.comparison.shapes import as_matrix, as_vector
from rewardkit.verifiers.math.comparison.statements import assigned, indexed_values
from rewardkit.verifiers.math.comparison.values import DIFFERENT, Policy, all_equal
from rewardkit.verifiers.math.numbers.equality import Outcome
from rewardkit.verifiers.math.syntax.tree import Matrix, Node, Product, Sequence, Sum, Symbol

Compare = Callable[[Node, Node, Policy], Outcome]

MOST_ITEMS = 48
"""Items of the longest lists that are compared in any order."""


def same_lists(answer: Node, reference: Node, policy: Policy, compare: Compare) -> Outcome:
    """Compare lists, tuples and sets by their items."""
    if isinstance(answer, Matrix) or isinstance(reference, Matrix):
        sides = as_matrix(answer, reference), as_matrix(reference, answer)
        return same_matrices(*sides, policy, compare)
    answer, reference = _unindexed(answer, reference), _unindexed(reference, answer)
    values, theirs = assigned(answer), assigned(reference)
    if (values is None) != (theirs is None):
        answer, reference = values or answer, theirs or reference
    for one, other in ((answer, reference), (reference, answer)):
        if isinstance(one, Sequence) and isinstance(other, (Sum, Product, Symbol)):
            return _vectors(answer, reference, len(one.items), policy, compare)
    if not (isinstance(answer, Sequence) and isinstance(reference, Sequence)):
        return DIFFERENT
    return _bracketed(answer, reference, policy, compare)


def _unindexed(node: Node, other: Node) -> Node:
    """The values of `x_1 = 2, x_2 = 7` beside a set or a list of values."""
    listed = isinstance(other, Sequence) and _kind(other) in ("⦃", "") and assigned(other) is None
    return indexed_values(node) if listed else node


def _vectors(answer: Node, reference: Node, size: int, policy: Policy, compare: Compare) -> Outcome:
    """i + 2j + 3k against ⟨1, 2, 3⟩."""
    sides = [
        side if isinstance(side, Sequence) else as_vector(side, size)
        for side in (answer, reference)
    ]
    one, other = sides
    if not (isinstance(one, Sequence) and isinstance(other, Sequence)):
        return DIFFERENT
    if "(" not in (_kind(one), _kind(other)) or {_kind(one), _kind(other)} - {"(", "["}:
        return DIFFERENT
    return _bracketed(one, other, policy, compare)


def _bracketed(answer: Sequence, reference: Sequence, policy: Policy, compare: Compare) -> Outcome:
    kinds = {_kind(answer), _kind(reference)}
    mine, theirs = answer.items, reference.items
    ordered = kinds == {"[", "⦃"} and (_kind(reference) == "[" or len(theirs) < 3)
    if kinds in ({"(", "["}, {"(", "⦃"}) or ordered:
        return Outcome(False, "different brackets")
    if "(" not in kinds and kinds != {"["}:
        if "⦃" in kinds:
            mine, theirs = _distinct(mine, policy, compare), _distinct(theirs, policy, compare)
        return _in_any_order(mine, theirs, policy, compare)
    if len(mine) != len(theirs):
        return Outcome(False, "the number of items")
    pairs = zip(mine, theirs, strict=True)
    return all_equal([_same_item(one, other, policy, compare) for one, other in pairs])


def _same_item(answer: Node, reference: Node, policy: Policy, compare: Compare) -> Outcome:
    """Compare items of lists, where {1} is not 1."""
    if _is_singleton(answer) != _is_singleton(reference):
        return Outcome(False, "the items of the list")
    return compare(answer, reference, policy)


def _is_singleton(node: Node) -> bool:
    return isinstance(node, Sequence) and node.opening == "⦃" and len(node.items) == 1


def _kind(node: Sequence) -> str:
    return "(" if node.opening == "⟨" else node.opening


def _distinct(items: tuple[Node, ...], policy: Policy, compare: Compare) -> tuple[Node, ...]:
    found: list[Node] = []
    for item in items[: MOST_ITEMS + 1]:
        if not any(compare(item, other, policy).equal for other in found):
            found.append(item)
    return tuple(found)


def _in_any_order(
    answer: tuple[Node, ...], reference: tuple[Node, ...], policy: Policy, compare: Compare
) -> Outcome:
    if len(answer) != len(reference):
        return Outcome(False, "the number of items")
    if len(answer) > MOST_ITEMS:
        return Outcome(None, "a list too long to compare in any order")
    left = list(answer)
    undecided = False
    for item in reference:
        outcomes = [_same_item(mine, item, policy, compare).equal for mine in left]
        if True in outcomes:
            del left[outcomes.index(True)]
        elif None in outcomes:
            undecided = True
        else:
            return Outcome(False, "the items of the list")
    return Outcome(None if undecided else True, "the items of the list")
