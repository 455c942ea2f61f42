"""A reference or an answer, read once: its text, its number, its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rewardkit.verifiers.math.syntax.answer_parser import read
from rewardkit.verifiers.math.syntax.exact import Exact, exact
from rewardkit.verifiers.math.syntax.normalise import normal
from rewardkit.verifiers.math.syntax.tokens import UnreadableError
from rewardkit.verifiers.math.syntax.tree import Node, Symbol, Text

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_LISTED = re.compile(r"[0-9],(?:\s|~|\\[,;: ])+[0-9]{3}")  # no comma that groups thousands
_WORDS = re.compile(r"(?:\\text\s*\{[^{}\\]*\}|[^\\{}^_=<>])*")
_LETTER = re.compile(r"\(([a-z])\)")


REMEMBERED = 256
"""Characters of the longest text whose reading is kept: what is kept must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    `number` is None unless the text as a whole is one; `tree` is None where we can't read it, for
    the `reason` given; `foreign`: another reader may know how.
    """

    text: str
    number: Exact | None
    tree: Node | None = None
    reason: str = ""
    foreign: bool = False

    @property
    def readable(self) -> bool:
        """Whether there is anything to compare with."""
        return any(character.isalnum() or character in "\\∅" for character in self.text)

    @property
    def words(self) -> str:
        """The text in one spelling for words: lower-case, without what only marks it as text."""
        plain = _TEXT.sub(r"\1", self.text).casefold()
        plain = " ".join(plain.replace("{", " ").replace("}", " ").split()).rstrip(" .")
        letter = _LETTER.fullmatch(plain)
        return letter[1] if letter else plain

    @property
    def verbal(self) -> bool:
        """Whether it says something in words rather than in mathematics."""
        if isinstance(self.tree, Symbol):
            return "\\text" in self.text
        return isinstance(self.tree, Text) or (
            self.tree is None and self.number is None and _WORDS.fullmatch(self.text) is not None
        )


def side(text: str) -> Side:
    """The text as a number, else as a tree. Bounded by the limits of the readers."""
    return _remembered(text) if len(text) <= REMEMBERED else _side(text)


def tree(read_side: Side) -> Node | None:
    """The tree of a side that was read no further than as a number, or that has one."""
    if read_side.tree is not None or read_side.number is None:
        return read_side.tree
    return _tree(read_side.text)


def _side(text: str) -> Side:
    plain = normal(text.strip().strip("$").strip())
    number = None if _LISTED.search(text) else exact(plain)
    if number is not None:
        return Side(plain, number)
    clock = _CLOCK.fullmatch(_TEXT.sub(r"\1", plain).strip())
    if clock:
        hour, minute, half = clock.groups()
        return Side(plain, None, Text(f"{int(hour) % 12}:{minute or '00'} {half.lower()}m"))
    try:
        return Side(plain, None, read(text))
    except UnreadableError as error:
        return Side(plain, None, None, str(error), error.foreign)


_remembered = lru_cache(maxsize=1024)(_side)


@lru_cache(maxsize=1024)
def _tree(text: str) -> Node | None:
    try:
        return read(text)
    except UnreadableError:
        return None
