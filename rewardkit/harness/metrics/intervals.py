"""Confidence intervals of a rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

LEVEL = 0.95


def wilson(rate: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """The Wilson score interval of a rate in [0, 1] seen in `count` independent trials (> 0).

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209. Written out because importing scipy.stats,
    whose figure it equals, takes a second of every run. `count` need not be whole.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + z * z / count
    centre = (rate + z * z / (2 * count)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)


def clustered(groups: Sequence[Sequence[float]], level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean of values in [0, 1], where those of one group go together.

    The samples of one problem are no independent trials. Their variance is estimated between
    groups, and the Wilson interval taken for as many independent trials as would have it
    (Kish's effective sample size). Groups must not be empty.
    """
    means = [fmean(group) for group in groups]
    rate = fmean(means)
    spread = sum((mean - rate) ** 2 for mean in means) / max(1, len(means) - 1)
    if spread == 0:
        return wilson(rate, len(means), level)
    return wilson(rate, rate * (1 - rate) * len(means) / spread, level)
