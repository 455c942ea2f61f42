"""How long completions are, by how they ended."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rewardkit.harness.metrics.outcomes import Outcome, Outcomes
from rewardkit.harness.store.sample_row import JudgedRow

OUTCOMES = ("all", "correct", "wrong", "truncated", "unjudged")


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens of `count` completions; `p95` by nearest rank."""

    mean: float
    median: float
    p95: float
    maximum: int
    count: int


def lengths_by_outcome(rows: Sequence[JudgedRow], outcomes: Outcomes) -> dict[str, Lengths]:
    """The lengths of all and of each outcome that occurs; empty where no tokens are counted."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    names = [ended(one) for one in outcomes.known]
    for row, place in zip(rows, outcomes.outcome, strict=True):
        tokens = row.completion_tokens
        if tokens is not None:
            found["all"][tokens] += 1
            found[names[place]][tokens] += 1
    return {name: _lengths(found[name]) for name in OUTCOMES if name in found}


def ended(one: Outcome) -> str:
    """ "unjudged"; "truncated", be it right or wrong, for its length says nothing but the limit;
    else "correct" or "wrong"."""
    if one.correct is None:
        return "unjudged"
    if one.truncated:
        return "truncated"
    return "correct" if one.correct else "wrong"


def _lengths(counts: Counter[int]) -> Lengths:
    """From how many completions are of each length."""
    values = sorted(counts)
    ends = list(accumulate(counts[value] for value in values))
    count = ends[-1]

    def ranked(place: int) -> int:
        return values[bisect_right(ends, place)]

    return Lengths(
        mean=sum(value * times for value, times in counts.items()) / count,
        median=(ranked((count - 1) // 2) + ranked(count // 2)) / 2,
        p95=float(ranked(math.ceil(0.95 * count) - 1)),
        maximum=values[-1],
        count=count,
    )
