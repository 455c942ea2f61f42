"""Write a tree in plain spelling, for explanations of how an answer was read."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Clock,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Root,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Text,
)

_KINDS = {"angle": "°", "share": "%", "money": "$"}


def spelled(node: Node) -> str:
    """The tree as one line; sums inside products and the like stand in brackets."""
    match node:
        case Sum(terms):
            return " + ".join(map(spelled, terms)).replace("+ -", "- ")
        case Product(factors):
            return _product(factors)
        case Power(base, exponent):
            return f"{_tight(base)}^{_tight(exponent)}"
        case Root(radicand, index):
            return f"{'√' if index == 2 else f'root{index}'}({spelled(radicand)})"
        case Call(name, arguments):
            return f"{name.removesuffix('()')}({', '.join(map(spelled, arguments))})"
        case Sequence() | SetOperation() | Relation() | Matrix() | Ratio():
            return _structure(node)
        case Quantity(value, kind, factor):
            return f"{_tight(value)} {_unit(kind, factor)}"
    return _leaf(node)


def _leaf(node: Node) -> str:
    match node:
        case Number(value, places):
            return str(value) if places is None else f"{float(value):.{min(places, 30)}f}"
        case Symbol(name) | Constant(name) | NumberSet(name):
            return name
        case PlusMinus(term, upper):
            return f"{'±' if upper else '∓'}{_tight(term)}"
        case Numeral(digits, base):
            return f"{digits} in base {base}"
        case Clock(hour, minute, _):
            return f"{hour}:{minute:02}"
        case Text(words):
            return f'the words "{words}"'
    return str(node)


def _product(factors: tuple[Node, ...]) -> str:
    over: list[str] = []
    under: list[str] = []
    sign = ""
    for factor in factors:
        match factor:
            case Number(value, None) if value == -1:
                sign = "" if sign else "-"
            case Power(base, Number(value, _)) if value == -1:
                under.append(_tight(base))
            case _:
                over.append(_tight(factor))
    below = "".join(f"/{part}" for part in under)
    return f"{sign}{'·'.join(over) or '1'}{below}"


def _tight(node: Node) -> str:
    whole = isinstance(node, Number) and node.value.denominator == 1 and node.value >= 0
    simple = isinstance(node, (Symbol, Constant, Call, Root, Sequence, Matrix)) or whole
    return spelled(node) if simple else f"({spelled(node)})"


def _structure(node: Sequence | SetOperation | Relation | Matrix | Ratio) -> str:
    match node:
        case Sequence(items, opening, closing, joint):
            between = f" {joint} " if joint != "," else ", "
            inner = between.join(map(spelled, items))
            brackets = {"⦃": "{", "⦄": "}"}
            listed = inner if opening else f"list {inner}"
            return f"{brackets.get(opening, opening)}{listed}{brackets.get(closing, closing)}"
        case SetOperation(operator, left, right):
            return f"{spelled(left)} {operator} {spelled(right)}"
        case Relation(sides, operators):
            parts = ["…" if side is None else spelled(side) for side in sides]
            pairs = zip((*operators, ""), parts[1:], strict=False)
            return parts[0] + "".join(f" {operator} {part}" for operator, part in pairs)
        case Matrix(rows):
            return "[" + "; ".join(", ".join(map(spelled, row)) for row in rows) + "]"
        case Ratio(terms):
            return " : ".join(map(spelled, terms))


def _unit(kind: tuple[tuple[str, int], ...], factor: Fraction) -> str:
    names = [f"{_KINDS.get(name, name)}{'' if count == 1 else f'^{count}'}" for name, count in kind]
    scale = "" if factor == 1 or "%" in names else f" (× {factor})"
    return "·".join(names) + scale
