from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import DataError
from rewardkit.harness.report.runs import read_training_series


def entry(step: int, **logs: Any) -> dict[str, Any]:
    named = {name.replace("__", "/"): value for name, value in logs.items()}
    return {"step": step, "logs": named, "evaluation": {}, "warnings": []}


def test_the_reward_its_parts_and_the_loss_are_series_over_the_steps(tmp_path: Path) -> None:
    entries = [
        entry(0),
        entry(1, reward=0.5, rewards__length__mean=1.0, rewards__length__std=0.1, loss=3.0),
        entry(2, reward=0.7, rewards__length__mean=0.4, loss=2.0),
        entry(3, reward=None, rewards__length__mean=0.3, train_loss=2.5),
    ]
    log = tmp_path / "train_log.json"
    log.write_text(json.dumps(entries))
    series = read_training_series(log)
    assert series.rewards == {
        "reward": [(1, 0.5), (2, 0.7)],
        "length reward": [(1, 1.0), (2, 0.4), (3, 0.3)],
    }
    assert series.loss == [(1, 3.0), (2, 2.0)]
    log.write_text(json.dumps([entry(0), entry(5, loss=3.0)]))  # of supervised training
    assert (read_training_series(log).rewards, read_training_series(log).loss) == ({}, [(5, 3.0)])


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", '[{"step": 1}]', '[{"logs": []}]', "3"])
def test_a_damaged_log_is_named(text: str, tmp_path: Path) -> None:
    log = tmp_path / "train_log.json"
    log.write_text(text)
    with pytest.raises(DataError, match=r"train_log.json isn.t a train log"):
        read_training_series(log)
