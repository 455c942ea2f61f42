from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from rewardkit.trainers.evaluation.train_log import TrainLog, as_json

pytestmark = pytest.mark.engines


def log_in(folder: Path, resumed_at: int = 0) -> TrainLog:
    return TrainLog(folder, resumed_at=resumed_at, truncation_share=0.2)


def test_entries_are_one_a_step_and_each_change_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "new" / "train_log.json"
    log = log_in(path.parent)
    log.add_logs(1, {"reward": 0.5, "loss": float("nan")})
    log.add_logs(1, {"train_runtime": 2})
    log.add_logs(2, {"reward": float("inf"), "note": "half a surrogate \ud83d"})
    entries = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert entries == [
        {
            "step": 1,
            "logs": {"reward": 0.5, "loss": None, "train_runtime": 2},
            "evaluation": {},
            "warnings": [],
        },
        {
            "step": 2,
            "logs": {"reward": None, "note": "half a surrogate \ud83d"},
            "evaluation": {},
            "warnings": [],
        },
    ]
    assert [path.name for path in path.parent.iterdir()] == ["train_log.json"]


def test_a_resumed_log_ends_at_the_step_it_resumes_from(tmp_path: Path) -> None:
    path = tmp_path / "train_log.json"
    log = log_in(tmp_path)
    for step in (1, 2, 3):
        log.add_logs(step, {"reward": step})
    resumed = log_in(tmp_path, resumed_at=2)
    assert [entry["step"] for entry in resumed.entries] == [1, 2]
    resumed.add_logs(3, {"reward": 30})
    assert [one["logs"]["reward"] for one in json.loads(path.read_text())] == [1, 2, 30]
    assert log_in(tmp_path / "none", resumed_at=2).entries == []


def test_each_session_says_how_many_steps_it_has(tmp_path: Path) -> None:
    abouts = [{"model": "m", "max_steps": steps, "started": "now"} for steps in (2, 5)]
    for resumed_at, about in enumerate(abouts):
        log = TrainLog(tmp_path, resumed_at=resumed_at, truncation_share=0.2, about=about)
        for step in (1, 2, 3)[resumed_at:]:
            log.add_logs(step, {})
    entries = json.loads((tmp_path / "train_log.json").read_text())
    assert [entry.get("training") for entry in entries] == [*abouts, None]


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


def test_the_signs_that_last_are_counted(tmp_path: Path) -> None:
    log = TrainLog(tmp_path, resumed_at=0, truncation_share=0.2)
    counts = []
    for step, ratio in enumerate((0.9, 0.9, 0.9, 0.0, 0.0, 0.0), 1):
        log.add_logs(step, {"completions/clipped_ratio": ratio})
        counts.append(log.present_signs)
    assert counts == [0, 0, 1, 1, 1, 0]
