"""Evaluates in each of several processes, while they train and then a model that is sharded over
them; `test_live_evaluation.py` starts it."""

from __future__ import annotations

import sys
from pathlib import Path

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from rewardkit.harness.run.options import EvalOptions
from rewardkit.trainers import EvaluationCallback, reward_func
from rewardkit.trainers.evaluation.live_evaluation import LiveEvaluation
from tests.trainers.evaluated import Says, task
from tests.trainers.forms import letters
from tests.trainers.tiny_training import trainer


def train(checkpoint: Path, output: Path, data: str) -> None:
    """Two steps, each evaluated and saved; each process writes what it took for the best."""
    callback = EvaluationCallback(task(Says()), every=1, data=data, batch_size=2)
    settings = {
        "per_device_train_batch_size": 4,
        "ddp_backend": "gloo",
        "save_strategy": "steps",
        "save_steps": 1,
    }
    built = trainer(
        checkpoint, output, reward_func(letters), settings=settings, callbacks=[callback]
    )
    built.train()
    state = built.state
    best = f"best {state.best_global_step} {state.best_metric} {state.best_model_checkpoint}"
    (output / f"{built.accelerator.process_index}.txt").write_text(best)


def evaluate_sharded(checkpoint: Path, output: Path, data: str) -> None:
    """Every process holds half of each layer, and has replies of other lengths to generate."""
    model = AutoModelForCausalLM.from_pretrained(checkpoint)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(checkpoint)
    mesh = init_device_mesh("cpu", (2,))
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    register_fsdp_forward_method(model, "generate")
    options = EvalOptions.of(
        (task(Says()),),
        "sharded",
        data=data,
        num_samples=3,
        temperature=1.0,
        max_tokens=60,
    )
    evaluation = LiveEvaluation.plan(options, batch_size=2)
    evaluation.run(
        2,
        model,
        evaluation.checkpoint(model, tokenizer),
        folder=output / "sharded",
        gradient_checkpointing=None,
    )


def main(checkpoint: Path, output: Path) -> None:
    """Both, in the same processes: starting them takes longest."""
    data = str(output / "questions.jsonl")
    train(checkpoint, output, data)
    evaluate_sharded(checkpoint, output, data)


main(Path(sys.argv[1]), Path(sys.argv[2]))
