"""Read a completion of a motion problem: its blocks, its coordinates, its form.

A completion is `[Analysis]` with steps S1–S3, `[ANSWER]` with `(9.5), (11.0), …`, `[End]`. The
first `[End]` after both other tags ends it; the last `[ANSWER]` before it counts. A point has one,
two or three coordinates, `(9.5, 2.0)`; a list of points is flat, one point after the other.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

PREDICTED = 5
"""How many points a completion predicts."""

MOST = 100
"""How many points are read: a million points must not make a verdict of a million points."""

DIMENSIONS = (1, 2, 3)

TAGS = ("[Analysis]", "[ANSWER]", "[End]")

# Possessive or counted throughout, so that each pattern is linear in the text's length.
NUMBER_PATTERN = r"[-+−–]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"

TAG = re.compile("|".join(map(re.escape, TAGS)))
NUMBER = re.compile(rf"(?<![\w.]){NUMBER_PATTERN}")


@dataclass(frozen=True, slots=True)
class Forms:
    """The patterns of points of one dimension count."""

    point: re.Pattern[str]
    """A point in round brackets, a group for each coordinate."""
    bare: re.Pattern[str]
    """A list of points that is the whole text."""
    separated: re.Pattern[str]


@cache
def forms(dimensions: int) -> Forms:
    """Return the patterns for points of 1, 2 or 3 coordinates."""
    point = (
        rf"\(\s*+{NUMBER_PATTERN}" + rf"\s*+,\s*+{NUMBER_PATTERN}" * (dimensions - 1) + r"\s*+\)"
    )
    item = NUMBER_PATTERN
    if dimensions > 1:
        item = point.replace(r"\(", r"[\[(]").replace(r"\)", r"[\])]")
    return Forms(
        point=re.compile(point.replace(NUMBER_PATTERN, f"({NUMBER_PATTERN})")),
        bare=re.compile(rf"\s*+[\[(]?\s*+{item}(?:[\s,;]++{item})*+[\s,;]*+[\])]?+\s*+"),
        separated=re.compile(rf"\s*+{point}(?:\s*+,\s*+{point})*+\s*+"),
    )


def blocks(text: str) -> tuple[str, str] | None:
    """Return the analysis and the answer; None unless the three tags come in order."""
    start = text.find(TAGS[0])
    opening = text.find(TAGS[1], start)
    end = text.find(TAGS[2], opening)
    if min(start, opening, end) < 0:
        return None
    analysis, _, answer = text[start + len(TAGS[0]) : end].rpartition(TAGS[1])
    return analysis, answer


def section(text: str, tag: str) -> str:
    """Return the text after the first `tag`, up to the next tag of any kind or the end."""
    return TAG.split(text.partition(tag)[2], maxsplit=1)[0]


def coordinates(text: str, dimensions: int = 1) -> list[float] | None:
    """Return the coordinates of the points `(9.5), (11.0), …` in the text; None without points.

    The text may also be a list, `[9.5, 11.0]` or `[[9.5, 2.0], [11.0, 3.0]]`. At most a hundred
    points are read. A value beyond a float's range is the largest float.

    >>> coordinates("(9.5), then (11.0)")
    [9.5, 11.0]
    """
    written = forms(dimensions)
    values = _first(written.point.finditer(text), MOST)
    if not values and written.bare.fullmatch(text):
        values = _first(NUMBER.finditer(text), MOST * dimensions)
    return values or None


def five_points(text: str) -> tuple[int, list[float]] | None:
    """Return the dimensions and the coordinates of a text with exactly five points, else None."""
    for dimensions in DIMENSIONS:
        values = coordinates(text, dimensions)
        if values is not None and len(values) == PREDICTED * dimensions:
            return dimensions, values
    return None


def last_coordinates(text: str, dimensions: int = 1) -> list[float] | None:
    """Return the coordinates of the last five points in the text, or else its last numbers.

    None if there are too few for five points.
    """
    for pattern, per_point in ((forms(dimensions).point, 1), (NUMBER, dimensions)):
        matches = deque(pattern.finditer(text), maxlen=PREDICTED * per_point)
        if len(matches) == PREDICTED * per_point:
            return [value for match in matches for value in _values(match)]
    return None


def rendered(values: Sequence[float], dimensions: int = 1) -> str:
    """Return the points as `(9.5), (11.0), …`; `coordinates` reads the same floats back."""
    return ", ".join(
        f"({', '.join(map(repr, values[at : at + dimensions]))})"
        for at in range(0, len(values), dimensions)
    )


def grouped(dimensions: int, values: Sequence[float]) -> list[float] | list[list[float]]:
    """Return a number for each point, or a list of its coordinates if it has several."""
    if dimensions == 1:
        return list(values)
    return [list(values[at : at + dimensions]) for at in range(0, len(values), dimensions)]


def is_separated(answer: str, dimensions: int = 1) -> bool:
    """Return whether the answer is points `(c)`, separated by commas, and nothing else."""
    return forms(dimensions).separated.fullmatch(answer) is not None


def numbers(text: str) -> list[float]:
    """Return all numbers of the text; a value beyond a float's range is the largest float."""
    return [_value(match[0]) for match in NUMBER.finditer(text)]


def _first(matches: Iterator[re.Match[str]], most: int) -> list[float]:
    return [value for match in islice(matches, most) for value in _values(match)]


def _values(match: re.Match[str]) -> list[float]:
    return [_value(written) for written in match.groups() or (match[0],)]


def _value(written: str) -> float:
    value = float(written.replace("−", "-").replace("–", "-"))
    return max(-sys.float_info.max, min(sys.float_info.max, value))
