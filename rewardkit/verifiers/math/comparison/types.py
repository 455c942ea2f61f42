"""What a reference is, and what an answer says when it is read as that.

A reference has a type by its own form: a number, a function of its letters, a list, named values.
An answer is read as that type: its letters are the reference's, the value of `x = 5` is 5 where a
number is wanted, i + 2j is a tuple where a tuple is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, product

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
    names_matrix,
    names_value,
    plain_vectors,
)
from rewardkit.verifiers.math.comparison.values import canonical
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
    """The type of a reference, the reference in its own form, and a single value's name."""

    kind: Kind
    node: Node
    name: Node | None = None

    def __str__(self) -> str:
        node, of_named = self.node, " with a name" if self.name not in (None, UNNAMED) else ""
        match self.kind:
            case Kind.FUNCTION:
                return f"a function of {', '.join(sorted(symbols(node)))}{of_named}"
            case Kind.LIST | Kind.TUPLE | Kind.NAMED if isinstance(node, Sequence):
                order = {Kind.LIST: " in any order", Kind.TUPLE: " in this order"}
                noun = {Kind.LIST: "list", Kind.TUPLE: "tuple"}.get(self.kind, "list")
                named = "named " if self.kind == Kind.NAMED else ""
                return f"a {noun} of {len(node.items)} {named}values{order.get(self.kind, '')}"
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


_LISTS = (Kind.LIST, Kind.TUPLE, Kind.NAMED, Kind.SET, Kind.MATRIX)
_ALONE = (*_LISTS, Kind.RELATION, Kind.TEXT)


def are_apart(mine: Kind, theirs: Kind) -> bool:
    """Whether an answer of one type is never read as the other."""
    lists = mine in _LISTS and theirs in _LISTS
    return mine != theirs and not lists and (mine in _ALONE or theirs in _ALONE)


def read_type(reference: Node) -> Type:
    """The type of a reference."""
    if is_formula(reference):
        return Type(Kind.LOGIC, reference)
    if is_family(reference):
        return Type(Kind.FAMILY, reference)
    node = own_form(reference)
    node = written_out(node)
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


def own_form(node: Node, *, apart: bool = False) -> Node:
    """The side with ± written out, without a rounded value, and with one list in place of names.

    `apart`: ± of several coordinates are independent.
    """
    node = _expanded(_before_rounding(node), apart=apart)
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


def _expanded(node: Node, *, apart: bool) -> Node:
    if not any(isinstance(part, PlusMinus) for part in nodes(node)):
        return node
    if isinstance(node, Sequence) and node.opening in ("", "⦃", "["):
        items = [signed for item in node.items for signed in both_signs(item)]
        return Sequence(tuple(items[: 2 * MOST_SIGNS]), node.opening, node.closing, node.joint)
    both = _points_with_signs(node) if apart else both_signs(node)
    joint = "and" if isinstance(node, Relation) and "≠" in node.operators else "or"
    return Sequence(both, joint=joint) if len(both) > 1 else node


def _points_with_signs(node: Node) -> tuple[Node, ...]:
    """All four points of (±1, ±2), but two of (±1, ∓2)."""
    signs = [part.upper for part in nodes(node) if isinstance(part, PlusMinus)]
    if not isinstance(node, Sequence) or len(signs) >= MOST_SIGNS.bit_length() or not all(signs):
        return both_signs(node)
    points = product(*map(both_signs, node.items))
    return tuple(replace(node, items=point) for point in points)


# An answer as a type


def read_as(answer: Node, reference: Node) -> tuple[Node, Node]:
    """The answer read as the reference's type, and what it is compared with."""
    answer, reference = written_out(answer), written_out(reference)
    apart = _is_long_list(reference), _is_long_list(answer)
    answer, reference = own_form(answer, apart=apart[0]), own_form(reference, apart=apart[1])
    answer, reference = _spread(answer, reference), _spread(reference, answer)
    lists = isinstance(answer, Sequence), isinstance(reference, Sequence)
    answer = _each_equal(answer) if lists[1] else answer
    reference = _each_equal(reference) if lists[0] else reference
    answer, reference = _primed(answer, reference), _primed(reference, answer)
    answer, reference = _complex(answer, reference), _complex(reference, answer)
    answer, reference = _values(answer, _approximated(reference, answer))
    answer = _approximated(answer, reference)
    answer, reference = plain_vectors(answer), plain_vectors(reference)
    answer, reference = _range(answer, reference), _range(reference, answer, given=True)
    return matrices.as_point(answer, reference), matrices.as_point(reference, answer)


def _range(node: Node, other: Node, *, given: bool = False) -> Node:
    """[0, 1] of f(x) ∈ [0, 1] or 0 ≤ f(x) ≤ 1, beside a set that is written without a letter."""
    if not isinstance(node, Relation) or isinstance(other, Relation) or not is_region(node):
        return node
    terms = [side for side in node.sides if side is not None and symbols(side)]
    if len(terms) != 1 or not _has_range(terms[0]):
        return node
    if given and isinstance(terms[0], Call) and terms[0].name == "abs" and node.operators != ("∈",):
        return node  # a disc
    whole = Symbol("the term")
    return replace(node, sides=tuple(whole if side is terms[0] else side for side in node.sides))


def _has_range(node: Node) -> bool:
    """Whether it is a term of several letters or a function, for whose letter nothing is solved."""
    if len(symbols(node)) > 1:
        return True
    match node:
        case Call("abs", (Symbol(name),)):
            return name in COMPLEX
        case Call(name, _):
            return name in TERMS or name.endswith("()")
    return False


def _spread(node: Node, other: Node) -> Node:
    """x = 1, y = 2 for (x, y) = (1, 2), beside a list of names and values."""
    match node:
        case Relation((Sequence(names, "("), Sequence(values, "(")), ("=",)):
            if len(names) == len(values) and assigned(other):
                pairs = zip(names, values, strict=True)
                return Sequence(tuple(Relation(pair, ("=",)) for pair in pairs))
    return node


def _is_long_list(node: Node) -> bool:
    return isinstance(node, Sequence) and node.opening in ("", "⦃") and len(node.items) > 2


def _values(answer: Node, reference: Node) -> tuple[Node, Node]:
    """The values of both sides, where a name is on one side only or the same on both.

    Names that differ stay, so that relations are compared: P(A) = 1/3 isn't P(B) = 1/3.
    """
    answer, reference = _member(answer, reference), _member(reference, answer)
    mine, theirs = definition(answer), definition(reference)
    mine = _in_order_of(theirs, mine) if mine and theirs else mine
    equations = [
        isinstance(side, Relation) and side.operators == ("=",) for side in (answer, reference)
    ]
    if mine is None and theirs is None:
        return _of_letters(answer, reference), _of_letters(reference, answer)
    if mine is None or theirs is None:
        other_equation = equations[1] if theirs is None else equations[0]
        if other_equation:
            return answer, reference
        return mine[1] if mine else answer, theirs[1] if theirs else reference
    return (mine[1], theirs[1]) if _same_name(mine, theirs) else (answer, reference)


def _member(node: Node, other: Node) -> Node:
    if isinstance(node, Sequence) and len(node.items) == 1 and node.opening == "⦃":
        member = node.items[0]
        if isinstance(other, Sequence):
            return member if isinstance(member, Sequence) and other.opening == "(" else node
        return node if is_region(other) else member
    return node


def _in_order_of(reference: Named, answer: Named) -> Named:
    """(a, b) = (2, 3) for (b, a) = (3, 2), where the reference is (a, b) = …"""
    match reference[0], answer:
        case Sequence(names, "("), (Sequence(own, "("), Sequence(values, "(") as point):
            if {*names} == {*own} and len(names) == len({*own}) == len(values):
                value = dict(zip(own, values, strict=True))
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
    (one, _), (other, _) = mine, theirs
    if len({_order(one), _order(other), None}) > 2:
        return False
    if UNNAMED in (one, other) or canonical(one) == canonical(other):
        return True
    if names_matrix(*mine) or names_matrix(*theirs):
        return False
    points = _points_of(one), _points_of(other)
    if all(points) and points[0] != points[1]:  # the areas S_{ABC} and [ABD]
        return False
    match one, other:
        case Call(), Call() if one.name == other.name:
            same_count = len(one.arguments) == len(other.arguments)
            return same_count and is_of_letters(one) and is_of_letters(other)
        case Text(words), Text(others):  # Area and Area(ABC)
            return f"{others} (".startswith(f"{words} (") or f"{words} (".startswith(f"{others} (")
        case (Text(words), Call(name, _)) | (Call(name, _), Text(words)) if "(" in words:
            return words[:1] == name[:1].lower()  # Pr(A) and P(A), but not Var(X) and E(X)
    simple = names_value(one) and names_value(other)
    return simple and type(one) is not type(other)


def _points_of(name: Node) -> frozenset[str]:
    """The points of a segment, a polygon or its area."""
    subscripts = "".join(one.partition("_")[2] for one in symbols(name))
    alone = [one for one in symbols(name) if len(one) == 1 and one.isupper()]
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


def _each_equal(node: Node) -> Node:
    """`x = 0, y = 0` for `x = y = 0`."""
    if isinstance(node, Sequence) and not node.opening and len(node.items) > 1:
        return Sequence(tuple(chain.from_iterable(map(_each, node.items))), joint=node.joint)
    values = _each(node)
    return Sequence(values) if len(values) > 1 else node


def _each(node: Node) -> tuple[Node, ...]:
    """x = 0 and y = 0 of `x = y = 0`; any other node alone."""
    if isinstance(node, Relation) and {*node.operators} == {"="}:
        *names, value = node.sides
        if value and not symbols(value) and all(isinstance(name, Symbol) for name in names):
            return tuple(Relation((name, value), ("=",)) for name in names)
    return (node,)


# The letters of the reference


def in_letters_of(answer: Node, reference: Node) -> Node:
    """f(x) = 2x for f(t) = 2t, y'' for d^2y/dx^2, in the letters of the reference."""
    theirs = {call.name: (call.arguments, name) for _, call, name, _ in _functions(reference)}
    if isinstance(reference, Relation) and not theirs:
        return _with_arguments_of(answer, reference)
    new: dict[Node, Node] = {}
    for item, call, own, value in _functions(answer) if theirs else ():
        variables, name = theirs.get(call.name, (call.arguments, own))
        if len(variables) == len(call.arguments) and call.arguments != variables:
            renamed = substituted(value, dict(zip(call.arguments, variables, strict=True)))
            new[item] = Relation((name, renamed), ("=",))
    return substituted(answer, new) if new else answer


def _with_arguments_of(answer: Node, reference: Node) -> Node:
    """f(x) > 0 for f(t) > 0, in the letter of the reference."""
    functions = [
        [part for part in nodes(side) if isinstance(part, Call) and is_of_letters(part)]
        for side in (reference, answer)
    ]
    theirs, mine = ({call.name: call.arguments for call in side} for side in functions)
    new: dict[Node, Node] = {}
    for name in theirs.keys() & mine.keys():
        if len(theirs[name]) == len(mine[name]):
            new |= zip(mine[name], theirs[name], strict=True)
    return substituted(answer, new) if new else answer


def _functions(node: Node) -> Iterator[tuple[Node, Call, Node, Node]]:
    """Each definition of a function or, as c(n) for `c_n = 2n`, a sequence; its name and value."""
    for item in node.items if isinstance(node, Sequence) else (node,):
        name, value = definition(item) or (None, ZERO)
        stem, _, index = name.name.partition("_") if isinstance(name, Symbol) else ("", "", "")
        call = Call(f"{stem}()", (Symbol(index),)) if index in symbols(value) else name
        if name and isinstance(call, Call) and is_of_letters(call):
            yield item, call, name, value


def is_of_letters(call: Call) -> bool:
    """Whether it is f(x), whose letter may be another, and not P(A) or |B|."""
    variables = all(isinstance(x, Symbol) and x.name.islower() for x in call.arguments)
    return variables and call.name.endswith("()") and call.name not in CROSSES.values()


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
