from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from rewardkit.trainers.evaluation.train_log import TrainLog, as_json

pytestmark = pytest.mark.engines


def test_entries_are_one_a_step_and_each_change_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "new" / "train_log.json"
    log = TrainLog(path)
    log.set_evaluation(0, {"motion": {}}, {"motion": [3, 5]})
    log.add_logs(1, {"reward": 0.5, "loss": float("nan")})
    log.add_logs(1, {"train_runtime": 2})
    log.add_warning(1, "half a surrogate \ud83d")
    log.add_logs(2, {"reward": float("inf")})
    entries = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert entries == [
        {
            "step": 0,
            "logs": {},
            "evaluation": {"motion": {}},
            "warnings": [],
            "lengths": {"motion": [3, 5]},
        },
        {
            "step": 1,
            "logs": {"reward": 0.5, "loss": None, "train_runtime": 2},
            "evaluation": {},
            "warnings": ["half a surrogate \ud83d"],
        },
        {"step": 2, "logs": {"reward": None}, "evaluation": {}, "warnings": []},
    ]
    assert [path.name for path in path.parent.iterdir()] == ["train_log.json"]


def test_a_resumed_log_ends_at_the_step_it_resumes_from(tmp_path: Path) -> None:
    path = tmp_path / "train_log.json"
    log = TrainLog(path)
    for step in (1, 2, 3):
        log.add_logs(step, {"reward": step})
    resumed = TrainLog.resumed(path, 2)
    assert [entry["step"] for entry in resumed.entries] == [1, 2]
    resumed.add_logs(3, {"reward": 30})
    assert [one["logs"]["reward"] for one in json.loads(path.read_text())] == [1, 2, 30]
    assert TrainLog.resumed(tmp_path / "none.json", 2).entries == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "null"),
        (float("-inf"), "null"),
        (1.5, "1.5"),
        (3, "3"),
        (True, "true"),
        (None, "null"),
        ("x", '"x"'),
        (np.float32(0.5), "0.5"),
        (torch.tensor(0.5), "0.5"),
        (Path("a"), '"a"'),
        ({1: [np.nan, (2,)]}, '{"1": [null, [2]]}'),
    ],
)
def test_values_are_written_as_json_that_any_reader_takes(value: object, text: str) -> None:
    assert as_json(value) == text
