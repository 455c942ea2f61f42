"""Search traces of the 24-point game: attempts that fail, and the one that succeeds.

Every step in them is correct arithmetic on numbers that are available, so their process score is
1; their lines are as many as the attempts need, so the length score has something to act on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from rewardkit.harness.tasks.game24.solver import TARGET, Solution, solve

MOST_ATTEMPTS = 12
"""Failing attempts of the longest trace: up to four lines each, about 50 lines in all."""

LARGEST = 10_000
"""Intermediate results beyond it are not tried."""


def search_trace(numbers: tuple[int, ...], seed: int | str, attempts: int | None = None) -> str:
    """Write a reply that fails `attempts` times, says so, goes back, and ends in the solution.

    `attempts` None: drawn by the seed from 1 to 12, few more often than many. ValueError for
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


def _failing_attempt(left: list[Fraction], generator: random.Random) -> list[str]:
    """Two or three random steps from the hand, and the line that gives them up; or no lines."""
    hand = _listed(left)
    lines: list[str] = []
    while len(left) > 1:
        one, operator, other, result = _random_step(left, generator)
        left.remove(one)
        left.remove(other)
        left.append(result)
        if left == [TARGET]:
            return []  # it succeeded
        lines.append(
            f"{_operand(one)} {operator} {_operand(other)} = {result} (left: {_listed(left)})"
        )
        if len(left) == 2 and not _reaches_target(*left):
            return [*lines, f"No way to {TARGET} from {_listed(left)}. Back to {hand}."]
    return [*lines, f"That is not {TARGET}. Back to {hand}."]


def _random_step(
    left: Sequence[Fraction], generator: random.Random
) -> tuple[Fraction, str, Fraction, Fraction]:
    while True:
        one, other = generator.sample(left, 2)
        operator = generator.choice("+-*/")
        if operator == "-" and one < other:
            one, other = other, one
        if operator == "/" and other == 0:
            continue
        result = _calculated(one, operator, other)
        if max(abs(result.numerator), result.denominator) <= LARGEST:
            return one, operator, other, result


def _calculated(one: Fraction, operator: str, other: Fraction) -> Fraction:
    if operator == "+":
        return one + other
    if operator == "-":
        return one - other
    return one * other if operator == "*" else one / other


def _reaches_target(one: Fraction, other: Fraction) -> bool:
    results = {one + other, one - other, other - one, one * other}
    results |= {over / under for over, under in ((one, other), (other, one)) if under}
    return TARGET in results


def _operand(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and value >= 0 else f"({value})"


def _listed(left: Sequence[Fraction]) -> str:
    return " ".join(map(str, sorted(left)))
