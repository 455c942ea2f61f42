"""Answers in words: what they mean where they name a set, else the words themselves."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax.tree import Constant, Node, Number, NumberSet, Sequence, Text

_NO_SOLUTION = "no solution|no solutions|no real solution|no real solutions|empty set|the empty set"
_REALS = "all real numbers|all reals|reals|real numbers|the real numbers|any real number"
_INTEGERS = "all integers|the integers|integers"
_NATURALS = "all positive integers|positive integers|the positive integers"
POSITIVE_REALS = Sequence((Number(Fraction(0)), Constant("∞")), "(", ")")

SYNONYMS: dict[str, Node] = {
    **dict.fromkeys(_NO_SOLUTION.split("|"), NumberSet("∅")),
    **dict.fromkeys(_REALS.split("|"), NumberSet("R")),
    **dict.fromkeys(_INTEGERS.split("|"), NumberSet("Z")),
    **dict.fromkeys(_NATURALS.split("|"), NumberSet("Z+")),
    **dict.fromkeys(("all positive real numbers", "positive real numbers"), POSITIVE_REALS),
}
"""Words that name a set of numbers."""


def words_as_answer(text: str) -> Node:
    """The set that the words name, else the words in one spelling."""
    words = " ".join(text.lower().split()).strip(".,:;! ")
    return SYNONYMS.get(words, Text(words))
