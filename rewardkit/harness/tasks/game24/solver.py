"""An exact solver of the 24-point game, which also writes the perfect reply."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import gcd

HIGHEST = 13
TARGET = 24

MOST_ATTEMPTS = 12
"""Failed attempts in the longest trace: up to four lines each, about 50 lines in all."""

LARGEST = 10_000
"""The largest numerator or denominator of an intermediate result."""

Ratio = tuple[int, int]  # numerator and positive denominator in lowest terms: cheaper than Fraction
Move = tuple[Ratio, str, Ratio, Ratio]  # a op b = c


@dataclass(frozen=True, slots=True)
class Solution:
    """One expression that equals 24, and its three steps `a op b = c (left: …)`."""

    expression: str
    steps: tuple[str, ...]

    @property
    def reply(self) -> str:
        """The perfect reply: the steps, then the answer."""
        return "\n".join([*self.steps, self.answer])

    @property
    def answer(self) -> str:
        """The last line of a reply: `Answer: … = 24`."""
        return f"Answer: {self.expression} = {TARGET}"


def solve(numbers: tuple[int, ...]) -> Solution | None:
    """Find a solution that uses each number exactly once. None if there is none."""
    table = tuple(sorted((number, 1) for number in numbers))
    moves = _moves(table)
    if moves is None:
        return None
    terms = [(Fraction(*value), str(Fraction(*value))) for value in table]
    steps: list[str] = []
    for move in moves:
        sign = move[1]
        first, second, result = (Fraction(*move[place]) for place in (0, 2, 3))
        parts = [terms.pop([value for value, _ in terms].index(value)) for value in (first, second)]
        terms.append((result, f"({parts[0][1]} {sign} {parts[1][1]})"))
        steps.append(_step(first, sign, second, result, [value for value, _ in terms]))
    return Solution(terms[0][1][1:-1], tuple(steps))


@lru_cache(maxsize=1)
def solvable() -> tuple[tuple[int, ...], ...]:
    """The quadruples of 1–13 that have a solution, in order: 1,362 of the 1,820."""
    hands = combinations_with_replacement(range(1, HIGHEST + 1), 4)
    return tuple(hand for hand in hands if _moves(tuple((number, 1) for number in hand)))


@lru_cache(maxsize=200_000)
def _moves(table: tuple[Ratio, ...]) -> tuple[Move, ...] | None:
    """The moves that lead from the sorted `table` to 24, or None."""
    if len(table) == 1:
        return () if table[0] == (TARGET, 1) else None
    for first, second in combinations(range(len(table)), 2):
        rest = [value for place, value in enumerate(table) if place not in (first, second)]
        for move in _results(table[first], table[second]):
            later = _moves(tuple(sorted([*rest, move[3]])))
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
    divisor = gcd(numerator, denominator)
    if denominator < 0:
        divisor = -divisor
    return numerator // divisor, denominator // divisor


def _step(
    first: Fraction, sign: str, second: Fraction, result: Fraction, left: Iterable[Fraction]
) -> str:
    return f"{_operand(first)} {sign} {_operand(second)} = {result} (left: {_in_order(left)})"


def _operand(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and value >= 0 else f"({value})"


def _in_order(values: Iterable[Fraction]) -> str:
    return " ".join(map(str, sorted(values)))


def write_solution(numbers: tuple[int, ...]) -> str:
    """Write the perfect reply. Raises ValueError for numbers without a solution."""
    return _solved(numbers).reply


def search_trace(numbers: tuple[int, ...], seed: int | str, attempts: int | None = None) -> str:
    """Write a reply that fails `attempts` times, says so, goes back, and ends in the solution.

    With `attempts` None the seed draws 1 to 12, small numbers more often. Raises ValueError for
    numbers without a solution.
    """
    return "\n".join([*search_steps(numbers, seed, attempts), _solved(numbers).answer])


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
    hand = _in_order(numbers)
    lines: list[str] = []
    while len(numbers) > 1:
        first, sign, second, result = _random_step(numbers, generator)
        numbers.remove(first)
        numbers.remove(second)
        numbers.append(result)
        if numbers == [TARGET]:
            return []
        lines.append(_step(first, sign, second, result, numbers))
        pair = tuple(sorted(value.as_integer_ratio() for value in numbers))
        if len(pair) == 2 and _moves(pair) is None:
            return [*lines, f"No way to {TARGET} from {_in_order(numbers)}. Back to {hand}."]
    return [*lines, f"That is not {TARGET}. Back to {hand}."]


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _random_step(
    numbers: list[Fraction], generator: random.Random
) -> tuple[Fraction, str, Fraction, Fraction]:
    while True:
        first, second = generator.sample(numbers, 2)
        sign = generator.choice("+-*/")
        if sign == "-" and first < second:
            first, second = second, first
        if sign == "/" and second == 0:
            continue
        result = OPERATORS[sign](first, second)
        if max(abs(result.numerator), result.denominator) <= LARGEST:
            return first, sign, second, result
