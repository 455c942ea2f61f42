"""Whole trainings of a few steps, on the tiny checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

from rewardkit import load_task
from rewardkit.harness.prompts.template import load_template
from rewardkit.judging import judge_many
from rewardkit.records import Failure
from rewardkit.registry import installed
from rewardkit.trainers import reward_func, reward_funcs
from tests.trainers.forms import FORMS, HOSTILE, hangs
from tests.trainers.tiny_training import trainer

pytestmark = pytest.mark.engines

MOTION_TINY = Path(__file__).parents[2] / "examples" / "motion-tiny"


def plain_trl(completions: Sequence[str], **columns: object) -> list[float]:
    return [float(len(text) % 3) for text in completions]


def test_every_form_of_reward_trains_at_once(tiny_checkpoint: Path, tmp_path: Path) -> None:
    functions = [reward_func(form) for form in FORMS]
    names = [function.__name__ for function in functions]
    assert len(set(names)) == len(FORMS) >= 11
    built = trainer(
        tiny_checkpoint, tmp_path, [*functions, plain_trl], settings={"log_completions": True}
    )
    built.train()
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
    built = trainer(
        tiny_checkpoint,
        tmp_path,
        [reward_func("math", timeout=0.5), reward_func(hangs, timeout=0.5)],
        settings={"max_steps": 3, "max_completion_length": 32},
        rollout_func=hostile_rollouts,
    )
    built.train()
    assert built.state.global_step == 3
    for entry in built.state.log_history[:3]:
        assert entry["rewards/math/mean"] == pytest.approx(0.25)
        assert entry["rewards/hangs/mean"] == pytest.approx(0.75)
        assert entry["math/unjudged"] == entry["hangs/unjudged"] == 0
    failures = list(built._logs["extra"]["hangs/failure"])
    assert failures.count(Failure.TIMEOUT) == 2


def motion_data() -> Dataset:
    """Eight motions that the checkpoint solves now and then, as rows with a prompt."""
    task = load_task("motion")
    template = load_template("motion_short", installed().prompt("motion_short"))
    return Dataset.from_list(
        [
            {
                "prompt": template.messages(sample)[-1].content,
                "points": sample.columns["points"],
                "targets": sample.columns["targets"],
            }
            for sample in task.load(data=None, split="test", seed=0)[16:24]
        ]
    )


def test_trl_logs_the_mean_of_the_scores_that_evaluation_gives(tmp_path: Path) -> None:
    completions_seen: list[str] = []
    rows_seen: list[dict[str, list[float]]] = []

    def spy(
        completions: list[str],
        points: list[list[float]],
        targets: list[list[float]],
        **columns: object,
    ) -> list[float]:
        completions_seen.extend(completions)
        rows_seen.extend(
            {"points": given, "targets": wanted}
            for given, wanted in zip(points, targets, strict=True)
        )
        return [0.0] * len(completions)

    functions, weights = reward_funcs("motion")
    built = trainer(
        MOTION_TINY,
        tmp_path,
        [*functions, spy],
        data=motion_data(),
        settings={
            "max_completion_length": 160,
            "max_steps": 1,
            "per_device_train_batch_size": 32,
            "reward_weights": [*weights, 1.0],
        },
    )
    built.train()
    entry = built.state.log_history[0]
    task = load_task("motion")
    samples = [task.sample(row, index) for index, row in enumerate(rows_seen)]
    verdicts = judge_many(task.verifier(), list(zip(completions_seen, samples, strict=True)))

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    assert len(scores) == 32
    assert 0 < mean(scores) < 1
    assert entry["reward"] == pytest.approx(6 * mean(scores), abs=1e-6)
    for part in ("accuracy", "format"):
        got = mean([verdict.parts[part] for verdict in verdicts])
        assert entry[f"rewards/{part}/mean"] == pytest.approx(got, abs=1e-6)
    assert entry["motion/correct"] == mean([verdict.correct is True for verdict in verdicts])
