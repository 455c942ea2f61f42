"""The formulas of group-relative policy optimisation, as short functions over tensors.

Training adds these formulas to TRL's; `k1`, `k2` and `k3` are estimators of the KL term.
A batch has B completions in groups of G to a prompt, each of at most T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EPS = 1e-4
"""Added to a standard deviation before dividing by it, in rewards' units; TRL's constant."""


@dataclass(frozen=True, slots=True)
class History:
    """Mean and standard deviation of groups' rewards, blended over the steps so far."""

    mean: float
    std: float


@dataclass(frozen=True)
class Schedule:
    """Momentum m at a step: m0, growing by `increment` a step, never above `m_max`; in [0, 1)."""

    m0: float = 0.0
    increment: float = 0.01
    m_max: float = 0.2

    def __post_init__(self) -> None:
        if not (0 <= self.m0 <= self.m_max < 1 and 0 <= self.increment < math.inf):
            raise ValueError(
                f"m0 {self.m0}, increment {self.increment}, m_max {self.m_max}: "
                "need 0 <= m0 <= m_max < 1 and an increment of at least 0"
            )

    def at(self, step: int) -> float:
        """The momentum at `step`, counted from 0."""
        return min(self.m0 + self.increment * step, self.m_max)

    def is_zero(self) -> bool:
        """Whether the momentum is 0 at every step."""
        return self.m_max == 0 or (self.m0 == 0 and self.increment == 0)


def weighted_rewards(per_function: Tensor, weights: Tensor) -> Tensor:
    """The weighted sums (B,) of rewards (B, functions); NaN where no function judged."""
    rewards = (per_function * weights.to(per_function.device)).nansum(dim=1)
    return rewards.masked_fill(per_function.isnan().all(dim=1), math.nan)


WeightSchedule = Sequence[tuple[int, float]]
"""(step, weight) pairs by rising step, the first of step 0."""
Gates = Mapping[str, Mapping[str, float]]
"""By a reward's name: the scores that other rewards, by name, must reach for it to count."""


def weight_at(weights: WeightSchedule, step: int) -> float:
    """The weight at `step`, counted from 0: the weight of the last pair up to this step."""
    return [weight for first, weight in weights if first <= step][-1]


def gated_rewards(per_function: Tensor, names: Sequence[str], gates: Gates) -> Tensor:
    """The rewards (B, functions) of `names`; 0 where another reward is below the gate's score.

    An unjudged reward stays NaN. A reward behind an unjudged gate becomes NaN.
    """
    gated = per_function.clone()
    for name, wanted in gates.items():
        column = names.index(name)
        for other, score in wanted.items():
            scores = per_function[:, names.index(other)]
            closed = (scores < score) & ~gated[:, column].isnan()
            gated[closed, column] = 0.0
            gated[scores.isnan(), column] = math.nan
    return gated


def group_statistics(rewards: Tensor, group_size: int) -> tuple[Tensor, Tensor]:
    """Each group's mean and unbiased standard deviation, both (B / group_size,).

    The mean is NaN in a group without a judged reward. The deviation is 0 with fewer than two.
    """
    groups = _grouped(rewards, group_size)
    mean = groups.nanmean(dim=1)
    others = (~groups.isnan()).sum(dim=1) - 1
    squares = (groups - mean.unsqueeze(1)).square().nansum(dim=1)
    return mean, (squares / others.clamp(min=1)).sqrt()


def zero_variance(rewards: Tensor, group_size: int) -> Tensor:
    """Whether a group has fewer than two distinct judged rewards, (B / group_size,), bool."""
    groups = _grouped(rewards, group_size)
    unjudged = groups.isnan()
    highest = groups.masked_fill(unjudged, -math.inf).amax(dim=1)
    return highest <= groups.masked_fill(unjudged, math.inf).amin(dim=1)


def reward_advantages(rewards: Tensor) -> Tensor:
    """r, (B,), in rewards' units: REINFORCE without a baseline; 0 for an unjudged completion."""
    return rewards.nan_to_num(0.0)


def momentum_advantages(
    rewards: Tensor,
    group_size: int,
    *,
    history: History | None,
    momentum: float,
    eps: float = EPS,
) -> tuple[Tensor, History | None]:
    """Advantages by statistics blended over steps, (B,), and the history after this step.

    With history (M, S) and momentum m in [0, 1): mean_j = m·M + (1 − m)·mean(r_j), std_j likewise,
    A = (r − mean_j) / (std_j + eps); 0 for an unjudged completion and where a group's rewards are
    equal. Then M ← m·M + (1 − m)·avg_j mean(r_j), S likewise, over the groups with a judged reward;
    the first step sets both. m = 0 is (r − mean) / (std + eps), bit for bit (GRPO, Shao et al.
    2024).
    """
    if not 0 <= momentum < 1:
        raise ValueError(f"momentum is {momentum}; it must be in [0, 1)")
    mean, std = group_statistics(rewards, group_size)
    judged = ~mean.isnan()
    after = history
    if judged.any():
        after = History(mean[judged].mean().item(), std[judged].mean().item())
        if history is not None:
            after = History(
                momentum * history.mean + (1 - momentum) * after.mean,
                momentum * history.std + (1 - momentum) * after.std,
            )
    if history is not None:
        mean = momentum * history.mean + (1 - momentum) * mean
        std = momentum * history.std + (1 - momentum) * std
    groups = _grouped(rewards, group_size)
    advantages = (groups - mean.unsqueeze(1)) / (std + eps).unsqueeze(1)
    silent = groups.isnan() | zero_variance(rewards, group_size).unsqueeze(1)
    return advantages.masked_fill(silent, 0.0).flatten(), after


def span_sums(scores: Tensor) -> Tensor:
    """The number of spans of a completion, and the sums of their scores (spans,) and squares."""
    return scores.new_tensor([len(scores), scores.sum().item(), scores.square().sum().item()])


def span_baselines(sums: Tensor, group_size: int) -> Tensor:
    """For each completion, the mean and standard deviation of its group's span scores, (B, 2).

    `sums` (B, 3) are the results of `span_sums`.
    """
    count, total, squares = sums.view(-1, group_size, 3).sum(dim=1).unbind(dim=1)
    count = count.clamp(min=1)
    mean = total / count
    std = (squares / count - mean.square()).clamp(min=0).sqrt()
    both = mean.new_zeros(len(mean), 2)
    both[:, 0], both[:, 1] = mean, std
    return both.repeat_interleave(group_size, dim=0)


def span_advantages(scores: Tensor, baseline: Tensor) -> Tensor:
    """(s − mean) / (std + eps) of a completion's spans, (spans,): the advantage of their tokens.

    Mean and deviation cover all spans of the group, as in process supervision of GRPO (Z. Shao
    et al., DeepSeekMath, arXiv:2402.03300 (2024), section 4.1.3). There a token gets the sum over
    its step and all later steps; here a token gets only the value of its span.
    """
    return (scores - baseline[0]) / (baseline[1] + EPS)


def _grouped(rewards: Tensor, group_size: int) -> Tensor:
    if rewards.dim() != 1 or group_size < 1 or rewards.shape[0] % group_size:
        raise ValueError(
            f"rewards of shape {tuple(rewards.shape)} don't split into groups of {group_size}"
        )
    return rewards.view(-1, group_size)


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
