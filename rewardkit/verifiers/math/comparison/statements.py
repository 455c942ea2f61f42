"""What an answer states: the value in `x = 5`, both values of `1 ± √5`, the list in `n = 1, 2`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rewardkit.verifiers.math.numbers.equality import compare_size, same_value
from rewardkit.verifiers.math.tree import (
    Call,
    Node,
    Number,
    NumberSet,
    PlusMinus,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Symbol,
    Text,
    difference,
    mapped,
    negative,
    nodes,
    symbols,
)


def for_every_integer(node: Node) -> Node:
    """nπ in `nπ, n ∈ ℤ`."""
    match node:
        case Sequence((value, Relation((Symbol() as name, NumberSet("Z" | "N" | "Z+")), ("∈",)))):
            if name.name in symbols(value) and not node.opening:
                return value
    return node


def with_integer_of(reference: Node, answer: Node) -> Node:
    """kπ, k ∈ ℤ in the letter that the reference has for the integer."""
    match answer:
        case Sequence((value, Relation((Symbol() as name, NumberSet("Z")), ("∈",)))):
            theirs = symbols(for_every_integer(reference)) - symbols(value)
            if len(theirs) == 1 and name.name not in symbols(reference):
                return _renamed(value, name, Symbol(*theirs))
    return answer


def _renamed(node: Node, name: Symbol, other: Symbol) -> Node:
    return other if node == name else mapped(node, lambda below: _renamed(below, name, other))


ROUNDING = Number(Fraction(1, 100))
"""How far a rounded value may be from the exact one that it follows."""

UNNAMED = Text("")
"""The name of the value that a chain without a name states, such as 2 + 3 = 5."""

MOST_SIGNS = 16
"""Items with ± that are expanded."""


def definition(node: Node | None) -> tuple[Node, Node] | None:
    """The name and the value of `x = 5`, `5 = x`, `S = πr² = 25π` or `2 + 3 = 5`; else None."""
    if not isinstance(node, Relation) or None in node.sides:
        return None
    sides = [side for side in node.sides if side is not None]
    if not {*node.operators} <= {"=", "≡"} and not _approximates(node, sides):
        return None
    if not any(map(symbols, sides)) and not any(map(names_value, sides)):
        worked_out = not isinstance(sides[0], (Number, Quantity))
        return (UNNAMED, sides[-1]) if worked_out and _all_same(sides) else None
    if len(sides) == 2 and not names_value(sides[0]) and isinstance(sides[1], Symbol):
        sides.reverse()
    name, *values = sides
    if not names_value(name) or _occurs(name, values[-1]):
        return None
    if not symbols(values[-1]):
        values = [value for value in values if not symbols(value)]
    return (name, values[-1]) if _all_same(values) else None


def _approximates(node: Relation, sides: list[Node]) -> bool:
    """Whether it is `Δp ≈ -ħω/c`: a formula, whose rounding doesn't matter."""
    return node.operators == ("≈",) and bool(symbols(sides[-1]))


def _all_same(values: list[Node]) -> bool:
    return all(same_value(one, other).equal is True for one, other in pairwise(values))


def names_value(node: Node) -> bool:
    """Whether it is a name: a variable, f(x), words, (x, y), x : y, points such as AB."""
    match node:
        case Symbol() | Text():
            return True
        case Call("abs", (inner,)):
            return _points(inner) or (isinstance(inner, Symbol) and inner.name.isupper())
        case Call("det" | "gcd" | "lcm" | "max" | "min", arguments):
            return all(isinstance(argument, Symbol) for argument in arguments)
        case Call(name, _):
            return name.endswith("()")
        case Product((Symbol("Delta" | "m"), Symbol(name))):
            return node.factors[0] == Symbol("Delta") or name.startswith("∠")
        case Sequence(items, "(", ")", _) | Ratio(items):
            return all(isinstance(item, Symbol) for item in items)
    return _points(node)


def _points(node: Node) -> bool:
    """Whether it names points, as AB or ABC does."""
    if not isinstance(node, Product) or len(node.factors) < 2:
        return False
    return all(isinstance(part, Symbol) and part.name.isupper() for part in node.factors)


def _occurs(name: Node, value: Node) -> bool:
    """Whether the value depends on what it is to define."""
    if isinstance(name, Call):
        return any(isinstance(node, Call) and node.name == name.name for node in nodes(value))
    return not symbols(name).isdisjoint(symbols(value))


def stated(node: Node) -> Node:
    """The answer with ± expanded and, in a list, names before values dropped."""
    node = _expanded(_before_rounding(for_every_integer(node)))
    match node:
        case Relation((Symbol(), Sequence(_, "⦃", _, _) as members), ("∈",)):
            return members
    if not isinstance(node, Sequence) or node.opening or len(node.items) < 2:
        return node
    defined = [definition(item) for item in node.items]
    names = {pair[0] for pair in defined if pair is not None}
    if len(names) != 1 or defined[0] is None:
        return node
    values = [
        pair[1] if pair is not None else item
        for item, pair in zip(node.items, defined, strict=True)
    ]
    if any(isinstance(value, Relation) for value in values):
        return node
    return Sequence(tuple(values), joint=node.joint)


def _before_rounding(node: Node) -> Node:
    """The exact value in `√2 ≈ 1.41` or `x = √2 ≈ 1.41`, where the rounded one is near it."""
    match node:
        case Relation((*sides, rounded), (*operators, "≈")) if rounded is not None:
            exact = sides[-1]
            if exact is None or symbols(exact) or symbols(rounded):
                return node
            gap = Call("abs", (difference(exact, rounded),))
            if compare_size(gap, Product((ROUNDING, Call("abs", (exact,))))) in (-1, 0):
                return Relation(tuple(sides), tuple(operators)) if operators else exact
    return node


def approximated(node: Node, other: Node) -> Node:
    """3.46 in `≈ 3.46` or `x ≈ 3.46`: a decimal, beside anything but a whole number."""
    match node:
        case Relation((None | Symbol(), (Number() | Quantity()) as value), ("≈",)):
            number = value.value if isinstance(value, Quantity) else value
            whole = isinstance(other, Number) and not other.places
            return value if isinstance(number, Number) and number.places and not whole else node
    return node


def indexed_values(node: Node) -> Node:
    """The values of `x_1 = 2, x_2 = 7`; anything else as it is."""
    if not isinstance(node, Sequence) or node.opening:
        return node
    pairs = [pair for item in node.items if (pair := definition(item)) is not None]
    letters = {
        name.name.partition("_")[0] if isinstance(name, Symbol) and "_" in name.name else None
        for name, _ in pairs
    }
    if len(pairs) < len(node.items) or len(letters) != 1 or None in letters:
        return node
    return Sequence(tuple(value for _, value in pairs), joint=node.joint)


def assigned(node: Node) -> Sequence | None:
    """The values of `x = 1, y = 2` in the order of the names; else None.

    Names that come again, as in `p=5, q=2; p=7, q=2`, give a list of such tuples.
    """
    if not isinstance(node, Sequence) or node.opening not in ("", "("):
        return None
    pairs = [pair for item in node.items if (pair := definition(item)) is not None]
    if len(pairs) < len(node.items) or len(pairs) < 2:
        return None
    groups: list[dict[str, Node]] = [{}]
    for name, value in pairs:
        if repr(name) in groups[-1]:
            groups.append({})
        groups[-1][repr(name)] = value
    if len({frozenset(group) for group in groups}) > 1 or len(groups[0]) == 1:
        return None
    tuples = [Sequence(tuple(group[name] for name in sorted(group)), "(", ")") for group in groups]
    return tuples[0] if len(tuples) == 1 else Sequence(tuple(tuples))


def _expanded(node: Node) -> Node:
    if not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return node
    if isinstance(node, Sequence) and node.opening in ("", "⦃", "["):
        items: list[Node] = []
        for item in node.items:
            items.extend(_both(item))
        return Sequence(tuple(items[: 2 * MOST_SIGNS]), node.opening, node.closing, node.joint)
    both = _both(node)
    return Sequence(both, joint="or") if len(both) == 2 else node


def _both(node: Node) -> tuple[Node, ...]:
    bound = isinstance(node, Relation) and not {*node.operators} <= {"=", "∈"}
    if bound or not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return (node,)
    return _signed(node, True), _signed(node, False)


def _signed(node: Node, upper: bool) -> Node:
    """The tree with the upper or with the lower signs."""
    if isinstance(node, PlusMinus):
        inner = _signed(node.term, upper)
        return inner if node.upper == upper else negative(inner)
    return mapped(node, lambda below: _signed(below, upper))
