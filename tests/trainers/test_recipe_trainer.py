"""What recipes add to TRL's trainer: gates, weights by step, no baseline."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from rewardkit.errors import UsageError
from rewardkit.harness.results.rollouts import COMPLETIONS, RolloutRow, read_groups
from rewardkit.trainers import TrainingResult, reward_func, train
from tests.trainers.forms import letters
from tests.trainers.tiny_training import MomentumGRPOTrainer, RecipeGRPOTrainer, trained, trainer

pytestmark = pytest.mark.engines


def kept(folder: Path) -> dict[int, list[RolloutRow]]:
    """The completions by step."""
    rows = (row for group in read_groups(folder / COMPLETIONS) for row in group)
    return {step: list(of) for step, of in groupby(rows, key=lambda row: row.step)}


KEEPING = {"log_completions": True, "num_completions_to_print": 0}


def first(completions: Sequence[str], **_: object) -> list[float]:
    return [float(len(text) % 2) for text in completions]


def test_gates_weights_by_step_and_no_baseline_decide_the_advantages(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    trained(
        tiny_checkpoint,
        tmp_path,
        [first, reward_func(letters)],
        of=RecipeGRPOTrainer,
        settings={**KEEPING, "scale_rewards": "none", "reward_weights": [1.0, 3.0]},
        gates={"letters": {"first": 1.0}},
        weights={"first": [[0, 1.0], [1, 0.5]]},
        baseline="none",
    )
    batches, gated = kept(tmp_path), 0
    for step, weight in enumerate((1.0, 0.5), 1):
        for row in batches[step]:
            passed, score = row.rewards["first"], row.rewards["letters"]
            assert passed is not None
            assert score is not None
            assert passed or score == 0
            assert row.advantage == pytest.approx(weight * passed + 3 * score)
            gated += not passed
    assert gated > 0


NORMALISED = {"multi_objective_aggregation": "normalize_then_sum"}
SKIPPING = {"skip_silent_groups": True}
REFUSED: list[tuple[type[RecipeGRPOTrainer], dict[str, Any], dict[str, Any], str]] = [
    (RecipeGRPOTrainer, {"scale_rewards": "group"}, {"baseline": "none"}, "scale_rewards='none'"),
    (RecipeGRPOTrainer, NORMALISED, SKIPPING, "multi_objective_aggregation is"),
    (RecipeGRPOTrainer, {"entropy_coef": 0.1}, SKIPPING, "entropy_coef=0"),
    (RecipeGRPOTrainer, {}, {"span_weights": {"leters": 1.0}}, "did you mean 'letters'"),
    (RecipeGRPOTrainer, {}, {"span_weights": {"first": 1.0}}, "isn't a verifier's reward function"),
    (RecipeGRPOTrainer, {}, {**SKIPPING, "span_weights": {"letters": 1.0}}, "skip_silent_groups"),
    (MomentumGRPOTrainer, {"scale_rewards": "none"}, {}, "scale_rewards is 'none'"),
    (MomentumGRPOTrainer, NORMALISED, {}, "multi_objective_aggregation"),
    (MomentumGRPOTrainer, {}, {"m_max": 1.0}, "need 0 <= m0"),
    (MomentumGRPOTrainer, {}, {"eps": 0.0}, "eps is 0.0"),
]


@pytest.mark.parametrize(("of", "settings", "more", "message"), REFUSED)
def test_settings_that_do_not_go_together_are_errors(
    of: Any,
    settings: dict[str, Any],
    more: dict[str, Any],
    message: str,
    tiny_checkpoint: Path,
    tmp_path: Path,
) -> None:
    rewards = [first, reward_func(letters)]
    with pytest.raises(UsageError, match=message):
        trainer(tiny_checkpoint, tmp_path, rewards, of=of, settings=settings, **more)


def test_a_recipe_with_everything_trains_and_resumes(tiny_checkpoint: Path, tmp_path: Path) -> None:
    """Another task's reward, a schedule, a gate, LoRA, two updates per batch."""
    settings: dict[str, object] = {
        "prompt": "motion_short",
        "num_generations": 2,
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 2,
        "num_iterations": 2,
        "max_completion_length": 6,
        "max_steps": 4,
        "save_steps": 2,
        "learning_rate": 1e-3,
        "logging_steps": 1,
        "evaluation.every": 0,
        "kind": "accelerated",
        "rewards.game24_length": 0.5,
        "rewards.format.weights": [[0, 1.0], [2, 0.25]],
        "rewards.accuracy.gate": {"format": 0.2},
        "peft.r": 2,
        "peft.target_modules": "all-linear",
    }
    whole = train("motion", model=tiny_checkpoint, settings=settings, output_dir=tmp_path / "a")
    assert not whole.evaluations
    batches = kept(tmp_path / "a")
    assert {step: len(rows) for step, rows in batches.items()} == {1: 4, 3: 4}
    for row in (*batches[1], *batches[3]):
        assert row.columns["acceleration"]
        assert list(row.rewards) == ["accuracy", "format", "game24_length"]
        assert row.verdicts.keys() >= {"motion"}

    assert (tmp_path / "a/checkpoint-4/adapter_model.safetensors").is_file()
    assert (whole.final / "model.safetensors").is_file()
    assert not (whole.final / "adapter_model.safetensors").exists()

    def part(resume: bool = True, **changed: object) -> TrainingResult:
        output: dict[str, Any] = {"output_dir": tmp_path / "b", "resume": resume}
        return train("motion", model=tiny_checkpoint, settings={**settings, **changed}, **output)

    part(resume=False, max_steps=2)
    part()
    shutil.rmtree(tmp_path / "b" / "final")  # killed after the last checkpoint
    done = part()
    assert (done.steps, [*done.output_dir.glob("final.*")]) == (4, [])
    weights = [load_file(one.final / "model.safetensors") for one in (whole, done)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
