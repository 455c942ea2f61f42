r"""Statements of logic, and sets by their letters: equal where their truth tables are.

An element is in `P \cap Q^c` where it is in P and not in Q, so that both kinds are formulas of
and, or and not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_, or_

from rewardkit.verifiers.math.numbers.equality import Comparison
from rewardkit.verifiers.math.tree import (
    Call,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    symbols,
)

MOST_LETTERS = 10
"""Letters of both formulas; a table has a row for each choice of their truth."""

_COMPLEMENTS = ("\\overline", "\\bar", "'")


class NoFormulaError(Exception):
    """The tree isn't a formula in letters."""


def same_formula(answer: Node, reference: Node) -> Comparison | None:
    """Compare two formulas row by row; None unless both are some, and one has an operator."""
    if not (_has_operator(answer) or _has_operator(reference)):
        return None
    letters = sorted({_letter(name) for side in (answer, reference) for name in symbols(side)})
    if len(letters) > MOST_LETTERS:
        return None
    rows = 1 << len(letters)
    full = (1 << rows) - 1
    columns = {
        letter: sum(1 << row for row in range(rows) if row >> place & 1)
        for place, letter in enumerate(letters)
    }
    try:
        same = _table(answer, columns, full) == _table(reference, columns, full)
    except NoFormulaError:
        return None
    return Comparison(same, "truth tables")


def _has_operator(node: Node) -> bool:
    match node:
        case Sequence(joint="∧" | "∨") | SetOperation() | Call("not()"):
            return True
        case Relation(operators=("→",)) | Power(SetOperation()):
            return True
    return False


def _letter(name: str) -> str:
    """The name without the signs of a complement."""
    for sign in _COMPLEMENTS:
        name = name.removesuffix(sign)
    return name


def _table(node: Node, columns: Mapping[str, int], full: int) -> int:
    """A bit for each row, set where the formula holds. Raises NoFormulaError."""
    if isinstance(node, Symbol):
        letter = _letter(node.name)
        return columns[letter] ^ (full if letter != node.name else 0)
    operator, parts = _operation(node)
    first, *others = (_table(part, columns, full) for part in parts)
    match operator:
        case "¬":
            return full ^ first
        case "→":
            return full ^ first | others[0]
        case "∖":
            return first & (full ^ others[0])
    return reduce(and_ if operator in "∧∩" else or_, others, first)


def _operation(node: Node) -> tuple[str, tuple[Node, ...]]:
    match node:
        case Call("not()", (inner,)):
            return "¬", (inner,)
        case Power(base, Symbol("c" | "C")):
            return "¬", (base,)
        case Relation((Symbol() | Call() as left, Symbol() | Call() as right), ("→",)):
            return "→", (left, right)
        case SetOperation(operator, left, right):
            return operator, (left, right)
        case Sum((Symbol() as left, Product((Number(sign), Symbol() as right)))) if sign == -1:
            return "∖", (left, right)
        case Sequence(items, "" | "(", _, "∧" | "∨" as joint):
            return joint, items
    raise NoFormulaError
