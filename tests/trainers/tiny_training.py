"""A GRPO training of a few steps on the tiny checkpoint."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TRL imports vLLM where there is one, which warns
    from trl import GRPOConfig, GRPOTrainer

    from rewardkit.trainers.recipe_trainer import MomentumGRPOTrainer, RecipeGRPOTrainer

__all__ = ["GRPOTrainer", "MomentumGRPOTrainer", "RecipeGRPOTrainer", "rows", "trained", "trainer"]

QUESTIONS = ("How many clips?", "How many bolts?", "How many miles?", "What is half of 48?")


def rows(**columns: Sequence[object]) -> Dataset:
    """Four prompts with these columns; `answer` is 72 unless given."""
    return Dataset.from_dict({"prompt": list(QUESTIONS), "answer": ["72"] * 4, **columns})


def trainer(
    checkpoint: Path,
    output: Path,
    rewards: Any,
    *,
    of: type[GRPOTrainer] = GRPOTrainer,
    data: Dataset | None = None,
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> GRPOTrainer:
    """A trainer that takes two groups of four completions a step, of at most six tokens."""
    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(checkpoint)
    model.generation_config.repetition_penalty = None
    tokenizer = PreTrainedTokenizerFast.from_pretrained(checkpoint)
    config = GRPOConfig(
        output_dir=str(output),
        **{
            "bf16": False,
            "disable_tqdm": True,
            "learning_rate": 1e-3,
            "logging_steps": 1,
            "max_completion_length": 6,
            "max_steps": 2,
            "num_generations": 4,
            "per_device_train_batch_size": 8,
            "report_to": "none",
            "save_strategy": "no",
            "seed": 7,
            "use_cpu": True,
            **(settings or {}),
        },
    )
    return of(
        model=model,
        reward_funcs=rewards,
        args=config,
        train_dataset=data or rows(),
        processing_class=tokenizer,
        **more,
    )


def trained(
    checkpoint: Path, output: Path, rewards: Any, *, resume: Path | None = None, **more: Any
) -> GRPOTrainer:
    """A trainer that has trained, from the checkpoint `resume` if there is one."""
    built = trainer(checkpoint, output, rewards, **more)
    built.train(resume_from_checkpoint=None if resume is None else str(resume))
    return built
