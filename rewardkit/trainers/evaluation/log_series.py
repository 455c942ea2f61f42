"""What a train log says, as series over the steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Evaluation:
    """A task's figures at a step, as summary.json holds them."""

    step: int
    metrics: Mapping[str, Mapping[str, float]]
    before: int
    """The step of the evaluation before: what was logged since then belongs to this one."""

    def value(self, metric: str) -> float:
        """The metric's mean."""
        return self.metrics[metric]["value"]


def evaluations(entries: Sequence[Entry], task: str) -> list[Evaluation]:
    """A task's evaluations, in order."""
    found = [
        (entry["step"], entry["evaluation"][task])
        for entry in entries
        if task in entry["evaluation"]
    ]
    before = [0, *(step for step, _ in found)]
    return [
        Evaluation(step, metrics, earlier)
        for (step, metrics), earlier in zip(found, before, strict=False)
    ]


def logged(entries: Sequence[Entry], name: str) -> list[tuple[int, float]]:
    """The steps and figures of a logged value, where it has one."""
    found = ((entry["step"], entry["logs"].get(name)) for entry in entries)
    return [(step, float(value)) for step, value in found if isinstance(value, (int, float))]


def since(entries: Sequence[Entry], evaluation: Evaluation, name: str) -> list[float]:
    """What was logged after the evaluation before, up to this one."""
    return [
        value
        for step, value in logged(entries, name)
        if evaluation.before < step <= evaluation.step
    ]


def rose(one: Evaluation, other: Evaluation, metric: str) -> bool:
    """Whether a metric is higher at the other evaluation, beyond both 95% intervals."""
    before, after = one.metrics.get(metric), other.metrics.get(metric)
    return before is not None and after is not None and after["low"] > before["high"]


def scatter(values: Sequence[float]) -> float | None:
    """The standard deviation of noise round a trend, from successive differences.

    J. von Neumann, Ann. Math. Stat. 12 (1941) 367: E (x_i+1 − x_i)² = 2σ². None for fewer than
    four values.
    """
    if len(values) < 4:
        return None
    return math.sqrt(fmean((b - a) ** 2 for a, b in itertools.pairwise(values)) / 2)
