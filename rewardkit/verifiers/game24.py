"""The 24-point game: four numbers, each used exactly once, and an expression that equals 24."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from rewardkit.verifiers.game24_reading import Ratio, Step, four_numbers, read_reply, read_step
from rewardkit.verifiers.rubric import Rubric

TARGET = 24
GIVEN_AND_WRONG = 0.35
"""The outcome's score for an expression that is wrong."""

Table = tuple[Ratio, ...]
"""The numbers that a step may use, sorted."""


@dataclass(frozen=True)
class Outcome(Bounded):
    r"""Score the final expression: 1 if it is right, 0.35 if it is wrong, 0 if there is none.

    The expression is in `<answer>`, else in `\boxed{}`, else after `Answer:` or `答案:` on the last
    such line. It is right if it uses each number exactly once and equals 24 exactly; each side of
    an equation must equal 24. A lone number or a division by zero is an expression; words,
    unfinished arithmetic and text too long for four numbers are not. The reference, "4 7 8 8", or
    else the column `numbers` holds the four numbers from 1 to 13.

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
            return f"it is {'no number' if side.value is None else side.value}, not {TARGET}"
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
        if not _holds(step):
            continue
        after = {left for table in (*tables, fresh) if (left := _after_step(table, step))}
        agreeing = {left for left in after if step.left in (None, left)}
        correct += bool(agreeing)
        tables = agreeing or after or tables
    return correct


def _holds(step: Step) -> bool:
    """Whether the step's arithmetic is exact."""
    (a, b), (c, d), (e, f) = step.a, step.b, step.result
    if step.operator == "*":
        return a * c * f == e * b * d
    if step.operator == "/":
        return c != 0 and a * d * f == e * b * c
    return (a * d + (c * b if step.operator == "+" else -c * b)) * f == e * b * d


def _after_step(table: Table, step: Step) -> Table | None:
    """Return the numbers left after the step; None if an operand isn't in the table."""
    left = list(table)
    for operand in (step.a, step.b):
        if operand not in left:
            return None
        left.remove(operand)
    return tuple(sorted([*left, step.result]))
