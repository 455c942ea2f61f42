"""Compare values with units: convert, drop or require the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from rewardkit.verifiers.math.comparison.values import Policy, same_percent
from rewardkit.verifiers.math.lexicon import RADIANS, UNITLESS, Unit, power, product, unit_table
from rewardkit.verifiers.math.numbers.equality import Comparison
from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Symbol,
    nodes,
    symbols,
)

Compare = Callable[[Node, Node, Policy], Comparison]
_ANGLE = (("angle", 1),)
_GREEK_UNITS = {"mu": "μ", "Omega": "Ω"}
_PI = Constant("π")
_HALF_TURN = Product((_PI, Power(Number(Fraction(180)), MINUS_ONE)))


def same_quantity(answer: Node, reference: Node, policy: Policy, compare: Compare) -> Comparison:
    """Compare values with units, the values by `compare`."""
    mine, theirs = _measured(_with_letters(answer)), _measured(_with_letters(reference))
    if {mine.kind, theirs.kind} == {_ANGLE, RADIANS[0]}:
        return compare(_in_radians(mine), _in_radians(theirs), policy)
    mine, theirs = _without_radians(mine), _without_radians(theirs)
    lettered = not (isinstance(answer, Quantity) and isinstance(reference, Quantity))
    if lettered and mine.kind and theirs.kind and mine.factor != theirs.factor:
        return Comparison(False, "letters that may be variables")
    if mine.kind == theirs.kind and policy.units != "ignored":
        scale = mine.factor / theirs.factor
        return compare(_times(mine.value, Number(scale)), theirs.value, policy)
    if mine.kind and theirs.kind:
        same = policy.units == "ignored" and compare(mine.value, theirs.value, policy).equal
        return Comparison(same, "the units")
    measured, bare = (mine, theirs) if mine.kind else (theirs, mine)
    special = _angle_or_share(measured, bare, measured is theirs, policy, compare)
    if special is not None:
        return special
    if policy.units == "strict":
        return Comparison(False, "a missing unit")
    return compare(mine.value, theirs.value, policy)


def _angle_or_share(
    measured: Quantity, bare: Quantity, of_reference: bool, policy: Policy, compare: Compare
) -> Comparison | None:
    """90° is also π/2; 50% is 1/2, and 50 where the sign is a unit."""
    exact = replace(policy, tolerance=0.0)
    match measured.kind:
        case (("angle", 1),):
            radians = compare(_times(measured.value, _HALF_TURN), bare.value, exact)
            meant = of_reference or _PI not in nodes(bare)
            return None if meant and not radians.equal else radians
        case (("share", 1),):
            return _share(measured, bare, of_reference, policy, compare)
    return None


def _share(
    measured: Quantity, bare: Quantity, of_reference: bool, policy: Policy, compare: Compare
) -> Comparison:
    share = _times(measured.value, Number(Fraction(1, 100)))
    value, number = rational(share), rational(bare.value)
    if value is not None and number is not None and not policy.tolerance:
        return Comparison(same_percent(value, number, of_reference, policy.percent), "percent")
    as_value = compare(*((bare.value, share) if of_reference else (share, bare.value)), policy)
    if as_value.equal or policy.percent == "exact":
        return as_value
    sides = (bare.value, measured.value)
    return compare(*(sides if of_reference else sides[::-1]), policy)


def _in_radians(node: Quantity) -> Node:
    return node.value if node.kind != _ANGLE else _times(node.value, _HALF_TURN)


def _without_radians(node: Quantity) -> Quantity:
    """π/2 rad as π/2."""
    return Quantity(node.value, *UNITLESS) if node.kind == RADIANS[0] else node


def _measured(node: Node) -> Quantity:
    return node if isinstance(node, Quantity) else Quantity(node, (), Fraction(1))


def _with_letters(node: Node) -> Node:
    """5m/s or 5cm as a quantity, beside one: its letters are units."""
    if not (isinstance(node, Product) and len(node.factors) > 1):
        return node
    value: list[Node] = []
    letters: list[tuple[str, int]] = []
    for factor in node.factors:
        base, exponent = (factor, 1)
        if isinstance(factor, Power) and isinstance(factor.exponent, Number):
            base, exponent = factor.base, int(factor.exponent.value)
        if isinstance(base, Symbol) and 0 < abs(exponent) <= 4:
            letters.append((base.name, exponent))
        else:
            value.append(factor)
    measured = _spelled_unit(letters)
    if not value or any(map(symbols, value)) or measured is None:
        return node
    return Quantity(value[0] if len(value) == 1 else Product(tuple(value)), *measured)


def _spelled_unit(letters: list[tuple[str, int]]) -> Unit | None:
    """The unit that letters spell, together as in cm or one by one; None where they do not."""
    letters = [(_GREEK_UNITS.get(name, name), exponent) for name, exponent in letters]
    whole = "".join(name for name, _ in letters)
    if len(letters) > 1 and whole in unit_table() and all(power == 1 for _, power in letters[:-1]):
        return power(unit_table()[whole], letters[-1][1])
    measured = UNITLESS
    for name, exponent in letters:
        if name not in unit_table():
            return None
        measured = product(measured, power(unit_table()[name], exponent))
    return measured if measured != UNITLESS else None


def _times(node: Node, factor: Node) -> Node:
    if factor == Number(Fraction(1)):
        return node
    if isinstance(node, Number) and isinstance(factor, Number):
        return Number(node.value * factor.value)
    return Product((node, factor))
