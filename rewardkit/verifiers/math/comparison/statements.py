"""What an answer states: the value in `x = 5`, both values of `1 ± √5`, an equation, f(x) = 2x."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, pairwise, product

from rewardkit.verifiers.math.comparison import matrices
from rewardkit.verifiers.math.comparison.sets import FLIPPED, is_region
from rewardkit.verifiers.math.comparison.values import canonical, in_radians, same_in_any_order
from rewardkit.verifiers.math.lexicon import CROSSES
from rewardkit.verifiers.math.numbers.equality import Comparison, compare_size, same_value
from rewardkit.verifiers.math.tree import (
    ONE,
    ZERO,
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
    children,
    difference,
    mapped,
    negative,
    nodes,
    reciprocal,
    replaced,
    substituted,
    symbols,
    with_symbols,
)

ROUNDING = Number(Fraction(1, 100))
"""How far a rounded value may be from the exact one that it follows."""

UNNAMED = Text("")
"""The name of the value that a chain without a name states, such as 2 + 3 = 5."""

_ADDED_UP = frozenset("abcdkmnpqr")
MOST_SIGNS = 16
"""Items with ± that are expanded."""


_DERIVATIVE = re.compile(r"d(?:\^([1-4]) )?([a-zA-Z]+)/d(.*)")


def definition(node: Node | None) -> tuple[Node, Node] | None:
    """The name and the value of `x = 5`, `5 = x`, `S = πr² = 25π` or `2 + 3 = 5`; else None."""
    if not isinstance(node, Relation) or None in node.sides:
        return None
    sides = [side for side in node.sides if side is not None]
    formula = node.operators == ("≈",) and symbols(sides[-1])  # whose rounding doesn't matter
    if not {*node.operators} <= {"=", "≡"} and not formula:
        return None
    if not any(map(_free, sides)) and not any(map(names_value, sides)):
        worked_out = not isinstance(sides[0], (Number, Quantity))
        return (UNNAMED, sides[-1]) if worked_out and _all_same(sides) else None
    if len(sides) == 2 and not names_value(sides[0]) and isinstance(sides[1], Symbol):
        sides.reverse()
    name, *values = sides
    worked_out = len(values) > 1 and not any(map(symbols, values))  # x + y = 30 + 42 = 72
    named = names_value(name) or _names_matrix(name, values[-1])
    if not (named or worked_out) or _occurs(name, values[-1]):
        return None
    if not symbols(values[-1]):
        values = [value for value in values if not symbols(value)]
    return (name, values[-1]) if _all_same(values) else None


def _free(node: Node) -> frozenset[str]:
    """The variables but those over which a sum, an integral or a limit runs."""
    running = {"sum", "prod", "integral", "limit"}
    calls = (part for part in nodes(node) if isinstance(part, Call) and part.name in running)
    return symbols(node).difference(*(symbols(call.arguments[1]) for call in calls))


def _all_same(values: list[Node]) -> bool:
    return all(same_value(one, other).equal is not False for one, other in pairwise(values))


def names_value(node: Node) -> bool:
    """Whether it is a name: a variable, f(x), words, (x, y), x : y, points such as AB."""
    match node:
        case Symbol() | Text():
            return True
        case Call("abs", (inner,)):
            return _points(inner) or (isinstance(inner, Symbol) and inner.name.isupper())
        case (
            Call("det" | "gcd" | "lcm" | "max" | "min") | Sequence(_, "(", ")") | Ratio() | Matrix()
        ):
            return all(map(names_value, children(node)))
        case Call(name, _):
            return name.endswith("()") and name not in CROSSES.values()
        case Product((Symbol(name), Number())):  # T(10), but not y·7
            return name.isupper()
        case Product((Symbol("Delta" | "m"), Symbol(name))):
            return node.factors[0] == Symbol("Delta") or name.startswith("∠")
    return _points(node)


def _names_matrix(name: Node, value: Node) -> bool:
    """Whether it is a matrix's inverse, power or transpose, by a letter, before a matrix."""
    match name:
        case Power(Symbol(letter), Number() | Product()) | Call("transpose", (Symbol(letter),)):
            return letter.isupper() and any(isinstance(part, Matrix) for part in nodes(value))
    return False


def _points(node: Node) -> bool:
    """Whether it names points, as AB or ABC does, or is a quotient of such names."""
    match node:
        case Product((one, Power(other, Number(exponent)))) if exponent == -1:
            return _points(one) and _points(other)
    if not isinstance(node, Product) or len(node.factors) < 2:
        return False
    return all(isinstance(part, Symbol) and part.name.isupper() for part in node.factors)


def _occurs(name: Node, value: Node) -> bool:
    """Whether the value depends on what it is to define."""
    if calls := _calls(name):
        return not calls.isdisjoint(_calls(value))
    return not symbols(name).isdisjoint(symbols(value))


def _calls(node: Node) -> set[str]:
    return {part.name for part in nodes(node) if isinstance(part, Call)}


def stated(node: Node, other: Node) -> Node:
    """The answer with ± expanded and, in a list, names before values dropped."""
    points = isinstance(other, Sequence) and other.opening in ("", "⦃") and len(other.items) > 2
    node = _expanded(_before_rounding(node), apart=points)
    match node:
        case Relation((name, Sequence(_, "⦃") as members), ("∈",)) if name and names_value(name):
            return members
        case Sequence((Relation((Symbol() as name, _), ("≠",)) as first, *rest), ""):
            if not any(isinstance(value, Relation) for value in rest):
                others = (Relation((name, value), ("≠",)) for value in rest)
                return Sequence((first, *others), joint="and")
    if not isinstance(node, Sequence) or node.opening or len(node.items) < 2:
        return node
    defined = [definition(item) for item in node.items]
    names = {pair[0] for pair in defined if pair is not None}
    if len(names) != 1 or defined[0] is None:
        return node
    pairs = zip(node.items, defined, strict=True)
    values = tuple(item if pair is None else pair[1] for item, pair in pairs)
    listed = Sequence(values, joint="or" if node.joint == "," else node.joint)
    return node if any(isinstance(value, Relation) for value in values) else listed


def with_arguments(node: Node, other: Node) -> Node:
    """f(x) = 2x for f(t) = 2t, and c_n = 2n for c_m = 2m, in the variables of the other side.

    One side alone is renamed, the one whose variables come first.
    """
    theirs = {call.name: (call.arguments, name) for _, call, name, _ in _functions(other)}
    new: dict[Node, Node] = {}
    for item, call, own, value in _functions(node) if theirs else ():
        variables, name = theirs.get(call.name, (call.arguments, own))
        if len(variables) == len(call.arguments) and repr(call.arguments) < repr(variables):
            renamed = substituted(value, dict(zip(call.arguments, variables, strict=True)))
            new[item] = Relation((name, renamed), ("=",))
    return substituted(node, new) if new else node


def _functions(node: Node) -> Iterator[tuple[Node, Call, Node, Node]]:
    """Each definition of a function or, as c(n) for `c_n = 2n`, a sequence; its name and value."""
    for item in node.items if isinstance(node, Sequence) else (node,):
        name, value = definition(item) or (None, ZERO)
        stem, _, index = name.name.partition("_") if isinstance(name, Symbol) else ("", "", "")
        call = Call(stem, (Symbol(index),)) if index in symbols(value) else name
        if name and isinstance(call, Call) and all(isinstance(x, Symbol) for x in call.arguments):
            yield item, call, name, value


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


def assigned(node: Node) -> Sequence | None:
    """The values of `x = 1, y = 2` in the order of the names; else None.

    Names that come again, as in `p=5, q=2; p=7, q=2`, give a list of such tuples.
    """
    if not isinstance(node, Sequence) or node.opening not in ("", "("):
        return None
    pairs = _definitions(node)
    if len(pairs) < 2:
        return None
    groups: list[dict[str, Node]] = [{}]
    for name, value in pairs:
        if repr(name) in groups[-1]:
            groups.append({})
        groups[-1][repr(name)] = value
    either = node.joint == "or" and len(groups) == 1
    if either or len({frozenset(group) for group in groups}) > 1 or len(groups[0]) == 1:
        return None
    tuples = [Sequence(tuple(group[name] for name in sorted(group)), "(", ")") for group in groups]
    return tuples[0] if len(tuples) == 1 else Sequence(tuple(tuples))


def as_written(node: Node) -> Node:
    """The values of `w=16, d=3` in their order, of words or x_1, x_2 in any order; else the node.

    Letters that follow each other in the alphabet, such as x and y, have an order of their own.
    """
    pairs = _definitions(node) if isinstance(node, Sequence) else []
    names = sorted(name.name for name, _ in pairs if isinstance(name, Symbol))
    in_turn = all(len(name) == 1 for name in names) and "".join(names) in string.ascii_letters
    if len(pairs) < 2 or (names and in_turn):
        return node
    values = tuple(value for _, value in pairs)
    words = [name.words for name, _ in pairs if isinstance(name, Text)]
    parts = all(word.startswith("part ") for word in words)
    stems = {name.partition("_")[:2] for name in names}
    indexed = len(names) == len(pairs) and len(stems) == 1 and "_" in names[0]
    unordered = indexed or (len(words) == len(pairs) and not parts)
    return Sequence(values) if unordered else Sequence(values, "(", ")")


def each_equal(node: Node, other: Node) -> Node:
    """`x = 0, y = 0` for `x = y = 0`, beside a list, and `a < b, b < c` for `a < b < c`."""
    match node:
        case _ if not isinstance(other, Sequence):
            return node
        case Sequence(items, "", _, joint) if len(items) > 1:
            return Sequence(tuple(chain.from_iterable(map(_each, items))), joint=joint)
        case Relation(_, (_, _, *_) as operators) if {*operators} <= {*"<>≤≥"}:
            chained = other.joint != "or" and all(isinstance(i, Relation) for i in other.items)
            return Sequence(tuple(_links(node)), joint=other.joint) if chained else node
    values = _each(node)
    return Sequence(values) if len(values) > 1 else node


def _each(node: Node) -> tuple[Node, ...]:
    """x = 0 and y = 0 of `x = y = 0`; any other node alone."""
    if isinstance(node, Relation) and {*node.operators} == {"="}:
        *names, value = node.sides
        if value and not symbols(value) and all(isinstance(name, Symbol) for name in names):
            return tuple(Relation((name, value), ("=",)) for name in names)
    return (node,)


def primed(node: Node, other: Node) -> Node:
    """y'' in place of d^2y/dx^2, and u_x of du/dx, beside a side that has it."""
    names = {name for name in symbols(other) if name.endswith("'") or "_" in name}

    def prime(symbol: Symbol) -> Node:
        quotient = _DERIVATIVE.fullmatch(symbol.name)
        if quotient is None:
            return symbol
        times, function, variable = quotient.groups()
        spelled = names & {function + "'" * int(times or 1), f"{function}_{variable}"}
        return Symbol(spelled.pop()) if spelled else symbol

    return with_symbols(node, prime) if names else node


_COMPLEX = ("z", "w")
"""Letters that are complex numbers by habit where i stands beside them."""


def complex_letters(node: Node, other: Node) -> Node:
    """z + iy in place of z, beside a side that has a modulus and i, too: |z - 4i| = 3."""
    if not all(Constant("i") in nodes(side) and "abs" in _calls(side) for side in (node, other)):
        return node

    def parts(symbol: Symbol) -> Node:
        imaginary = Product((Constant("i"), Symbol(f"{symbol.name} imaginary")))
        return Sum((symbol, imaginary)) if symbol.name in _COMPLEX else symbol

    return with_symbols(node, parts)


def without_units(node: Node, other: Node) -> Node:
    """`3 < d < 9` for `3 m < d < 9 m`, beside bounds without a unit or with one of the kind.

    Degrees beside a side with π are radians.
    """
    mine, theirs = (
        {(part.kind, part.factor) for part in nodes(side) if isinstance(part, Quantity)}
        for side in (node, other)
    )
    if len({kind for kind, _ in mine | theirs}) != 1:
        return node
    ((kind, size), *_) = sorted(mine | theirs)
    angle = kind == (("angle", 1),) and Constant("π") in nodes(other)

    def bare(part: Node) -> Node | None:
        if not isinstance(part, Quantity):
            return None
        if angle:
            return in_radians(part)
        scale = Number(part.factor / size)
        return part.value if scale == ONE else Product((part.value, scale))

    return replaced(node, bare)


def _definitions(node: Sequence) -> list[tuple[Node, Node]]:
    """The names and values of a list of definitions; empty where an item is none."""
    pairs = [definition(item) for item in node.items]
    return [] if None in pairs else [pair for pair in pairs if pair is not None]


def _expanded(node: Node, *, apart: bool) -> Node:
    if not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return node
    if isinstance(node, Sequence) and node.opening in ("", "⦃", "["):
        items = [signed for item in node.items for signed in both_signs(item)]
        return Sequence(tuple(items[: 2 * MOST_SIGNS]), node.opening, node.closing, node.joint)
    both = _points_with_signs(node) if apart else both_signs(node)
    joint = "and" if isinstance(node, Relation) and "≠" in node.operators else "or"
    return Sequence(both, joint=joint) if len(both) > 1 else node


def both_signs(node: Node) -> tuple[Node, ...]:
    """The tree with the upper and with the lower signs; the tree alone where it has no ±."""
    bound = isinstance(node, Relation) and not {*node.operators} <= {"=", "≠", "∈"}
    if bound or not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return (node,)
    return _signed(node, True), _signed(node, False)


def _points_with_signs(node: Node) -> tuple[Node, ...]:
    """All four points of (±1, ±2), but two of (±1, ∓2)."""
    signs = [part.upper for part in nodes(node) if isinstance(part, PlusMinus)]
    if not isinstance(node, Sequence) or len(signs) >= MOST_SIGNS.bit_length() or not all(signs):
        return both_signs(node)
    points = product(*map(both_signs, node.items))
    return tuple(replace(node, items=point) for point in points)


def _signed(node: Node, upper: bool) -> Node:
    """The tree with the upper or with the lower signs."""
    if isinstance(node, PlusMinus):
        inner = _signed(node.term, upper)
        return inner if node.upper == upper else negative(inner)
    return mapped(node, lambda below: _signed(below, upper))


FACTORS_BY_HABIT = frozenset(("h", "P"))
"""Letters that mostly are factors where they stand before brackets."""


def calls_unknown(node: Node) -> bool:
    """Whether a function by a letter occurs."""
    return any(name.endswith("()") for name in _calls(node))


def as_factors(answer: Node, reference: Node) -> tuple[Node, Node]:
    """Both trees with a letter before brackets as a factor if the letter also occurs alone."""
    answer, reference = as_products(answer, reference)
    alone = symbols(answer) | symbols(reference)
    return multiplied(answer, alone), multiplied(reference, alone)


def as_products(answer: Node, reference: Node) -> tuple[Node, Node]:
    """Both trees with m × n as a product of numbers where one side alone has such a sign."""
    if ("times()" in _calls(answer)) == ("times()" in _calls(reference)):
        return answer, reference
    times = frozenset(("times",))
    return multiplied(answer, times), multiplied(reference, times)


def multiplied(node: Node, letters: frozenset[str]) -> Node:
    """The tree with these letters before brackets as factors."""
    match node:
        case Call("times()", factors) if "times" in letters:
            return Product(factors)
        case Call(name, (argument,)) if name.endswith("()") and name[:-2] in letters:
            return Product((Symbol(name[:-2]), multiplied(argument, letters)))
    return mapped(node, lambda below: multiplied(below, letters))


def unnamed(node: Node, other: Node) -> Node:
    """The value of `x = 5` beside a value or another name's; the member of a set of one.

    Two variables, two functions, two segments of different names keep them: they differ.
    """
    if isinstance(node, Sequence) and len(node.items) == 1 and node.opening == "⦃":
        plain = not isinstance(other, Sequence) and not is_region(other)
        return node.items[0] if plain else node
    pair = definition(node)
    if pair is None:
        return _of_letters(node) if not isinstance(other, Relation) else node
    theirs = definition(other)
    if theirs is None:
        return node if isinstance(other, Relation) and other.operators == ("=",) else pair[1]
    (name, value), other_name = pair, theirs[0]
    if len({_order(name), _order(other_name), None}) > 2:
        return node
    if name != other_name and (_names_matrix(*pair) or _names_matrix(*theirs)):
        return node
    if name == other_name or type(name) is not type(other_name) or UNNAMED in (name, other_name):
        return value
    match name, other_name:
        case Call(one, own), Call(two, others) if one == two and all(map(symbols, own + others)):
            return value  # f(x) and f(t), but not f(2) and f(3)
    return node


def _order(name: Node) -> int | None:
    """How often the function that a letter names is differentiated; None for other names."""
    if not isinstance(name, Symbol | Call):
        return None
    quotient = _DERIVATIVE.fullmatch(name.name)
    return int(quotient[1] or 1) if quotient else name.name.count("'")


def _of_letters(node: Node) -> Node:
    """17 in `m + n = 17`, whose letters are those that a problem asks to add up."""
    match node:
        case Relation((Sum(terms), (Number() as value)), ("=",)):
            names = {term.name for term in terms if isinstance(term, Symbol)}
            return value if len(names) == len(terms) and names <= _ADDED_UP else node
    return node


_STEP = "proportional equations"


def same_relation(one: Relation, other: Relation) -> Comparison:
    """Compare relations with one sign each by their left minus their right sides."""
    if len(one.operators) > 1 < len(other.operators):
        return same_in_any_order(_links(one), _links(other), same_relation, "links of the chain")
    mine, theirs = _normal(one), _normal(other)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return Comparison(False, "different relations")
    left, right = mine[1], theirs[1]
    if not symbols(left) or not symbols(right):
        return Comparison(canonical(left) == canonical(right), "relations without a variable")
    for side in (left, right):
        identity = same_value(side, ZERO).equal
        if identity is not False:
            return Comparison(None if identity is None else False, "an identity states nothing")
    cross = Product((left, _primed(right))), Product((right, _primed(left)))
    found = same_value(*cross)
    if found.equal and mine[0] not in "=≠":
        positive = compare_size(_filled(Product((left, right))), ZERO)
        return Comparison(None if positive is None else positive > 0, _STEP)
    return Comparison(found.equal, _STEP)


_DEPENDENT = ("y", "r", "rho")
"""The variables for which a curve is solved by habit."""


def same_curve(answer: Node, reference: Relation) -> Comparison | None:
    """Compare with both sides solved for y, r or ρ; None where they can't be."""
    for name in _DEPENDENT:
        mine, theirs = _solved(answer, name), _solved(reference, name)
        if mine is not None and theirs is not None and symbols(mine) <= symbols(reference):
            return Comparison(same_value(mine, theirs).equal, f"the equation solved for {name}")
    return None


def _solved(node: Node, name: str) -> Node | None:
    """The variable's value where the equation is linear in it and no point leaves it free."""
    if not isinstance(node, Relation):
        return node if symbols(node) and name not in symbols(node) else None
    left, right = node.sides[0], node.sides[-1]
    if node.operators != ("=",) or left is None or right is None or name not in symbols(node):
        return None
    found = matrices.line(difference(left, right), name)
    if found is None or same_value(found[1], ZERO).equal:
        return None
    constant, slope = found
    if not _fixed(slope) and (not _fixed(constant) or same_value(constant, ZERO).equal):
        return None
    return Product((negative(constant), reciprocal(slope)))


def _fixed(node: Node) -> bool:
    """Whether it has one value for all values of its variables."""
    return same_value(node, _primed(node)).equal is True


def _links(relation: Relation) -> list[Relation]:
    """a < b and b < c in a < b < c."""
    pairs = zip(pairwise(relation.sides), relation.operators, strict=True)
    return [Relation(sides, (operator,)) for sides, operator in pairs]


def _normal(relation: Relation) -> tuple[str, Node] | None:
    """The sign, turned to = ≠ < ≤, and left minus right; y ∝ and x² of y ∝ x²."""
    if len(relation.operators) != 1 or relation.operators[0] not in "=≠<>≤≥∝":
        return None
    left, right = relation.sides
    operator = relation.operators[0]
    if left is None or right is None:
        return None
    if operator == "∝":
        return f"{left} ∝", right
    if operator in "=≠":
        left, right = sorted((left, right), key=lambda side: repr(canonical(side)))
    if operator in ">≥":
        operator, left, right = FLIPPED[operator], right, left
    return operator, difference(left, right)


def _primed(node: Node) -> Node:
    """The same tree in other variables."""
    return with_symbols(node, lambda symbol: Symbol(f"{symbol.name} again"))


def _filled(node: Node) -> Node:
    """The tree at one point, far from where anything simple vanishes."""
    return with_symbols(
        node, lambda symbol: Number(Fraction(sum(map(ord, symbol.name)) * 7919 % 1009, 613))
    )
