"""How the `math` verifier came to its verdict, step by step."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.parsed_answer import Side, side, tree
from rewardkit.verifiers.math.syntax.spelling import spelled

Explanation = list[tuple[str, str]]
"""Pairs of what is told and what is to be told of it."""


def explained(found: list[str], reference: str) -> Explanation:
    """What was read of the completion and of the reference, and as what."""
    told = [("answers", str(len(found)))] if len(found) > 1 else []
    for answer in found:
        told += [("answer", answer), ("read as", _as(side(answer)))]
    return [*told, ("reference", reference), ("read as", _as(side(reference)))]


def _as(read: Side) -> str:
    if read.number is not None:
        exact = f"the number {read.number.value}"
        return f"{exact} {read.number.unit}".rstrip()
    node = tree(read)
    if node is not None:
        return spelled(node)
    return f"text, for we can't read it: {read.reason or 'nothing is there'}"
