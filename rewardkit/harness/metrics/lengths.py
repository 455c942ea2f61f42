"""How long completions are, by how they ended."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from rewardkit.harness.metrics.metric import Row
from rewardkit.harness.metrics.truncation import is_truncated

OUTCOMES = ("all", "correct", "wrong", "truncated", "unjudged")


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens of `count` completions; `p95` by nearest rank."""

    mean: float
    median: float
    p95: float
    maximum: int
    count: int


def lengths_by_outcome(rows: Sequence[Row]) -> dict[str, Lengths]:
    """The lengths of all and of each outcome that occurs; empty where no tokens are counted."""
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        tokens = row["completion_tokens"]
        if tokens is not None:
            found["all"].append(tokens)
            found[outcome(row)].append(tokens)
    return {name: _lengths(sorted(found[name])) for name in OUTCOMES if name in found}


def outcome(row: Row) -> str:
    """A row's one outcome: "unjudged"; "truncated", be it right or wrong, for its length says
    nothing but the limit; else "correct" or "wrong"."""
    correct = row["verdict"]["correct"]
    if correct is None:
        return "unjudged"
    if is_truncated(row):
        return "truncated"
    return "correct" if correct else "wrong"


def _lengths(ordered: Sequence[int]) -> Lengths:
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return Lengths(
        fmean(ordered), float(median(ordered)), float(p95), ordered[-1], len(ordered)
    )  # fmt: skip
