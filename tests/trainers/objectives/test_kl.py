from __future__ import annotations

import pytest
import torch

from rewardkit.trainers.objectives import k1, k2, k3

pytestmark = pytest.mark.engines

TRUE = 0.1**2 / 2
"""KL(q, p) of q = N(0.1, 1) from p = N(0, 1)."""


def sampled(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """log q and log p, but for the constant that they share, at draws from q."""
    draws = torch.randn(count, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    draws += 0.1
    return -((draws - 0.1) ** 2) / 2, -(draws**2) / 2


def test_k1_and_k3_are_unbiased_and_k3_varies_a_tenth_as_much() -> None:
    log_probs, ref_log_probs = sampled(2_000_000)
    one, two, three = (kl(log_probs, ref_log_probs) for kl in (k1, k2, k3))
    assert one.mean().item() == pytest.approx(TRUE, abs=5 * 0.1 / 2_000_000**0.5)
    assert three.mean().item() == pytest.approx(TRUE, rel=0.005)
    assert two.mean().item() == pytest.approx(TRUE * 1.0025, rel=0.002)
    assert one.std().item() / TRUE == pytest.approx(20, rel=0.01)
    assert three.std().item() < one.std().item() / 10


def test_k2_and_k3_are_never_negative_and_k1_may_be() -> None:
    log_probs, ref_log_probs = (logs.float() for logs in sampled(100_000))
    assert k1(log_probs, ref_log_probs).min() < 0
    assert k2(log_probs, ref_log_probs).min() >= 0
    assert k3(log_probs, ref_log_probs).min() >= 0


@pytest.mark.parametrize("kl", [k1, k2, k3])
def test_a_policy_does_not_diverge_from_itself(kl) -> None:  # type: ignore[no-untyped-def]
    log_probs = torch.tensor([[-0.1, -3.0, 0.0]])
    assert torch.equal(kl(log_probs, log_probs), torch.zeros(1, 3))
