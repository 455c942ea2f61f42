"""A reference or an answer, read once: its text, its number, its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rewardkit.verifiers.math.syntax.answer_parser import read
from rewardkit.verifiers.math.syntax.dates import date, without_ordinals
from rewardkit.verifiers.math.syntax.exact import Exact, exact
from rewardkit.verifiers.math.syntax.normalise import normal
from rewardkit.verifiers.math.syntax.phrases import phrase
from rewardkit.verifiers.math.syntax.tree import Clock, Node
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_WORDS = re.compile(r"(?:\\text\s*\{[^{}\\]*\}|[^\\{}^_=<>])*")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_TIME = re.compile(r"([01]?[0-9]|2[0-4])(?::|\{:\}|\\colon )([0-5][0-9])")
_LISTED = re.compile(r"[0-9],(?:\s|~|\\[,;: ])+[0-9]{3}")  # no comma that groups thousands
_TERMS = re.compile(r"[0-9.]\s*[eE]\s*[-+]\s+[0-9]|[0-9.]\s*[eE]\s+[-+]")  # 2e - 1: two terms

REMEMBERED = 256
"""Maximum length of a text whose parse is cached, so that the cache doesn't fill the memory."""


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
        """Whether the side has anything to compare."""
        return any(character.isalnum() or character in "\\∅" for character in self.text)

    words: str = ""
    """The words in one spelling, if the side has only words."""

    verbal: bool = False
    """Whether the side is words rather than mathematics."""


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
    number = None if _LISTED.search(text) or _TERMS.search(text) else exact(plain)
    if number is not None:
        return Side(plain, number)
    time = _time(_TEXT.sub(r"\1", plain).strip())
    if time is not None:
        return Side(plain, None, time)
    spoken = phrase(text)
    if spoken is not None and spoken.certain:
        return Side(plain, None, spoken.tree(), words=spoken.words, verbal=True)
    words = spoken.words if spoken is not None else ""
    try:
        return Side(plain, None, read(text), words=words)
    except UnreadableError as error:
        words = words or (_spoken(text) if _WORDS.fullmatch(plain) else "")
        return Side(plain, None, None, str(error), error.foreign, words, bool(words))


def _spoken(text: str) -> str:
    """A text of words and numbers in one spelling."""
    plain = _TEXT.sub(r"\1", text).casefold()
    for noise in "{}$~":
        plain = plain.replace(noise, " ")
    words = " ".join(plain.split()).rstrip(" .")
    return date(words) or without_ordinals(words)


def _time(text: str) -> Node | None:
    """A time of day: with a half of the day as words, without one as hours and minutes."""
    clock = _CLOCK.fullmatch(text)
    if clock:
        hour, minute, half = clock.groups()
        if int(hour) > 12:
            return None
        return Clock(int(hour) % 12 + 12 * (half.lower() == "p"), int(minute or 0))
    time = _TIME.fullmatch(text)
    return Clock(int(time[1]), int(time[2]), stated=False) if time else None


_remembered = lru_cache(maxsize=1024)(_side)


@lru_cache(maxsize=1024)
def _tree(text: str) -> Node | None:
    try:
        return read(text)
    except UnreadableError:
        return None
