"""The one boundary through which every verifier is called."""

from rewardkit.judging.boundary import DEADLINE, judge, judge_many
from rewardkit.judging.pool import close_pools

__all__ = ["DEADLINE", "close_pools", "judge", "judge_many"]
