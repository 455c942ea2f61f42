"""An exact solver of the 24-point game, which also writes the perfect reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import gcd

HIGHEST = 13
TARGET = 24

Ratio = tuple[int, int]  # numerator and positive denominator in lowest terms: cheaper than Fraction
Move = tuple[Ratio, str, Ratio, Ratio]  # a op b = c


@dataclass(frozen=True, slots=True)
class Solution:
    """One expression that equals 24, and its three steps `a op b = c (left: …)`."""

    expression: str
    steps: tuple[str, ...]


def solve(numbers: tuple[int, ...]) -> Solution | None:
    """Find a solution that uses each number exactly once. None if there is none."""
    table = tuple(sorted((number, 1) for number in numbers))
    moves = _moves(table)
    if moves is None:
        return None
    terms = [(value, _format_number(value)) for value in table]
    steps: list[str] = []
    for first, operator, second, result in moves:
        parts = [terms.pop([value for value, _ in terms].index(value)) for value in (first, second)]
        terms.append((result, f"({parts[0][1]} {operator} {parts[1][1]})"))
        left = " ".join(_format_number(value) for value, _ in sorted(terms))
        steps.append(
            f"{_format_operand(first)} {operator} {_format_operand(second)} = "
            f"{_format_number(result)} (left: {left})"
        )
    return Solution(terms[0][1][1:-1], tuple(steps))


@lru_cache(maxsize=1)
def solvable() -> tuple[tuple[int, ...], ...]:
    """The quadruples of 1–13 that have a solution, in order: 1,362 of the 1,820."""
    hands = combinations_with_replacement(range(1, HIGHEST + 1), 4)
    return tuple(hand for hand in hands if _moves(tuple((number, 1) for number in hand)))


def write_solution(numbers: tuple[int, ...]) -> str:
    """Write the perfect reply: three steps, then `Answer: … = 24`.

    Raises ValueError for numbers without a solution.
    """
    solution = solve(numbers)
    if solution is None:
        raise ValueError(f"{' '.join(map(str, numbers))} can't make {TARGET}")
    return "\n".join([*solution.steps, f"Answer: {solution.expression} = {TARGET}"])


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


def _format_number(value: Ratio) -> str:
    return str(Fraction(*value))


def _format_operand(value: Ratio) -> str:
    return _format_number(value) if value[1] == 1 else f"({_format_number(value)})"
