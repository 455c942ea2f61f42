"""Estimators of the KL divergence of the policy π from the reference, one value a token.

With log γ = log π_ref − log π, tokens drawn from π (Schulman 2020, "Approximating KL divergence").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def k1(log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    """−log γ, in nats: unbiased, of high variance, of either sign. Same shape as both."""
    return log_probs - ref_log_probs


def k2(log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    """(log γ)² / 2, in nats, at least 0: biased, of low variance. Same shape as both."""
    return (ref_log_probs - log_probs).square() / 2


def k3(log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    """(γ − 1) − log γ, in nats, at least 0: unbiased, of low variance. Same shape as both."""
    log_gamma = ref_log_probs - log_probs
    return log_gamma.expm1() - log_gamma  # expm1: γ − 1 itself cancels near γ = 1
