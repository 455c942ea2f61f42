"""Two processes train as one would, and find what one finds."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from rewardkit import evaluate
from rewardkit.harness.results.rollouts import COMPLETIONS, read_groups
from rewardkit.records import Sample
from rewardkit.trainers.objectives import History, momentum_advantages
from tests.trainers.evaluated import Says, data, metrics, samples, task
from tests.trainers.forms import letters

pytestmark = pytest.mark.engines

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `two_processes.py` leaves."""
    output = tmp_path_factory.mktemp("two_processes")
    data(output)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    script = Path(__file__).with_name("two_processes.py")
    done = subprocess.run(
        [sys.executable, script, str(port), tiny_checkpoint, output],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-8000:]
    return output


def evaluated(checkpoint: Path, folder: Path, output: Path, **options: Any) -> Path:
    """The checkpoint's run by this process alone."""
    given = {"data": str(folder / "questions.jsonl"), "output_dir": str(output), **options}
    evaluate(task(Says()), str(checkpoint), backend="transformers", **given)
    return output


def test_both_processes_compute_the_same_advantages_with_momentum(folder: Path) -> None:
    first, second = (json.loads((folder / f"momentum-{rank}.json").read_text()) for rank in (0, 1))
    assert first["history"] == second["history"]
    history: History | None = None
    for one, other in zip(first["batches"], second["batches"], strict=True):
        assert one["rewards"] == other["rewards"]
        assert len(one["advantages"]) == len(other["advantages"]) == 6
        rewards = torch.tensor(one["rewards"])
        expected, history = momentum_advantages(rewards, 4, history=history, momentum=0.1)
        advantages = torch.tensor(one["advantages"] + other["advantages"])
        assert torch.allclose(advantages, expected, rtol=0, atol=1e-6)  # float32
    assert history is not None
    assert first["history"] == pytest.approx([history.mean, history.std], abs=1e-6)


def test_both_processes_weigh_a_loss_without_silent_groups_alike(folder: Path) -> None:
    """Of three groups of four completions, six a process, a third is skipped."""
    both = [json.loads((folder / f"skipping-{rank}.json").read_text()) for rank in (0, 1)]
    assert sum(one["kept"] for one in both) == sum(one["in_loss"] for one in both) == 8
    for one in both:
        assert one["scale"] == pytest.approx(12 / 8)
        assert one["logged"] == pytest.approx(1 / 3)
        assert one["all_tokens"] == both[0]["tokens"] + both[1]["tokens"]


def test_the_completions_of_both_processes_are_kept(folder: Path) -> None:
    """Six completions a process, in groups of four: one group is in both."""
    first, second = (json.loads((folder / f"momentum-{rank}.json").read_text()) for rank in (0, 1))
    groups = list(read_groups(folder / COMPLETIONS))
    assert [(group[0].step, len(group)) for group in groups] == [(1, 4)] * 3 + [(2, 4)] * 3
    rows = [row for group in groups for row in group]
    batches = list(zip(first["batches"], second["batches"], strict=True))
    both = [(*one["advantages"], *other["advantages"]) for one, other in batches]
    assert [row.advantage for row in rows] == [one for batch in both for one in batch]
    rewards = [reward for one, _ in batches for reward in one["rewards"]]
    assert [row.rewards["letters"] for row in rows] == rewards
    for row in rows:
        assert row.verdicts["letters"].score == pytest.approx(letters(row.completion, Sample("")))
        assert row.columns == {"answer": "72"}


@pytest.mark.parametrize("step", [1, 2])
def test_an_evaluation_shared_by_both_is_that_of_one(
    step: int, folder: Path, tmp_path: Path
) -> None:
    """Five questions in batches of two a process: in the last batch one process has none."""
    saved = evaluated(folder / f"checkpoint-{step}", folder, tmp_path / "saved")
    live = folder / "evaluation" / f"step-{step:06d}"
    assert samples(live) == samples(saved)
    assert metrics(live) == metrics(saved)
    assert json.loads((live / "run.json").read_text())["backend"]["processes"] == 2


def test_a_sharded_model_is_evaluated_as_a_whole_one(
    tiny_checkpoint: Path, folder: Path, tmp_path: Path
) -> None:
    drawn = {"num_samples": 3, "temperature": 1.0, "max_tokens": 60}
    whole = evaluated(tiny_checkpoint, folder, tmp_path / "whole", **drawn)
    assert samples(folder / "sharded") == samples(whole)
    assert len({row["completion_tokens"] for row in samples(whole).values()}) > 1


def test_both_processes_agree_on_the_best_checkpoint(folder: Path) -> None:
    first, second = ((folder / f"best-{rank}.txt").read_text() for rank in (0, 1))
    assert first == second
    assert first.startswith("best ")
