from __future__ import annotations

import pytest

from rewardkit.harness.metrics.rates import NAMES
from rewardkit.trainers.evaluation.callback import improves

BEST_LOW = ("error_rate", "unfinished_rate", "flexible_gap", "thinking_unclosed_rate")


@pytest.mark.parametrize("metric", NAMES)
def test_a_metric_improves_in_its_own_direction(metric: str) -> None:
    lower, higher = improves(metric, 0.2, 0.3), improves(metric, 0.3, 0.2)
    assert (lower, higher) == ((True, False) if metric in BEST_LOW else (False, True))
    assert improves(metric, 0.3, None)
    assert not improves(metric, 0.3, 0.3), "of two equal values the earlier is kept"
