"""Evaluating a model in training equals evaluating its checkpoint, and leaves no trace."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from rewardkit.harness.options import EngineOptions
from rewardkit.protocols import Message
from rewardkit.trainers import EvaluationCallback, reward_func
from rewardkit.trainers.evaluation.live_evaluation import LiveCheckpoint, eval_mode
from tests.trainers.evaluated import (
    Says,
    SaysAtRandom,
    answers_as_saved,
    data,
    metrics,
    samples,
    task,
)
from tests.trainers.forms import letters
from tests.trainers.tiny_training import GRPOTrainer, MomentumGRPOTrainer, trained, trainer

pytestmark = pytest.mark.engines

SAVING = {"save_strategy": "steps", "save_steps": 1}
OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {"batch_size": 2},
    "drawn": {"num_samples": 3, "temperature": 1.0, "top_p": 0.9, "top_k": 50, "seed": 5},
    "stopped, plain": {"stop": ("r", "th"), "chat_template": False, "max_tokens": 20},
}


def evaluate_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The callback's options as `evaluate` takes them."""
    return {name: value for name, value in options.items() if name != "batch_size"}


@pytest.mark.parametrize(
    ("of", "options"),
    [(GRPOTrainer, options) for options in OPTIONS.values()]
    + [(MomentumGRPOTrainer, OPTIONS["greedy"])],
    ids=[*OPTIONS, "momentum"],
)
def test_the_live_model_answers_as_its_saved_checkpoint_does(
    of: type[GRPOTrainer], options: dict[str, Any], tiny_checkpoint: Path, tmp_path: Path
) -> None:
    tasks = [task(Says()), task(Says(), "says_too")]
    callback = EvaluationCallback(tasks, every=1, data=data(tmp_path), **options)
    more: dict[str, Any] = {"callbacks": [callback], "of": of, "settings": SAVING}
    trained(tiny_checkpoint, tmp_path / "out", reward_func(letters), **more)
    said = answers_as_saved(tasks, tiny_checkpoint, tmp_path, **evaluate_options(options))
    assert len(said[2]) == 10 * options.get("num_samples", 1)
    live = tmp_path / "out/evaluation/step-000002"
    if "stop" in options:
        assert "stop" in {row["finish_reason"] for row in samples(live).values()}
    else:
        assert 0 < metrics(live)["says"]["metrics"]["accuracy"]["value"] < 1


def test_prompts_and_ends_are_those_of_the_trainer_s_tokenizer(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    built = trainer(tiny_checkpoint, tmp_path, reward_func(letters))
    tokenizer = built.processing_class
    tokenizer.chat_template = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }} says:"
    built.model.generation_config.eos_token_id = [7, tokenizer.eos_token_id]
    tokenizer("how many", truncation=True, max_length=2)  # leaves its engine cutting
    for chat in (True, False):
        live = LiveCheckpoint(built.model, tokenizer, EngineOptions(chat_template=chat))
        prompt = live.render([Message("user", "How many clips in May?")])
        turns = [{"role": "user", "content": "How many clips in May?"}]
        expected = (
            tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=False)
            if chat
            else tokenizer("How many clips in May?").input_ids
        )
        assert list(prompt.token_ids) == expected
        assert live.stop_ids == tuple(sorted((7, tokenizer.eos_token_id)))


@pytest.mark.parametrize("settings", [{}, {"gradient_checkpointing": True}])
def test_the_training_is_bit_for_bit_one_without_it(
    settings: dict[str, Any], tiny_checkpoint: Path, tmp_path: Path
) -> None:
    plain = trained(tiny_checkpoint, tmp_path / "plain", reward_func(letters), settings=settings)
    callback = EvaluationCallback(
        task(SaysAtRandom()), every=1, data=data(tmp_path), num_samples=2, temperature=0.7
    )
    watched = trained(
        *(tiny_checkpoint, tmp_path / "watched", reward_func(letters)),
        callbacks=[callback],
        settings=settings,
    )
    for one, other in zip(plain.model.parameters(), watched.model.parameters(), strict=True):
        assert torch.equal(one, other)
    rewards = [
        [entry["reward"] for entry in built.state.log_history if "reward" in entry]
        for built in (plain, watched)
    ]
    assert rewards[0] == rewards[1]


def test_the_model_and_random_states_are_restored_after_an_error(tiny_checkpoint: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(tiny_checkpoint)
    model.train()
    model.lm_head.eval()
    model.gradient_checkpointing_enable()
    own = model.generation_config
    modes = [module.training for module in model.modules()]
    states = (
        random.getstate(),
        np.random.get_state(legacy=False)["state"]["key"].tolist(),
        torch.get_rng_state().tolist(),
    )
    with contextlib.suppress(KeyError), eval_mode(model, None):
        assert not any(module.training for module in model.modules())
        assert not model.is_gradient_checkpointing
        assert model.generation_config.temperature is None
        random.random(), np.random.rand(), torch.rand(3)
        raise KeyError
    assert [module.training for module in model.modules()] == modes
    assert model.is_gradient_checkpointing
    assert model.generation_config is own
    assert states == (
        random.getstate(),
        np.random.get_state(legacy=False)["state"]["key"].tolist(),
        torch.get_rng_state().tolist(),
    )
