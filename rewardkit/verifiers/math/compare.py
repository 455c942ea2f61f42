"""Two trees compared by what they mean: what is equal, and what isn't, stands in docs/math.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from rewardkit.verifiers.math.canonical import canonical
from rewardkit.verifiers.math.equations import same_relation
from rewardkit.verifiers.math.matrices import NoMatrixError, has_matrix, worked_out
from rewardkit.verifiers.math.numeric import Outcome, compare_size, same_value
from rewardkit.verifiers.math.rational import rational
from rewardkit.verifiers.math.regions import NoRegionError, is_region, region, same_region
from rewardkit.verifiers.math.statements import assigned, definition, stated
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Numeral,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    Text,
    difference,
    nodes,
    symbols,
)  # fmt: skip
from rewardkit.verifiers.math.units import UNITS, Unit, power, product

UNITLESS: Unit = ((), Fraction(1))
Units = Literal["lenient", "strict", "ignored"]

MOST_ITEMS = 48
"""Items of the longest lists that are compared in any order."""

DIFFERENT = Outcome(False, "different kinds of answer")
_HALF_TURN = Product((Constant("π"), Power(Number(Fraction(180)), MINUS_ONE)))


@dataclass(frozen=True, slots=True)
class Policy:
    """What the verifier's parameters ask for; see `Math`."""

    tolerance: float | None = None
    units: Units = "lenient"


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
    return _values(answer, reference, policy)


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
            return _all([compare(left, left2, policy), compare(right, right2, policy)])
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
    return _all([compare(one, other, policy) for one, other in zip(mine, theirs, strict=True)])


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


def _all(outcomes: list[Outcome]) -> Outcome:
    for verdict in (False, None):
        for outcome in outcomes:
            if outcome.equal is verdict:
                return outcome
    return Outcome(True, "part by part")


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
    return _all([compare(one, other, policy) for one, other in cells])


def _quantities(answer: Node, reference: Node, policy: Policy) -> Outcome:
    mine, theirs = _measured(_with_letters(answer)), _measured(_with_letters(reference))
    if mine.kind == theirs.kind and policy.units != "ignored":
        scale = mine.factor / theirs.factor
        return compare(_times(mine.value, Number(scale)), theirs.value, policy)
    if mine.kind and theirs.kind:
        same = policy.units == "ignored" and compare(mine.value, theirs.value, policy).equal
        return Outcome(same, "the units")
    measured, bare = (mine, theirs) if mine.kind else (theirs, mine)
    special = _angle_or_share(measured, bare, measured is theirs, policy)
    if special is not None:
        return special
    if policy.units == "strict":
        return Outcome(False, "a missing unit")
    return compare(mine.value, theirs.value, policy)


def _angle_or_share(
    measured: Quantity, bare: Quantity, of_reference: bool, policy: Policy
) -> Outcome | None:
    """90° is also π/2; 50% is 1/2, and 50 where the reference asks for percent."""
    exact = Policy(tolerance=0.0, units=policy.units)
    match measured.kind:
        case (("angle", 1),):
            radians = compare(_times(measured.value, _HALF_TURN), bare.value, exact)
            return radians if radians.equal else None
        case (("share", 1),):
            share = compare(_times(measured.value, Number(Fraction(1, 100))), bare.value, exact)
            return share if share.equal or not of_reference else None
    return None


def _measured(node: Node) -> Quantity:
    return node if isinstance(node, Quantity) else Quantity(node, (), Fraction(1))


def _with_letters(node: Node) -> Node:
    """5m/s as a quantity, beside one: its letters are units."""
    if not (isinstance(node, Product) and len(node.factors) > 1):
        return node
    value: list[Node] = []
    measured = UNITLESS
    for factor in node.factors:
        base, exponent = (factor, 1)
        if isinstance(factor, Power) and isinstance(factor.exponent, Number):
            base, exponent = factor.base, int(factor.exponent.value)
        if isinstance(base, Symbol) and base.name in UNITS and 0 < abs(exponent) <= 4:
            measured = product(measured, power(UNITS[base.name], exponent))
        else:
            value.append(factor)
    if not value or any(map(symbols, value)) or measured == UNITLESS:
        return node
    return Quantity(value[0] if len(value) == 1 else Product(tuple(value)), *measured)


def _times(node: Node, factor: Node) -> Node:
    if factor == Number(Fraction(1)):
        return node
    if isinstance(node, Number) and isinstance(factor, Number):
        return Number(node.value * factor.value)
    return Product((node, factor))


def _numerals(answer: Node, reference: Node, _: Policy) -> Outcome:
    if isinstance(answer, Numeral) and isinstance(reference, Numeral):
        same = answer.base == reference.base
        return Outcome(same and int(answer.digits) == int(reference.digits), "digits and base")
    return Outcome(False, "a base that only one side has")


def _ratios(answer: Node, reference: Node, policy: Policy) -> Outcome:
    if isinstance(answer, Ratio) and isinstance(reference, Ratio):
        if len(answer.terms) != len(reference.terms):
            return DIFFERENT
        first, first2 = answer.terms[0], reference.terms[0]
        if any(rational(term) == 0 for term in (*answer.terms, *reference.terms)):
            return Outcome(answer.terms == reference.terms, "a ratio with zero")
        return _all([
            same_value(Product((term, first2)), Product((term2, first)))
            for term, term2 in zip(answer.terms, reference.terms, strict=True)
        ])  # fmt: skip
    return _values(_quotient(answer), _quotient(reference), policy)


def _quotient(node: Node) -> Node:
    if isinstance(node, Ratio) and len(node.terms) == 2:
        return Product((node.terms[0], Power(node.terms[1], MINUS_ONE)))
    return node


def _values(answer: Node, reference: Node, policy: Policy) -> Outcome:
    if has_matrix(answer) or has_matrix(reference):
        return _matrices(answer, reference, policy)
    if _is_residue(answer) or _is_residue(reference):
        return _residues(answer, reference)
    found = same_value(answer, reference)
    if found.equal is False and policy.tolerance != 0 and not symbols(answer):
        limit = _limit(answer, reference, policy.tolerance)
        if limit is not None:
            gap = Call("abs", (difference(answer, reference),))
            near = compare_size(gap, Number(limit))
            return Outcome(near is not None and near <= 0, "the tolerance")
    if found.equal is None and canonical(answer) == canonical(reference):
        return Outcome(True, "the same reading up to order")
    if found.equal is None and not any(map(_open, (*nodes(answer), *nodes(reference)))):
        return Outcome(False, "numbers too large to compare")
    return found


def _open(node: Node) -> bool:
    """Whether sympy may know more of it than its value: a variable, or a function by name."""
    return isinstance(node, Symbol) or (isinstance(node, Call) and node.name.endswith("()"))


def _is_residue(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "residue"


def _residues(answer: Node, reference: Node) -> Outcome:
    """3 (mod 7) is 10 (mod 7), but no number."""
    match answer, reference:
        case Call("residue", (one, modulus)), Call("residue", (other, modulus2)):
            values = [rational(part) for part in (one, other, modulus, modulus2)]
            if None not in values and values[2] == values[3] != 0:
                gap = difference(one, other)
                residue = rational(Call("mod", (gap, modulus)))
                return Outcome(residue == 0, "residues")
            return Outcome(canonical(answer) == canonical(reference), "residues")
    return DIFFERENT


def _limit(answer: Node, reference: Node, tolerance: float | None) -> Fraction | None:
    """By how much the answer may differ; None: not at all."""
    value = rational(reference)
    if value is None:
        return None
    if tolerance is not None:
        return abs(value) * Fraction(tolerance)
    places = reference.places if isinstance(reference, Number) else None
    if places is None or places < 2 or rational(answer) is not None:
        return None
    return Fraction(1, 2 * 10**places)


_COMPARISONS: tuple[tuple[type, Callable[[Node, Node, Policy], Outcome]], ...] = (
    (Text, _texts),
    (Relation, _relations),
    (Sequence, _sequences),
    (Quantity, _quantities),
    (Numeral, _numerals),
    (Ratio, _ratios),
    (Matrix, _matrices),
)
"""The comparison for the first kind that either side is."""
