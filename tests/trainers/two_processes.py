"""Train and evaluate in each of two processes; `test_two_processes.py` starts it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.multiprocessing.spawn import start_processes
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from rewardkit.harness.runs.options import options_for
from rewardkit.trainers import EvaluationCallback, reward_func
from rewardkit.trainers.evaluation.live_evaluation import LiveCheckpoint, LiveEvaluation
from tests.support import quick_training  # noqa: F401  # first: others import TRL
from tests.trainers.conftest import DRAW_CURVE, write_points
from tests.trainers.evaluated import Says, task
from tests.trainers.forms import letters
from tests.trainers.test_momentum import recording
from tests.trainers.tiny_training import (
    MomentumGRPOTrainer,
    RecipeGRPOTrainer,
    rows,
    trained,
)

SIX_EACH = {"per_device_train_batch_size": 6, "ddp_backend": "gloo"}


def train_with_momentum(checkpoint: Path, output: Path) -> None:
    """Train two steps of three groups of four; write each process's rewards and advantages."""
    built = trained(
        checkpoint,
        output,
        reward_func(letters),
        of=recording(MomentumGRPOTrainer),
        data=rows().select([0, 1, 2, 3, 0, 1]),
        settings={**SIX_EACH, "log_completions": True, "num_completions_to_print": 0},
        m0=0.1,
        increment=0.0,
    )
    batches = [
        {"rewards": rewards.tolist(), "advantages": advantages.tolist()}
        for rewards, advantages in built.batches
    ]
    record = {"batches": batches, "history": [built._history.mean, built._history.std]}
    (output / f"momentum-{built.accelerator.process_index}.json").write_text(json.dumps(record))


def train_without_silent_groups(checkpoint: Path, output: Path) -> None:
    """Train a step of three groups, one of them unjudged; write how each process weighs its own."""
    built = trained(
        checkpoint,
        output,
        reward_func(letters),
        of=RecipeGRPOTrainer,
        data=rows(answer=["72", None, "72", "72"]).select([0, 1, 2]),
        settings={**SIX_EACH, "max_steps": 1, "loss_type": "grpo"},
        skip_silent_groups=True,
    )
    (batch,) = built._buffered_inputs
    record = {
        "kept": int(batch["kept"].sum()),
        "in_loss": int(batch["tool_mask"].any(dim=1).sum()),
        "scale": float(batch["kept_scale"]),
        "tokens": int((batch["completion_mask"] * batch["tool_mask"]).sum()),
        "all_tokens": int(batch["num_items_in_batch"]),
        "logged": built.state.log_history[0]["skipped_groups"],
    }
    (output / f"skipping-{built.accelerator.process_index}.json").write_text(json.dumps(record))


def train_evaluated(checkpoint: Path, output: Path, data: str) -> None:
    """Train two steps, evaluate and save each; write each process's best checkpoint."""
    callback = EvaluationCallback(task(Says()), every=1, data=data, batch_size=2)
    settings = {
        "per_device_train_batch_size": 4,
        "ddp_backend": "gloo",
        "save_strategy": "steps",
        "save_steps": 1,
    }
    built = trained(
        checkpoint, output, reward_func(letters), settings=settings, callbacks=[callback]
    )
    state = built.state
    best = f"best {state.best_global_step} {state.best_metric} {state.best_model_checkpoint}"
    (output / f"best-{built.accelerator.process_index}.txt").write_text(best)


def evaluate_sharded(checkpoint: Path, output: Path, data: str) -> None:
    """Evaluate a model of which each process holds half of each layer.

    Completions are drawn, so the processes' batches have different lengths.
    """
    model = AutoModelForCausalLM.from_pretrained(checkpoint)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(checkpoint)
    mesh = init_device_mesh("cpu", (2,))
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    register_fsdp_forward_method(model, "generate")
    options = options_for(
        (task(Says()),), "sharded", data=data, num_samples=3, temperature=1.0, max_tokens=60
    )
    evaluation = LiveEvaluation.plan(options, batch_size=2)
    evaluation.run(
        2,
        model,
        LiveCheckpoint(model, tokenizer, options.engine()),
        folder=output / "sharded",
        gradient_checkpointing=None,
    )


def main(checkpoint: Path, output: Path) -> None:
    """Do everything in the same processes: starting them takes longest."""
    data = str(output / "questions.jsonl")
    with mock.patch(DRAW_CURVE, write_points):
        train_evaluated(checkpoint, output, data)
    train_with_momentum(checkpoint, output)
    train_without_silent_groups(checkpoint, output)
    evaluate_sharded(checkpoint, output, data)


def start(rank: int, port: str, checkpoint: Path, output: Path) -> None:
    """Do everything as one of two processes, with the variables that torchrun sets."""
    ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
    os.environ |= {name: str(value) for name, value in ranks.items()}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    main(checkpoint, output)


if __name__ == "__main__":  # both are forked once everything is imported
    port, *folders = sys.argv[1:]
    spawn: Any = start_processes  # untyped in torch
    spawn(start, (port, *map(Path, folders)), nprocs=2, start_method="fork")
