"""Check the `[Analysis]` block of a motion reply: its form, and whether its figures follow.

The analysis has steps S1–S3, four difference lines `Δx1 = 3.5 - 2.0 = 1.5` and a speed line
`v = (1.5 + 1.5 + 1.5 + 1.5) / 4 = 6.0 / 4 = 1.50`. A figure follows if it agrees with what it is
computed from, to half a unit of its last decimal and never by more than 0.05.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise

from rewardkit.verifiers.arithmetic import NotArithmetic, ascii_operators, read_expression
from rewardkit.verifiers.motion_reading import NUMBER_PATTERN, PREDICTED, coordinates, numbers

DIFFERENCES = PREDICTED - 1
"""How many differences five points have."""

COARSEST = 0.05
"""The largest rounding error that is accepted, whatever number of decimals is written."""

Vector = tuple[float, ...]
"""A coordinate for each dimension."""

_ENDS = r"(?! *+[-+*/×÷=−–])"
_SYMBOL = re.compile(r"[Δ∆]x_?+\{?+([1-4])(?![0-9])\}?+")
_RELATION = re.compile(r"[=≈:]")
_DECIMALS = re.compile(r"\.([0-9]*+)")


@dataclass(frozen=True, slots=True)
class Difference:
    """A line `Δx1 = left - right = value`; the operands are None in `Δx1 = value`."""

    left: Vector | None
    right: Vector | None
    value: Vector
    tolerance: float


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The statements about points of one dimension count."""

    difference: re.Pattern[str]
    speed: re.Pattern[str]
    point: re.Pattern[str]


@cache
def _patterns(dimensions: int) -> _Patterns:
    n = NUMBER_PATTERN
    point = rf"\(\s*+{n}" + rf"\s*+,\s*+{n}" * (dimensions - 1) + r"\s*+\)"
    term, longest = (rf"(?:{point}|{n})", 99) if dimensions == 1 else (point, 199)
    return _Patterns(
        difference=re.compile(
            rf"[Δ∆]x[\w{{}}]{{0,9}}+ *+= *+(?:({term}) *+[-−–] *+({term}) *+= *+)?({term}){_ENDS}"
        ),
        speed=re.compile(
            r"(?<!\w)(?:v(?:x|elocity)?+(?:_[\w{}]*+)?+|speed) *+[=:≈] *+"
            rf"((?:[^=≈\n]{{0,{longest}}}+[=≈] *+){{0,3}}{term}){_ENDS}",
            re.IGNORECASE,
        ),
        point=re.compile(point.replace(n, f"({n})")),
    )


def has_steps(analysis: str) -> bool:
    """Return whether S1, S2 and S3 come in this order."""
    position = 0
    for step in ("S1", "S2", "S3"):
        position = analysis.find(step, position)
        if position < 0:
            return False
    return True


def has_differences(analysis: str, dimensions: int = 1) -> bool:
    """Return whether there are four equations `Δx1 = b - a = c` or `Δx1 = c`."""
    return len(read_differences(analysis, dimensions)) == DIFFERENCES


def has_speed(analysis: str, dimensions: int = 1) -> bool:
    """Return whether there is an equation `v = … = c`, for v, vx, v_avg, velocity or speed."""
    return _patterns(dimensions).speed.search(analysis) is not None


def differences_follow(analysis: str, given: Sequence[Vector], dimensions: int = 1) -> bool:
    """Return whether the first four difference lines hold, in the order of the points.

    With `given` points, the operands must be neighbouring points and a bare value their difference.
    Without, the arithmetic of each line must hold.
    """
    stated = read_differences(analysis, dimensions)
    if len(stated) < DIFFERENCES:
        return False
    if not given:
        return all(_holds(difference) for difference in stated)
    return all(
        _is_between(difference, before, after)
        for difference, (before, after) in zip(stated, pairwise(given), strict=True)
    )


def speed_follows(analysis: str, given: Sequence[Vector], dimensions: int = 1) -> bool:
    """Return whether the first speed line ends in the mean difference, and its chain agrees.

    The mean is of the `given` points, else of the stated differences. A member of the chain that
    is not arithmetic, such as a formula in other symbols, is not checked.
    """
    statement = _patterns(dimensions).speed.search(analysis)
    if statement is None:
        return False
    stated = [difference.value for difference in read_differences(analysis, dimensions)]
    actual = [_minus(after, before) for before, after in pairwise(given)] or stated
    *chain, last = _RELATION.split(statement[1])
    speed, tolerance = tuple(numbers(last)), _tolerance(last)
    if actual and not _agree(_mean(actual), speed, tolerance):
        return False
    members = (_evaluated(member, stated, dimensions) for member in chain)
    return all(value is None or _agree(value, speed, tolerance) for value in members)


def given_points(question: str, dimensions: int) -> list[Vector]:
    """Return the five points that the question gives; none if it gives no five points."""
    flat = coordinates(question, dimensions) or []
    if len(flat) != PREDICTED * dimensions:
        return []
    return [tuple(flat[at : at + dimensions]) for at in range(0, len(flat), dimensions)]


def read_differences(analysis: str, dimensions: int = 1) -> list[Difference]:
    """Return the first four difference lines."""
    lines = _patterns(dimensions).difference.finditer(analysis)
    return [_difference(match) for match in islice(lines, DIFFERENCES)]


def _difference(match: re.Match[str]) -> Difference:
    left, right, value = match.groups()
    return Difference(
        left=None if left is None else tuple(numbers(left)),
        right=None if right is None else tuple(numbers(right)),
        value=tuple(numbers(value)),
        tolerance=_tolerance(value),
    )


def _holds(difference: Difference) -> bool:
    if difference.left is None or difference.right is None:
        return True
    actual = _minus(difference.left, difference.right)
    return _agree(actual, difference.value, difference.tolerance)


def _is_between(difference: Difference, before: Vector, after: Vector) -> bool:
    operands = (difference.left, difference.right)
    if operands != (None, None) and operands != (after, before):
        return False
    return _agree(_minus(after, before), difference.value, difference.tolerance)


def _evaluated(member: str, differences: Sequence[Vector], dimensions: int) -> Vector | None:
    """Return the value of one member of a chain, or None if it is not arithmetic."""
    values = []
    point = _patterns(dimensions).point
    for axis in range(dimensions):
        symbols = [difference[axis] for difference in differences]
        written = _SYMBOL.sub(partial(_known, values=symbols), member)
        if dimensions > 1:
            written = point.sub(rf"(\g<{axis + 1}>)", written)
        try:
            value = read_expression(ascii_operators(written)).value
        except NotArithmetic:
            return None
        values.append(math.nan if value is None else float(value))
    return tuple(values)


def _known(match: re.Match[str], *, values: Sequence[float]) -> str:
    index = int(match[1]) - 1
    return f"({values[index]:.9f})" if index < len(values) else match[0]


def _tolerance(written: str) -> float:
    """Return half a unit of the last decimal of the coarsest coordinate, at most 0.05."""
    if "e" in written.lower():
        return 0.0
    places = [len(decimals) for decimals in _DECIMALS.findall(written)]
    return min(COARSEST, 0.5 * 10.0 ** -min(places)) if places else COARSEST


def _agree(actual: Vector, written: Vector, tolerance: float) -> bool:
    return all(
        abs(a - b) <= tolerance + 1e-9 * max(1.0, abs(b))
        for a, b in zip(actual, written, strict=True)
    )


def _minus(left: Vector, right: Vector) -> Vector:
    return tuple(a - b for a, b in zip(left, right, strict=True))


def _mean(vectors: Sequence[Vector]) -> Vector:
    return tuple(sum(values) / len(vectors) for values in zip(*vectors, strict=True))
