"""How each row ended, read once for all figures; and a task's rates and lengths."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import nan
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from rewardkit.errors import DataError
from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow
from rewardkit.harness.results.metric import Metric, mean, pooled_mean
from rewardkit.harness.results.names import FLEXIBLE, PART
from rewardkit.records import Failure, Verdict
from rewardkit.text.thinking import thinking_is_open


def is_thinking_unclosed(row: CompletionRow) -> bool:
    """Whether a completion never closed its thinking block.

    Where a server returns thinking separately, a completion that is empty beside its thinking
    counts as unclosed.
    """
    if thinking_is_open(row.prompt or "", row.completion):
        return True
    return not row.completion and bool(row.reasoning or row.thinking_tokens)


def components(parts: Mapping[str, float]) -> Mapping[str, float]:
    """The components of a score by name; numbered ones, such as "0 kind" and "2 kind", averaged."""
    if not any(name[:1].isdigit() for name in parts):
        return parts
    by_name: dict[str, list[float]] = {}
    for name, score in parts.items():
        number, _, kind = name.partition(" ")
        by_name.setdefault(kind if number.isdigit() else name, []).append(score)
    return {name: fmean(scores) for name, scores in by_name.items()}


def numbered(parts: Mapping[str, float]) -> dict[str, float]:
    """The components that are named by a number and a kind, such as "0 punctuation:no_comma"."""
    return {name: score for name, score in parts.items() if name.partition(" ")[0].isdigit()}


T = TypeVar("T", bound=Hashable)


class Numbers(dict[T, int]):
    """The numbers of values, from 0 in the order in which they are first looked up."""

    def __missing__(self, value: T) -> int:
        self[value] = number = len(self)
        return number


class RowKind(NamedTuple):
    """What many rows have in common: all that a rate needs of a row besides its scores."""

    task: str
    finish_reason: str
    thinking_open: bool
    """Whether the completion never closed its thinking block."""
    correct: bool | None
    failure: Failure | None
    flexible: BriefVerdict | None
    """The flexible verdict without its answer."""
    parts: tuple[str, ...] = ()
    """The names of the score's components."""
    scores: tuple[float | None, ...] | None = None
    """The score and its components; None where each row has its own."""
    groups: tuple[tuple[str, str], ...] = ()
    """(column, value as text) pairs of the columns that figures are grouped by."""

    @property
    def truncated(self) -> bool:
        """Whether the completion reached the token limit or never closed its thinking block."""
        return self.finish_reason == "length" or self.thinking_open

    def verdict(self, scores: Sequence[float | None], answer: str | None) -> Verdict:
        """The verdict of a row with these scores and this answer."""
        score, *of_parts = scores
        parts: Any = dict(zip(self.parts, of_parts, strict=True))
        return Verdict(self.correct, score, answer, self.failure, parts)


_FLEXIBLE = {correct: BriefVerdict(correct) for correct in (True, False, None)}


def kind_of(
    row: CompletionRow,
    parts: tuple[str, ...] = (),
    scores: tuple[float | None, ...] | None = None,
    groups: tuple[tuple[str, str], ...] = (),
) -> RowKind:
    """A row's kind, with these parts, scores and groups."""
    verdict, flexible = row.verdict, row.flexible
    if flexible is not None:
        is_brief = not flexible.parts
        flexible = _FLEXIBLE[flexible.correct] if is_brief else replace(flexible, answer=None)
    return RowKind(
        row.task,
        row.finish_reason,
        is_thinking_unclosed(row),
        verdict.correct,
        verdict.failure,
        flexible,
        parts,
        scores,
        groups,
    )


@dataclass
class Parts:
    """The components of the strict scores, or of the flexible ones."""

    columns: dict[str, array[float]] = field(default_factory=dict)
    """For each component, its score in each row; 0 if the row has none at all, NaN if it has
    others or is unjudged."""
    numbered: dict[int, list[float]] = field(default_factory=dict)
    """For each problem, the numbered components of all its rows; a single 0 for a row without
    components."""
    _without: array[int] = field(default_factory=lambda: array("I"))
    """The judged rows without components."""

    def add(self, parts: Mapping[str, float], number: int, problem: int) -> None:
        """Add the components of a judged row."""
        if not parts:
            self._without.append(number)
        for name, score in components(parts).items():
            scores = self.columns.setdefault(name, array("d"))
            scores.extend([nan] * (number - len(scores)))
            scores.append(score)
        if by_name := numbered(parts):
            self.numbered.setdefault(problem, []).extend(by_name.values())

    def complete(self, problems: Sequence[int]) -> None:
        """Fill the columns up, once every row's problem is known."""
        for scores in self.columns.values():
            scores.extend([nan] * (len(problems) - len(scores)))
            for number in self._without:
                scores[number] = 0.0
        for number in self._without if self.numbered else ():
            self.numbered.setdefault(problems[number], []).append(0.0)


@dataclass
class Outcomes:
    """Rows in the order of their problems: 16 bytes each, and 8 for each component of a score."""

    distinct: list[RowKind] = field(default_factory=list)
    kind: array[int] = field(default_factory=lambda: array("I"))
    """For each row, the index of its kind in `distinct`."""
    problem: array[int] = field(default_factory=lambda: array("I"))
    """For each row, the number of its problem."""
    score: array[float] = field(default_factory=lambda: array("d"))
    """For each row, its score; NaN if it is unjudged."""
    parts: Parts = field(default_factory=Parts)
    flexible_parts: Parts = field(default_factory=Parts)
    clusters: list[str] | None = None
    """For each problem, its cluster, if the intervals are clustered."""

    def __iter__(self) -> Iterator[RowKind]:
        return map(self.distinct.__getitem__, self.kind)

    @property
    def problems(self) -> int:
        """The number of problems."""
        return self.problem[-1] + 1 if self.problem else 0

    def rate(self, value_of: Callable[[RowKind], float | None]) -> Metric | None:
        """The mean of a value in [0, 1] over the rows where it isn't None; None without any."""
        values = [nan if value is None else value for value in map(value_of, self.distinct)]
        return self.mean(array("d", map(values.__getitem__, self.kind)))

    def mean(self, values: Sequence[float]) -> Metric | None:
        """The mean of a number for each row, over the rows where it isn't NaN; None without any."""
        kept = bytearray(value == value for value in values)
        numbers = array("d", compress(values, kept))
        problems = array("I", compress(self.problem, kept))
        return mean(numbers, problems, self.clusters) if numbers else None


def read_outcomes(rows: Sequence[CompletionRow], cluster: str | None = None) -> Outcomes:
    """The outcomes of rows; the rows of one problem are next to each other.

    `cluster` is the column of the problems' clusters.
    """
    clusters: list[str] = []
    outcomes = Outcomes(clusters=None if cluster is None else clusters)
    distinct: Numbers[RowKind] = Numbers()
    problem, identifier = -1, None
    for number, row in enumerate(rows):
        if row.id != identifier:
            problem, identifier = problem + 1, row.id
            if cluster is not None:
                clusters.append(str(row.columns[cluster]))
        elif cluster is not None and str(row.columns[cluster]) != clusters[-1]:
            raise DataError(f"the problem {row.id!r} has several values in {cluster!r}")
        verdict = row.verdict
        outcomes.kind.append(distinct[kind_of(row)])
        outcomes.problem.append(problem)
        outcomes.score.append(nan if verdict.score is None else verdict.score)
        if verdict.correct is not None:
            outcomes.parts.add(verdict.parts, number, problem)
        if row.flexible is not None and row.flexible.correct is not None:
            outcomes.flexible_parts.add(row.flexible.parts, number, problem)
    outcomes.parts.complete(outcomes.problem)
    outcomes.flexible_parts.complete(outcomes.problem)
    outcomes.distinct.extend(distinct)
    return outcomes


WITHOUT_FORM = (Failure.NO_ANSWER, Failure.FORMAT, Failure.NO_REASONING, Failure.TRUNCATED)
"""Failures of completions without an answer in the requested form."""


def _is_judged(kind: RowKind) -> bool:
    return kind.correct is not None


def _is_unfinished(kind: RowKind) -> bool:
    """Whether a completion gives no answer because it ended at the limit or while thinking."""
    if kind.correct:
        return False
    return kind.failure == Failure.TRUNCATED or (
        kind.thinking_open and kind.failure in WITHOUT_FORM
    )


def _has_flexible(kind: RowKind) -> bool:
    return kind.correct is not None and kind.flexible is not None


@dataclass(frozen=True)
class Rate:
    """The share of completions that `counts`, among those that it is defined for."""

    counts: Callable[[RowKind], object]
    is_defined: Callable[[RowKind], bool] = _is_judged
    defined_for: str = "judged completions"
    """The completions that it is defined for, in words."""
    lower_is_better: bool = False

    def value_of(self, kind: RowKind) -> float | None:
        """1 or 0; None for a completion that the rate is not defined for."""
        return float(bool(self.counts(kind))) if self.is_defined(kind) else None


RATES: Mapping[str, Rate] = {
    "accuracy": Rate(lambda kind: kind.correct),
    "accuracy_flexible": Rate(
        lambda kind: kind.flexible and kind.flexible.correct,
        _has_flexible,
        "judged completions with a flexible verdict",
    ),
    "flexible_gap": Rate(
        lambda kind: kind.flexible and kind.flexible.correct and not kind.correct,
        _has_flexible,
        "judged completions with a flexible verdict",
        lower_is_better=True,
    ),
    "format_rate": Rate(lambda kind: kind.failure not in WITHOUT_FORM),
    "unfinished_rate": Rate(_is_unfinished, lower_is_better=True),
    "error_rate": Rate(
        lambda kind: not kind.correct and not _is_unfinished(kind), lower_is_better=True
    ),
    "thinking_unclosed_rate": Rate(
        lambda kind: kind.thinking_open,
        lambda kind: True,
        "all completions",
        lower_is_better=True,
    ),
    "accuracy_untruncated": Rate(
        lambda kind: kind.correct,
        lambda kind: _is_judged(kind) and not kind.truncated,
        "judged completions that are not truncated",
    ),
    "accuracy_truncated": Rate(
        lambda kind: kind.correct,
        lambda kind: _is_judged(kind) and kind.truncated,
        "judged completions that are truncated",
    ),
}

LOWER_IS_BETTER = {name for name, rate in RATES.items() if rate.lower_is_better}

NAMES = (*RATES, "score")
"""The rates that a task may have besides the components of its score."""


def rates(outcomes: Outcomes) -> dict[str, Metric]:
    """Each rate over the completions that it is defined for; left out if there are none.

    Over judged completions:

    - accuracy: the share that are right; accuracy_flexible: the share that are right in any form;
    - flexible_gap: the share that are right only in another form. Completions that are right
      strictly are right flexibly too, so it equals accuracy_flexible − accuracy, and the interval
      of this share is that of the paired difference;
    - score: the mean score of the verdicts; part_NAME: the mean of a component of the score, over
      the completions that have it or none at all; components that are numbered ("0 NAME") are one;
    - instruction_accuracy: the mean of all numbered components of all completions;
      instruction_accuracy_flexible and part_NAME_flexible: the same of the flexible verdicts;
    - format_rate: the share with an answer in the requested form;
    - accuracy_untruncated, accuracy_truncated: accuracy over the completions that are not truncated
      and over those that are; both only if some are truncated;
    - unfinished_rate: the share that gave no answer before they reached the limit (failure
      "truncated") or in a thinking block that they never closed;
    - error_rate: the share that are wrong for another reason. accuracy + unfinished_rate +
      error_rate is 1: a completion that answered before it was truncated counts by its answer.

    Over all completions:

    - thinking_unclosed_rate: the share that never closed its thinking block; only if some did not.
    """
    left_out: set[str] = set()
    if not any(map(RATES["accuracy_truncated"].is_defined, outcomes.distinct)):
        left_out |= {"accuracy_untruncated", "accuracy_truncated"}
    if not any(kind.thinking_open for kind in outcomes.distinct):
        left_out.add("thinking_unclosed_rate")
    figures = {
        name: outcomes.rate(rate.value_of) for name, rate in RATES.items() if name not in left_out
    }
    figures["score"] = outcomes.mean(outcomes.score)
    columns: dict[str, Sequence[float]] = {}
    for reading, parts in (("", outcomes.parts), (FLEXIBLE, outcomes.flexible_parts)):
        if parts.numbered:
            clusters = outcomes.clusters and [
                outcomes.clusters[problem] for problem in parts.numbered
            ]
            numbered = list(parts.numbered.values())
            figures[f"instruction_accuracy{reading}"] = pooled_mean(numbered, clusters)
        columns |= {f"{PART}{part}{reading}": scores for part, scores in parts.columns.items()}
    figures |= {name: outcomes.mean(scores) for name, scores in sorted(columns.items())}
    return {name: figure for name, figure in figures.items() if figure is not None}


THINKING = "thinking"
BUCKETS = ("all", "right", "wrong", "truncated", "unjudged", THINKING)


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens of `count` completions; `p95` by nearest rank."""

    mean: float
    median: float
    p95: float
    maximum: int
    count: int


def lengths_by_outcome(rows: Sequence[CompletionRow], outcomes: Outcomes) -> dict[str, Lengths]:
    """The lengths of each bucket that occurs, of all, and of the thinking of those that think;
    empty where no tokens are counted."""
    lengths: dict[str, array[int]] = defaultdict(lambda: array("i"))
    buckets = [length_bucket(kind) for kind in outcomes.distinct]
    for row, kind in zip(rows, outcomes.kind, strict=True):
        tokens = row.completion_tokens
        if tokens is not None:
            lengths["all"].append(tokens)
            lengths[buckets[kind]].append(tokens)
        if row.thinking_tokens is not None:
            lengths[THINKING].append(row.thinking_tokens)
    return {bucket: _lengths(lengths[bucket]) for bucket in BUCKETS if bucket in lengths}


def length_bucket(kind: RowKind) -> str:
    """ "unjudged", "truncated", "right" or "wrong".

    Truncated completions form their own bucket, because the limit decides their length.
    """
    if kind.correct is None:
        return "unjudged"
    if kind.truncated:
        return "truncated"
    return "right" if kind.correct else "wrong"


def length_quantiles(rows: Iterable[CompletionRow]) -> dict[str, list[int]]:
    """The tokens at 0, 5, 10, … 100% of each task's completions, by nearest rank."""
    by_task: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.completion_tokens is not None:
            by_task[row.task].append(row.completion_tokens)
    for lengths in by_task.values():
        lengths.sort()
    return {
        task: [lengths[round(step * (len(lengths) - 1) / 20)] for step in range(21)]
        for task, lengths in by_task.items()
    }


def _lengths(tokens: array[int]) -> Lengths:
    import numpy as np

    return Lengths(
        mean=sum(tokens) / len(tokens),
        median=float(np.median(tokens)),
        p95=float(np.percentile(tokens, 95, method="inverted_cdf")),
        maximum=max(tokens),
        count=len(tokens),
    )
