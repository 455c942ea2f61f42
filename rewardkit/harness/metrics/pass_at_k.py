"""pass@k: how likely at least one of k completions is right."""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache(maxsize=100_000)
def pass_at(k: int, correct: int, count: int) -> float:
    """The chance that at least one of k completions is right, where `correct` of `count` are.

    1 − C(n − c, k) / C(n, k) for 1 ≤ k ≤ n, the unbiased estimator of pass@k; M. Chen et al.,
    Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021), equation 1. Computed
    as 1 − Π (1 − k / i) over i = n − c + 1 … n, which can't overflow.
    """
    if count - correct < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(count - correct + 1, count + 1))
