"""What an answer states: the value in `x = 5`, both values of `1 ± √5`, an equation, f(x) = 2x."""

from __future__ import annotations

import re
import string
from fractions import Fraction
from itertools import chain, pairwise

from rewardkit.verifiers.math.comparison import matrices
from rewardkit.verifiers.math.comparison.sets import FLIPPED
from rewardkit.verifiers.math.comparison.values import in_one_order, in_radians, same_in_any_order
from rewardkit.verifiers.math.lexicon import CROSSES
from rewardkit.verifiers.math.numbers.equality import MathComparison, compare_size, same_value
from rewardkit.verifiers.math.numbers.exact import rational
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
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

TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc")

ROUNDING = Number(Fraction(1, 100))
"""The relative distance between an exact value and the rounded value after it."""

UNNAMED = Text("")
"""The name of the value that a chain without a name states, such as 2 + 3 = 5."""

MOST_SIGNS = 16
"""Items with ± that are expanded."""


DERIVATIVE = re.compile(r"d(?:\^([1-4]) )?([a-zA-Z]+)/d(.*)")


Named = tuple[Node, Node]
"""A name and its value."""


def definition(node: Node | None) -> tuple[Node, Node] | None:
    """The name and the value of `x = 5`, `5 = x`, `S = πr² = 25π`, `2 + 3 = 5` or `x + x = 2x`."""
    if not isinstance(node, Relation) or None in node.sides:
        return None
    sides = [side for side in node.sides if side is not None]
    formula = node.operators == ("≈",) and symbols(sides[-1])  # whose rounding doesn't matter
    group = node.operators == ("≅",) and "△" not in "".join(symbols(node))
    if not {*node.operators} <= {"=", "≡"} and not formula and not group:
        return None
    unknown = any(name.endswith("()") for side in sides for name in calls(side))
    if not unknown and not any(map(_free, sides)) and not any(map(names_value, sides)):
        plain = [isinstance(side, (Number, Quantity)) for side in (sides[0], sides[-1])]
        worked_out = not plain[0] or not plain[1]
        return (UNNAMED, sides[-1]) if worked_out and _all_same(sides) else None
    if len(sides) == 2 and not names_value(sides[0]) and isinstance(sides[1], Symbol):
        sides.reverse()
    name, *values = sides
    value = values[-1]
    worked_out = len(values) > 1 and not any(map(symbols, values))  # x + y = 30 + 42 = 72
    term = not symbols(value) and _is_term(name)
    named = term or names_value(name) or names_matrix(name, value)
    if _occurs(name, value) or not (named or worked_out):
        return (UNNAMED, value) if _is_identity(sides) else None
    if not symbols(value):
        values = [side for side in values if not symbols(side)]
    if not _all_same(values):
        return None
    return (Symbol("e") if name == Constant("e") else name), value


def _free(node: Node) -> frozenset[str]:
    """The variables but those over which a sum, an integral or a limit runs."""
    running = {"sum", "prod", "integral", "limit"}
    bound = (part for part in nodes(node) if isinstance(part, Call) and part.name in running)
    return symbols(node).difference(*(symbols(call.arguments[1]) for call in bound))


def _all_same(values: list[Node]) -> bool:
    return all(map(_may_be_same, values, values[1:]))


def _may_be_same(first: Node, second: Node) -> bool:
    match second, rational(first):
        case Call("residue", (Number(least), Number(modulus))), Fraction() as value if modulus:
            return (value - least) % modulus == 0
    return same_value(first, second).equal is not False


def _is_identity(sides: list[Node]) -> bool:
    """Whether all sides have one value and the last is another form: x + x = 2x."""
    letters = symbols(sides[-1])
    first, value = sides[0], sides[-1]
    if not letters or not letters <= symbols(first) or isinstance(first, Symbol):
        return False
    if len(sides) == 2 and not calls(first).isdisjoint(_WORKED_OUT_BY_SYMPY):
        return not _is_other_derivative(first, value)
    return all(same_value(side, value).equal is True for side in sides[:-1])


_WORKED_OUT_BY_SYMPY = ("derivative", "integral", "limit")
_SHIFT, _NEAR = Number(Fraction(1, 10**12)), Number(Fraction(1, 10**6))


def _is_other_derivative(node: Node, value: Node) -> bool:
    """Whether a quotient of small differences shows that the derivative has another value."""
    match node:
        case Call("derivative", (inner, Symbol() as variable)):
            above, below = (Sum((variable, shift)) for shift in (_SHIFT, negative(_SHIFT)))
            rise = difference(*(substituted(inner, {variable: end}) for end in (above, below)))
            slope = Product((rise, reciprocal(difference(_SHIFT, negative(_SHIFT)))))
            return compare_size(Call("abs", (_filled(difference(slope, value)),)), _NEAR) == 1
    return False


def plain_lengths(node: Node) -> Node:
    """The tree with the length of a vector as that of a number, or as a root of squares."""
    if {"norm", "abs"}.isdisjoint(calls(node)):
        return node
    match node:
        case Call("norm" | "abs", (vector,)) if cells := matrices.coordinates(vector):
            squares = tuple(Product((cell, cell)) for cell in cells)
            return Power(Sum(squares), Number(Fraction(1, 2)))
        case Call("norm", arguments):
            return Call("abs", arguments)
    return mapped(node, plain_lengths)


def names_value(node: Node) -> bool:
    """Whether it is a name: a variable, f(x), words, (x, y), x : y, points such as AB."""
    match node:
        case Symbol() | Text() | Constant("e"):  # e = 1/2 is an eccentricity
            return True
        case Call("det", (inner,)):  # of matrices alone: what solves det(A - xI) = 0 is x
            return bool(symbols(inner)) and all(map(str.isupper, symbols(inner)))
        case Call("abs", (inner,)):
            return _points(inner) or (isinstance(inner, Symbol) and inner.name.isupper())
        case Call("gcd" | "lcm" | "max" | "min") | Sequence(_, "(", ")") | Ratio() | Matrix():
            return all(map(names_value, children(node)))
        case Call(name, _):
            return name.endswith("()") and name not in CROSSES.values()
        case Product((Symbol(name), Sequence(_, "⦃"), *_)):  # a transform of what is in braces
            return name.isupper()
        case Product((Symbol("Delta" | "m"), Symbol(name))):
            return node.factors[0] == Symbol("Delta") or name.startswith("∠")
    return _points(node)


_WORKED_OUT = ("limit", "sum", "prod", "integral")
TERMS = frozenset(("norm", "dot()", "arg", "Re", "Im", *_WORKED_OUT, *TRIGONOMETRIC))
"""Functions whose value is a quantity, and no condition on their letters."""


def _is_term(node: Node, *, part: bool = False) -> bool:
    r"""Whether it is a quantity as a whole: sin A, |z|, AC + CB, V_1/V_2, but not x + y or |t|.

    `part`: the node is part of a sum. AB^2 alone is no term, because AB is what is looked for.
    """
    match node:
        case Symbol():
            return is_object(node)
        case Sequence(_, "⟨") | Call("max" | "min", (_,)) | Product((Number(), Call("cross()"))):
            return True
        case Call("max" | "min", (_, Relation())):  # over x in a set
            return True
        case Call("abs", (inner,)):
            return any(isinstance(leaf, Symbol) and is_object(leaf) for leaf in nodes(inner))
        case Call(name, arguments):
            term = name in TERMS and any(map(symbols, arguments))
            return term or (name.endswith("()") and name != "times()")
        case Product((Symbol(), Power(Symbol(), exponent))) if not part:
            return exponent == MINUS_ONE
        case Sum(parts):
            return all(_is_term(_without_sign(term), part=True) for term in parts)
        case Product(parts):
            return all(map(_is_term, parts))
        case Power(base, Number()):
            return _is_term(base)
    return False


def _without_sign(node: Node) -> Node:
    if isinstance(node, Product) and node.factors[0] == MINUS_ONE:
        return Product(node.factors[1:])
    return node


def is_object(symbol: Symbol) -> bool:
    """Whether it stands for a given thing: a point, a vector, z, an item such as x_1."""
    name = symbol.name
    given = name[0].isupper() or name in (*COMPLEX, "sigma", "chi")
    return given or any(sign in name for sign in ("_", "\\", "∠"))


def names_matrix(name: Node, value: Node) -> bool:
    """Whether it is a matrix's inverse, power or transpose, by a letter, before a matrix."""
    match name:
        case Power(Symbol(letter), Number() | Product()) | Call("transpose", (Symbol(letter),)):
            return letter.isupper() and any(isinstance(part, Matrix) for part in nodes(value))
        case Power(Constant("e"), _):  # e^{At}
            return isinstance(value, Matrix)
    return False


def _points(node: Node) -> bool:
    """Whether it names points, as AB or ABC does, or is a quotient of such names."""
    match node:
        case Product((first, Power(second, exponent))) if exponent == MINUS_ONE:
            return _points(first) and _points(second)
        case Product((_, _, *_) as factors):
            return all(isinstance(part, Symbol) and part.name.isupper() for part in factors)
    return False


def _occurs(name: Node, value: Node) -> bool:
    """Whether the value depends on what it is to define."""
    if named := calls(name):
        return not named.isdisjoint(calls(value))
    return not symbols(name).isdisjoint(symbols(value))


def calls(node: Node) -> set[str]:
    """The names of the functions in a tree."""
    return {part.name for part in nodes(node) if isinstance(part, Call)}


COMPLEX = ("z", "w")
"""Letters that are complex numbers by habit where i stands beside them."""


def without_units(node: Node, other: Node) -> Node:
    """`3 < d < 9` for `3 m < d < 9 m`, beside bounds without a unit or with a unit of its kind.

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


def definitions(node: Sequence) -> list[tuple[Node, Node]]:
    """The names and values of a list of definitions; empty where an item is none."""
    pairs = [definition(item) for item in node.items]
    return [] if None in pairs else [pair for pair in pairs if pair is not None]


def assigned(node: Node) -> Sequence | None:
    """The values of `x = 1, y = 2` in the order of the names; else None.

    Names that come again, as in `p=5, q=2; p=7, q=2`, give a list of such tuples.
    """
    if not isinstance(node, Sequence) or node.opening not in ("", "("):
        return None
    pairs = definitions(node)
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


def unlabelled(node: Node) -> Node:
    """The values of `w=16, d=3` in their order, of words or x_1, x_2 in any order; else the node.

    Letters that follow each other in the alphabet, such as x and y, are in alphabetical order.
    """
    pairs = definitions(node) if isinstance(node, Sequence) else []
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


def both_signs(node: Node) -> tuple[Node, ...]:
    """The tree with the upper and with the lower signs; the tree alone where it has no ±."""
    bound = isinstance(node, Relation) and not {*node.operators} <= {"=", "≠", "∈"}
    if bound or not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return (node,)
    return _signed(node, True), _signed(node, False)


def _signed(node: Node, upper: bool) -> Node:
    if isinstance(node, PlusMinus):
        inner = _signed(node.term, upper)
        return inner if node.upper == upper else negative(inner)
    return mapped(node, lambda below: _signed(below, upper))


def as_factors(answer: Node, reference: Node) -> tuple[Node, Node]:
    """Both trees with a letter before brackets as a factor if the letter also occurs alone."""
    if not any(name.endswith("()") for name in calls(answer) | calls(reference)):
        return answer, reference
    answer, reference = as_products(answer, reference)
    alone = symbols(answer) | symbols(reference)
    return multiplied(answer, alone), multiplied(reference, alone)


def as_products(answer: Node, reference: Node) -> tuple[Node, Node]:
    """Both trees with m × n as a product of numbers where one side alone has such a sign."""
    if ("times()" in calls(answer)) == ("times()" in calls(reference)):
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


_STEP = "proportional equations"


def same_relation(first: Relation, second: Relation) -> MathComparison:
    """Compare relations with one sign each by their left minus their right sides."""
    if len(first.operators) > 1 < len(second.operators):
        return same_in_any_order(links(first), links(second), same_relation, "links of the chain")
    mine, theirs = _normal(first), _normal(second)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return MathComparison(False, "different relations")
    left, right = mine[1], theirs[1]
    if not symbols(left) or not symbols(right):
        return MathComparison(
            in_one_order(left) == in_one_order(right), "relations without a variable"
        )
    for side in (left, right):
        identity = same_value(side, ZERO).equal
        if identity is not False:
            return MathComparison(None if identity is None else False, "an identity states nothing")
    cross = Product((left, _primed(right))), Product((right, _primed(left)))
    found = same_value(*cross)
    if found.equal and mine[0] not in "=≠":
        positive = compare_size(_filled(Product((left, right))), ZERO)
        return MathComparison(None if positive is None else positive > 0, _STEP)
    return MathComparison(found.equal, _STEP)


def as_one_equation(answer: Node, reference: Node) -> tuple[Node, Node]:
    """y² = 4x² for y = ±2x, or for its two cases, where a side isn't solved for a letter."""
    sides = answer, reference
    cases = [
        side.items
        if isinstance(side, Sequence) and not side.opening and side.joint == "or"
        else both_signs(side)
        for side in sides
    ]
    if max(map(len, cases)) < 2 or all(map(definition, chain.from_iterable(cases))):
        return sides
    gaps = [
        [
            normal[1]
            for equation in side
            if isinstance(equation, Relation) and len(symbols(equation)) > 1
            if (normal := _normal(equation)) and normal[0] == "="
        ]
        for side in cases
    ]
    if [*map(len, gaps)] != [*map(len, cases)]:
        return sides
    products = (Relation((Product(tuple(side)), ZERO), ("=",)) for side in gaps)
    return next(products), next(products)


_DEPENDENT = ("y", "r", "rho")
"""The variables for which a curve is solved by habit."""


def same_curve(answer: Node, reference: Relation) -> MathComparison | None:
    """Compare with both sides solved for y, r or ρ; None where they can't be."""
    for name in _DEPENDENT:
        mine, theirs = _solved(answer, name), _solved(reference, name)
        if mine is not None and theirs is not None and symbols(mine) <= symbols(reference):
            return MathComparison(same_value(mine, theirs).equal, f"the equation solved for {name}")
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
    """Whether its value is the same for all values of its variables."""
    return same_value(node, _primed(node)).equal is True


def links(node: Node) -> list[Relation]:
    """a < b and b < c in a < b < c, or as a list of them; empty for anything else."""
    match node:
        case Relation(sides, operators):
            pairs = zip(pairwise(sides), operators, strict=True)
            return [Relation(pair, (sign,)) for pair, sign in pairs]
        case Sequence(items, "", _, joint) if joint != "or":
            found = [links(item) for item in items]
            return [*chain.from_iterable(found)] if all(found) else []
    return []


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
        left, right = sorted((left, right), key=lambda side: repr(in_one_order(side)))
        left, right = _without_power(left, right)
    if operator in ">≥":
        operator, left, right = FLIPPED[operator], right, left
    return operator, difference(left, right)


def _without_power(left: Node, right: Node) -> tuple[Node, Node]:
    """x² + y² = 25 for √(x² + y²) = 5, |z| = 3 for |z|² = 9."""
    for side, value in ((left, right), (right, left)):
        match side:
            case Power(base, Number(exponent)) if (
                (
                    exponent == Fraction(1, 2)
                    or (exponent == 2 and isinstance(base, Call) and base.name == "abs")
                )
                and not symbols(value)
                and compare_size(value, ZERO) == 1
            ):
                return base, Power(value, Number(1 / exponent))
    return left, right


def _primed(node: Node) -> Node:
    """The same tree in other variables."""
    return with_symbols(node, lambda symbol: Symbol(f"{symbol.name} again"))


def _filled(node: Node) -> Node:
    """The tree at one point, far from where anything simple vanishes."""
    return with_symbols(
        node, lambda symbol: Number(Fraction(sum(map(ord, symbol.name)) * 7919 % 1009, 613))
    )
