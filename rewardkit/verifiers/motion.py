"""Coordinate sequences: five points are given, the reply predicts the next five.

A reply is `[Analysis]` with steps S1–S3, `[ANSWER]` with `(9.5), (11.0), …`, `[End]`. The first
`[End]` that follows both other tags ends it; the last `[ANSWER]` before that one counts.
"""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.rubric import Rubric

PREDICTED = 5
"""How many coordinates a reply predicts."""

TOLERANCE = 0.2
"""A sequence is right when its mean absolute error is below this."""

TOO_FEW, TOO_MANY = 0.8, 0.9
"""Factors on the accuracy of a reply with fewer or more than five coordinates."""

MOST = 100
"""How many coordinates are read: a reply of a million must not make a verdict of a million."""

TAGS = ("[Analysis]", "[ANSWER]", "[End]")

# Possessive or counted throughout, so that each pattern is linear in the text's length.
_NUMBER = r"[-+−–]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
_COORDINATE = rf"\(\s*+{_NUMBER}\s*+\)"
_TERM = rf"(?:{_COORDINATE}|{_NUMBER})"
_ENDS = r"(?! *+[-+*/×÷=−–])"

TAG = re.compile("|".join(map(re.escape, TAGS)))
NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}")
COORDINATE = re.compile(rf"\(\s*+({_NUMBER})\s*+\)")
BARE_LIST = re.compile(rf"\s*+[\[(]?+\s*+{_NUMBER}(?:[\s,;]++{_NUMBER})*+[\s,;]*+[\])]?+\s*+")
SEPARATED = re.compile(rf"\s*+{_COORDINATE}(?:\s*+,\s*+{_COORDINATE})*+\s*+")
DIFFERENCE = re.compile(
    rf"[Δ∆]x[\w{{}}]{{0,9}}+ *+= *+(?:{_TERM} *+[-−–] *+{_TERM} *+= *+)?{_TERM}{_ENDS}"
)
SPEED = re.compile(
    rf"(?<!\w)(?:v\w*+|speed|velocity) *+[=:≈] *+(?:[^=≈\n]{{0,99}}+[=≈] *+){{0,3}}{_TERM}{_ENDS}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class MotionAccuracy(Bounded):
    """How close the coordinates come: exp(−MSE), less for a wrong count (see `accuracy`).

    0 without the three tags in order. Correct: exactly five, mean absolute error below 0.2.
    """

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on the coordinates between `[ANSWER]` and `[End]`."""
        targets = coordinates(sample.reference)
        if targets is None or len(targets) != PREDICTED:
            return _unreadable(sample.reference)
        blocks = _blocks(text)
        if blocks is None:
            return _untagged(text)
        predicted = coordinates(blocks[1])
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no coordinates after [ANSWER]")
        return _compared(predicted, targets)


@dataclass(frozen=True)
class MotionFormat(Bounded):
    """Structure 0.4, analysis 0.3, answer 0.3, each for its form alone; correct at 1.0.

    Structure: the three tags, in order. Analysis: S1–S3 in order 0.1, four lines `Δx1 = b - a = c`
    0.1, a line `v = … = c` 0.1. Answer: five coordinates 0.2, each `(c)` and commas between 0.1.
    """

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on the reply's form; the reference plays no part."""
        blocks = _blocks(text)
        analysis, stated = blocks or (_section(text, TAGS[0]), _section(text, TAGS[1]))
        predicted = coordinates(stated)
        structure = 4 * (blocks is not None)
        reasoning = _steps(analysis) + _differences(analysis) + _speed(analysis)
        form = _five(predicted) + _separated(stated)
        tenths = structure + reasoning + form
        return Verdict(
            correct=tenths == 10,
            score=tenths / 10,
            answer=None if predicted is None else rendered(predicted),
            failure=None if tenths == 10 else _form_failure(analysis, predicted),
            parts={"structure": structure / 10, "analysis": reasoning / 10, "answer": form / 10},
        )


@dataclass(frozen=True)
class MotionFlexible(Bounded):
    """Forgives form: five coordinates in the answer's block, else the last five anywhere."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Right when their mean absolute error is below 0.2."""
        targets = coordinates(sample.reference)
        if targets is None or len(targets) != PREDICTED:
            return _unreadable(sample.reference)
        blocks = _blocks(text)
        predicted = coordinates(blocks[1]) if blocks else None
        if predicted is None or len(predicted) != PREDICTED:
            predicted = last_coordinates(text)
        if predicted is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="fewer than five numbers")
        return Verdict.judged(within(predicted, targets), answer=rendered(predicted))


motion = Rubric(
    parts={"accuracy": MotionAccuracy(), "format": MotionFormat()},
    weights={"accuracy": 5.0, "format": 1.0},
    decides="accuracy",
)


def coordinates(text: str) -> list[float] | None:
    """The coordinates `(9.5), (11.0), …` in the text, or a list `[9.5, 11.0]` that is all of it.

    None when there are none, the first hundred of more. A value beyond a float's range is the
    largest float.
    """
    values = _first(COORDINATE.finditer(text))
    if not values and BARE_LIST.fullmatch(text):
        values = _first(NUMBER.finditer(text))
    return values or None


def last_coordinates(text: str) -> list[float] | None:
    """The last five `(c)` anywhere in the text, else its last five numbers; None with fewer."""
    for pattern in (COORDINATE, NUMBER):
        found = deque(pattern.finditer(text), maxlen=PREDICTED)
        if len(found) == PREDICTED:
            return [_value(match) for match in found]
    return None


def rendered(values: Sequence[float]) -> str:
    """`(9.5), (11.0), …`: read back by `coordinates` to the same floats."""
    return ", ".join(f"({value!r})" for value in values)


def position_errors(predicted: Sequence[float], targets: Sequence[float]) -> list[float]:
    """The absolute error at each position, over as many pairs as there are; may hold inf."""
    return [abs(guess - target) for guess, target in zip(predicted, targets, strict=False)]


def mean_squared_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """MSE over the pairs, in [0, inf]. Raises ValueError when there are none."""
    return _mean([error * error for error in position_errors(predicted, targets)])


def mean_absolute_error(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """MAE over the pairs, in [0, inf]. Raises ValueError when there are none."""
    return _mean(position_errors(predicted, targets))


def within(
    predicted: Sequence[float], targets: Sequence[float], tolerance: float = TOLERANCE
) -> bool:
    """Whether the mean absolute error is below `tolerance`.

    Rounded to 1e-9 first: 9.7 - 9.5 is 0.1999… in floats, yet not below 0.2.
    """
    return round(mean_absolute_error(predicted, targets), 9) < tolerance


def accuracy(predicted: Sequence[float], targets: Sequence[float]) -> float:
    """The score in [0, 1] of `predicted` (at least one) against the five targets.

    exp(−MSE) over the pairs; × 0.8·n/5 for n < 5 predicted, × 0.9 for more than 5.
    """
    closeness = math.exp(-mean_squared_error(predicted, targets))
    if len(predicted) < len(targets):
        return closeness * TOO_FEW * len(predicted) / len(targets)
    return closeness if len(predicted) == len(targets) else closeness * TOO_MANY


def _compared(predicted: list[float], targets: list[float]) -> Verdict:
    complete = len(predicted) == PREDICTED
    correct = complete and within(predicted, targets)
    error = mean_absolute_error(predicted, targets)
    count = "" if complete else f"; {len(predicted)} coordinates instead of {PREDICTED}"
    wrong = Failure.WRONG if complete else Failure.FORMAT
    return Verdict(
        correct,
        accuracy(predicted, targets),
        answer=rendered(predicted),
        failure=None if correct else wrong,
        message=f"mean absolute error {error:.4g}{count}",
    )


def _unreadable(reference: str) -> Verdict:
    return Verdict.unjudged(
        f"the reference {reference[:80]!r} isn't five coordinates such as (9.5), (11.0), …"
    )


def _untagged(text: str) -> Verdict:
    if last_coordinates(text) is None:
        return Verdict.wrong(Failure.NO_ANSWER, message="neither the tags nor five numbers")
    return Verdict.wrong(Failure.FORMAT, message=f"not {', '.join(TAGS)} in this order")


def _blocks(text: str) -> tuple[str, str] | None:
    """The analysis and the answer; None unless the three tags come in order."""
    start = text.find(TAGS[0])
    opening = text.find(TAGS[1], start)
    end = text.find(TAGS[2], opening)
    if min(start, opening, end) < 0:
        return None
    analysis, _, answer = text[start + len(TAGS[0]) : end].rpartition(TAGS[1])
    return analysis, answer


def _section(text: str, tag: str) -> str:
    """What follows the first `tag`, up to the next tag of any kind or the end."""
    return TAG.split(text.partition(tag)[2], maxsplit=1)[0]


def _steps(analysis: str) -> int:
    position = 0
    for step in ("S1", "S2", "S3"):
        position = analysis.find(step, position)
        if position < 0:
            return 0
    return 1


def _differences(analysis: str) -> int:
    return int(len(DIFFERENCE.findall(analysis)) >= PREDICTED - 1)


def _speed(analysis: str) -> int:
    return int(SPEED.search(analysis) is not None)


def _five(predicted: list[float] | None) -> int:
    return 2 * (predicted is not None and len(predicted) == PREDICTED)


def _separated(stated: str) -> int:
    return int(SEPARATED.fullmatch(stated) is not None)


def _form_failure(analysis: str, predicted: list[float] | None) -> Failure:
    if predicted is None:
        return Failure.NO_ANSWER
    return Failure.FORMAT if analysis.strip() else Failure.NO_REASONING


def _first(matches: Iterator[re.Match[str]]) -> list[float]:
    return [_value(match) for match in islice(matches, MOST)]


def _value(match: re.Match[str]) -> float:
    value = float(match[match.lastindex or 0].replace("−", "-").replace("–", "-"))
    return max(-sys.float_info.max, min(sys.float_info.max, value))


def _mean(values: list[float]) -> float:
    if not values:
        raise ValueError("no coordinates to compare")
    return sum(values) / len(values)
