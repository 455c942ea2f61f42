"""The letter of an option before its text: `(C) 27` beside the reference C."""

from __future__ import annotations

import re

_WRAPPER = re.compile(
    r"\\(?:text|math)(?:bf|rm|it|sf|tt|normal)?\s*\{"
    r"|\\(?:left|right|q?quad(?![a-z])|[,;:! ])|[{}$~*]"
)
_LETTER = re.compile(r"\(?([A-J])\)?\.?")
_LABEL = re.compile(
    r"(?:(?:the )?(?:correct )?(?:answer|option|choice)(?: is)?:? )?"
    r"(?:\(([A-J])\)|([A-J])(?:[).:]|\Z))",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\([A-J]\)|(?<![A-Za-z])[A-J][).:]|\bor [A-J]\b"
    r"|\bis (?:not|wrong|incorrect|false)\b|\bisn't\b"
)


def states_letter(answer: str, reference: str) -> bool:
    """Whether the answer is the option with the reference's letter, and with its text."""
    letter = _LETTER.fullmatch(_plain(reference))
    if letter is None:
        return False
    plain = _plain(answer)
    label = _LABEL.match(plain)
    if label is None or _ANOTHER.search(plain, label.end()):
        return False
    return (label[1] or label[2]) == letter[1]


def _plain(text: str) -> str:
    return " ".join(_WRAPPER.sub(" ", text).split())
