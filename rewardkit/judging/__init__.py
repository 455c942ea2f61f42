"""Call verifiers: every verdict comes from here, within its limits."""

from rewardkit.judging.crashes import Control
from rewardkit.judging.deadline import LimitCounts, take_limit_counts
from rewardkit.judging.judge_items import judge, judge_many
from rewardkit.judging.options import DEADLINE, JudgingOptions
from rewardkit.judging.pool import close_pools

__all__ = [
    "DEADLINE",
    "Control",
    "JudgingOptions",
    "LimitCounts",
    "close_pools",
    "judge",
    "judge_many",
    "take_limit_counts",
]
