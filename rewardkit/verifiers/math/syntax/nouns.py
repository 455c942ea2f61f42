"""Words after a value: numbers, nouns that are counted, and words that change what they follow."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from rewardkit.verifiers.math.syntax.words import listed

SCALES: Final = {
    "hundred": Fraction(100), "thousand": Fraction(1000), "million": Fraction(10**6),
    "billion": Fraction(10**9), "trillion": Fraction(10**12), "quadrillion": Fraction(10**15),
    "quintillion": Fraction(10**18), "lakh": Fraction(10**5), "crore": Fraction(10**7),
    "dozen": Fraction(12), "gross": Fraction(144),
    "half": Fraction(1, 2), "halve": Fraction(1, 2), "third": Fraction(1, 3),
    "quarter": Fraction(1, 4), "fourth": Fraction(1, 4), "fifth": Fraction(1, 5),
    "sixth": Fraction(1, 6), "seventh": Fraction(1, 7), "eighth": Fraction(1, 8),
    "ninth": Fraction(1, 9), "tenth": Fraction(1, 10), "hundredth": Fraction(1, 100),
    "thousandth": Fraction(1, 1000), "millionth": Fraction(1, 10**6),
}  # fmt: skip
"""Words that multiply the number before them."""

_REFUSED: Final = listed(
    "not no non never isn't or either neither nor but at least most over under above below"
    " about approximately approx around roughly nearly almost less more fewer greater than"
    " between from to up maybe possibly perhaps probably unless except minus negative plus"
    " times equals if when where only some any all every impossible undefined unknown"
    " infinitely other another guess options option candidates half double twice triple thrice"
    " third quarter score gross squared cubed false wrong incorrect and reciprocal reciprocals"
    " inverse inverses opposite opposites factorial factorials root roots square squares cube"
    " cubes power powers log logs logarithm logarithms exponent exponents sine sines cosine"
    " cosines tangents derivative derivatives integrals percentages folds fold mod modulo base"
    " complement complements negatives positives ones twos threes fours fives sixes sevens"
    " eights nines tens elevens twelves doubles triples raised divided multiplied subtracted"
    " added increased decreased short off bounded within absolute conjugate conjugates"
    " thousandths"
)
"""Words that may change the value that they stand beside."""

_UNCOUNTED: Final = listed(
    "people men women children feet teeth mice geese sheep fish deer dice money cattle oxen"
    " pence data series species water sugar flour rice milk land"
)
_PREPOSITIONS: Final = listed(
    "in of for on by with left remaining total altogether each per long wide tall high old"
    " during during's through across after before that which"
)
_ADVERB: Final = re.compile(r"(?:ss|us|is|ics)\Z")


def singular(word: str) -> str:
    """The word without the `s` of a plural."""
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    return word[:-1]


def scale(word: str) -> Fraction | None:
    """The number by which a word multiplies the number before it: `million`, `halves`."""
    return SCALES.get(singular(word.lower()))


def refuses(word: str) -> bool:
    """Whether a word may change the value before it."""
    return word in _REFUSED or singular(word) in SCALES


def counts_things(words: list[str]) -> bool:
    """Whether the words name what a number counts: their head is a plural, as in `red marbles`."""
    phrase: list[str] = []
    for word in words:
        if word.lower() in _PREPOSITIONS and phrase:
            break
        phrase.append(word.strip(".,").lower())
    head = phrase[-1] if phrase else ""
    plural = len(head) > 3 and head.endswith("s") and not _ADVERB.search(head)
    return plural or head in _UNCOUNTED
