"""Numbers in the spelling of a locale, where the reference is a number to compare them with.

Alone, 1.234 and 1,234 mean different numbers in different places; beside the reference, only a
spelling that gives its value counts.
"""

from __future__ import annotations

import re
from fractions import Fraction

_COMMA = re.compile(r"-?[0-9]{1,12},[0-9]{1,12}")
_GROUPED = re.compile(
    r"-?[0-9]{1,3}(?:(?:\.[0-9]{3}){2,6}(?:,[0-9]{1,12})?|(?:\.[0-9]{3}){1,6},[0-9]{1,12}"
    r"|(?:['’][0-9]{3}){1,6}(?:[.,][0-9]{1,12})?|(?:_[0-9]{3}){2,6}"
    r"|(?:[ \u00a0\u202f][0-9]{3}){1,6},[0-9]{1,12}"
    r"|(?:,[0-9]{2}){1,6},[0-9]{3}(?:\.[0-9]{1,12})?)"
)
_POINT = re.compile(r"[.,]([0-9]+)\Z")


def local_value(answer: str, *, pointed: bool) -> Fraction | None:
    """The value of `1.234.567,8`, `1'234'567` or `12,34,567`; None where it isn't certain.

    `pointed`: the reference has a decimal point, so that a comma alone may be one too.
    """
    bare = answer.strip(" $")
    if pointed and _COMMA.fullmatch(bare):
        return Fraction(bare.replace(",", "."))
    if not _GROUPED.fullmatch(bare):
        return None
    separators = [character for character in bare if not character.isdigit() and character != "-"]
    last = _POINT.search(bare)
    places = last[1] if last and separators.count(separators[-1]) == 1 else ""
    whole = bare[: len(bare) - len(places) - 1] if places else bare
    return Fraction(re.sub(r"[^-0-9]", "", whole) + (f".{places}" if places else ""))
