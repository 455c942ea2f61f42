"""Coordinate sequences: five points are given, the completion predicts the next five.

The reference shows how many coordinates a point has, from one to three.
"""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise
from typing import Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.arithmetic import NotArithmetic, ascii_operators, read_expression
from rewardkit.verifiers.rubric import Rubric

PREDICTED = 5
"""How many points a completion predicts."""

MOST = 100
"""How many points are read: a million points must not make a verdict of a million points."""

DIMENSIONS = (1, 2, 3)

TAGS = ("[Analysis]", "[ANSWER]", "[End]")

Vector = tuple[float, ...]
"""A coordinate for each dimension."""

# Possessive or counted throughout, so that each pattern is linear in the text's length.
NUMBER_PATTERN = r"[-+−–]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"

_ENDS = r"(?! *+[-+*/×÷=−–])"

TAG = re.compile("|".join(map(re.escape, TAGS)))
NUMBER = re.compile(rf"(?<![\w.]){NUMBER_PATTERN}")


@dataclass(frozen=True, slots=True)
class Forms:
    """The patterns of points of one dimension count, and of statements about them."""

    point: re.Pattern[str]
    """A point in round brackets, a group for each coordinate."""
    bare: re.Pattern[str]
    """A list of points that is the whole text."""
    separated: re.Pattern[str]
    """Points `(c)`, separated by commas, and nothing else."""
    difference: re.Pattern[str]
    """`Δx1 = b - a = c` or `Δx1 = c`."""
    speed: re.Pattern[str]
    """`v = … = c`, for v, vx, v_avg, velocity or speed."""


@cache
def forms(dimensions: int) -> Forms:
    """Return the patterns for points of 1, 2 or 3 coordinates."""
    n = NUMBER_PATTERN
    point = rf"\(\s*+{n}" + rf"\s*+,\s*+{n}" * (dimensions - 1) + r"\s*+\)"
    item = n if dimensions == 1 else point.replace(r"\(", r"[\[(]").replace(r"\)", r"[\])]")
    term, longest = (rf"(?:{point}|{n})", 99) if dimensions == 1 else (point, 199)
    return Forms(
        point=re.compile(point.replace(n, f"({n})")),
        bare=re.compile(rf"\s*+[\[(]?\s*+{item}(?:[\s,;]++{item})*+[\s,;]*+[\])]?+\s*+"),
        separated=re.compile(rf"\s*+{point}(?:\s*+,\s*+{point})*+\s*+"),
        difference=re.compile(
            rf"[Δ∆]x[\w{{}}]{{0,9}}+ *+= *+(?:({term}) *+[-−–] *+({term}) *+= *+)?({term}){_ENDS}"
        ),
        speed=re.compile(
            r"(?<!\w)(?:v(?:x|elocity)?+(?:_[\w{}]*+)?+|speed) *+[=:≈] *+"
            rf"((?:[^=≈\n]{{0,{longest}}}+[=≈] *+){{0,3}}{term}){_ENDS}",
            re.IGNORECASE,
        ),
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
    values = _values(islice(written.point.finditer(text), MOST))
    if not values and written.bare.fullmatch(text):
        values = _values(islice(NUMBER.finditer(text), MOST * dimensions))
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
            return _values(matches)
    return None


def render_points(values: Sequence[float], dimensions: int = 1) -> str:
    """Return the points as `(9.5), (11.0), …`; `coordinates` reads the same floats back."""
    return ", ".join(f"({', '.join(map(repr, point))})" for point in _points(values, dimensions))


def group_coordinates(dimensions: int, values: Sequence[float]) -> list[float] | list[list[float]]:
    """Return a number for each point, or a list of its coordinates if it has several."""
    if dimensions == 1:
        return list(values)
    return [list(point) for point in _points(values, dimensions)]


def numbers(text: str) -> list[float]:
    """Return all numbers of the text; a value beyond a float's range is the largest float."""
    return _values(NUMBER.finditer(text))


def _points(values: Sequence[float], dimensions: int) -> list[Vector]:
    return [tuple(values[at : at + dimensions]) for at in range(0, len(values), dimensions)]


def _values(matches: Iterable[re.Match[str]]) -> list[float]:
    """The numbers in the groups of each match, or in the match where it has none."""
    most = sys.float_info.max
    texts = [text for match in matches for text in match.groups() or (match[0],)]
    numbers = (float(text.replace("−", "-").replace("–", "-")) for text in texts)
    return [max(-most, min(most, number)) for number in numbers]


DIFFERENCES = PREDICTED - 1
"""How many differences five points have."""

COARSEST = 0.05
"""The largest rounding error that is accepted, whatever number of decimals is written."""

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


def has_steps(analysis: str) -> bool:
    """Return whether S1, S2 and S3 come in this order."""
    position = 0
    for step in ("S1", "S2", "S3"):
        position = analysis.find(step, position)
        if position < 0:
            return False
    return True


def differences_follow(analysis: str, given: Sequence[Vector], dimensions: int = 1) -> bool:
    """Return whether the first four difference lines hold, in the order of the points.

    With `given` points, the operands must be neighbouring points and a bare value their difference.
    Without, the arithmetic of each line must hold.
    """
    stated = read_differences(analysis, dimensions)
    if len(stated) < DIFFERENCES:
        return False
    due: list[tuple[Vector | None, Vector | None]]
    due = [(after, before) for before, after in pairwise(given)]
    due = due or [(difference.left, difference.right) for difference in stated]
    return all(_holds(line, *pair) for line, pair in zip(stated, due, strict=True))


def speed_follows(analysis: str, given: Sequence[Vector], dimensions: int = 1) -> bool:
    """Return whether the first speed line ends in the mean difference, and its chain agrees.

    The mean difference is that of the `given` points, else that of the stated differences. Members
    of the chain that are not arithmetic, such as formulas in other symbols, are not checked.
    """
    statement = forms(dimensions).speed.search(analysis)
    if statement is None:
        return False
    stated = [difference.value for difference in read_differences(analysis, dimensions)]
    actual = [_minus(after, before) for before, after in pairwise(given)] or stated
    *chain, last = _RELATION.split(statement[1])
    speed, tolerance = tuple(numbers(last)), _tolerance(last)
    if actual and not _agree(tuple(map(_mean, zip(*actual, strict=True))), speed, tolerance):
        return False
    members = (_evaluated(member, stated, dimensions) for member in chain)
    return all(value is None or _agree(value, speed, tolerance) for value in members)


def read_differences(analysis: str, dimensions: int = 1) -> list[Difference]:
    """Return the first four difference lines."""
    stated = []
    for match in islice(forms(dimensions).difference.finditer(analysis), DIFFERENCES):
        left, right = (tuple(numbers(text)) if text else None for text in match.group(1, 2))
        stated.append(Difference(left, right, tuple(numbers(match[3])), _tolerance(match[3])))
    return stated


def _holds(difference: Difference, left: Vector | None, right: Vector | None) -> bool:
    """Whether a line states the operands, or no operands, and their difference."""
    if (difference.left, difference.right) not in ((None, None), (left, right)):
        return False
    if left is None or right is None:
        return True
    return _agree(_minus(left, right), difference.value, difference.tolerance)


def _evaluated(member: str, differences: Sequence[Vector], dimensions: int) -> Vector | None:
    """Return the value of one member of a chain, or None if it is not arithmetic."""
    values = []
    point = forms(dimensions).point
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


TOLERANCE = 0.2
"""A prediction is right if its mean absolute error is below this."""

TOO_FEW, TOO_MANY = 0.8, 0.9
"""Factors on the accuracy of a completion with fewer or more than five points."""


@dataclass(frozen=True)
class MotionAccuracy(Bounded):
    """Score how close the coordinates are: exp(−MSE), less for a wrong count (see `accuracy`).

    0 without the three tags in order. Correct: exactly five points, mean absolute error below 0.2.
    """

    thinking = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        reference = five_points(sample.reference)
        if reference is None:
            return _unreadable(sample.reference)
        dimensions, targets = reference
        tagged = blocks(text)
        if tagged is None:
            if last_coordinates(text, dimensions) is None:
                message = "there are neither the tags nor five numbers"
                return Verdict.wrong(Failure.NO_ANSWER, message=message)
            return Verdict.wrong(Failure.FORMAT, message=f"not {', '.join(TAGS)} in this order")
        predicted = coordinates(tagged[1], dimensions)
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no coordinates after [ANSWER]")
        complete = len(predicted) == len(targets)
        correct = complete and is_within(predicted, targets)
        error = mean_absolute_error(predicted, targets)
        points = len(predicted) // dimensions
        count = "" if complete else f"; {points} points instead of {PREDICTED}"
        wrong = Failure.WRONG if complete else Failure.FORMAT
        return Verdict(
            correct,
            accuracy(predicted, targets),
            answer=render_points(predicted, dimensions),
            failure=None if correct else wrong,
            message=f"mean absolute error {error:.4g}{count}",
        )


@dataclass(frozen=True)
class MotionFormat(Bounded):
    """Score the form: structure 0.4, analysis 0.3, answer 0.3; correct at 1.0.

    Structure: the three tags, in order. Analysis: S1–S3 in order 0.1, four lines `Δx1 = b - a = c`
    0.1, a line `v = … = c` 0.1. Answer: five coordinates 0.2, each `(c)` and commas between 0.1.
    With `analysis="figures"`, the differences and the speed must follow from the points of the
    question; `analysis="form"` is the source's rule: any numbers in the right form will do.
    """

    thinking = "whole"

    analysis: Literal["figures", "form"] = "figures"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        dimensions, _ = five_points(sample.reference) or (1, [])
        tagged = blocks(text)
        analysis, answer = tagged or (section(text, TAGS[0]), section(text, TAGS[1]))
        predicted = coordinates(answer, dimensions)
        structure = 4 * (tagged is not None)
        reasoning = self._analysis_tenths(analysis, sample.question, dimensions)
        complete = predicted is not None and len(predicted) == PREDICTED * dimensions
        separated = forms(dimensions).separated.fullmatch(answer) is not None
        form = 2 * complete + separated
        tenths = structure + reasoning + form
        gap = Failure.FORMAT if analysis.strip() else Failure.NO_REASONING
        failure = gap if predicted else Failure.NO_ANSWER
        return Verdict(
            correct=tenths == 10,
            score=tenths / 10,
            answer=None if predicted is None else render_points(predicted, dimensions),
            failure=None if tenths == 10 else failure,
            parts={"structure": structure / 10, "analysis": reasoning / 10, "answer": form / 10},
        )

    def _analysis_tenths(self, analysis: str, question: str, dimensions: int) -> int:
        steps = has_steps(analysis)
        if self.analysis == "form":
            has_differences = len(read_differences(analysis, dimensions)) == DIFFERENCES
            has_speed = forms(dimensions).speed.search(analysis) is not None
            return steps + has_differences + has_speed
        flat = coordinates(question, dimensions) or []
        # the five points that the question gives; none if it gives no five points
        given = _points(flat, dimensions) if len(flat) == PREDICTED * dimensions else []
        differences = differences_follow(analysis, given, dimensions)
        return steps + differences + speed_follows(analysis, given, dimensions)


@dataclass(frozen=True)
class MotionFlexible(Bounded):
    """Ignore the form: five points in the answer's block, else the last five anywhere."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        reference = five_points(sample.reference)
        if reference is None:
            return _unreadable(sample.reference)
        dimensions, targets = reference
        tagged = blocks(text)
        predicted = coordinates(tagged[1], dimensions) if tagged else None
        if predicted is None or len(predicted) != len(targets):
            predicted = last_coordinates(text, dimensions)
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="fewer than five numbers")
        return Verdict.judged(
            is_within(predicted, targets), answer=render_points(predicted, dimensions)
        )


motion = Rubric(
    parts={"accuracy": MotionAccuracy(), "format": MotionFormat()},
    weights={"accuracy": 5.0, "format": 1.0},
    decides="accuracy",
)


def mean_squared_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the MSE over the pairs, in [0, inf]. Raises ValueError without pairs."""
    return _mean([error * error for error in _errors(predicted, targets)])


def mean_absolute_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the MAE over the pairs, in [0, inf]. Raises ValueError without pairs."""
    return _mean(_errors(predicted, targets))


def _errors(predicted: Sequence[float], targets: Sequence[float]) -> list[float]:
    return [abs(guess - target) for guess, target in zip(predicted, targets, strict=False)]


def is_within(
    predicted: Sequence[float], targets: Sequence[float], tolerance: float = TOLERANCE
) -> bool:
    """Return whether the mean absolute error is below `tolerance`.

    The error is rounded to 1e-9 first: 9.7 - 9.5 is 0.1999… in floats, but not below 0.2.
    """
    return round(mean_absolute_error(predicted, targets), 9) < tolerance


def accuracy(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """Return the score in [0, 1] of `predicted` (at least one) against the five targets.

    exp(−MSE) over the pairs; × 0.8·n/5 for n < 5 predicted, × 0.9 for more than 5. For points with
    several coordinates, every coordinate is a pair.
    """
    closeness = math.exp(-mean_squared_error(predicted, targets))
    if len(predicted) < len(targets):
        return closeness * TOO_FEW * len(predicted) / len(targets)
    return closeness if len(predicted) == len(targets) else closeness * TOO_MANY


def _unreadable(reference: str) -> Verdict:
    return Verdict.unjudged(
        f"the reference {reference[:80]!r} isn't five coordinates such as (9.5), (11.0), …"
    )


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("no coordinates to compare")
    return sum(values) / len(values)
