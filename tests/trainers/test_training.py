"""Whole trainings of a few steps, on the tiny checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rewardkit.records import Failure
from rewardkit.trainers import reward_func
from tests.trainers.forms import FORMS, HOSTILE, hangs
from tests.trainers.tiny_training import trained

pytestmark = pytest.mark.engines


def plain_trl(completions: Sequence[str], **columns: object) -> list[float]:
    return [float(len(text) % 3) for text in completions]


def test_every_form_of_reward_trains_at_once(tiny_checkpoint: Path, tmp_path: Path) -> None:
    functions = [reward_func(form) for form in FORMS]
    names = [function.__name__ for function in functions]
    assert len(set(names)) == len(FORMS) >= 11
    built = trained(
        tiny_checkpoint, tmp_path, [*functions, plain_trl], settings={"log_completions": True}
    )
    assert built.state.global_step == 2
    logged = [entry for entry in built.state.log_history if "reward" in entry]
    for entry in logged:
        for name in names:
            assert entry[f"rewards/{name}/mean"] is not None, name
            assert entry[f"{name}/unjudged"] == 0 or name == "unavailable"
        assert entry["long_o/long"] >= 0
    assert any(entry["unavailable/unjudged"] > 0 for entry in logged)
    assert all(bool(weight.isfinite().all()) for weight in built.model.parameters())


def hostile_rollouts(prompts: list[str], trainer: Any) -> dict[str, Any]:
    """Of every eight completions, the first can't be evaluated, the others are right or wrong."""
    tokenizer = trainer.processing_class
    texts = [HOSTILE, r"\boxed{72}", r"\boxed{71}", "none"] * (len(prompts) // 4)
    completions = [tokenizer(text, add_special_tokens=False).input_ids for text in texts]
    return {
        "prompt_ids": [tokenizer(prompt).input_ids for prompt in prompts],
        "completion_ids": completions,
        "logprobs": [[0.0] * len(ids) for ids in completions],
    }


@pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")
def test_a_hostile_completion_in_every_batch_is_ended_by_its_deadline(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    built = trained(
        tiny_checkpoint,
        tmp_path,
        [reward_func("math", timeout=0.5), reward_func(hangs, timeout=0.5)],
        settings={"max_steps": 3, "max_completion_length": 32},
        rollout_func=hostile_rollouts,
    )
    assert built.state.global_step == 3
    for entry in built.state.log_history[:3]:
        assert entry["rewards/math/mean"] == pytest.approx(0.25)
        assert entry["rewards/hangs/mean"] == pytest.approx(0.75)
        assert entry["math/unjudged"] == entry["hangs/unjudged"] == 0
    failures = list(built._logs["extra"]["hangs/failure"])
    assert failures.count(Failure.TIMEOUT) == 2
