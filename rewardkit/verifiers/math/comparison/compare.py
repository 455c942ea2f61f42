"""Compare two trees by meaning; docs/reference/math.md says what is equal and what is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.comparison import matrices, sets, statements, types
from rewardkit.verifiers.math.comparison.families import is_constant, same_family
from rewardkit.verifiers.math.comparison.types import Kind
from rewardkit.verifiers.math.comparison.values import (
    DIFFERENT,
    Policy,
    all_equal,
    both,
    same_expression,
    same_in_any_order,
    same_numeral,
    same_quantity,
    same_ratio,
)
from rewardkit.verifiers.math.lexicon import JOINTS
from rewardkit.verifiers.math.numbers.balls import take_steps
from rewardkit.verifiers.math.numbers.equality import MathComparison

STEPS = 20
"""Steps that a comparison takes before it comes to values."""


def _lists(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    if _is_named_late(answer) != _is_named_late(reference):
        return MathComparison(False, "the names of the list")
    values, theirs = statements.assigned(answer), statements.assigned(reference)
    if (values is None) != (theirs is None):
        written = _without_labels(answer, reference), _without_labels(reference, answer)
        if written != (answer, reference) and (found := compare(*written, policy)).equal:
            return found
        answer, reference = values or answer, theirs or reference
    if not (isinstance(answer, tree.Sequence) and isinstance(reference, tree.Sequence)):
        return DIFFERENT
    return _bracketed(answer, reference, policy)


def _is_named_late(node: tree.Node) -> bool:
    """Whether an item has a name though the first has none: 2, x = 5."""
    items = node.items if isinstance(node, tree.Sequence) and not node.opening else ()
    named = [statements.definition(item) is not None for item in items]
    return any(named) and not named[0]


def _without_labels(node: tree.Node, other: tree.Node) -> tree.Node:
    """The values of `Minimum: 1, Maximum: 3` or `w=16, d=3` beside a bare list or a set."""
    if not isinstance(other, tree.Sequence) or statements.assigned(other):
        return node
    written = statements.unlabelled(node)
    ordered = isinstance(written, tree.Sequence) and written.opening
    return written if not other.opening or (other.opening == "⦃" and not ordered) else node


def _connectives_differ(first: tree.Sequence, second: tree.Sequence) -> bool:
    """Whether `or` and `and` join statements, or a sign of logic or `or` meets another listing."""
    joints = {first.joint, second.joint}
    if not joints.isdisjoint(JOINTS):
        return len({JOINTS.get(joint, joint) for joint in joints}) > 1
    if any(
        a.joint == "or" and b.opening in ("(", "[", "⟨")
        for a, b in ((first, second), (second, first))
    ):
        return True
    stated = [item for item in first.items if isinstance(item, (tree.Relation, tree.Text))]
    conditions = all(map(_is_condition, first.items))
    return (joints == {"and", "or"} and bool(stated)) or (joints == {",", "or"} and conditions)


def _is_condition(node: tree.Node) -> bool:
    """Whether it is an inequality or an equation that names no value, such as x + 2y = 5."""
    return isinstance(node, tree.Relation) and statements.definition(node) is None


def _bracketed(answer: tree.Sequence, reference: tree.Sequence, policy: Policy) -> MathComparison:
    if _connectives_differ(answer, reference):
        return MathComparison(False, "the connectives")
    kinds = {_kind(answer), _kind(reference)}
    mine, theirs = answer.items, reference.items
    ordered = kinds == {"[", "⦃"} and (_kind(reference) == "[" or len(theirs) < 3)
    if kinds in ({"(", "["}, {"(", "⦃"}) or ordered:
        return MathComparison(False, "different brackets")
    if "(" not in kinds and kinds != {"["}:
        if "⦃" in kinds:
            mine, theirs = _distinct(mine, policy), _distinct(theirs, policy)
        same_item = partial(_same_item, policy=policy)
        return same_in_any_order(mine, theirs, same_item, "items of the list")
    if len(mine) != len(theirs):
        return MathComparison(False, "the number of items of the list")
    pairs = zip(mine, theirs, strict=True)
    return all_equal([_same_item(first, second, policy) for first, second in pairs])


def _same_item(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    """Compare items of lists, where {1} is not 1."""
    single = [
        isinstance(item, tree.Sequence) and item.opening == "⦃" and len(item.items) == 1
        for item in (answer, reference)
    ]
    return compare(answer, reference, policy) if single[0] == single[1] else DIFFERENT


def _kind(node: tree.Sequence) -> str:
    return "(" if node.opening == "⟨" else node.opening


def _distinct(items: tuple[tree.Node, ...], policy: Policy) -> tuple[tree.Node, ...]:
    found: list[tree.Node] = []
    for item in items:
        if not any(compare(item, other, policy).equal for other in found):
            found.append(item)
    return tuple(found)


def compare(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    """Whether both trees mean the same, and the step that decided it."""
    if answer == reference and not isinstance(answer, tree.Quantity):
        return MathComparison(True, "the same reading")
    take_steps(STEPS)
    if _is_plain(answer) and _is_plain(reference):
        return same_expression(answer, reference, policy)
    answer = types.in_letters_of(answer, reference)
    found = sets.same_formula(answer, reference) or same_family(answer, reference)
    if found is not None:
        return found
    answer, reference = statements.as_one_equation(answer, reference)
    answer, reference = types.read_as(answer, reference)
    answer, reference = _one_form(answer, reference, policy), _one_form(reference, answer, policy)
    answer, reference = statements.as_factors(answer, reference)
    kinds = {types.kind_of(answer), types.kind_of(reference)}
    return next(equality for kind, equality in _EQUALITY.items() if kind in kinds)(
        answer, reference, policy
    )


_PLAIN = frozenset((tree.Number, tree.Symbol, tree.Constant, tree.Sum, tree.Product, tree.Power))


def _is_plain(node: tree.Node) -> bool:
    """Whether it is built from numbers and letters alone, so that nothing but its value counts."""
    parts = tree.nodes(node)
    if not _PLAIN.issuperset(map(type, parts)):
        return False
    return not any(is_constant(part) or matrices.is_of_matrix(part) for part in parts)


def _one_form(node: tree.Node, second: tree.Node, policy: Policy) -> tree.Node:
    """The first form in `0.5 or 1/2`, if all forms are equal and the other side is one value."""
    if not isinstance(node, tree.Sequence) or node.opening or node.joint != "or":
        return node
    if isinstance(second, tree.Sequence):
        return node
    exact = replace(policy, tolerance=0.0)
    same = all(compare(*pair, exact).equal is True for pair in pairwise(node.items))
    return node.items[0] if same else node


def _expressions(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    named = matrices.same_by_names(answer, reference, policy, compare)
    found = named or same_expression(answer, reference, policy)
    bare = matrices.without_degrees(answer), matrices.without_degrees(reference)
    if found.equal is not True and bare != (answer, reference) and policy.units != "strict":
        return same_expression(*bare, policy)
    return found


def _texts(answer: tree.Node, reference: tree.Node, _: Policy) -> MathComparison:
    same = _word(answer) is not None and _word(answer) == _word(reference)
    return MathComparison(same, "text")


def _times(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    """Compare two times of day. 5:10 is a ratio beside anything else.

    It may be one beside a reference in lowest terms, such as 1:20, and half a day may be missing.
    """
    if isinstance(answer, tree.Clock) and isinstance(reference, tree.Clock):
        half = answer.stated != reference.stated and any(
            not side.stated and side.hour < 12 for side in (answer, reference)
        )
        hours = {side.hour % (12 if half else 24) for side in (answer, reference)}
        if len(hours) == 1 and answer.minute == reference.minute:
            return MathComparison(True, "the time of day")
        lowest = reference.minute > 9 and math.gcd(reference.hour, reference.minute) == 1
        if not lowest or answer.stated or reference.stated:
            return MathComparison(False, "the time of day")
    return compare(_as_ratio(answer), _as_ratio(reference), policy)


def _as_ratio(node: tree.Node) -> tree.Node:
    if not isinstance(node, tree.Clock):
        return node
    if node.stated or node.minute < 10:
        return tree.Text(f"{node.hour}:{node.minute}")
    return tree.Ratio((tree.Number(Fraction(node.hour)), tree.Number(Fraction(node.minute))))


def _word(node: tree.Node) -> str | None:
    match node:
        case tree.Text(words):
            return words.strip("() .")
        case tree.Symbol(name) | tree.Constant(name):
            return name.casefold()
    return None


def _sets(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    if policy.units != "strict":
        answer, reference = both(statements.without_units, answer, reference)
    lettered = (tree.NumberSet, tree.Symbol)  # \mathbf{R} is read as a letter
    if isinstance(answer, lettered) and isinstance(reference, lettered):
        return MathComparison(answer.name == reference.name, "sets of numbers")
    try:
        same = sets.same_region(*(sets.region(_as_set(side)) for side in (answer, reference)))
    except sets.NoRegionError:
        return _unworked_sets(answer, reference, policy)
    return MathComparison(same, "sets of real numbers")


def _as_set(node: tree.Node) -> tree.Node:
    """One value as the set of it: x ≥ 1 and x ≤ 1 for 1."""
    many = isinstance(node, (tree.Relation, tree.Sequence)) or sets.is_region(node)
    return node if many else tree.Sequence((node,), "⦃", "⦄")


def _unworked_sets(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    match answer, reference:
        case (tree.Sequence(), tree.Relation()) | (tree.Relation(), tree.Sequence()) if (
            mine := statements.links(answer)
        ) and (theirs := statements.links(reference)):
            same = statements.same_relation
            return same_in_any_order(mine, theirs, same, "links of the chain")
        case tree.Relation(), tree.Relation():
            return statements.same_relation(answer, reference)
        case tree.Sequence(items, "", "", ","), tree.Relation(sides, ("<" | ">", *_)):
            lettered = all(isinstance(item, tree.Symbol) for item in items)
            return MathComparison(lettered and items == sides, "the order of the chain")
        case tree.SetOperation(first, left, right), tree.SetOperation(second, left2, right2) if (
            first == second
        ):
            return all_equal([compare(left, left2, policy), compare(right, right2, policy)])
    return DIFFERENT


def _relations(answer: tree.Node, reference: tree.Node, _: Policy) -> MathComparison:
    """Relations by their sides; a value or an equation beside an equation solved for y."""
    if not isinstance(reference, tree.Relation):
        return DIFFERENT
    found = DIFFERENT
    if isinstance(answer, tree.Relation):
        found = statements.same_relation(answer, reference)
    return statements.same_curve(answer, reference) or found if found.equal is False else found


def _matrices(answer: tree.Node, reference: tree.Node, policy: Policy) -> MathComparison:
    answer, reference = map(matrices.as_matrix, (answer, reference))
    return matrices.same_matrices(answer, reference, policy, compare)


_EQUALITY: dict[Kind, Callable[[tree.Node, tree.Node, Policy], MathComparison]] = {
    Kind.SET: _sets,
    Kind.PIECES: partial(sets.same_pieces, compare=compare),
    Kind.TIME: _times,
    Kind.TEXT: _texts,
    Kind.RELATION: _relations,
    Kind.QUANTITY: partial(same_quantity, compare=compare),
    Kind.MATRIX: _matrices,
    Kind.NAMED: _lists,
    Kind.LIST: _lists,
    Kind.TUPLE: _lists,
    Kind.NUMERAL: same_numeral,
    Kind.RATIO: same_ratio,
    Kind.FUNCTION: _expressions,
    Kind.NUMBER: _expressions,
}
"""The equality of each type, wider types first."""
