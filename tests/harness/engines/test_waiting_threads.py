"""Idle threads of torch sleep: the policy is set before torch is imported, on every route."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engines

COMMAND = "import sys; sys.argv[1:] = {}; from rewardkit.cli.main import run; run()"
EVAL = ["eval", "--task", "game24", "--limit", "1", "--model", "MODEL", "--quiet", "-o", "run"]
TRAIN = ["train", "--task", "game24", "--model", "MODEL", "-o", "training", "--quiet"]
PYTHON_EVAL = """from rewardkit import evaluate
evaluate(task="game24", model="MODEL", limit=1, backend="transformers", output_dir="run")"""
PYTHON_TRAIN = """from rewardkit.trainers.training.train import train
train("any", task="game24", model="MODEL", output_dir="training")"""

ROUTES = {
    "transformers": COMMAND.format([*EVAL, "--backend", "transformers"]),
    "vllm": COMMAND.format([*EVAL, "--backend", "vllm"]),
    "auto": COMMAND.format(EVAL),
    "train": COMMAND.format(TRAIN),
    "evaluate()": PYTHON_EVAL,
    "train()": PYTHON_TRAIN,
}

STOP_AT_TORCH = """
import os, sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        importing = sys._getframe(2).f_code.co_name == "_find_and_load_unlocked"
        if name == "torch" and importing:
            print("policy", os.environ.get("OMP_WAIT_POLICY"), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Stop())
"""


def policy_at_torch(code: str, folder: Path, checkpoint: Path, **environment: str) -> str:
    """OMP_WAIT_POLICY when the code is about to import torch."""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    end = subprocess.run(
        [sys.executable, "-c", STOP_AT_TORCH + code.replace("MODEL", str(checkpoint))],
        env=kept | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "policy " in end.stdout, end.stderr
    return end.stdout.rpartition("policy ")[2].strip()


@pytest.mark.parametrize("code", ROUTES.values(), ids=ROUTES)
def test_idle_threads_sleep(code: str, tmp_path: Path, tiny_checkpoint: Path) -> None:
    assert policy_at_torch(code, tmp_path, tiny_checkpoint) == "PASSIVE"


def test_a_policy_of_the_user_stays(tmp_path: Path, tiny_checkpoint: Path) -> None:
    code = ROUTES["transformers"]
    assert policy_at_torch(code, tmp_path, tiny_checkpoint, OMP_WAIT_POLICY="ACTIVE") == "ACTIVE"
