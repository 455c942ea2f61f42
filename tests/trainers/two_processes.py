"""Trains in each of several processes and writes what each saw; `test_momentum.py` starts it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rewardkit.trainers import reward_func
from tests.trainers.forms import letters
from tests.trainers.test_momentum import recording
from tests.trainers.tiny_training import MomentumGRPOTrainer, rows, trainer


def main(checkpoint: Path, output: Path) -> None:
    """Two steps of three groups of four."""
    data = rows()
    built = trainer(
        checkpoint,
        output,
        reward_func(letters),
        of=recording(MomentumGRPOTrainer),
        data=data.select([0, 1, 2, 3, 0, 1]),
        settings={"per_device_train_batch_size": 6, "max_steps": 2, "ddp_backend": "gloo"},
        m0=0.1,
        increment=0.0,
    )
    built.train()
    batches = [
        {"rewards": rewards.tolist(), "advantages": advantages.tolist()}
        for rewards, advantages in built.batches
    ]
    seen = {"batches": batches, "history": [built._history.mean, built._history.std]}
    rank = built.accelerator.process_index
    (output / f"{rank}.json").write_text(json.dumps(seen))


main(Path(sys.argv[1]), Path(sys.argv[2]))
