"""Trains in each of several processes with evaluation; `test_live_evaluation.py` starts it."""

from __future__ import annotations

import sys
from pathlib import Path

from rewardkit.trainers import EvaluationCallback, reward_func
from tests.trainers.evaluated import Says, task
from tests.trainers.forms import letters
from tests.trainers.tiny_training import trainer


def main(checkpoint: Path, output: Path) -> None:
    """Two steps, each evaluated and saved; each process writes what it took for the best."""
    callback = EvaluationCallback(
        task(Says()), every=1, data=str(output / "questions.jsonl"), batch_size=2
    )
    settings = {"per_device_train_batch_size": 4, "ddp_backend": "gloo",
                "save_strategy": "steps", "save_steps": 1}  # fmt: skip
    built = trainer(
        checkpoint, output, reward_func(letters), settings=settings, callbacks=[callback]
    )
    built.train()
    state = built.state
    best = f"best {state.best_global_step} {state.best_metric} {state.best_model_checkpoint}"
    (output / f"{built.accelerator.process_index}.txt").write_text(best)


main(Path(sys.argv[1]), Path(sys.argv[2]))
