"""The 24-point game: four numbers, each used exactly once, and an expression that equals 24."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import ClassVar

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.thinking import text_to_read
from rewardkit.verifiers.arithmetic import (
    Expression,
    NotArithmetic,
    ascii_operators,
    read_expression,
)
from rewardkit.verifiers.reading import answer_tags, boxes
from rewardkit.verifiers.rubric import Rubric

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
    boxed = boxes(text)
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
    boxed = boxes(block)
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


TARGET = 24
GIVEN_AND_WRONG = 0.35
"""The outcome's score for an expression that is wrong."""

Table = tuple[Ratio, ...]
"""The numbers that a step may use, sorted."""

Move = tuple[Ratio, str, Ratio, Ratio]
"""a op b = c."""

CAN = "the numbers can make 24"

_NO_SOLUTION = re.compile(
    r"(?:\\text\s?\{|[\s\"'“*])*(?:there\sis\s)?"
    r"(?:no\s(?:valid\s)?solutions?|impossible|unsolvable|无解)[\s}\"'”*.!。]*",
    re.IGNORECASE,
)


@lru_cache(maxsize=200_000)
def moves_to_target(table: Table) -> tuple[Move, ...] | None:
    """The moves `a op b = c` that lead from the sorted `table` to 24, or None without any."""
    if len(table) == 1:
        return () if table[0] == (TARGET, 1) else None
    for first, second in combinations(range(len(table)), 2):
        rest = [value for place, value in enumerate(table) if place not in (first, second)]
        for move in _results(table[first], table[second]):
            later = moves_to_target(tuple(sorted([*rest, move[3]])))
            if later is not None:
                return (move, *later)
    return None


def _results(first: Ratio, second: Ratio) -> Iterator[Move]:
    """The results of all operations on two numbers, larger differences first."""
    (a, b), (c, d) = first, second
    yield first, "+", second, _lowest(a * d + c * b, b * d)
    yield first, "*", second, _lowest(a * c, b * d)
    yield second, "-", first, _lowest(c * b - a * d, b * d)
    yield first, "-", second, _lowest(a * d - c * b, b * d)
    if a:
        yield second, "/", first, _lowest(c * b, d * a)
    if c:
        yield first, "/", second, _lowest(a * d, b * c)


def _lowest(numerator: int, denominator: int) -> Ratio:
    divisor = math.gcd(numerator, denominator)
    if denominator < 0:
        divisor = -divisor
    return numerator // divisor, denominator // divisor


@dataclass(frozen=True)
class Outcome(Bounded):
    r"""Score the final expression: 1 if it is right, 0.35 if it is wrong, 0 if there is none.

    The expression is in `<answer>`, else in `\boxed{}`, else after `Answer:` or `答案:` on the last
    such line. It is right if it uses each number exactly once and equals 24 exactly; each side of
    an equation must equal 24. A lone number or a division by zero is an expression; words,
    unfinished arithmetic and text too long for four numbers are not. "No solution" is right for
    numbers that can't make 24, and for these alone. The reference, "4 7 8 8", or else the column
    `numbers` holds the four numbers from 1 to 13.

    >>> Outcome()("Answer: (7 - 8 / 8) * 4 = 24", Sample("4 7 8 8")).score
    1.0
    """

    thinking: ClassVar = "strip"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        numbers = four_numbers(sample)
        if numbers is None:
            return _unreadable(sample)
        final = read_reply(text_to_read(text, "strip")).final
        if final is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no final expression is given")
        if _NO_SOLUTION.fullmatch(final):
            moves = moves_to_target(tuple((number, 1) for number in numbers))
            return Verdict.judged(moves is None, answer=final, message="" if moves is None else CAN)
        try:
            sides = _sides(final)
        except NotArithmetic as error:
            return Verdict.wrong(Failure.FORMAT, answer=final[:200], message=str(error))
        fault = _fault(sides, numbers)
        if fault:
            return Verdict.scored(GIVEN_AND_WRONG, answer=final, message=fault)
        return Verdict.right(answer=final)


@dataclass(frozen=True)
class Process(Bounded):
    """Score the share of correct steps, in [0, 1]; 0 without steps.

    A step is a reasoning line with `a op b = c`; each line has at most one. It is correct if the
    arithmetic is exact, both operands are available and the list of numbers left, if given, is
    right. Available are the numbers that earlier steps left, or all four again, because a search
    may restart. A step with wrong arithmetic or operands changes no numbers; a step with only a
    wrong list still uses its operands.
    """

    thinking: ClassVar = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        numbers = four_numbers(sample)
        if numbers is None:
            return _unreadable(sample)
        steps = [step for line in read_reply(text).lines if (step := read_step(line))]
        if not steps:
            return Verdict.wrong(Failure.NO_REASONING, message="no step is shown")
        correct = _count_correct(steps, numbers)
        return Verdict.scored(
            correct / len(steps), message=f"{correct} of {len(steps)} steps are correct"
        )


@dataclass(frozen=True)
class Length(Bounded):
    """Score the number of reasoning lines l in (0, 1]: 1 if l ≤ t, else 1 / (1 + e^(k(l − t − m))).

    A reasoning line isn't blank, doesn't consist of tags only, and doesn't hold the final answer.
    The reference isn't read.
    """

    thinking: ClassVar = "whole"
    needs_reference: ClassVar[bool] = False

    t: float = 4
    m: float = 20
    k: float = 0.2

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        lines = len(read_reply(text).lines)
        if lines <= self.t:
            return Verdict.right()
        return Verdict.scored(
            _logistic_decay(self.k * (lines - self.t - self.m)),
            failure=Failure.FORMAT,
            message=f"{lines} reasoning lines, {self.t:g} of them free",
        )


game24 = Rubric(
    parts={"outcome": Outcome(), "process": Process(), "length": Length()},
    weights={"outcome": 0.55, "process": 0.30, "length": 0.15},
    decides="outcome",
)


def _logistic_decay(x: float) -> float:
    """Return 1 / (1 + e^x), also if e^x is too large for a float."""
    power = math.exp(-abs(x))
    return (power if x > 0 else 1.0) / (1.0 + power)


def _unreadable(sample: Sample) -> Verdict:
    return Verdict.unjudged(
        f"the reference {sample.reference[:80]!r} isn't four numbers from 1 to 13"
    )


def _sides(final: str) -> list[Expression]:
    """Return the final answer's expressions: one, or the sides of an equation."""
    text = ascii_operators(final).strip().strip("*`").strip().rstrip(".。")
    return [read_expression(side) for side in text.split("=", maxsplit=8)]


def _fault(sides: list[Expression], numbers: tuple[int, ...]) -> str:
    """Return what is wrong with the expression, or an empty text."""
    if tuple(sorted(sides[0].numbers)) != numbers:
        return f"it must use each of {', '.join(map(str, numbers))} exactly once"
    for side in sides:
        if side.value != TARGET:
            return f"it is {'undefined' if side.value is None else side.value}, not {TARGET}"
    return ""


def _count_correct(steps: list[Step], numbers: tuple[int, ...]) -> int:
    """Return how many steps are correct, in order.

    A line may continue or restart the search, and the text needn't say which, so every possible
    table is kept. A table shrinks with each step, so there are at most three.
    """
    correct = 0
    fresh = tuple(sorted((number, 1) for number in numbers))
    tables = {fresh}
    for step in steps:
        if (step.a, step.operator, step.b, step.result) not in _results(step.a, step.b):
            continue
        after = {left for table in (*tables, fresh) if (left := _after_step(table, step))}
        agreeing = {left for left in after if step.left in (None, left)}
        correct += bool(agreeing)
        tables = agreeing or after or tables
    return correct


def _after_step(table: Table, step: Step) -> Table | None:
    """Return the numbers left after the step; None if an operand isn't in the table."""
    left = list(table)
    for operand in (step.a, step.b):
        if operand not in left:
            return None
        left.remove(operand)
    return tuple(sorted([*left, step.result]))
