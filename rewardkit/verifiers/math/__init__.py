"""Boxed LaTeX, compared by mathematical meaning."""

from rewardkit.verifiers.math.verifier import Math

__all__ = ["Math"]
