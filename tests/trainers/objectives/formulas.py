"""The objectives of the sources as formulas, to compare TRL's and ours with.

B completions in groups of G to a prompt, each of at most T tokens.
"""

from __future__ import annotations

from torch import Tensor

from rewardkit.trainers.objectives import EPS, k3, momentum_advantages, zero_variance


def std_advantages(rewards: Tensor, group_size: int, *, eps: float = EPS) -> Tensor:
    """(r − mean) / (std + eps) over the group, (B,), without unit (GRPO, Shao et al. 2024)."""
    return momentum_advantages(rewards, group_size, history=None, momentum=0.0, eps=eps)[0]


def centred_advantages(rewards: Tensor, group_size: int) -> Tensor:
    """r − mean over the group, (B,), in rewards' units (Liu et al. 2025)."""
    groups = rewards.view(-1, group_size)
    advantages = groups - groups.nanmean(dim=1, keepdim=True)
    silent = groups.isnan() | zero_variance(rewards, group_size).unsqueeze(1)
    return advantages.masked_fill(silent, 0.0).flatten()


def clipped_surrogate(
    log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, *, epsilon: float = 0.2
) -> Tensor:
    """min(ρA, clip(ρ, 1 − ε, 1 + ε)A) of each token, with ρ = π / π_old; (B, T), to maximise."""
    ratio = (log_probs - old_log_probs).exp()
    advantage = advantages.unsqueeze(1)
    return (ratio * advantage).minimum(ratio.clamp(1 - epsilon, 1 + epsilon) * advantage)


def token_losses(
    log_probs: Tensor,
    old_log_probs: Tensor,
    ref_log_probs: Tensor,
    advantages: Tensor,
    *,
    epsilon: float = 0.2,
    beta: float = 0.0,
) -> Tensor:
    """β·k3 − min(ρA, clip(ρ)A) of each token, (B, T); log-probabilities are (B, T), in nats."""
    surrogate = clipped_surrogate(log_probs, old_log_probs, advantages, epsilon=epsilon)
    return beta * k3(log_probs, ref_log_probs) - surrogate


def grpo(per_token: Tensor, mask: Tensor) -> Tensor:
    """The mean over completions of the mean over their tokens, of `per_token` losses (B, T)."""
    tokens = mask.sum(1).clamp(min=1)
    return ((per_token * mask).sum(1) / tokens).mean()


def bnpo(per_token: Tensor, mask: Tensor) -> Tensor:
    """The sum over all tokens divided by the batch's token count, of `per_token` losses (B, T)."""
    return (per_token * mask).sum() / mask.sum().clamp(min=1)


def dr_grpo(per_token: Tensor, mask: Tensor, *, max_tokens: int) -> Tensor:
    """The sum over all tokens divided by B × `max_tokens`, the limit of a completion's length."""
    return (per_token * mask).sum() / (per_token.shape[0] * max_tokens)
