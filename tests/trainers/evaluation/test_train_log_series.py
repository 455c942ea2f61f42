from __future__ import annotations

from typing import Any

from rewardkit.trainers.evaluation.train_log_series import reward_series


def entry(step: int, **logs: Any) -> dict[str, Any]:
    named = {name.replace("__", "/"): value for name, value in logs.items()}
    return {"step": step, "logs": named, "evaluation": {}, "warnings": []}


def test_the_reward_and_its_parts_are_series_over_the_steps() -> None:
    entries = [
        entry(0),
        entry(1, reward=0.5, rewards__length__mean=1.0, rewards__length__std=0.1, loss=3.0),
        entry(2, reward=0.7, rewards__length__mean=0.4),
        entry(3, reward=None, rewards__length__mean=0.3),
    ]
    assert reward_series(entries) == {
        "reward": [(1, 0.5), (2, 0.7)],
        "length": [(1, 1.0), (2, 0.4), (3, 0.3)],
    }
    assert reward_series([entry(0)]) == {}
