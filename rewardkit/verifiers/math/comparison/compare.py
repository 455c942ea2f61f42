"""Compare two trees by meaning; docs/reference/math.md says what is equal and what is not."""

from __future__ import annotations

from collections.abc import Callable

from rewardkit.verifiers.math.comparison.equations import same_relation
from rewardkit.verifiers.math.comparison.intervals import NoRegionError, same_region
from rewardkit.verifiers.math.comparison.matrices import NoMatrixError, has_matrix, worked_out
from rewardkit.verifiers.math.comparison.quantities import same_quantity
from rewardkit.verifiers.math.comparison.regions import is_region, region
from rewardkit.verifiers.math.comparison.statements import assigned, definition, stated
from rewardkit.verifiers.math.comparison.values import (
    DIFFERENT,
    Policy,
    all_equal,
    same_expression,
    same_numeral,
    same_ratio,
)
from rewardkit.verifiers.math.numbers.equality import Outcome
from rewardkit.verifiers.math.syntax.tree import (
    Constant,
    Matrix,
    Node,
    NumberSet,
    Numeral,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    Text,
)

MOST_ITEMS = 48
"""Items of the longest lists that are compared in any order."""


def compare(answer: Node, reference: Node, policy: Policy) -> Outcome:
    """Whether both mean the same, and which step found out."""
    if answer == reference and not isinstance(answer, Quantity):
        return Outcome(True, "the same reading")
    answer, reference = stated(answer), stated(reference)
    answer, reference = _unnamed(answer, reference), _unnamed(reference, answer)
    if is_region(answer) or is_region(reference):
        return _sets(answer, reference, policy)
    for kind, comparison in _COMPARISONS:
        if isinstance(answer, kind) or isinstance(reference, kind):
            return comparison(answer, reference, policy)
    if has_matrix(answer) or has_matrix(reference):
        return _matrices(answer, reference, policy)
    return same_expression(answer, reference, policy)


def _unnamed(node: Node, other: Node) -> Node:
    """The value of `x = 5` beside one that isn't an equation; the member of a set of one."""
    if isinstance(node, Sequence) and len(node.items) == 1 and node.opening == "⦃":
        plain = not isinstance(other, Sequence) and not is_region(other)
        return node.items[0] if plain else node
    pair = definition(node)
    if pair is None:
        return node
    theirs = definition(other)
    if theirs is None:
        return node if isinstance(other, Relation) and other.operators == ("=",) else pair[1]
    both_variables = isinstance(pair[0], Symbol) and isinstance(theirs[0], Symbol)
    return pair[1] if pair[0] == theirs[0] or not both_variables else node


def _texts(answer: Node, reference: Node, _: Policy) -> Outcome:
    same = _word(answer) is not None and _word(answer) == _word(reference)
    return Outcome(same, "text")


def _word(node: Node) -> str | None:
    match node:
        case Text(words):
            return words.strip("() .")
        case Symbol(name) | Constant(name):
            return name.casefold()
    return None


def _sets(answer: Node, reference: Node, policy: Policy) -> Outcome:
    """Sets of numbers, as the intervals that they are."""
    if isinstance(answer, NumberSet) and isinstance(reference, NumberSet):
        return Outcome(answer.name == reference.name, "sets of numbers")
    try:
        same = same_region(region(answer), region(reference))
    except NoRegionError:
        return _unworked_sets(answer, reference, policy)
    return Outcome(same, "sets of real numbers")


def _unworked_sets(answer: Node, reference: Node, policy: Policy) -> Outcome:
    match answer, reference:
        case Relation(), Relation():
            return same_relation(answer, reference)
        case SetOperation(one, left, right), SetOperation(other, left2, right2) if one == other:
            return all_equal([compare(left, left2, policy), compare(right, right2, policy)])
        case Sequence(), Sequence():
            return _sequences(answer, reference, policy)
    return DIFFERENT


def _relations(answer: Node, reference: Node, _: Policy) -> Outcome:
    if isinstance(answer, Relation) and isinstance(reference, Relation):
        return same_relation(answer, reference)
    return DIFFERENT


def _sequences(answer: Node, reference: Node, policy: Policy) -> Outcome:
    if isinstance(answer, Matrix) or isinstance(reference, Matrix):
        return _matrices(answer, reference, policy)
    for one, other in ((answer, reference), (reference, answer)):
        values = assigned(one)
        if values is not None and assigned(other) is None:
            return _sequences_of(Sequence(values, "(", ")"), other, answer is one, policy)
    if not (isinstance(answer, Sequence) and isinstance(reference, Sequence)):
        return DIFFERENT
    return _bracketed(answer, reference, policy)


def _sequences_of(values: Sequence, other: Node, first: bool, policy: Policy) -> Outcome:
    if not isinstance(other, Sequence):
        return DIFFERENT
    return _bracketed(values, other, policy) if first else _bracketed(other, values, policy)


def _bracketed(answer: Sequence, reference: Sequence, policy: Policy) -> Outcome:
    kinds = {_kind(answer), _kind(reference)}
    if kinds in ({"(", "["}, {"(", "⦃"}, {"[", "⦃"}):
        return Outcome(False, "different brackets")
    mine, theirs = answer.items, reference.items
    if "(" not in kinds and kinds != {"["}:
        if "⦃" in kinds:
            mine, theirs = _distinct(mine, policy), _distinct(theirs, policy)
        return _in_any_order(mine, theirs, policy)
    if len(mine) != len(theirs):
        return Outcome(False, "the number of items")
    return all_equal([compare(one, other, policy) for one, other in zip(mine, theirs, strict=True)])


def _kind(node: Sequence) -> str:
    return "(" if node.opening == "⟨" else node.opening


def _distinct(items: tuple[Node, ...], policy: Policy) -> tuple[Node, ...]:
    found: list[Node] = []
    for item in items[: MOST_ITEMS + 1]:
        if not any(compare(item, other, policy).equal for other in found):
            found.append(item)
    return tuple(found)


def _in_any_order(answer: tuple[Node, ...], reference: tuple[Node, ...], policy: Policy) -> Outcome:
    if len(answer) != len(reference):
        return Outcome(False, "the number of items")
    if len(answer) > MOST_ITEMS:
        return Outcome(None, "a list too long to compare in any order")
    left = list(answer)
    undecided = False
    for item in reference:
        outcomes = [compare(mine, item, policy).equal for mine in left]
        if True in outcomes:
            del left[outcomes.index(True)]
        elif None in outcomes:
            undecided = True
        else:
            return Outcome(False, "the items of the list")
    return Outcome(None if undecided else True, "the items of the list")


def _matrices(answer: Node, reference: Node, policy: Policy) -> Outcome:
    try:
        mine, theirs = worked_out(answer), worked_out(reference)
    except NoMatrixError:
        return Outcome(False, "matrices that don't fit")
    if not (isinstance(mine, Matrix) and isinstance(theirs, Matrix)):
        return DIFFERENT
    if [len(row) for row in mine.rows] != [len(row) for row in theirs.rows]:
        return Outcome(False, "matrices of different shapes")
    cells = zip(sum(mine.rows, ()), sum(theirs.rows, ()), strict=True)
    return all_equal([compare(one, other, policy) for one, other in cells])


def _quantities(answer: Node, reference: Node, policy: Policy) -> Outcome:
    return same_quantity(answer, reference, policy, compare)


_COMPARISONS: tuple[tuple[type, Callable[[Node, Node, Policy], Outcome]], ...] = (
    (Text, _texts),
    (Relation, _relations),
    (Sequence, _sequences),
    (Quantity, _quantities),
    (Numeral, same_numeral),
    (Ratio, same_ratio),
    (Matrix, _matrices),
)
"""The comparison for the first kind that either side is."""
