"""Reading a reply to a motion problem: its blocks, its coordinates, its pieces of form.

A reply is `[Analysis]` with steps S1–S3, `[ANSWER]` with `(9.5), (11.0), …`, `[End]`. The first
`[End]` that follows both other tags ends it; the last `[ANSWER]` before that one counts.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

PREDICTED = 5
"""How many coordinates a reply predicts."""

MOST = 100
"""How many coordinates are read: a reply of a million must not make a verdict of a million."""

TAGS = ("[Analysis]", "[ANSWER]", "[End]")

# Possessive or counted throughout, so that each pattern is linear in the text's length.
_NUMBER = r"[-+−–]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
_COORDINATE = rf"\(\s*+{_NUMBER}\s*+\)"
_TERM = rf"(?:{_COORDINATE}|{_NUMBER})"
_ENDS = r"(?! *+[-+*/×÷=−–])"

TAG = re.compile("|".join(map(re.escape, TAGS)))
NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}")
COORDINATE = re.compile(rf"\(\s*+({_NUMBER})\s*+\)")
BARE_LIST = re.compile(rf"\s*+[\[(]?+\s*+{_NUMBER}(?:[\s,;]++{_NUMBER})*+[\s,;]*+[\])]?+\s*+")
SEPARATED = re.compile(rf"\s*+{_COORDINATE}(?:\s*+,\s*+{_COORDINATE})*+\s*+")
DIFFERENCE = re.compile(
    rf"[Δ∆]x[\w{{}}]{{0,9}}+ *+= *+(?:{_TERM} *+[-−–] *+{_TERM} *+= *+)?{_TERM}{_ENDS}"
)
SPEED = re.compile(
    r"(?<!\w)(?:v(?:x|elocity)?+(?:_[\w{}]*+)?+|speed) *+[=:≈] *+"
    rf"(?:[^=≈\n]{{0,99}}+[=≈] *+){{0,3}}{_TERM}{_ENDS}",
    re.IGNORECASE,
)


def blocks(text: str) -> tuple[str, str] | None:
    """The analysis and the answer; None unless the three tags come in order."""
    start = text.find(TAGS[0])
    opening = text.find(TAGS[1], start)
    end = text.find(TAGS[2], opening)
    if min(start, opening, end) < 0:
        return None
    analysis, _, answer = text[start + len(TAGS[0]) : end].rpartition(TAGS[1])
    return analysis, answer


def section(text: str, tag: str) -> str:
    """What follows the first `tag`, up to the next tag of any kind or the end."""
    return TAG.split(text.partition(tag)[2], maxsplit=1)[0]


def coordinates(text: str) -> list[float] | None:
    """The coordinates `(9.5), (11.0), …` in the text, or a list `[9.5, 11.0]` that is all of it.

    None when there are none, the first hundred of more. A value beyond a float's range is the
    largest float.
    """
    values = _first(COORDINATE.finditer(text))
    if not values and BARE_LIST.fullmatch(text):
        values = _first(NUMBER.finditer(text))
    return values or None


def last_coordinates(text: str) -> list[float] | None:
    """The last five `(c)` anywhere in the text, else its last five numbers; None with fewer."""
    for pattern in (COORDINATE, NUMBER):
        found = deque(pattern.finditer(text), maxlen=PREDICTED)
        if len(found) == PREDICTED:
            return [_value(match) for match in found]
    return None


def rendered(values: Sequence[float]) -> str:
    """`(9.5), (11.0), …`: read back by `coordinates` to the same floats."""
    return ", ".join(f"({value!r})" for value in values)


def has_steps(analysis: str) -> bool:
    """Whether S1, S2 and S3 follow each other in it."""
    position = 0
    for step in ("S1", "S2", "S3"):
        position = analysis.find(step, position)
        if position < 0:
            return False
    return True


def has_differences(analysis: str) -> bool:
    """Whether it holds four equations `Δx1 = b - a = c`, or `Δx1 = c`."""
    return len(DIFFERENCE.findall(analysis)) >= PREDICTED - 1


def has_speed(analysis: str) -> bool:
    """Whether it holds an equation `v = … = c`, for v, vx, v_avg, velocity or speed."""
    return SPEED.search(analysis) is not None


def is_separated(answer: str) -> bool:
    """Whether it is coordinates `(c)` with commas between, and nothing else."""
    return SEPARATED.fullmatch(answer) is not None


def _first(matches: Iterator[re.Match[str]]) -> list[float]:
    return [_value(match) for match in islice(matches, MOST)]


def _value(match: re.Match[str]) -> float:
    value = float(match[match.lastindex or 0].replace("−", "-").replace("–", "-"))
    return max(-sys.float_info.max, min(sys.float_info.max, value))
