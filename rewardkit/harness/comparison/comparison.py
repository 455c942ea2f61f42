"""The result of comparing a run with a baseline on one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rewardkit.harness.comparison.comparison_power import Power
from rewardkit.harness.comparison.groups import GroupComparison
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.paired import Difference


@dataclass(frozen=True)
class Flip:
    """A problem on which the runs differ, with its mean value in each."""

    id: str
    baseline: float
    run: float


@dataclass(frozen=True)
class Comparison:
    """One run and the baseline, on one task."""

    task: str
    metric: str
    baseline: str
    run: str
    problems: int
    """Problems with judged completions in both runs."""
    left_out: int
    """Problems without a judged completion in one of the runs."""
    baseline_value: Metric
    run_value: Metric
    difference: Difference
    p_adjusted: float
    """The p-value, adjusted for all comparisons with this baseline (Holm)."""
    power: Power
    spreads: tuple[Metric | None, Metric | None]
    """Between seeds, of one completion per problem: in the baseline and in the run. None where
    problems have one completion each."""
    won: Sequence[Flip]
    lost: Sequence[Flip]
    groups: Sequence[GroupComparison]
    differs_in: Sequence[str]
    """Fingerprint entries for this task whose values differ between the runs."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def is_worse(self, margin: float = 0.0) -> bool:
        """Whether the whole interval of the difference is below −`margin`."""
        return self.difference.high < -margin
