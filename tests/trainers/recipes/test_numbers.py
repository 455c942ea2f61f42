"""Every number of the sources, through the GRPOConfig that the recipes resolve to."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rewardkit.harness.runs.progress import Reporter
from rewardkit.trainers.recipes.recipe import build_recipe, find_recipe
from rewardkit.trainers.training import trl_config
from rewardkit.trainers.training.training_plan import TrainingPlan, TrainOptions, plan_training
from rewardkit.trainers.training.trl_config import trainer_fields

pytestmark = pytest.mark.engines

GSM8K = [{"question": f"What is {n} + 1?", "answer": f"#### {n + 1}"} for n in range(40)]


Plans = Callable[..., TrainingPlan]


@pytest.fixture(scope="module")
def plans(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Plans:
    """The plan of a recipe on the tiny model, with settings."""
    folder = tmp_path_factory.mktemp("plans")
    data = folder / "gsm8k.jsonl"
    data.write_text("\n".join(map(json.dumps, GSM8K)))
    made: dict[str, TrainingPlan] = {}

    def plan(recipe: str, **settings: object) -> TrainingPlan:
        key = f"{recipe} {settings}"
        if key not in made:
            short = {"prompt": "motion_short"} if recipe == "motion" else {}
            room = {"max_completion_length": 600} if recipe in ("game24", "r1-zero") else {}
            evaluated = {"evaluation.data": str(data)} if "game24" != recipe != "motion" else {}
            options = TrainOptions(
                recipe=recipe,
                model=str(tiny_checkpoint),
                data=str(data) if evaluated else None,
                output_dir=str(folder / recipe),
                settings={**short, **room, **evaluated, **settings},
            )
            made[key] = plan_training(options, Reporter())
        return made[key]

    return plan


TABLE: list[tuple[str, str, Any]] = [
    # recipe, field, the source's number under today's meaning
    ("motion", "reward_weights", [5.0, 1.0]),
    ("motion", "num_generations", 4),
    ("motion", "per_device_train_batch_size", 8),
    ("motion", "gradient_accumulation_steps", 4),
    ("motion", "learning_rate", 1e-6),
    ("motion", "num_train_epochs", 10),
    ("motion", "max_steps", -1),
    ("motion", "beta", 0.04),
    ("motion", "use_bias_correction_kl", False),  # k3 alone
    ("motion", "epsilon", 0.2),
    ("motion", "scale_rewards", "group"),
    ("motion", "loss_type", "bnpo"),
    ("motion", "temperature", 0.7),
    ("motion", "top_p", 0.9),
    ("motion", "logging_steps", 10),
    ("motion", "save_steps", 200),
    ("motion", "save_total_limit", 2),
    ("gsm8k-xml", "reward_weights", [2.0, 0.5, 0.5, 0.5, 0.5]),
    ("gsm8k-xml", "num_generations", 8),
    ("gsm8k-xml", "per_device_train_batch_size", 8),
    ("gsm8k-xml", "gradient_accumulation_steps", 32),  # 4, of 8 prompts × 8 each
    ("gsm8k-xml", "learning_rate", 5e-6),
    ("gsm8k-xml", "lr_scheduler_type", "cosine"),
    ("gsm8k-xml", "warmup_steps", 0.1),
    ("gsm8k-xml", "optim", "adamw_torch"),
    ("gsm8k-xml", "adam_beta1", 0.9),
    ("gsm8k-xml", "adam_beta2", 0.99),
    ("gsm8k-xml", "weight_decay", 0.1),
    ("gsm8k-xml", "max_grad_norm", 0.1),
    ("gsm8k-xml", "num_train_epochs", 1),
    ("gsm8k-xml", "beta", 0.04),  # TRL's default of then
    ("gsm8k-xml", "use_bias_correction_kl", False),
    ("gsm8k-xml", "temperature", 0.9),  # TRL's default of then
    ("gsm8k-xml", "epsilon", 0.2),
    ("gsm8k-xml", "scale_rewards", "group"),
    ("gsm8k-xml", "max_completion_length", 200),
    ("gsm8k-xml", "logging_steps", 1),
    ("gsm8k-xml", "save_steps", 100),
    ("game24", "reward_weights", [0.55, 0.30, 0.15]),
    ("game24", "num_generations", 8),
    ("game24", "learning_rate", 2e-6),
    ("game24", "lr_scheduler_type", "constant"),
    ("game24", "max_steps", 50),
    ("game24", "beta", 0.01),
    ("game24", "use_bias_correction_kl", False),
    ("game24", "epsilon", 0.2),
    ("game24", "scale_rewards", "group"),
    ("game24", "temperature", 0.7),
    ("game24", "top_p", 0.9),
    ("r1-zero", "reward_weights", [1.0, 0.0]),
    ("r1-zero", "num_generations", 8),
    ("r1-zero", "per_device_train_batch_size", 2),
    ("r1-zero", "gradient_accumulation_steps", 128),
    ("r1-zero", "learning_rate", 1e-5),
    ("r1-zero", "optim", "adamw_torch"),
    ("r1-zero", "max_steps", 200),
    ("r1-zero", "beta", 0.0),
    ("r1-zero", "num_iterations", 1),
    ("r1-zero", "loss_type", "grpo"),
    ("r1-zero", "vllm_importance_sampling_correction", False),
    ("r1-zero", "temperature", 0.7),
    ("r1-zero", "scale_rewards", "group"),
]


@pytest.mark.parametrize(("recipe", "field", "expected"), TABLE)
def test_a_recipe_resolves_to_its_source_s_number(
    plans: Plans, recipe: str, field: str, expected: object
) -> None:
    assert getattr(plans(recipe).config, field) == expected


@pytest.mark.parametrize(
    ("recipe", "prompts", "completions"),
    [("motion", 8, 32), ("gsm8k-xml", 32, 256), ("game24", 12, 96), ("r1-zero", 32, 256)],
)
def test_one_optimiser_step_is_one_generated_batch_of_whole_groups(
    plans: Plans, recipe: str, prompts: int, completions: int
) -> None:
    config = plans(recipe).config
    assert trl_config.prompts_a_step(config) == prompts
    assert config.generation_batch_size == completions == prompts * config.num_generations
    assert config.steps_per_generation == config.gradient_accumulation_steps


def test_settings_outside_the_trainer_section(plans: Plans) -> None:
    motion, xml, game24, r1_zero = map(plans, ("motion", "gsm8k-xml", "game24", "r1-zero"))
    assert motion.config.max_completion_length + motion.rows.longest == 800
    assert xml.recipe.data.max_prompt_length == 256
    assert xml.task_plan.template.reading == "xml"
    assert game24.recipe.trainer_settings["max_completion_length"] == 600  # the tiny model's room
    assert vars(game24.recipe.momentum) == {"m0": 0, "increment": 0.01, "m_max": 0.2, "eps": 1e-4}
    assert r1_zero.recipe.momentum is not None
    assert (r1_zero.recipe.momentum.m_max, r1_zero.recipe.momentum.eps) == (0, 1e-6)
    assert r1_zero.recipe.evaluation.every == 1
    assert r1_zero.config.max_completion_length == 600
    assert r1_zero.config.model_init_kwargs["attn_implementation"] == "sdpa"
    assert motion.recipe.momentum is xml.recipe.momentum is None


@pytest.mark.parametrize(
    ("recipe", "model", "completion", "fp16", "bf16"),
    [
        ("motion", "Qwen/Qwen2.5-1.5B-Instruct", None, True, False),
        ("gsm8k-xml", "Qwen/Qwen2.5-0.5B-Instruct", 200, False, True),
        ("game24", None, 1024, False, True),
        ("r1-zero", "Qwen/Qwen2.5-Math-1.5B", None, False, True),  # length: the task's default
    ],
)
def test_settings_that_a_cpu_and_a_tiny_model_change_are_the_source_s_in_the_recipe(
    recipe: str, model: str | None, completion: int | None, fp16: bool, bf16: bool
) -> None:
    found = build_recipe(*find_recipe(recipe), trainer_fields())
    assert found.model.name == model
    assert found.model.dtype == ("bfloat16" if recipe in ("gsm8k-xml", "r1-zero") else "float32")
    assert found.trainer_settings.get("max_completion_length") == completion
    assert found.trainer_settings.get("fp16", False) is fp16
    assert found.trainer_settings["bf16"] is bf16
    assert found.trainer_settings["use_vllm"] == "auto"


@pytest.mark.parametrize(("evaluated", "room"), [(0, 450), (612, 612)])
def test_on_a_gpu_precision_is_the_recipe_s_and_vllm_shares_it(
    evaluated: int, room: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: dict[str, Any] = {}

    def config(**values: Any) -> Any:
        made.update(values)
        return SimpleNamespace(report_to=[])

    fields = trainer_fields()
    monkeypatch.setattr(trl_config, "has_gpu", lambda: True)
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setattr(trl_config, "import_trl", lambda: SimpleNamespace(GRPOConfig=config))
    notes: list[str] = []
    found = build_recipe(*find_recipe("gsm8k-xml"), fields)
    trl_config.build_grpo_config(
        found,
        tmp_path,
        weights=[1.0],
        completion=200,
        longest=250,
        longest_evaluation=lambda: evaluated,
        note=notes.append,
    )
    assert made["bf16"] is made["use_vllm"] is True
    assert "use_cpu" not in made
    assert made["vllm_max_model_length"] == room
    assert made["model_init_kwargs"] == {"dtype": "bfloat16", "trust_remote_code": False}
    assert notes == []


@pytest.mark.parametrize(
    ("settings", "updates"),
    [
        ({"scale_rewards": "none"}, 1),
        ({"baseline": "none", "scale_rewards": "none"}, 1),
        ({"num_iterations": 4}, 4),
        ({"gradient_accumulation_steps": 32, "steps_per_generation": 128}, 4),
    ],
)
def test_the_ablations_of_r1_zero_are_settings(
    settings: dict[str, object], updates: int, plans: Plans
) -> None:
    config = plans("r1-zero", **settings).config
    assert config.generation_batch_size == 256
    batches = config.steps_per_generation // config.gradient_accumulation_steps
    assert config.num_iterations * batches == updates
