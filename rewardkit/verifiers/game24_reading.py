"""Read a completion of the 24-point game: reasoning lines, steps, the final expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rewardkit.records import Sample
from rewardkit.verifiers.arithmetic import ascii_operators
from rewardkit.verifiers.reading import answer_tags, boxes

HIGHEST = 13
"""The largest number; like cards, they go from 1 to 13."""

LONGEST_LINE = 400
"""Characters of a line that are searched for a step."""

Ratio = tuple[int, int]
"""A number as numerator and positive denominator in lowest terms: it compares faster than a
Fraction, and a completion may hold a hundred thousand steps."""

UNREADABLE: Ratio = (0, 0)
"""Replaces an unreadable item in a list of numbers left; no step leaves it."""

_FOUR = re.compile(r"[\s(\[{]*([0-9]{1,2})" + r"[\s,;，、]+([0-9]{1,2})" * 3 + r"[\s)\]}]*")
_ANSWER_LINE = re.compile(r"(?:\b[Aa]nswer|ANSWER|答案)\s{0,4}\*{0,2}\s{0,4}[:：]\s{0,4}\*{0,2}")
_BOX = re.compile(r"\\f?box")
_TAGS_ONLY = re.compile(r"(?:\s{0,8}</?\w{1,20}>){1,8}\s{0,8}")
_BOLD = re.compile(r"(?<![\d)])(?<![\d)]\s)\*\*|\*\*(?!\s?[\d(])")  # but not the power 2 ** 3
_LINE_START = re.compile(r"\A\s{0,40}(?:[-*•>]\s|[0-9]{1,3}[.)]\s)")
_PLAIN = r"-?[0-9]{1,9}(?![0-9])(?:\.[0-9]{1,9}(?![0-9]))?(?:/[0-9]{1,9}(?![0-9.]))?"
_VALUE = rf"(?:\(\s?{_PLAIN}\s?\)|{_PLAIN})"
_STEP = re.compile(
    rf"(?<![\w.)/*+=\-])(?P<a>{_VALUE})\s?(?P<op>[-+*/])\s?(?P<b>{_VALUE})\s?=\s?(?P<c>{_VALUE})"
    r"(?![0-9])(?!\s?[-+*/^]\s?[0-9(])"
)
_FRAC = re.compile(r"\\frac\s?\{\s?([0-9]{1,9})\s?\}\s?\{\s?([0-9]{1,9})\s?\}")
_LEFT = re.compile(r"\(\s?[Ll]eft\s?:(?P<list>[^()]{0,200})\)")


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion's reasoning lines and the text of its final expression; None without one."""

    lines: tuple[str, ...]
    final: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A line's `a op b = c`, and the numbers it lists as left, sorted; None without a list."""

    a: Ratio
    operator: str
    b: Ratio
    result: Ratio
    left: tuple[Ratio, ...] | None


def four_numbers(sample: Sample) -> tuple[int, ...] | None:
    """Return the sample's numbers, sorted, from its reference "4 7 8 8" or its column `numbers`.

    None unless they are four numbers from 1 to 13.
    """
    given: object = sample.reference.strip() or sample.columns.get("numbers", "")
    if isinstance(given, (list, tuple)):
        given = " ".join(map(str, given))
    match = _FOUR.fullmatch(str(given))
    values = sorted(map(int, match.groups())) if match else [0]
    return tuple(values) if values[0] >= 1 and values[-1] <= HIGHEST else None


@lru_cache(maxsize=4)  # the three parts of the rubric read the same completion
def read_reply(text: str) -> Reply:
    r"""Split a completion into its reasoning and its final answer.

    The final answer is the last `<answer>` block, else the last box, else the text after `Answer:`
    or `答案:` on the last such line (or the next line that isn't blank). A reasoning line isn't
    blank, doesn't consist of tags only, and doesn't hold the final answer.
    """
    tags = answer_tags(text)
    if tags:
        start = text.rfind("\n", 0, tags[0].start()) + 1
        end = text.find("\n", tags[1].end())
        rest = text[:start] + (text[end:] if end >= 0 else "")
        return Reply(_reasoning(rest.split("\n")), _inside(text[tags[0].end() : tags[1].start()]))
    lines = text.split("\n")
    boxed = boxes(text) if "box" in text else []
    if boxed:
        at = max(index for index, line in enumerate(lines) if _BOX.search(line))
        return Reply(_reasoning(lines[:at] + lines[at + 1 :]), boxed[-1])
    return _by_answer_line(lines)


def read_step(line: str) -> Step | None:
    """Return the line's first `a op b = c`, or None; `1 + 2 + 3 = 6` isn't a step."""
    line = line[:LONGEST_LINE]
    if "=" not in line and "＝" not in line:
        return None
    line = ascii_operators(_BOLD.sub("", line) if "**" in line else line)
    line = _FRAC.sub(r"(\1/\2)", line) if "\\" in line else line
    line = _LINE_START.sub("", " ".join(line.split()))
    left = _LEFT.search(line)
    for match in _STEP.finditer(line):
        if line[: match.start()].rstrip()[-1:] not in ("+", "-", "*", "/", "=", "^"):
            a, b, result = _value(match["a"]), _value(match["b"]), _value(match["c"])
            if a and b and result:
                return Step(a, match["op"], b, result, _left(left["list"]) if left else None)
    return None


def _by_answer_line(lines: list[str]) -> Reply:
    answer_lines = [index for index, line in enumerate(lines) if _ANSWER_LINE.search(line)]
    if not answer_lines:
        return Reply(_reasoning(lines), None)
    start = end = answer_lines[-1]
    final = _ANSWER_LINE.split(lines[start])[-1].strip()
    while not final and end + 1 < len(lines):
        end += 1
        final = lines[end].strip()
    return Reply(_reasoning(lines[:start] + lines[end + 1 :]), final or None)


def _inside(block: str) -> str | None:
    boxed = boxes(block) if "box" in block else []
    return (boxed[-1] if boxed else _ANSWER_LINE.split(block)[-1].strip()) or None


def _reasoning(lines: list[str]) -> tuple[str, ...]:
    return tuple(
        line for line in lines if line and not line.isspace() and not _TAGS_ONLY.fullmatch(line)
    )


def _left(listed: str) -> tuple[Ratio, ...]:
    """Return the numbers of a list of numbers left, sorted."""
    values = [_value(item) for item in re.split(r"[\s,;]+", listed.strip()) if item]
    return tuple(sorted(value or UNREADABLE for value in values))


@lru_cache(maxsize=4096)
def _value(written: str) -> Ratio | None:
    try:
        return Fraction(written.strip("() ")).as_integer_ratio()
    except (ValueError, ZeroDivisionError):
        return None
