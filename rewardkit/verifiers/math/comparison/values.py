"""Compare numbers, expressions and values with units, within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Literal, TypeVar

from rewardkit.verifiers.math.lexicon import RADIANS, UNITLESS, known_unit, unit_table
from rewardkit.verifiers.math.numbers.balls import take_steps
from rewardkit.verifiers.math.numbers.equality import (
    NO_VALUE,
    MathComparison,
    compare_size,
    same_value,
)
from rewardkit.verifiers.math.numbers.exact import rational, same_modulo, same_rational_function
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    Call,
    Constant,
    Node,
    Number,
    Numeral,
    Power,
    Product,
    Quantity,
    Ratio,
    Sum,
    Symbol,
    children,
    difference,
    mapped,
    multiplied,
    nodes,
    symbols,
)

Units = Literal["lenient", "strict", "ignored"]
Percent = Literal["unit", "exact"]
Rounding = Literal["exact", "reference"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The verifier's parameters for comparisons; see `Math`."""

    tolerance: float | None = None
    units: Units = "lenient"
    percent: Percent = "unit"
    rounding: Rounding = "exact"


Compare = Callable[[Node, Node, Policy], MathComparison]
"""Compares the parts of two answers, as `compare` does."""

LARGEST_FACTORIAL = 200_000
"""The largest number whose factorial is multiplied out modulo a prime."""

FACTORIAL_STEPS = 1_500
"""Steps that such a factorial takes."""

DIFFERENT = MathComparison(False, "different kinds of answer")


def same_expression(answer: Node, reference: Node, policy: Policy) -> MathComparison:
    """Compare two expressions by value, within the tolerance."""
    if _is_residue(answer) or _is_residue(reference):
        return _residues(answer, reference)
    found = same_value(answer, reference)
    if found.equal is False and policy.rounding == "reference" and rounds_to(answer, reference):
        return MathComparison(True, "rounding to the reference's digits")
    if found.equal is False and policy.tolerance != 0 and not symbols(answer):
        limit = _limit(answer, reference, policy.tolerance)
        if limit is not None:
            gap = Call("abs", (difference(answer, reference),))
            near = compare_size(gap, limit)
            return MathComparison(near is not None and near <= 0, "the tolerance")
    if found.equal is None and in_one_order(answer) == in_one_order(reference):
        return MathComparison(True, "the same reading up to order")
    if found.equal is None and not symbols(difference(answer, reference)):
        parts = [*nodes(answer), *nodes(reference)]
        factorials = sum(isinstance(part, Call) and part.name == "factorial" for part in parts)
        take_steps(factorials * FACTORIAL_STEPS)
        same = same_rational_function(answer, reference, LARGEST_FACTORIAL)
        if same is not None:
            return MathComparison(same, "residues of numbers that are too large to work out")
    if found.equal is None and not any(map(_open, (*nodes(answer), *nodes(reference)))):
        step = NO_VALUE if found.step == NO_VALUE else "numbers too large to compare"
        return MathComparison(False, step)
    return found


def _limit(answer: Node, reference: Node, tolerance: float | None) -> Node | None:
    """The accepted difference; None: the values must be equal."""
    if tolerance is not None:
        size = Call("abs", (reference,))
        return None if symbols(reference) else Product((size, Number(Fraction(tolerance))))
    places = reference.places if isinstance(reference, Number) else None
    if places is None or places < 2 or rational(answer) is not None:
        return None
    return Number(Fraction(1, 2 * 10**places))


def rounds_to(answer: Node, reference: Node) -> bool:
    """Whether the answer is the decimal reference after rounding, half up or half to even."""
    if not isinstance(reference, Number) or reference.places is None or symbols(answer):
        return False
    unit = Fraction(1, 10**reference.places)
    value = rational(answer)
    if value is None:
        gap = Call("abs", (difference(answer, reference),))
        return compare_size(gap, Number(unit / 2)) == -1
    steps, wanted = abs(value) / unit, abs(reference.value) / unit
    same_sign = value * reference.value >= 0
    return same_sign and wanted in (round(steps), math.floor(steps + Fraction(1, 2)))


def looks_rounded(node: Node) -> bool:
    """Whether a decimal of two places or more, but no amount of money, is no multiple of 1/8."""
    parts = [*nodes(node)]
    if any(isinstance(part, Quantity) and part.kind == _MONEY for part in parts):
        return False
    numbers = [part for part in parts if isinstance(part, Number)]
    return any((part.places or 0) > 1 and (8 * part.value).denominator > 1 for part in numbers)


def _open(node: Node) -> bool:
    """Whether sympy may know more of it than its value: a variable, or a function by name."""
    return isinstance(node, Symbol) or (isinstance(node, Call) and node.name.endswith("()"))


def in_one_order(node: Node) -> Node:
    """The tree with nested sums and products flattened, and their parts sorted."""
    node = mapped(node, in_one_order)
    match node:
        case Sum(parts) | Product(parts):
            inner = (children(part) if type(part) is type(node) else (part,) for part in parts)
            return type(node)(tuple(sorted(chain.from_iterable(inner), key=repr)))
        case Call("gcd" | "lcm" as name, arguments):
            return Call(name, tuple(sorted(arguments, key=repr)))
        case Call("binomial", (Number(over), Number(under))) if 2 * under > over:
            return Call("binomial", (Number(over), Number(over - under)))
    return node


def _is_residue(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "residue"


def _residues(answer: Node, reference: Node) -> MathComparison:
    """Compare polynomials over a field; a number equals the residue that it is the least of."""
    match answer, reference:
        case Call("residue", (first, modulus)), Call("residue", (second, modulus2)):
            same = rational(modulus) == rational(modulus2)
            return MathComparison(
                same and same_modulo(first, second, modulus), "polynomials over a field"
            )
    bare, modular = (reference, answer) if _is_residue(answer) else (answer, reference)
    value, size = map(rational, children(modular)[:2])
    least = value is not None and size is not None and 0 <= value < size
    return MathComparison(least and value == rational(bare), "the least residue")


def same_numeral(answer: Node, reference: Node, _: Policy) -> MathComparison:
    """Compare numerals of other bases by their values and bases; base ten states the value."""
    if isinstance(answer, Numeral) and isinstance(reference, Numeral):
        same = answer.base in (reference.base, 10)  # 42_{10} is the value of 52_8
        values = int(answer.digits, answer.base), int(reference.digits, reference.base)
        return MathComparison(same and values[0] == values[1], "digits and base")
    decimal = [
        Number(Fraction(side.digits)) if isinstance(side, Numeral) and side.base == 10 else side
        for side in (answer, reference)
    ]
    if all(isinstance(side, Number) for side in decimal):
        return MathComparison(rational(decimal[0]) == rational(decimal[1]), "exact numbers")
    if isinstance(answer, Number) and isinstance(reference, Numeral):
        same = answer.places is None and str(answer.value) == reference.digits
        return MathComparison(same, "the digits, whose base only the reference has")
    return MathComparison(False, "a base that only the answer has")


def same_ratio(answer: Node, reference: Node, policy: Policy) -> MathComparison:
    """Compare ratios up to a factor; a ratio of two numbers also equals their quotient."""
    if not (isinstance(answer, Ratio) and isinstance(reference, Ratio)):
        return same_expression(answer, reference, policy)
    mine, theirs = answer.terms, reference.terms
    if len(mine) != len(theirs):
        return DIFFERENT
    if any(rational(term) == 0 for term in (*mine, *theirs)):
        return MathComparison(mine == theirs, "a ratio with zero")
    return all_equal(
        [
            same_value(Product((first, theirs[0])), Product((second, mine[0])))
            for first, second in zip(mine, theirs, strict=True)
        ]
    )


_ANGLE, _MONEY, _SHARE = (("angle", 1),), (("dollar", 1),), (("share", 1),)
_GREEK_UNITS = {"mu": "μ", "Omega": "Ω"}
_PI = Constant("π")
_HALF_TURN = Product((_PI, Power(Number(Fraction(180)), MINUS_ONE)))


def same_quantity(
    answer: Node, reference: Node, policy: Policy, compare: Compare
) -> MathComparison:
    """Compare values with units: convert, drop or require the units, and `compare` the values."""
    mine, theirs = _measured(answer), _measured(reference)
    if {mine.kind, theirs.kind} == {_ANGLE, RADIANS[0]}:
        return compare(in_radians(mine), in_radians(theirs), policy)
    mine, theirs = (  # π/2 rad as π/2
        Quantity(side.value, *UNITLESS) if side.kind == RADIANS[0] else side
        for side in (mine, theirs)
    )
    mine, theirs = _in_named_unit(mine, theirs), _in_named_unit(theirs, mine)
    lettered = not (isinstance(answer, Quantity) and isinstance(reference, Quantity))
    if lettered and mine.kind and theirs.kind and mine.factor != theirs.factor:
        return MathComparison(False, "letters that may be variables")
    if mine.kind == theirs.kind and policy.units != "ignored":
        scale = mine.factor / theirs.factor
        return compare(_times(mine.value, Number(scale)), theirs.value, policy)
    if mine.kind and theirs.kind:
        same = policy.units == "ignored" and compare(mine.value, theirs.value, policy).equal
        return MathComparison(same, "the units")
    special = _angle_or_share(mine, theirs, policy, compare)
    if special is None and policy.units == "strict":
        return MathComparison(False, "a missing unit")
    return special or compare(mine.value, theirs.value, policy)


def _angle_or_share(
    mine: Quantity, theirs: Quantity, policy: Policy, compare: Compare
) -> MathComparison | None:
    """Compare where one side has a sign: 90° is also π/2; 50% is 1/2, and 50 if it is a unit.

    A whole number never equals a reference in percent by its value: 5 is not 500%, but 1.2 is 120%.
    A number below 1 equals a percent only by its value.
    """
    measured, bare = (mine, theirs) if mine.kind else (theirs, mine)
    given = measured is theirs
    if measured.kind == _ANGLE:
        radians = compare(in_radians(measured), bare.value, replace(policy, tolerance=0.0))
        meant = given or _PI not in nodes(bare)
        return None if meant and not radians.equal else radians
    if measured.kind != _SHARE:
        return None
    number = abs(rational(bare.value) or Fraction(0))
    scale = Number(Fraction(100) if given else Fraction(1, 100))
    as_value = compare(_times(mine.value, scale), theirs.value, policy)
    counted = given and number > 1 and number.denominator == 1
    if policy.percent == "exact" or (as_value.equal and not counted):
        return as_value
    if 0 < number < 1:
        return MathComparison(False, "percent")
    return compare(mine.value, theirs.value, policy)


def in_radians(node: Quantity) -> Node:
    """An angle in degrees by its value in radians; any other value as it is."""
    return node.value if node.kind != _ANGLE else _times(node.value, _HALF_TURN)


def _in_named_unit(node: Quantity, other: Quantity) -> Quantity:
    """24 square units in the other side's unit of area; 24 units in any but an area or a volume."""
    match node.kind:
        case (("unit", 1),):
            fits = len(other.kind) != 1 or other.kind[0][1] == 1
        case (("unit", power),):
            fits = other.kind == (("length", power),)
        case (("mass", 1),):  # £5 as 5 pounds
            fits = other.kind == unit_table()["£"][0] and node.factor == unit_table()["pound"][1]
        case _:  # 12% of the students as 12%
            things = {name for name, _ in {*node.kind} - {*other.kind}} - _dimensions()
            things = things if {*other.kind} < {*node.kind} else set()
            return Quantity(node.value, other.kind, node.factor) if other.kind and things else node
    return replace(other, value=node.value) if fits else node


@cache
def _dimensions() -> frozenset[str]:
    """What units measure; other names in the kind of a quantity are things that it counts."""
    return frozenset(name for kind, _ in unit_table().values() for name, _ in kind)


def _measured(node: Node) -> Quantity:
    """The node as a quantity; the letters of 5m/s or 5cm are read as units."""
    if isinstance(node, Quantity):
        return node
    factors = node.factors if isinstance(node, Product) else ()
    letters = [part.name for part in factors if isinstance(part, Symbol)]
    value = [part for part in factors if not isinstance(part, Symbol)]
    names = [_GREEK_UNITS.get(letter, letter) for letter in letters]
    unit = names and (known_unit("".join(names)) or known_unit(" ".join(names)))
    if value and unit and not any(map(symbols, value)):
        return Quantity(multiplied(value), *unit)
    return Quantity(node, *UNITLESS)


def _times(node: Node, factor: Node) -> Node:
    if factor == Number(Fraction(1)):
        return node
    return Product((node, factor))


def both(form: Callable[[Node, Node], Node], answer: Node, reference: Node) -> tuple[Node, Node]:
    """Each side in the form that it has beside the other."""
    return form(answer, reference), form(reference, answer)


def all_equal(comparisons: list[MathComparison]) -> MathComparison:
    """The first part that differs, else the first that is undecided, else equal."""
    for verdict in (False, None):
        for comparison in comparisons:
            if comparison.equal is verdict:
                return comparison
    return MathComparison(True, "part by part")


Item = TypeVar("Item")


def same_in_any_order(
    answer: Sequence[Item],
    reference: Sequence[Item],
    compare_items: Callable[[Item, Item], MathComparison],
    what: str,
) -> MathComparison:
    """Whether each item of the reference has a different equal item in the answer.

    `what` names the items in the step.
    """
    if len(answer) != len(reference):
        return MathComparison(False, f"the number of {what}")
    left = list(answer)
    undecided = False
    for item in reference:
        verdicts = [compare_items(mine, item).equal for mine in left]
        if True in verdicts:
            del left[verdicts.index(True)]
        elif None in verdicts:
            undecided = True
        else:
            return MathComparison(False, what)
    return MathComparison(None if undecided else True, what)
