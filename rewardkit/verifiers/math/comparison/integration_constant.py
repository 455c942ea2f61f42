"""The constant of integration: x² + C and x² + c."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.tree import Node, Relation, Sum, Symbol, mapped, nodes, symbols

_FORMS = (Sum, Relation)
_SPELLINGS = frozenset(("C", "c", "c_1", "C_1"))


def with_constant_of(reference: Node, answer: Node) -> Node:
    """The answer with the reference's letter for the constant of integration."""
    if not (isinstance(answer, _FORMS) and isinstance(reference, _FORMS)):
        return answer
    mine, theirs = symbols(answer), symbols(reference)
    one, other = (mine - theirs) & _SPELLINGS, (theirs - mine) & _SPELLINGS
    if not (len(one) == len(other) == 1) or any(name.isupper() for name in mine & theirs):
        return answer
    letter, constant = Symbol(*one), Symbol(*other)
    if not (_added(letter, answer) and _added(constant, reference)):
        return answer
    return _exchanged(answer, letter, constant)


def _added(letter: Symbol, node: Node) -> bool:
    """Whether a letter occurs once, as a term of a sum."""
    found = [part for part in nodes(node) if part == letter]
    sums = [part for part in nodes(node) if isinstance(part, Sum) and letter in part.terms]
    return len(found) == len(sums) == 1


def _exchanged(node: Node, letter: Node, other: Node) -> Node:
    return other if node == letter else mapped(node, lambda below: _exchanged(below, letter, other))
