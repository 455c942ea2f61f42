"""A training's rollouts for tests, without a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewardkit.harness.store.rollouts import (
    ROLLOUTS,
    RecordedReward,
    RolloutRecord,
    RolloutRow,
    RolloutWriter,
)
from rewardkit.records import Verdict

GROUP = 2


def rollout(step: int, index: int, reward: float, advantage: float, **changes: Any) -> RolloutRow:
    """A completion that is right with the reward 1; groups are of two."""
    fields: dict[str, Any] = {
        "step": step,
        "batch": 0,
        "group": index // GROUP,
        "index": index,
        "finish_reason": "stop",
        "completion_tokens": 10 * step + index,
        "rewards": [("accuracy", reward)],
        "reward": reward,
        "advantage": advantage,
        "prompt": f"What is {step}?",
        "completion": f"It is {index}.",
        "columns": {"answer": "7"},
        "verdicts": {"math": Verdict.judged(reward == 1, answer=str(index))},
    }
    return RolloutRow(**fields | changes)


def write_training(
    folder: Path, batches: Sequence[Sequence[RolloutRow]], *, share: float = 1.0
) -> Path:
    """Write the batches as the rollouts of the training in `folder`."""
    rollouts = folder / ROLLOUTS
    writer = RolloutWriter(
        rollouts, step=0, share=share, max_bytes=10**9, on_less=lambda share: None
    )
    for batch in batches:
        writer.add(batch)
    record = RolloutRecord(
        share=share,
        trainer="trl.GRPOTrainer",
        num_generations=GROUP,
        scale_rewards="group",
        multi_objective_aggregation="sum_then_normalize",
        momentum=None,
        rewards=[RecordedReward("accuracy", 1.0, None)],
    )
    record.write(rollouts)
    return folder


def two_steps() -> list[list[RolloutRow]]:
    """Step 1: a group with signal and one without; step 2: two batches."""
    rounding = 6e-4
    return [
        [
            rollout(1, 0, 1.0, 0.7),
            rollout(1, 1, 0.0, -0.7),
            rollout(1, 2, 0.1, rounding),
            rollout(1, 3, 0.1, rounding),
        ],
        [rollout(2, 0, 0.0, -0.7), rollout(2, 1, 1.0, 0.7)],
        [rollout(2, 0, 1.0, 0.7, batch=1), rollout(2, 1, 0.0, -0.7, batch=1)],
    ]
