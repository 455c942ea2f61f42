"""The texts of a multiple-choice problem's options, and the option that an answer names by text."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from rewardkit.verifiers.normalised_text import Normalisation
from rewardkit.verifiers.stated_answer import stated_answer, unwrapped

LETTERS = string.ascii_uppercase

_LOOSE = Normalisation(case=True, white_space=True)


def option_texts(column: object) -> list[str]:
    """Return the options' texts without their letters; empty if the column holds no options.

    A column is a list of texts, a mapping with a list under `text` or `choices`, or a mapping from
    letters to texts.

    >>> option_texts(["A) 21", "B) 34"])
    ['21', '34']
    """
    if isinstance(column, Mapping):
        listed = column.get("text", column.get("choices"))
        column = listed if isinstance(listed, list | tuple) else list(column.values())
    if not isinstance(column, list | tuple):
        return []
    texts = [str(text) for text in column]
    matches = [
        re.match(rf"\s*(?:\({letter}\)|{letter}[).:])\s*", text)
        for letter, text in zip(LETTERS, texts, strict=False)
    ]
    if len(matches) == len(texts) and all(matches):
        return [text[match.end() :] for text, match in zip(texts, matches, strict=True) if match]
    return texts


def named_option(answer: str, column: object) -> str | None:
    """Return the letter of the one option whose text `answer` states; None without one.

    >>> named_option("The answer is Oslo.", ["Bergen", "Oslo"])
    'B'
    """
    stated = _LOOSE(unwrapped(stated_answer(answer, "lenient")))
    if not stated or (len(stated) == 1 and stated.isalpha()):
        return None
    texts = [_LOOSE(unwrapped(text)) for text in option_texts(column)]
    if texts.count(stated) != 1 or texts.index(stated) >= len(LETTERS):
        return None
    return LETTERS[texts.index(stated)]
