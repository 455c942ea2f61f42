"""The shipped warm start learns: nothing right when greedy, then most, as evaluation judges it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from datasets import Dataset

from rewardkit import load_task
from rewardkit.harness.prompting import load_template
from rewardkit.records import Sample, Verdict
from rewardkit.registry import installed
from rewardkit.trainers import reward_funcs
from tests.trainers.tiny_training import GRPOTrainer, trainer

MOTION_TINY = Path(__file__).parents[2] / "examples" / "motion-tiny"
TASK = load_task("motion")
SHORT = load_template("motion_short", installed().prompt("motion_short"))


def asked(sample: Sample) -> str:
    return SHORT.messages(sample)[-1].content


@torch.no_grad()
def accuracy(built: GRPOTrainer, split: str) -> float:
    """The share of greedy completions that the task's verifier calls right."""
    samples = TASK.load(data=None, split=split, seed=1)
    tokenizer = built.processing_class
    prompts = tokenizer([asked(one) for one in samples], return_tensors="pt", padding=True)
    built.model.eval()
    generated = built.model.generate(
        input_ids=prompts.input_ids, attention_mask=prompts.attention_mask,
        max_new_tokens=160, do_sample=False,
    )  # fmt: skip
    texts = tokenizer.batch_decode(
        generated[:, prompts.input_ids.shape[1] :], skip_special_tokens=True
    )
    judge = TASK.verifier()
    verdicts = [Verdict.of(judge(text, one)) for text, one in zip(texts, samples, strict=True)]
    return sum(verdict.correct is True for verdict in verdicts) / len(verdicts)


@pytest.mark.timeout(900)
def test_ten_steps_mend_what_the_demonstrations_had_wrong(tmp_path: Path) -> None:
    functions, weights = reward_funcs("motion")
    rows = [
        {"prompt": asked(sample), **{name: sample.columns[name] for name in ("points", "targets")}}
        for sample in TASK.load(data=None, split="train", seed=0)
    ]
    built = trainer(
        MOTION_TINY,
        tmp_path,
        functions,
        data=Dataset.from_list(rows),
        settings={
            "beta": 0.04,
            "learning_rate": 1e-4,
            "loss_type": "bnpo",
            "lr_scheduler_type": "constant",
            "max_completion_length": 160,
            "max_steps": 10,
            "num_generations": 8,
            "per_device_train_batch_size": 64,
            "reward_weights": weights,
            "seed": 0,
            "temperature": 0.7,
            "top_p": 0.9,
        },
    )
    built.model.float()  # in the checkpoint's bfloat16 steps as small as these are lost
    before = {split: accuracy(built, split) for split in ("test_in", "test_out")}
    assert max(before.values()) <= 0.1
    built.train()
    after = {split: accuracy(built, split) for split in ("test_in", "test_out")}
    assert min(after.values()) >= 0.5, after
