"""Runs of letters: products of variables, words, or names of what an equals sign follows."""

from __future__ import annotations

import re
from typing import Final

from rewardkit.verifiers.math.syntax.nouns import scale
from rewardkit.verifiers.math.syntax.units import known
from rewardkit.verifiers.math.syntax.words import FUNCTIONS, GREEK, listed

IN_WORDS: Final = listed(
    "yes no not is are all any for per true false none even odd where when if with from than"
    " then only both neither always never does exist undefined"
)
"""Words that are no products of variables wherever they stand."""

CODES: Final = listed("USD EUR GBP INR RMB CNY JPY Rs")
"""Currencies that may stand before an amount."""

_NAMED = re.compile(r"(?:\s+[A-Za-z]+){0,4}\s*(?:=|≈|\\approx(?![a-zA-Z])|:(?!=)|:=)")
_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
_SYLLABLE = re.compile(r"[bcdfghjklmnpqrstvwxz][aeiou][bcdfghjklmnpqrstvwxz]", re.IGNORECASE)
_FUNCTION = re.compile(
    r"(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?(?=[a-zA-Z]{1,8}\Z)|(?:ln|lg|log|exp)(?=[a-zA-Z]{1,8}\Z)"
)


def ends_in_function(run: str) -> int | None:
    """How many letters of `sinx` or `lntheta` spell the function; None for any other run."""
    match = _FUNCTION.match(run)
    if match is None or match.group() not in FUNCTIONS:
        return None
    rest = run[match.end() :]
    return match.end() if len(rest) < 3 or rest in GREEK or rest == "pi" else None


def is_word_after_value(run: str, *, after_word: bool, after_letter: bool) -> bool:
    """Whether letters that a space parts from a value before them are a unit, a noun, a number."""
    if len(run) == 1:
        return False
    if after_letter and len(run) < 3:
        return run in ("cm", "km", "mm", "kg", "ft")
    if run in ("sq", "cu"):
        return True
    if after_word or known(run) is not None or scale(run) is not None:
        return True
    word = _VOWEL.search(run) if len(run) > 3 else _SYLLABLE.fullmatch(run)
    return run not in GREEK and word is not None


def is_name(run: str) -> bool:
    """Whether letters may be a word before an equals sign: `Area = 5`, but not `xy = 5`."""
    return len(run) > 2 and _VOWEL.search(run) is not None and not run.isupper()


def names_what_follows(text: str, at: int) -> bool:
    """Whether an equals sign or a colon comes next, at most four words later."""
    return _NAMED.match(text, at) is not None
