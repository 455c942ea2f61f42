"""Words after a value: numbers, nouns that are counted, and words that change what they follow."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from rewardkit.verifiers.math.syntax.words import listed

_SCALES = listed(
    "hundred=100 thousand=1000 million=1e6 billion=1e9 trillion=1e12 quadrillion=1e15"
    " quintillion=1e18 lakh=1e5 crore=1e7 dozen=12 gross=144 half=1/2 halve=1/2 third=1/3"
    " quarter=1/4 fourth=1/4 fifth=1/5 sixth=1/6 seventh=1/7 eighth=1/8 ninth=1/9 tenth=1/10"
    " hundredth=1/100 thousandth=1/1000 millionth=1e-6"
)
SCALES: Final = {word: Fraction(size) for word, _, size in (row.partition("=") for row in _SCALES)}
"""Words that multiply the number before them."""

_REFUSED: Final = listed(
    "nothing nobody"
    " not no non never isn't or either neither nor but at least most over under above below"
    " about approximately approx around roughly nearly almost less more fewer greater than"
    " between from to up maybe possibly perhaps probably unless except minus negative plus"
    " times equals if when where only some any all every impossible undefined unknown"
    " infinitely other another guess options option candidates half double twice triple"
    " thrice third quarter score scores gross squared cubed false wrong incorrect and"
    " pair pairs couple couples percentile percentiles"
    " reciprocal reciprocals inverse inverses opposite opposites factorial factorials root"
    " roots square squares cube cubes power powers log logs logarithm logarithms exponent"
    " exponents sine sines cosine cosines tangents derivative derivatives integrals"
    " percentages folds fold mod modulo base complement complements negatives positives ones"
    " twos threes fours fives sixes sevens eights nines tens elevens twelves doubles triples"
    " raised divided multiplied subtracted added increased decreased short off bounded"
    " within absolute conjugate conjugates thousandths"
)
"""Words that may change the value that they stand beside."""

_UNCOUNTED: Final = listed(
    "people men women children feet teeth mice geese sheep fish deer dice money cattle oxen"
    " pence data series species bacteria fungi cacti larvae alumni criteria phenomena"
    " chance personnel staff folk poultry bread juice gold paint wood water sugar flour rice"
    " milk land"
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
