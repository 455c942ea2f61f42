"""The verifier: reads the expression of a completion and computes it exactly."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from rewardkit.plugin import (
    Bounded,
    Failure,
    NotArithmetic,
    Sample,
    Verdict,
    answer_block,
    ascii_operators,
    read_expression,
)


@dataclass(frozen=True)
class Countdown(Bounded):
    """Right when the expression equals the target and uses each number at most once.

    The reference is JSON: `{"target": 98, "numbers": [44, 19, 35]}`. An expression of the right
    numbers that misses the target scores `attempt`, in [0, 1].
    """

    attempt: float = 0.1

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on `text`."""
        problem = read_problem(sample.reference)
        if problem is None:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} has no target and numbers"
            )
        target, numbers = problem
        answer = answer_block(text)
        if answer is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no <answer>")
        try:
            expression = read_expression(ascii_operators(answer).partition("=")[0])
        except NotArithmetic as error:
            return Verdict.wrong(Failure.FORMAT, answer=answer[:200], message=str(error))
        if Counter(expression.numbers) - Counter(numbers):
            return Verdict.wrong(
                Failure.WRONG, answer=answer, message=f"the numbers are {numbers_text(numbers)}"
            )
        if expression.value != target:
            return Verdict.scored(self.attempt, answer=answer, message=f"it is {expression.value}")
        return Verdict.right(answer=answer)


def read_problem(reference: str) -> tuple[int, list[Fraction]] | None:
    """Return the target and the numbers of a reference; None when it can't be read."""
    try:
        problem = json.loads(reference)
        return int(problem["target"]), [Fraction(int(number)) for number in problem["numbers"]]
    except (ValueError, TypeError, KeyError):
        return None


def numbers_text(numbers: list[Fraction]) -> str:
    """Return the numbers, separated by commas."""
    return ", ".join(str(number) for number in numbers)
