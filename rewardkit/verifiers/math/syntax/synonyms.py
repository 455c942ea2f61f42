"""Answers in words: what they mean where they name a set, else the words themselves."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from rewardkit.verifiers.math.syntax.number_words import number_in_words
from rewardkit.verifiers.math.syntax.tree import (
    Constant,
    Node,
    Number,
    NumberSet,
    Quantity,
    Sequence,
    Text,
)
from rewardkit.verifiers.math.syntax.units import known

_REALS = "all real numbers|all reals|reals|real numbers|the real numbers|any real number"
_INTEGERS = "all integers|the integers|integers"
_NATURALS = "all positive integers|positive integers|the positive integers"
POSITIVE_REALS = Sequence((Number(Fraction(0)), Constant("∞")), "(", ")")

SYNONYMS: dict[str, Node] = {
    **dict.fromkeys(("empty set", "the empty set"), NumberSet("∅")),
    **dict.fromkeys(_REALS.split("|"), NumberSet("R")),
    **dict.fromkeys(_INTEGERS.split("|"), NumberSet("Z")),
    **dict.fromkeys(_NATURALS.split("|"), NumberSet("Z+")),
    **dict.fromkeys(("all positive real numbers", "positive real numbers"), POSITIVE_REALS),
}
"""Words that name a set of numbers."""


_SENTENCES: tuple[tuple[re.Pattern[str], Node], ...] = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (
            r"(?:there (?:is|are|exists?) |(?:the |this )?(?:equation|system|problem|it) has )?"
            r"no (?:real )?(?:solution|root)s?(?: exists?)?",
            NumberSet("∅"),
        ),
        (r"(?:the )?(?:limit |value |it )?(?:dne|do(?:es)? not exist|doesn't exist)", Text("dne")),
        (
            r"(?:it |(?:the )?(?:limit |value )?)?(?:is )?(?:undefined|not defined)",
            Text("undefined"),
        ),
        (
            r"(?:(?:there are |has )?infinitely many|infinite|an infinite number of)"
            r"(?: real)?(?: solutions| values| roots)?",
            Constant("∞"),
        ),
    )
)
"""Sentences that have one meaning in several wordings."""


def words_as_answer(text: str) -> Node:
    """The set or the number that the words name, else the words in one spelling."""
    words = " ".join(text.lower().split()).strip(".,:;! ")
    return meaning(words) or Text(words)


@lru_cache(maxsize=1024)
def meaning(words: str) -> Node | None:
    """The set, the number or the statement that lower-case words name; None for any others."""
    if words in SYNONYMS:
        return SYNONYMS[words]
    for pattern, stated in _SENTENCES:
        if pattern.fullmatch(words):
            return stated
    number = number_in_words(words)
    return _measured_in_words(words) if number is None else Number(number)


def _measured_in_words(words: str) -> Node | None:
    """Five dollars, ninety minutes."""
    number, _, unit = words.rpartition(" ")
    value, measured = number_in_words(number), known(unit)
    return None if value is None or measured is None else Quantity(Number(value), *measured)
