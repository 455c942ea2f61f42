"""How the `math` verifier read an answer and a reference."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.parsed_answer import Side, side, tree
from rewardkit.verifiers.math.syntax.spelling import spelled

Explanation = list[tuple[str, str]]
"""(label, value) pairs."""


def explained(answers: list[str], reference: str) -> Explanation:
    """Explain the answers and the reference, and how each was read."""
    lines = [("answers", str(len(answers)))] if len(answers) > 1 else []
    for answer in answers:
        lines += [("answer", answer), ("read as", _reading(side(answer)))]
    return [*lines, ("reference", reference), ("read as", _reading(side(reference)))]


def _reading(parsed: Side) -> str:
    if parsed.number is not None:
        exact = f"the number {parsed.number.value}"
        return f"{exact} {parsed.number.unit}".rstrip()
    node = tree(parsed)
    if node is not None:
        return spelled(node)
    return f"text, for we can't read it: {parsed.reason or 'nothing is there'}"
