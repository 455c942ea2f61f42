"""A task's rates, from the outcomes of its rows."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.outcomes import Outcome, Outcomes
from rewardkit.harness.store.sample_row import JudgedRow, SampleRow
from rewardkit.records import Failure

WITHOUT_FORM = (Failure.NO_ANSWER, Failure.FORMAT, Failure.NO_REASONING, Failure.TRUNCATED)
"""Failures of completions without an answer in the requested form."""


def rates(outcomes: Outcomes) -> dict[str, Metric]:
    """Each rate over the completions that it is defined for; left out if there are none.

    Over judged completions:

    - accuracy: the share that is right; accuracy_flexible: the share with form forgiven;
    - flexible_gap: the share that is right only with form forgiven. Completions that are right
      strictly are right flexibly too, so it equals accuracy_flexible − accuracy, and the interval
      of this share is that of the paired difference;
    - score: the mean score of the verdicts; part_NAME: the mean of a component of the score;
    - format_rate: the share with an answer in the requested form;
    - accuracy_finished, accuracy_truncated: accuracy over the completions that are not truncated
      (`is_truncated`), and over those that are; both only if some are truncated;
    - unfinished_rate: the share that reached the limit before an answer (failure "truncated");
    - error_rate: the share that is wrong for another reason. accuracy + unfinished_rate +
      error_rate is 1: a completion that answered and was then cut off counts by its answer.

    Over all completions:

    - thinking_unclosed_rate: the share that never closed its thinking block; only if some did not.
    """
    some_truncated = any(
        outcome.truncated and outcome.correct is not None for outcome in outcomes.distinct
    )
    some_open = any(outcome.thinking_open for outcome in outcomes.distinct)
    left_out = set() if some_open else {"thinking_unclosed_rate"}
    if not some_truncated:
        left_out |= {"accuracy_finished", "accuracy_truncated"}
    figures = {
        name: outcomes.rate(RATES[name]) if name in RATES else outcomes.mean_score(outcomes.score)
        for name in NAMES
        if name not in left_out
    }
    for part, scores in sorted(outcomes.parts.items()):
        figures[f"part_{part}"] = outcomes.mean_score(scores)
    return {name: figure for name, figure in figures.items() if figure is not None}


def accuracy(outcome: Outcome) -> float | None:
    """1 for a right completion, 0 for a wrong one, None for an unjudged one."""
    return None if outcome.correct is None else float(outcome.correct)


def _flexible(outcome: Outcome) -> float | None:
    if outcome.correct is None or outcome.flexible is None:
        return None
    return float(outcome.flexible)


def _only_flexible(outcome: Outcome) -> float | None:
    flexible = _flexible(outcome)
    return None if flexible is None else flexible * (not outcome.correct)


def _in_form(outcome: Outcome) -> float | None:
    return None if outcome.correct is None else float(outcome.failure not in WITHOUT_FORM)


def _unfinished(outcome: Outcome) -> float | None:
    if outcome.correct is None:
        return None
    return float(not outcome.correct and outcome.failure == Failure.TRUNCATED)


def _error(outcome: Outcome) -> float | None:
    if outcome.correct is None:
        return None
    return float(not outcome.correct and outcome.failure != Failure.TRUNCATED)


def _thinking_open(outcome: Outcome) -> float:
    return float(outcome.thinking_open)


def _finished(outcome: Outcome) -> float | None:
    return None if outcome.truncated else accuracy(outcome)


def _truncated(outcome: Outcome) -> float | None:
    return accuracy(outcome) if outcome.truncated else None


RATES: Mapping[str, Callable[[Outcome], float | None]] = {
    "accuracy": accuracy,
    "accuracy_flexible": _flexible,
    "flexible_gap": _only_flexible,
    "format_rate": _in_form,
    "unfinished_rate": _unfinished,
    "error_rate": _error,
    "thinking_unclosed_rate": _thinking_open,
    "accuracy_finished": _finished,
    "accuracy_truncated": _truncated,
}
"""What each rate is the mean of: a value in [0, 1]; None for completions that it leaves out."""

NAMES = (*RATES, "score")
"""The rates that a task may have besides the components of its score."""


STEPS = 20
"""The intervals between the quantiles of a distribution of lengths."""
THINKING = "thinking"
BUCKETS = ("all", "correct", "wrong", "truncated", "unjudged", THINKING)


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens of `count` completions; `p95` by nearest rank."""

    mean: float
    median: float
    p95: float
    maximum: int
    count: int


def lengths_by_outcome(rows: Sequence[JudgedRow], outcomes: Outcomes) -> dict[str, Lengths]:
    """The lengths of each bucket that occurs, of all, and of the thinking of those that think;
    empty where no tokens are counted."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    buckets = [length_bucket(outcome) for outcome in outcomes.distinct]
    for row, outcome in zip(rows, outcomes.outcome, strict=True):
        tokens = row.completion_tokens
        if tokens is not None:
            counts["all"][tokens] += 1
            counts[buckets[outcome]][tokens] += 1
        if row.thinking_tokens is not None:
            counts[THINKING][row.thinking_tokens] += 1
    return {bucket: _lengths(counts[bucket]) for bucket in BUCKETS if bucket in counts}


def length_bucket(outcome: Outcome) -> str:
    """ "unjudged", "truncated", "correct" or "wrong".

    Truncated completions form their own bucket: their length is the limit's.
    """
    if outcome.correct is None:
        return "unjudged"
    if outcome.truncated:
        return "truncated"
    return "correct" if outcome.correct else "wrong"


def length_quantiles(rows: Iterable[SampleRow]) -> dict[str, list[int]]:
    """The tokens at 0, 5, 10, … 100% of each task's completions, by nearest rank."""
    by_task: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.completion_tokens is not None:
            by_task[row.task].append(row.completion_tokens)
    return {task: _quantiles(sorted(lengths)) for task, lengths in by_task.items()}


def _quantiles(ordered: Sequence[int]) -> list[int]:
    last = len(ordered) - 1
    return [ordered[round(share * last / STEPS)] for share in range(STEPS + 1)]


def _lengths(counts: Counter[int]) -> Lengths:
    """`counts` maps each length to the number of completions that long."""
    lengths = sorted(counts)
    ranks = list(accumulate(counts[length] for length in lengths))
    count = ranks[-1]

    def at_rank(rank: int) -> int:
        return lengths[bisect_right(ranks, rank)]

    return Lengths(
        mean=sum(length * times for length, times in counts.items()) / count,
        median=(at_rank((count - 1) // 2) + at_rank(count // 2)) / 2,
        p95=float(at_rank(math.ceil(0.95 * count) - 1)),
        maximum=lengths[-1],
        count=count,
    )
