"""Measure the share of a GRPO step that rewards take, inside TRL's trainer.

    python benchmarks/reward_share.py motion --model examples/motion-tiny
    python benchmarks/reward_share.py gsm8k --model TINY --solutions gsm8k_example_solutions.jsonl

`motion` generates as it trains. `gsm8k` trains on 256 completions a step that real models wrote, 64
problems × 4; it generates nothing, so the share is higher than in any real training. TINY is a
checkpoint from benchmarks/tiny_checkpoint.py. The first step, a warm-up, isn't counted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from machine import machine
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

import rewardkit
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.trainers import reward_func, reward_funcs

PROMPTS = Path(rewardkit.__file__).parent / "harness" / "prompts"
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
COMPLETIONS = 256


class Timed(GRPOTrainer):  # type: ignore[misc]
    """Record each step's seconds, and the seconds spent in rewards."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.steps: list[float] = []
        self.rewards: list[float] = []

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        """Time a step: generation, rewards, forward and backward."""
        started = time.perf_counter()
        result = super().training_step(*args, **kwargs)
        self.steps.append(time.perf_counter() - started)
        return result

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        result = super()._calculate_rewards(*args, **kwargs)
        self.rewards.append(time.perf_counter() - started)
        return result


def settings(output: str, steps: int, **more: Any) -> GRPOConfig:
    """Return TRL's configuration for a CPU."""
    return GRPOConfig(
        output_dir=output,
        max_steps=steps,
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=steps,
        **more,
    )


def motion(model: Path, steps: int, output: str) -> Timed:
    """Return the motion run: 64 generated completions a step."""
    template = load_template("motion_short", PROMPTS / "motion_short.jinja")
    rows = [
        {
            "prompt": [
                {"role": one.role, "content": one.content} for one in template.messages(sample)
            ],
            "reference": sample.reference,
        }
        for sample in MotionTask().load(data=None, split="train", seed=0)
    ]
    functions, weights = reward_funcs("motion", reference="reference")
    config = settings(
        output,
        steps,
        per_device_train_batch_size=64,
        num_generations=8,
        learning_rate=1e-4,
        max_completion_length=200,
        reward_weights=weights,
        beta=0.04,
        loss_type="bnpo",
    )
    return trainer(model, functions, config, rows)


def gsm8k(model: Path, solutions: Path, steps: int, output: str) -> Timed:
    """Return the GSM8K run: 256 completions a step, written by four models."""
    asked = [json.loads(line) for line in solutions.read_text(encoding="utf-8").splitlines()]
    written = {
        row["question"]: [row[name]["solution"] for name in MODELS]
        for row in asked[: steps * COMPLETIONS // len(MODELS)]
    }
    rows = [{"prompt": row["question"], "answer": row["ground_truth"]} for row in asked]
    tokens = AutoTokenizer.from_pretrained(model)

    def replay(prompts: list[str], _: GRPOTrainer) -> dict[str, Any]:
        """Return the models' completions for the prompts, in turn."""
        turns = {prompt: iter(written[prompt]) for prompt in prompts}
        completions = [next(turns[prompt]) for prompt in prompts]
        ids = [[*tokens.encode(text), tokens.eos_token_id] for text in completions]
        return {
            "prompt_ids": [tokens.encode(prompt) for prompt in prompts],
            "completion_ids": ids,
            "logprobs": None,
        }

    config = settings(
        output,
        steps,
        per_device_train_batch_size=COMPLETIONS,
        num_generations=len(MODELS),
        max_completion_length=512,
        shuffle_dataset=False,
    )
    function = reward_func(rewardkit.load_verifier("gsm8k", marker="A:"))
    return trainer(model, [function], config, rows, rollout_func=replay)


def trainer(
    model: Path, functions: list[Any], config: GRPOConfig, rows: list[dict[str, Any]], **more: Any
) -> Timed:
    """Return the timed trainer for the rows."""
    return Timed(
        model=AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32),
        reward_funcs=functions,
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"),
        **more,
    )


def main() -> None:
    """Train and print the share."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", choices=("motion", "gsm8k"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--solutions", type=Path, help="for gsm8k")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as output:
        if arguments.run == "motion":
            timed = motion(arguments.model, arguments.steps, output)
        else:
            timed = gsm8k(arguments.model, arguments.solutions, arguments.steps, output)
        timed.train()
    steps, rewards = sum(timed.steps[1:]), sum(timed.rewards[1:])
    counted = len(timed.steps) - 1
    print(json.dumps(machine()))
    print(
        f"{counted} steps of {steps / counted:.2f} s, {rewards / counted * 1e3:.1f} ms in rewards"
    )
    print(f"share of a step's time in rewards: {rewards / steps:.2%}")


if __name__ == "__main__":
    main()
