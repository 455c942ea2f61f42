from __future__ import annotations

import math

import pytest
import torch

from rewardkit.trainers.objectives import (
    EPS,
    History,
    Schedule,
    gated_rewards,
    group_statistics,
    momentum_advantages,
    reward_advantages,
    weight_at,
    zero_variance,
)

pytestmark = pytest.mark.engines

NAN = math.nan


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def std_advantages(rewards: torch.Tensor, group_size: int, *, eps: float = EPS) -> torch.Tensor:
    """(r − mean) / (std + eps) over the group, (B,) (GRPO, Shao et al. 2024)."""
    return momentum_advantages(rewards, group_size, history=None, momentum=0.0, eps=eps)[0]


def close(got: torch.Tensor, expected: torch.Tensor) -> bool:
    return torch.allclose(got, expected, rtol=0, atol=1e-9)


def test_std_divides_the_distance_to_the_mean_by_the_deviation() -> None:
    got = std_advantages(tensor(0, 1, 2, 3), 4, eps=0.0)
    deviation = math.sqrt(5 / 3)
    assert close(got, tensor(-1.5, -0.5, 0.5, 1.5) / deviation)


def test_equal_rewards_carry_no_signal_to_the_last_bit() -> None:
    rewards = torch.full((7,), 0.1)  # their mean, summed in floats, needn't be 0.1
    assert torch.equal(std_advantages(rewards, 7), torch.zeros(7))


def test_unjudged_completions_count_for_nothing() -> None:
    rewards = tensor(0, 1, NAN, NAN, NAN, NAN, 3, NAN, NAN)
    mean, std = group_statistics(rewards, 3)
    assert close(mean[0], tensor(0.5)[0])
    assert mean[1].isnan()
    assert std.tolist() == pytest.approx([math.sqrt(0.5), 0, 0])
    assert zero_variance(rewards, 3).tolist() == [False, True, True]
    got = std_advantages(rewards, 3, eps=0.0)
    assert close(got, tensor(-1, 1, 0, 0, 0, 0, 0, 0, 0) * math.sqrt(0.5))


def test_momentum_blends_the_statistics_of_the_steps_before() -> None:
    rewards = tensor(0, 2, 4, 4)
    history = History(mean=1.0, std=0.5)
    got, after = momentum_advantages(rewards, 2, history=history, momentum=0.2, eps=0.1)
    mean, std = 0.2 * 1 + 0.8 * 1, 0.2 * 0.5 + 0.8 * math.sqrt(2)
    expected = tensor((0 - mean) / (std + 0.1), (2 - mean) / (std + 0.1), 0, 0)
    assert close(got, expected)
    assert after is not None
    assert after.mean == pytest.approx(0.2 * 1 + 0.8 * 2.5, abs=1e-12)
    assert after.std == pytest.approx(0.2 * 0.5 + 0.8 * math.sqrt(2) / 2, abs=1e-12)


def test_the_first_step_sets_the_history() -> None:
    rewards = tensor(0, 2, 4, 4)
    got, after = momentum_advantages(rewards, 2, history=None, momentum=0.2)
    assert torch.equal(got, std_advantages(rewards, 2))
    assert after is not None
    assert (after.mean, after.std) == pytest.approx((2.5, math.sqrt(2) / 2), abs=1e-12)


def test_momentum_0_is_plain_normalisation_bit_for_bit() -> None:
    rewards = torch.rand(64, generator=torch.Generator().manual_seed(0)).round(decimals=2)
    got, _ = momentum_advantages(rewards, 8, history=History(9.0, 3.0), momentum=0.0)
    assert torch.equal(got, std_advantages(rewards, 8))


def test_a_step_without_a_judged_completion_leaves_the_history() -> None:
    history = History(1.0, 2.0)
    got, after = momentum_advantages(tensor(NAN, NAN), 2, history=history, momentum=0.1)
    assert got.tolist() == [0, 0]
    assert after == history
    assert momentum_advantages(tensor(NAN, NAN), 2, history=None, momentum=0.1)[1] is None


def test_a_schedule_grows_to_its_limit() -> None:
    schedule = Schedule(m0=0.1, increment=0.04, m_max=0.2)
    assert [schedule.at(step) for step in range(4)] == pytest.approx([0.1, 0.14, 0.18, 0.2])
    assert not schedule.is_zero()
    assert Schedule(m_max=0.0).is_zero()
    assert Schedule(increment=0.0).is_zero()


@pytest.mark.parametrize("size", [0, 3])
def test_rewards_that_do_not_split_into_groups_are_an_error(size: int) -> None:
    with pytest.raises(ValueError, match="don't split into groups"):
        std_advantages(tensor(1, 2, 3, 4), size)


def test_a_momentum_or_schedule_out_of_range_is_an_error() -> None:
    with pytest.raises(ValueError, match="momentum is 1.0"):
        momentum_advantages(tensor(1, 2), 2, history=None, momentum=1.0)
    with pytest.raises(ValueError, match="need 0 <= m0"):
        Schedule(m0=0.3, m_max=0.2)


def test_without_a_baseline_the_advantage_is_the_reward() -> None:
    assert close(reward_advantages(tensor(0, 1, NAN, 1)), tensor(0, 1, 0, 1))


def test_a_weight_applies_from_its_step_on() -> None:
    weights = [(0, 1.0), (100, 0.2), (150, 0.0)]
    assert [weight_at(weights, step) for step in (0, 99, 100, 149, 150, 9999)] == [
        *(1.0, 1.0, 0.2, 0.2, 0.0, 0.0)
    ]


def test_a_reward_counts_where_the_rewards_of_its_gate_reach_their_scores() -> None:
    rewards = torch.tensor([[1.0, 0.6, 0.5], [0.9, 0.6, 0.5], [1.0, 0.4, 0.5], [NAN, 0.6, 0.5]])
    gates = {"length": {"outcome": 1.0, "format": 0.5}}
    gated = gated_rewards(rewards, ["outcome", "format", "length"], gates)
    assert torch.equal(gated[:, :2].nan_to_num(), rewards[:, :2].nan_to_num())
    assert gated[:3, 2].tolist() == [0.5, 0.0, 0.0]
    assert math.isnan(gated[3, 2])
