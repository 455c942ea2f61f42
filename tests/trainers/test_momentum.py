from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import concatenate_datasets
from transformers import TrainerCallback

from rewardkit.trainers import reward_func
from rewardkit.trainers.objectives import History, momentum_advantages
from tests.trainers.forms import letters, some_equal
from tests.trainers.objectives.test_advantages import std_advantages
from tests.trainers.tiny_training import (
    GRPOTrainer,
    MomentumGRPOTrainer,
    rows,
    trained,
    trainer,
)

pytestmark = pytest.mark.engines

STEPS = {"max_steps": 4}


def recording(of: type[GRPOTrainer]) -> type[GRPOTrainer]:
    """The trainer, keeping each training batch's gathered rewards and final advantages."""

    class Recording(of):  # type: ignore[misc]
        def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
            rewards: torch.Tensor = super()._calculate_rewards(*args, **kwargs)
            self.rewards = rewards
            return rewards

        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
            output = super()._generate_and_score_completions(inputs)
            if self.model.training:
                self.__dict__.setdefault("batches", []).append(
                    (self.rewards.squeeze(1), output["advantages"])
                )
            return output

    return Recording


def train(
    checkpoint: Path,
    output: Path,
    of: type[GRPOTrainer],
    *,
    reward: Any = letters,
    settings: Mapping[str, Any] = STEPS,
    **more: Any,
) -> GRPOTrainer:
    more |= {"of": recording(of), "settings": settings}
    return trained(checkpoint, output, reward_func(reward), **more)


def weights(of: GRPOTrainer) -> list[torch.Tensor]:
    return [parameter.detach() for parameter in of.model.parameters()]


def same(one: GRPOTrainer, other: GRPOTrainer) -> bool:
    return all(map(torch.equal, weights(one), weights(other)))


def test_momentum_0_is_trls_own_trainer_bit_for_bit(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock = train(tiny_checkpoint, tmp_path, GRPOTrainer)
    plain = train(tiny_checkpoint, tmp_path, MomentumGRPOTrainer, m_max=0.0)
    assert len(plain.batches) == 4
    assert same(plain, stock)
    monkeypatch.setattr(MomentumGRPOTrainer, "_overrides", lambda self: True)
    ours = train(tiny_checkpoint, tmp_path, MomentumGRPOTrainer, m_max=0.0)
    batches = zip(plain.batches, ours.batches, stock.batches, strict=True)
    for (_, got), (_, computed), (_, expected) in batches:
        assert torch.equal(got, expected)
        assert torch.allclose(computed, expected, rtol=0, atol=1e-6)


def test_advantages_blend_the_steps_before(tiny_checkpoint: Path, tmp_path: Path) -> None:
    schedule: dict[str, Any] = {"m0": 0.1, "increment": 0.05, "m_max": 0.2}
    ours = train(tiny_checkpoint, tmp_path, MomentumGRPOTrainer, **schedule)
    history: History | None = None
    for momentum, (rewards, got) in zip((0.1, 0.15, 0.2, 0.2), ours.batches, strict=True):
        expected, history = momentum_advantages(rewards, 4, history=history, momentum=momentum)
        assert torch.allclose(got, expected, rtol=0, atol=1e-7)
        assert not torch.allclose(expected, std_advantages(rewards, 4)) or momentum == 0.1
    logged = [entry for entry in ours.state.log_history if "momentum/m" in entry]
    assert [entry["momentum/m"] for entry in logged] == pytest.approx([0.1, 0.15, 0.2, 0.2])
    assert history is not None
    assert logged[-1]["momentum/reward_mean"] == pytest.approx(history.mean)
    assert list(ours._logs["advantages"]) == ours.batches[-1][1].tolist()


def test_eps_reaches_the_advantages(tiny_checkpoint: Path, tmp_path: Path) -> None:
    ours = train(tiny_checkpoint, tmp_path, MomentumGRPOTrainer, m_max=0.0, eps=0.5)
    for rewards, got in ours.batches:
        assert torch.allclose(got, std_advantages(rewards, 4, eps=0.5), rtol=0, atol=1e-7)


def test_a_resumed_training_is_one_that_never_stopped(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    settings = {**STEPS, "save_strategy": "steps", "save_steps": 2}
    data = concatenate_datasets([rows(), rows()])  # one epoch: transformers redraws between two
    run = functools.partial(
        train, tiny_checkpoint, of=MomentumGRPOTrainer, settings=settings, data=data, m0=0.1
    )
    whole = run(tmp_path / "whole")
    checkpoint = tmp_path / "whole" / "checkpoint-2"
    assert json.loads((checkpoint / "momentum_state.json").read_text())["steps"] == 2
    resumed = run(tmp_path / "resumed", resume=checkpoint)
    assert len(resumed.batches) == 2
    for (_, got), (_, expected) in zip(resumed.batches, whole.batches[2:], strict=True):
        assert torch.equal(got, expected)
    assert same(resumed, whole)
    assert (resumed._steps, resumed._history) == (whole._steps, whole._history)


def test_a_checkpoint_of_another_trainer_starts_a_new_history(
    tiny_checkpoint: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {**STEPS, "save_strategy": "steps", "save_steps": 2}
    train(tiny_checkpoint, tmp_path, GRPOTrainer, settings=settings)
    resumed = train(
        tiny_checkpoint, tmp_path / "on", MomentumGRPOTrainer, resume=tmp_path / "checkpoint-2"
    )
    assert resumed._steps == 2
    assert "holds no momentum_state.json" in caplog.text


def test_groups_without_signal_are_masked_counted_and_logged(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    data = rows(answer=["graded", "equal", "graded", "equal"])
    ours = train(
        tiny_checkpoint, tmp_path, MomentumGRPOTrainer, reward=some_equal, m0=0.2, data=data
    )
    silent = 0
    for rewards, got in ours.batches:
        for group, advantages in zip(rewards.view(-1, 4), got.view(-1, 4), strict=True):
            equal = bool((group == group[0]).all())
            silent += equal
            assert bool((advantages == 0).all()) == equal
    counts = [entry.get("momentum/zero_variance_groups", 0) for entry in ours.state.log_history]
    assert sum(counts) == silent == 4


def test_a_group_that_nobody_can_judge_is_left_out(tiny_checkpoint: Path, tmp_path: Path) -> None:
    data = rows(answer=["72", None, "72", None])
    ours = train(tiny_checkpoint, tmp_path, MomentumGRPOTrainer, m0=0.2, data=data)
    history: History | None = None
    unjudged = 0
    for rewards, got in ours.batches:
        expected, history = momentum_advantages(rewards, 4, history=history, momentum=0.2)
        assert torch.allclose(got, expected, rtol=0, atol=1e-7)
        assert bool((got[rewards.isnan()] == 0).all())
        unjudged += int(rewards.isnan().sum())
    assert unjudged == 16
    assert history is not None
    assert math.isfinite(history.mean)
    assert all(bool(weight.isfinite().all()) for weight in weights(ours))


def test_evaluation_leaves_the_history_alone(tiny_checkpoint: Path, tmp_path: Path) -> None:
    class AtEnd(TrainerCallback):  # type: ignore[misc]
        def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            seen.append((ours._steps, ours._history))

    seen: list[Any] = []
    ours = trainer(
        tiny_checkpoint,
        tmp_path,
        reward_func(letters),
        of=MomentumGRPOTrainer,
        eval_dataset=rows(),
        callbacks=[AtEnd()],
        m0=0.1,
    )
    ours.train()
    before = (ours._steps, ours._history)
    metrics = ours.evaluate()
    assert seen == [before] == [(ours._steps, ours._history)]
    assert metrics["eval_reward"] > 0
