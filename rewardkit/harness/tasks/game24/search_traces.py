"""Search traces of the 24-point game: attempts that fail, and the one that succeeds.

Every step is correct arithmetic on available numbers, so the process score is 1. The number of
lines grows with the attempts, so the length score differs between traces.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from rewardkit.harness.tasks.game24.solver import TARGET, Solution, solve

MOST_ATTEMPTS = 12
"""Failed attempts in the longest trace: up to four lines each, about 50 lines in all."""

LARGEST = 10_000
"""The largest numerator or denominator of an intermediate result."""


def search_trace(numbers: tuple[int, ...], seed: int | str, attempts: int | None = None) -> str:
    """Write a reply that fails `attempts` times, says so, goes back, and ends in the solution.

    With `attempts` None the seed draws 1 to 12, small numbers more often. Raises ValueError for
    numbers without a solution.
    """
    solution = _solved(numbers)
    steps = search_steps(numbers, seed, attempts)
    return "\n".join([*steps, f"Answer: {solution.expression} = {TARGET}"])


def search_steps(
    numbers: tuple[int, ...], seed: int | str, attempts: int | None = None
) -> list[str]:
    """The lines of `search_trace` before its answer."""
    solution = _solved(numbers)
    generator = random.Random(f"trace/{seed}")
    if attempts is None:
        attempts = min(MOST_ATTEMPTS, 1 + int(generator.expovariate(1 / 4)))
    lines: list[str] = []
    for _ in range(attempts):
        failure: list[str] = []
        while not failure:  # an attempt may reach the target by chance
            failure = _failing_attempt([Fraction(number) for number in numbers], generator)
        lines += failure
    return [*lines, *solution.steps]


def _solved(numbers: tuple[int, ...]) -> Solution:
    solution = solve(numbers)
    if solution is None:
        raise ValueError(f"{' '.join(map(str, numbers))} can't make {TARGET}")
    return solution


def _failing_attempt(numbers: list[Fraction], generator: random.Random) -> list[str]:
    """Two or three random steps and a line that says they failed, or nothing if they succeed."""
    hand = _join_sorted(numbers)
    lines: list[str] = []
    while len(numbers) > 1:
        first, operator, second, result = _random_step(numbers, generator)
        numbers.remove(first)
        numbers.remove(second)
        numbers.append(result)
        if numbers == [TARGET]:
            return []
        lines.append(
            f"{_format_operand(first)} {operator} {_format_operand(second)} = {result} "
            f"(left: {_join_sorted(numbers)})"
        )
        if len(numbers) == 2 and not _reaches_target(*numbers):
            return [*lines, f"No way to {TARGET} from {_join_sorted(numbers)}. Back to {hand}."]
    return [*lines, f"That is not {TARGET}. Back to {hand}."]


def _random_step(
    numbers: Sequence[Fraction], generator: random.Random
) -> tuple[Fraction, str, Fraction, Fraction]:
    while True:
        first, second = generator.sample(numbers, 2)
        operator = generator.choice("+-*/")
        if operator == "-" and first < second:
            first, second = second, first
        if operator == "/" and second == 0:
            continue
        result = _calculate(first, operator, second)
        if max(abs(result.numerator), result.denominator) <= LARGEST:
            return first, operator, second, result


def _calculate(first: Fraction, operator: str, second: Fraction) -> Fraction:
    if operator == "+":
        return first + second
    if operator == "-":
        return first - second
    return first * second if operator == "*" else first / second


def _reaches_target(first: Fraction, second: Fraction) -> bool:
    results = {first + second, first - second, second - first, first * second}
    results |= {over / under for over, under in ((first, second), (second, first)) if under}
    return TARGET in results


def _format_operand(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and value >= 0 else f"({value})"


def _join_sorted(numbers: Sequence[Fraction]) -> str:
    return " ".join(map(str, sorted(numbers)))
