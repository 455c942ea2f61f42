"""A comparison within each group of problems: in and out of distribution, level by level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from rewardkit.harness.comparison.compared_run import Problem
from rewardkit.harness.metrics.paired import paired_interval

Pair = tuple[list[float], list[float]]
"""A problem's values in the baseline and in the other run."""


@dataclass(frozen=True)
class GroupComparison:
    """The difference on the problems that have one value in a column, with its 95% interval."""

    column: str
    group: str
    problems: int
    baseline: float
    run: float
    low: float
    high: float


def by_group(
    problems: Mapping[str, Problem], pairs: Mapping[str, Pair]
) -> Iterator[GroupComparison]:
    """Each group of each column that the run's figures are grouped by, of these pairs by id."""
    members: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for id, pair in pairs.items():
        for named in problems[id].groups.items():
            members[named].append(pair)
    for (column, group), found in sorted(members.items()):
        old, new = [pair[0] for pair in found], [pair[1] for pair in found]
        yield GroupComparison(
            column,
            group,
            len(found),
            fmean(map(fmean, old)),
            fmean(map(fmean, new)),
            *paired_interval(old, new),
        )
