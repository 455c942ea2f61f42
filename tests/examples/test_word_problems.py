"""The word problems of the examples: right, new in the test, flawed as stated, and learnt."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from rewardkit import load_task
from rewardkit.records import Verdict
from rewardkit.trainers import train, train_dataset
from tests.examples.scripts import QUICK, load_script

pytestmark = pytest.mark.engines

PROMPTS = ("xml", "r1_zero")
RECIPES = {"xml": "gsm8k-xml", "r1_zero": "r1-zero"}
FEW, STEPS, BATCH = 16, 100, 16


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the script writes."""
    folder = tmp_path_factory.mktemp("words") / "sums"
    with pytest.MonkeyPatch.context() as patch:
        script = load_script("word_problems", patch)
        arguments = ["--output", str(folder), "--train", "1500", "--test", "100"]
        patch.setattr(sys, "argv", ["word_problems.py", *arguments])
        script.main()
    return folder


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_script("word_problems", monkeypatch)


@pytest.mark.parametrize("prompt", [*PROMPTS, "boxed"])
def test_a_reply_is_right_unless_it_is_flawed(words: ModuleType, prompt: str) -> None:
    task = load_task(words.TASKS[prompt])
    verify = task.verifier(prompt)
    right = []
    for row in words.demonstrations(prompt, words.problems(400, 0), 0):
        verdict = Verdict.of(verify(row["completion"], task.sample(row, 0)))
        right.append(verdict.correct)
        reference = task.sample(row, 0).reference
        whole = words.FORMS[prompt].format(steps="1 + 1 = 2", answer=reference)
        assert Verdict.of(verify(whole, task.sample(row, 0))).correct is True
    assert 0.05 < right.count(True) / len(right) < 0.25


def test_the_tokenizer_knows_all_prompts_and_replies_and_the_test_is_new(folder: Path) -> None:
    tokens = PreTrainedTokenizerFast.from_pretrained(folder / "random")
    for prompt, task in (("xml", "gsm8k"), ("r1_zero", "gsm8k"), ("boxed", "math500")):
        for row in rows(folder / f"{prompt}.jsonl")[:200]:
            assert tokens.unk_token_id not in tokens.encode(row["completion"])
        name = "maths_test.jsonl" if task == "math500" else "test.jsonl"
        for row in train_dataset(task, prompt=prompt, data=str(folder / name)):
            ids = tokens.encode("".join(message["content"] for message in row["prompt"]))
            assert tokens.unk_token_id not in ids
            assert len(ids) < 20
    train_rows, test = (rows(folder / f"{split}.jsonl") for split in ("train", "test"))
    assert not {row["question"] for row in train_rows} & {row["question"] for row in test}


@pytest.fixture(scope="module")
def few(folder: Path) -> Path:
    """A few of the problems to train on, which a model soon knows by heart."""
    file = folder / "few.jsonl"
    lines = (folder / "train.jsonl").read_text().splitlines()[:FEW]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="module")
def warm(folder: Path, few: Path) -> Path:
    """A model that has seen flawed replies to the few problems, in both prompts."""
    with pytest.MonkeyPatch.context() as patch:
        start, words = load_script("warm_start", patch), load_script("word_problems", patch)
    tokens = PreTrainedTokenizerFast.from_pretrained(folder / "random")
    problems = words.problems(1600, 0)[100 : 100 + FEW]
    shown = [
        (prompt, "".join(message["content"] for message in row["prompt"]), problem)
        for prompt in PROMPTS
        for row, problem in zip(
            train_dataset("gsm8k", prompt=prompt, data=str(few)), problems, strict=True
        )
    ]

    def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
        draw = random.Random(step)
        pairs = [
            (text, words.reply(prompt, problem, draw))
            for prompt, text, problem in draw.choices(shown, k=BATCH)
        ]
        encoded: Callable[..., tuple[torch.Tensor, torch.Tensor]] = start.encoded
        return encoded(pairs, tokens)

    torch.manual_seed(0)
    model = LlamaForCausalLM.from_pretrained(folder / "random", dtype=torch.float32)
    start.train(model, batch, steps=STEPS, rate=3e-3)
    start.save(model, tokens, folder / "warm")
    return folder / "warm"


@pytest.mark.parametrize("prompt", ["xml", pytest.param("r1_zero", marks=pytest.mark.faults)])
def test_grpo_finds_the_form_and_the_second_step(
    warm: Path, few: Path, tmp_path: Path, prompt: str
) -> None:
    learnt = train(
        RECIPES[prompt],
        model=str(warm),
        data=str(few),
        output_dir=str(tmp_path / "learnt"),
        seed=0,
        settings={
            **QUICK,
            "max_steps": 8,
            "max_completion_length": 32,
            "evaluation.data": str(few),
            "evaluation.max_tokens": 32,
            "evaluation.every": 8,
        },
    )
    (_, before), (_, after) = learnt.evaluations
    rates = [(one["accuracy"]["value"], one["format_rate"]["value"]) for one in (before, after)]
    assert before["accuracy"]["value"] < 0.2, rates
    assert after["accuracy"]["value"] > 0.5, rates
    assert after["format_rate"]["value"] > 0.7, rates
