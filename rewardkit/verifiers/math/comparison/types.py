"""What a reference is, and what an answer says when it is read as that.

The form of a reference gives its type: a number, a function of its letters, a list, named values.
An answer is read as that type: its letters are the reference's, the value of `x = 5` is 5 where a
number is wanted, i + 2j is a tuple where a tuple is wanted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import chain

from rewardkit.verifiers.math.comparison import matrices
from rewardkit.verifiers.math.comparison.families import is_family, written_out
from rewardkit.verifiers.math.comparison.sets import is_formula, is_piecewise, is_region
from rewardkit.verifiers.math.comparison.statements import (
    COMPLEX,
    DERIVATIVE,
    MOST_SIGNS,
    ROUNDING,
    TERMS,
    UNNAMED,
    Named,
    assigned,
    both_signs,
    calls,
    definition,
    names_value,
    plain_lengths,
)
from rewardkit.verifiers.math.comparison.values import both, in_one_order
from rewardkit.verifiers.math.lexicon import CROSSES
from rewardkit.verifiers.math.numbers.equality import compare_size
from rewardkit.verifiers.math.tree import (
    ZERO,
    Call,
    Clock,
    Constant,
    Matrix,
    Node,
    Number,
    Numeral,
    PlusMinus,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
    difference,
    nodes,
    substituted,
    symbols,
    with_symbols,
)


class Kind(StrEnum):
    """The types of references."""

    NUMBER = "a number"
    FUNCTION = "a function"
    QUANTITY = "a value with a unit"
    LIST = "a list in any order"
    TUPLE = "a tuple in this order"
    SET = "a set of numbers"
    MATRIX = "a matrix"
    RELATION = "an equation or inequality"
    FAMILY = "a family of values in parameters"
    LOGIC = "a formula of logic or of sets"
    PIECES = "a function in pieces"
    NAMED = "named values"
    NUMERAL = "digits in a base"
    RATIO = "a ratio"
    TIME = "a time of day"
    TEXT = "words"


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a reference, the reference as it is compared, and the name of a single value."""

    kind: Kind
    node: Node
    name: Node | None = None

    def __str__(self) -> str:
        node, of_named = self.node, " with a name" if self.name not in (None, UNNAMED) else ""
        match self.kind:
            case Kind.FUNCTION:
                return f"a function of {', '.join(sorted(symbols(node)))}{of_named}"
            case Kind.LIST | Kind.TUPLE | Kind.NAMED if isinstance(node, Sequence):
                named = "named " if self.kind == Kind.NAMED else ""
                noun, _, order = self.kind.removeprefix("named values").partition(" in ")
                in_order = f" in {order}" if order else ""
                return f"{noun or 'a list'} of {len(node.items)} {named}values{in_order}"
        return f"{self.kind}{of_named}"


_KINDS: dict[type[Node], Kind] = {
    Clock: Kind.TIME,
    Text: Kind.TEXT,
    Relation: Kind.RELATION,
    Quantity: Kind.QUANTITY,
    Matrix: Kind.MATRIX,
    Numeral: Kind.NUMERAL,
    Ratio: Kind.RATIO,
}


def read_type(reference: Node) -> Type:
    """The type of a reference."""
    if is_formula(reference):
        return Type(Kind.LOGIC, reference)
    if is_family(reference):
        return Type(Kind.FAMILY, reference)
    node = written_out(written_form(reference))
    if (pair := definition(node)) is not None:
        return Type(kind_of(pair[1]), pair[1], pair[0])
    return Type(kind_of(node), node)


def kind_of(node: Node) -> Kind:
    """The type of a side without a name."""
    if is_region(node):
        return Kind.SET
    if is_piecewise(node):
        return Kind.PIECES
    if isinstance(node, Sequence):
        if assigned(node) is not None:
            return Kind.NAMED
        return Kind.TUPLE if node.opening in ("(", "[", "⟨") else Kind.LIST
    if type(node) in _KINDS:
        return _KINDS[type(node)]
    if matrices.has_matrix(node):
        return Kind.MATRIX
    return Kind.FUNCTION if symbols(node) else Kind.NUMBER


# The form of one side


def written_form(node: Node) -> Node:
    """Write ± out, drop a rounded value after the exact one, and make a list of `x = 1, x = 2`."""
    node = _expanded(_before_rounding(node))
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


def _before_rounding(node: Node) -> Node:
    """The exact value in `√2 ≈ 1.41` or `x = √2 ≈ 1.41`, if the rounded value is near it."""
    match node:
        case Relation((*sides, rounded), (*operators, "≈")) if rounded is not None:
            exact = sides[-1]
            if exact is None or symbols(exact) or symbols(rounded):
                return node
            gap = Call("abs", (difference(exact, rounded),))
            if compare_size(gap, Product((ROUNDING, Call("abs", (exact,))))) in (-1, 0):
                return Relation(tuple(sides), tuple(operators)) if operators else exact
    return node


def _expanded(node: Node) -> Node:
    if not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return node
    match node:
        case Sequence((Relation((shape, Node() as condition), ("|",)),), "⦃"):
            return replace(node, items=(Relation((shape, _expanded(condition)), ("|",)),))
    if isinstance(node, Sequence) and node.opening in ("", "⦃", "["):
        items = [signed for item in node.items for signed in both_signs(item)]
        return Sequence(tuple(items[: 2 * MOST_SIGNS]), node.opening, node.closing, node.joint)
    signed = both_signs(node)
    joint = "and" if isinstance(node, Relation) and "≠" in node.operators else "or"
    return Sequence(signed, joint=joint) if len(signed) > 1 else node


# An answer as a type


def read_as(answer: Node, reference: Node) -> tuple[Node, Node]:
    """The answer read as the reference's type, and what it is compared with."""
    answer, reference = written_out(answer), written_out(reference)
    answer, reference = written_form(answer), written_form(reference)
    for form in (_counted, _each_named, _primed, _complex, _approximated):
        answer, reference = both(form, answer, reference)
    answer, reference = map(plain_lengths, _values(answer, reference))
    answer, reference = _range(answer, reference), _range(reference, answer, given=True)
    answer, reference = both(matrices.as_tuple, answer, reference)
    return both(matrices.as_tuple, answer, reference)


def _range(node: Node, other: Node, *, given: bool = False) -> Node:
    """[0, 1] of f(x) ∈ [0, 1] or 0 ≤ f(x) ≤ 1, beside a set that is written without a letter."""
    terms = _lettered(node)
    if not isinstance(node, Relation) or len(terms) != 1 or not _has_range(terms[0]):
        return node
    if isinstance(other, Relation):
        if [*map(in_one_order, _lettered(other))] != [in_one_order(terms[0])]:
            return node
    elif (
        given and isinstance(terms[0], Call) and terms[0].name == "abs" and node.operators != ("∈",)
    ):
        return node  # a disc
    whole = Symbol("the term")
    return replace(node, sides=tuple(whole if side is terms[0] else side for side in node.sides))


def _lettered(node: Node) -> list[Node]:
    """The sides with letters of a relation that bounds them."""
    sides = node.sides if isinstance(node, Relation) and is_region(node) else ()
    return [side for side in sides if side is not None and symbols(side)]


def _has_range(node: Node) -> bool:
    """Whether it is a term of several letters or a function, for whose letter nothing is solved."""
    match node:
        case Call("abs", (Symbol(name),)):
            return name in COMPLEX
        case Call(name, _) if name in TERMS or name.endswith("()"):
            return True
    return len(symbols(node)) > 1


def _each_named(node: Node, other: Node) -> Node:
    """x = 1, y = 2 for (x, y) = (1, 2), beside named values; x = 0, y = 0 for x = y = 0."""
    match node:
        case Relation((Sequence(names, "("), Sequence(values, "(")), ("=",)):
            if len(names) == len(values) and (assigned(other) or len(_each(other)) > 1):
                pairs = zip(names, values, strict=True)
                return Sequence(tuple(Relation(pair, ("=",)) for pair in pairs))
        case Relation() if isinstance(other, Sequence | Relation):
            each = _each(node)
            return Sequence(each) if len(each) > 1 else node
        case Sequence(items, "") if isinstance(other, Sequence) and len(items) > 1:
            return Sequence(tuple(chain.from_iterable(map(_each, items))), joint=node.joint)
    return node


def _counted(node: Node, other: Node) -> Node:
    """P(9, 4), beside anything but a point, as the number of arrangements of 4 of 9 things."""
    match node:
        case Call("P()", (Number(things), Number(places))) if not isinstance(other, Sequence):
            counts = (things, places, things - places, 1000 - things)
            if all(count >= 0 and count.denominator == 1 for count in counts):
                return Number(Fraction(math.perm(int(things), int(places))))
    return node


def _each(node: Node) -> tuple[Node, ...]:
    """x = 0 and y = 0 of `x = y = 0`; any other node alone."""
    if isinstance(node, Relation) and {*node.operators} == {"="}:
        *names, value = node.sides
        if value and not symbols(value) and all(isinstance(name, Symbol) for name in names):
            return tuple(Relation((name, value), ("=",)) for name in names)
    return (node,)


def _values(answer: Node, reference: Node) -> tuple[Node, Node]:
    """The values of both sides, if only one side has a name, or both have the same name.

    Different names stay, so that relations are compared: P(A) = 1/3 isn't P(B) = 1/3.
    """
    answer, reference = both(_member, answer, reference)
    mine, theirs = definition(answer), definition(reference)
    if mine and theirs:
        mine = _in_order_of(theirs, mine)
        return (mine[1], theirs[1]) if _same_name(mine, theirs) else (answer, reference)
    if mine is None and theirs is None:
        return both(_of_letters, answer, reference)
    other = reference if theirs is None else answer
    if isinstance(other, Relation) and other.operators == ("=",):
        return answer, reference
    return mine[1] if mine else answer, theirs[1] if theirs else reference


def _member(node: Node, other: Node) -> Node:
    match node:
        case Sequence((member,), "⦃") if isinstance(other, Sequence):
            return member if isinstance(member, Sequence) and other.opening == "(" else node
        case Sequence((member,), "⦃") if not is_region(other):
            return member
    return node


def _in_order_of(reference: Named, answer: Named) -> Named:
    """(a, b) = (2, 3) for (b, a) = (3, 2), where the reference is (a, b) = …"""
    match reference[0], answer:
        case Sequence(names, "("), (
            Sequence(order, "("),
            Sequence(values, "(") as point,
        ):
            if {*names} == {*order} and len(names) == len({*order}) == len(values):
                value = dict(zip(order, values, strict=True))
                items = tuple(value[name] for name in names)
                return reference[0], replace(point, items=items)
    return answer


_ADDED_UP = frozenset("abcdkmnpqr")


def _of_letters(node: Node, other: Node) -> Node:
    """17 in `m + n = 17`, whose letters are those that a problem asks to add up."""
    match node:
        case Relation((Sum(terms), (Number() as value)), ("=",)) if not isinstance(other, Relation):
            names = {term.name for term in terms if isinstance(term, Symbol)}
            return value if len(names) == len(terms) and names <= _ADDED_UP else node
    return node


def _same_name(mine: Named, theirs: Named) -> bool:
    """Whether two names may stand for one thing: equal terms, words beside a letter, y and f(x)."""
    (first, _), (second, _) = mine, theirs
    if len({_order(first), _order(second), None}) > 2:
        return False
    if UNNAMED in (first, second) or in_one_order(first) == in_one_order(second):
        return True
    points = _points_of(first), _points_of(second)
    if all(points) and points[0] != points[1]:  # the areas S_{ABC} and [ABD]
        return False
    match first, second:
        case (Text(words), Call(name, _)) | (Call(name, _), Text(words)) if "(" in words:
            return words[:1] == name[:1].lower()  # Pr(A) and P(A), but not Var(X) and E(X)
        case Text(words), Text(other) if ("(" in words) != ("(" in other):  # rank and rank A
            return words.partition(" (")[0] == other.partition(" (")[0]
        case (Symbol(name), Call() as call) | (Call() as call, Symbol(name)):
            return names_value(call) and name not in symbols(call)
    return type(first) is not type(second) and names_value(first) and names_value(second)


def _points_of(name: Node) -> frozenset[str]:
    """The points of a segment, a polygon or its area."""
    subscripts = "".join(letter.partition("_")[2] for letter in symbols(name))
    alone = [letter for letter in symbols(name) if len(letter) == 1 and letter.isupper()]
    letters = frozenset(filter(str.isupper, subscripts)) or frozenset(alone)
    return letters if len(letters) > 1 else frozenset()


def _order(name: Node) -> int | None:
    """How often the function that a letter names is differentiated; None for other names."""
    if not isinstance(name, Symbol | Call):
        return None
    quotient = DERIVATIVE.fullmatch(name.name)
    return int(quotient[1] or 1) if quotient else name.name.count("'")


def _approximated(node: Node, reference: Node) -> Node:
    """3.46 in `≈ 3.46` or `x ≈ 3.46`: a decimal, beside anything but a whole number."""
    match node:
        case Relation((None | Symbol(), (Number() | Quantity()) as value), ("≈",)):
            number = value.value if isinstance(value, Quantity) else value
            whole = isinstance(reference, Number) and not reference.places
            return value if isinstance(number, Number) and number.places and not whole else node
    return node


# The letters of the reference


def in_letters_of(answer: Node, reference: Node) -> Node:
    """f(x) = 2x for f(t) = 2t, c_n = n for c_k = k, in the letters of the reference."""
    theirs = _functions(reference)
    new: dict[Node, Node] = {}
    for item in _items(answer) if theirs else ():
        letters: dict[Node, Node] = {}
        for name, (term, mine) in _functions(item).items():
            wanted, variables = theirs.get(name, (term, mine))
            if len(mine) == len(variables) and mine != variables:
                letters |= {**dict(zip(mine, variables, strict=True)), term: wanted}
        if letters:
            new[item] = substituted(item, letters)
    return substituted(answer, new) if new else answer


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else (node,)


def _functions(node: Node) -> dict[str, tuple[Node, tuple[Node, ...]]]:
    """The terms such as f(x) or, in `c_n = 2n`, c_n of statements by name, and their letters."""
    found: dict[str, tuple[Node, tuple[Node, ...]]] = {}
    for item in _items(node):
        if not isinstance(item, Relation):
            continue
        for part in nodes(item):
            if isinstance(part, Call) and is_of_letters(part):
                found[part.name] = part, part.arguments
        name, value = definition(item) or (None, ZERO)
        stem, _, index = name.name.partition("_") if isinstance(name, Symbol) else ("", "", "")
        if name and index in symbols(value):
            found[f"{stem}_"] = name, (Symbol(index),)
    return found


def is_of_letters(call: Call) -> bool:
    """Whether it is f(x), whose letter may be another, and not P(A) or |B|."""
    variables = all(isinstance(x, Symbol) and x.name.islower() for x in call.arguments)
    return variables and call.name.endswith("()") and call.name not in (*CROSSES.values(), "not()")


def _primed(node: Node, reference: Node) -> Node:
    """y'' in place of d^2y/dx^2, and u_x of du/dx, beside a side that has it."""
    names = {name for name in symbols(reference) if name.endswith("'") or "_" in name}

    def prime(symbol: Symbol) -> Node:
        quotient = DERIVATIVE.fullmatch(symbol.name)
        if quotient is None:
            return symbol
        times, function, variable = quotient.groups()
        spelled = names & {function + "'" * int(times or 1), f"{function}_{variable}"}
        return Symbol(spelled.pop()) if spelled else symbol

    return with_symbols(node, prime) if names else node


def _complex(node: Node, other: Node) -> Node:
    """z + iy in place of z, beside a side that has a modulus and i, too: |z - 4i| = 3."""
    if not all(Constant("i") in nodes(side) and "abs" in calls(side) for side in (node, other)):
        return node

    def parts(symbol: Symbol) -> Node:
        imaginary = Product((Constant("i"), Symbol(f"{symbol.name} imaginary")))
        return Sum((symbol, imaginary)) if symbol.name in COMPLEX else symbol

    return with_symbols(node, parts)
