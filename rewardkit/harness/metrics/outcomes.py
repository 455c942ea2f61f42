"""How each row came out: read once, for all figures."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

from rewardkit.harness.metrics.metric import Metric, mean
from rewardkit.harness.metrics.truncation import is_truncated
from rewardkit.harness.store.sample_row import JudgedRow


class Outcome(NamedTuple):
    """What the rates ask of a row, other than its scores; rows have few different ones."""

    correct: bool | None
    failure: str | None
    flexible: bool | None
    """Whether it is right with form forgiven; None where no such reading was made."""
    truncated: bool


@dataclass
class Outcomes:
    """Rows in the order of their problems: 16 bytes each, and 8 for each component of a score."""

    known: list[Outcome] = field(default_factory=list)
    outcome: array[int] = field(default_factory=lambda: array("I"))
    """For each row, its place in `known`."""
    problem: array[int] = field(default_factory=lambda: array("I"))
    """For each row, the number of its problem."""
    score: array[float] = field(default_factory=lambda: array("d"))
    """For each row, its score; 0 where it is unjudged."""
    parts: dict[str, array[float]] = field(default_factory=dict)
    """For each component of the scores the same; 0 also where a row lacks it."""

    def __iter__(self) -> Iterator[Outcome]:
        return map(self.known.__getitem__, self.outcome)

    @property
    def problems(self) -> int:
        """How many there are."""
        return self.problem[-1] + 1 if self.problem else 0

    def rate(self, value: Callable[[Outcome], float | None]) -> Metric | None:
        """The mean of a value in [0, 1] over the rows that it isn't None for, if there are any."""
        found = [value(one) for one in self.known]
        numbers = [number or 0.0 for number in found]
        values = map(numbers.__getitem__, self.outcome)
        if None not in found:
            return _mean(values, self.problem)
        counted = [number is not None for number in found]
        kept = bytearray(map(counted.__getitem__, self.outcome))
        return _mean(compress(values, kept), compress(self.problem, kept))

    def mean_score(self, scores: Sequence[float]) -> Metric | None:
        """The mean over the judged rows of a number for each row."""
        judged = bytearray(one.correct is not None for one in self)
        return _mean(compress(scores, judged), compress(self.problem, judged))


def _mean(values: Iterable[float], problems: Iterable[int]) -> Metric | None:
    numbers = array("d", values)
    return mean(numbers, array("I", problems)) if numbers else None


def read_outcomes(rows: Sequence[JudgedRow]) -> Outcomes:
    """The outcomes of rows in which those of a problem stand together."""
    found = Outcomes()
    places: dict[Outcome, int] = {}
    problem, identifier = -1, None
    for place, row in enumerate(rows):
        if row.id != identifier:
            problem, identifier = problem + 1, row.id
        verdict = row.verdict
        one = outcome_of(row)
        found.outcome.append(places.setdefault(one, len(places)))
        found.problem.append(problem)
        judged = one.correct is not None
        found.score.append(verdict.score or 0.0)
        if judged:
            _take_parts(found.parts, verdict.parts, place)
    for values in found.parts.values():
        values.extend([0.0] * (len(rows) - len(values)))
    found.known.extend(places)
    return found


def outcome_of(row: JudgedRow) -> Outcome:
    """How one row came out."""
    verdict, flexible = row.verdict, row.flexible
    return Outcome(
        verdict.correct,
        verdict.failure,
        None if flexible is None else bool(flexible.correct),
        is_truncated(row),
    )


def _take_parts(parts: dict[str, array[float]], found: Mapping[str, float], place: int) -> None:
    for name, value in found.items():
        values = parts.setdefault(name, array("d"))
        values.extend([0.0] * (place - len(values)))
        values.append(value)
