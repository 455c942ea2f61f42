"""Compare numbers and expressions within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from rewardkit.verifiers.math.numbers.equality import NO_VALUE, Comparison, compare_size, same_value
from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    Call,
    Node,
    Number,
    Numeral,
    Power,
    Product,
    Ratio,
    Sequence,
    Sum,
    Symbol,
    difference,
    mapped,
    nodes,
    symbols,
)


def canonical(node: Node) -> Node:
    """The tree with nested sums and products flattened, and their parts sorted."""
    node = mapped(node, canonical)
    match node:
        case Sum(terms):
            return Sum(tuple(sorted(_flat(terms, Sum), key=repr)))
        case Product(factors):
            return Product(tuple(sorted(_flat(factors, Product), key=repr)))
        case Sequence(items, "⦃", closing, joint):
            return Sequence(tuple(sorted(items, key=repr)), "⦃", closing, joint)
    return node


def _flat(parts: tuple[Node, ...], kind: type[Sum] | type[Product]) -> list[Node]:
    found: list[Node] = []
    for part in parts:
        if isinstance(part, Sum) and kind is Sum:
            found.extend(part.terms)
        elif isinstance(part, Product) and kind is Product:
            found.extend(part.factors)
        else:
            found.append(part)
    return found


Units = Literal["lenient", "strict", "ignored"]
Percent = Literal["unit", "exact"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The verifier's parameters for comparisons; see `Math`."""

    tolerance: float | None = None
    units: Units = "lenient"
    percent: Percent = "unit"


def same_percent(share: Fraction, bare: Fraction, in_reference: bool, percent: Percent) -> bool:
    """Whether a value in percent, `share` as a fraction of one, equals a number without a sign.

    As a unit, the sign may be dropped from 1% up. By its value, a number without a sign meets a
    reference in percent only up to 1: 5 is not 500%.
    """
    if percent == "exact":
        return share == bare
    if bare == 100 * share:
        return abs(bare) >= 1
    return share == bare and (abs(bare) <= 1 or not in_reference)


DIFFERENT = Comparison(False, "different kinds of answer")


def same_numeral(answer: Node, reference: Node, _: Policy) -> Comparison:
    """Compare numerals of other bases by digits and base."""
    if isinstance(answer, Numeral) and isinstance(reference, Numeral):
        same = answer.base == reference.base
        values = int(answer.digits, answer.base), int(reference.digits, reference.base)
        return Comparison(same and values[0] == values[1], "digits and base")
    return Comparison(False, "a base that only one side has")


def same_ratio(answer: Node, reference: Node, policy: Policy) -> Comparison:
    """Compare ratios up to a factor; one of two numbers is also their quotient."""
    if isinstance(answer, Ratio) and isinstance(reference, Ratio):
        if len(answer.terms) != len(reference.terms):
            return DIFFERENT
        first, first2 = answer.terms[0], reference.terms[0]
        if any(rational(term) == 0 for term in (*answer.terms, *reference.terms)):
            return Comparison(answer.terms == reference.terms, "a ratio with zero")
        return all_equal(
            [
                same_value(Product((term, first2)), Product((term2, first)))
                for term, term2 in zip(answer.terms, reference.terms, strict=True)
            ]
        )
    return same_expression(_quotient(answer), _quotient(reference), policy)


def _quotient(node: Node) -> Node:
    if isinstance(node, Ratio) and len(node.terms) == 2:
        return Product((node.terms[0], Power(node.terms[1], MINUS_ONE)))
    return node


def same_expression(answer: Node, reference: Node, policy: Policy) -> Comparison:
    """Compare two expressions by value, within the tolerance."""
    if _is_residue(answer) or _is_residue(reference):
        return _residues(answer, reference)
    found = same_value(answer, reference)
    if found.equal is False and policy.tolerance != 0 and not symbols(answer):
        limit = _limit(answer, reference, policy.tolerance)
        if limit is not None:
            gap = Call("abs", (difference(answer, reference),))
            near = compare_size(gap, Number(limit))
            return Comparison(near is not None and near <= 0, "the tolerance")
    if found.equal is None and canonical(answer) == canonical(reference):
        return Comparison(True, "the same reading up to order")
    if found.equal is None and not any(map(_open, (*nodes(answer), *nodes(reference)))):
        step = NO_VALUE if found.step == NO_VALUE else "numbers too large to compare"
        return Comparison(False, step)
    return found


def _open(node: Node) -> bool:
    """Whether sympy may know more of it than its value: a variable, or a function by name."""
    return isinstance(node, Symbol) or (isinstance(node, Call) and node.name.endswith("()"))


def _is_residue(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "residue"


def _residues(answer: Node, reference: Node) -> Comparison:
    """3 (mod 7) is 10 (mod 7), but no number."""
    match answer, reference:
        case Call("residue", (one, modulus)), Call("residue", (other, modulus2)):
            values = [rational(part) for part in (one, other, modulus, modulus2)]
            if None not in values and values[2] == values[3] != 0:
                gap = difference(one, other)
                residue = rational(Call("mod", (gap, modulus)))
                return Comparison(residue == 0, "residues")
            return Comparison(canonical(answer) == canonical(reference), "residues")
    bare, modular = (reference, answer) if _is_residue(answer) else (answer, reference)
    least = _least_residue(modular)
    return Comparison(least is not None and least == rational(bare), "the least residue")


def _least_residue(node: Node) -> Fraction | None:
    """The remainder in 2 (mod 5); None for 7 (mod 5), which is no remainder."""
    if not (isinstance(node, Call) and len(node.arguments) == 2):
        return None
    value, modulus = map(rational, node.arguments)
    return value if value is not None and modulus is not None and 0 <= value < modulus else None


def _limit(answer: Node, reference: Node, tolerance: float | None) -> Fraction | None:
    """The accepted difference; None: the values must be equal."""
    value = rational(reference)
    if value is None:
        return None
    if tolerance is not None:
        return abs(value) * Fraction(tolerance)
    places = reference.places if isinstance(reference, Number) else None
    if places is None or places < 2 or rational(answer) is not None:
        return None
    return Fraction(1, 2 * 10**places)


def all_equal(outcomes: list[Comparison]) -> Comparison:
    """The first part that differs, else the first that is undecided, else equal."""
    for verdict in (False, None):
        for outcome in outcomes:
            if outcome.equal is verdict:
                return outcome
    return Comparison(True, "part by part")
