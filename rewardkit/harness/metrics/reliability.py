"""pass^k and G-Pass@k: how likely all, or most, of k completions are right."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from statistics import fmean

from rewardkit.harness.metrics.pass_at_k import pass_at

THRESHOLDS = (0.25, 0.5, 0.75, 1.0)
"""The shares τ of right completions for which G-Pass@k is reported."""


def all_right(k: int, correct: int, count: int) -> float:
    """pass^k: the chance that all of k completions are right, where `correct` of `count` are.

    C(c, k) / C(n, k) for 1 ≤ k ≤ n; S. Yao et al., τ-bench, arXiv:2406.12045 (2024). It is 1 minus
    the chance that at least one is wrong.
    """
    return 1.0 - pass_at(k, count - correct, count)


def g_pass_at(k: int, threshold: float, correct: int, count: int) -> float:
    """G-Pass@k_τ: the chance that at least ⌈τ k⌉ of k completions are right.

    Σ C(c, j) C(n − c, k − j) / C(n, k) over j = max(1, ⌈τ k⌉) … k, for 1 ≤ k ≤ n. J. Liu et al.,
    Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147 (2024).
    """
    needed = max(1, math.ceil(Fraction(str(threshold)) * k))
    return _at_least(needed, k, correct, count)


def mean_g_pass_at(k: int, correct: int, count: int) -> float:
    """mG-Pass@k: the mean of G-Pass@k_τ over τ = i / k for i = ⌈k / 2⌉ + 1 … k, for k ≥ 2.

    As in the same paper, which divides by k / 2: for an even k, the number of terms.
    """
    first = -(-k // 2) + 1
    return fmean(_at_least(needed, k, correct, count) for needed in range(first, k + 1))


@lru_cache(maxsize=100_000)
def _at_least(needed: int, k: int, correct: int, count: int) -> float:
    """The chance that at least `needed` of k are right, drawn without replacement."""
    ways = sum(
        math.comb(correct, right) * math.comb(count - correct, k - right)
        for right in range(needed, min(k, correct) + 1)
    )
    return ways / math.comb(count, k)
