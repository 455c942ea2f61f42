"""What TRL's trainers take: the rows, the reward functions and the config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import UnknownName
from rewardkit.harness.backends import tokenization
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.task_plan import TaskPlan
from rewardkit.harness.store import checkpoint
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.rewards.reward_functions import RewardFunction, reward_funcs
from rewardkit.trainers.training import grpo_settings, sft_settings
from rewardkit.trainers.training.completion_length import completion_length
from rewardkit.trainers.training.supervised_rows import supervise
from rewardkit.trainers.training.training_rows import TrainingRows


@dataclass(frozen=True, kw_only=True)
class TrainerInputs:
    """What the arguments follow from."""

    recipe: Recipe
    task_plan: TaskPlan
    rows: TrainingRows
    model_folder: Path
    output_dir: Path
    evaluation: Any
    """An EvaluationCallback, or None."""
    reporter: Reporter


@dataclass(frozen=True, kw_only=True)
class TrainerArguments:
    """The rows to train on, the functions that reward them, and the config."""

    rows: TrainingRows
    functions: Sequence[RewardFunction]
    config: Any
    """TRL's GRPOConfig, or SFTConfig."""


def trainer_arguments(inputs: TrainerInputs) -> TrainerArguments:
    """The arguments of the recipe's trainer. UsageError for a setting that can't be used."""
    return _sft_arguments(inputs) if inputs.recipe.is_sft else _grpo_arguments(inputs)


def _grpo_arguments(inputs: TrainerInputs) -> TrainerArguments:
    """The rows as they are, the task's reward functions and the GRPOConfig."""
    recipe, rows, folder = inputs.recipe, inputs.rows, inputs.model_folder
    functions, weights = _rewards(recipe, inputs.task_plan)
    config = grpo_settings.configure(
        recipe,
        inputs.output_dir,
        weights=weights,
        completion=completion_length(recipe, inputs.task_plan, rows, folder, inputs.reporter),
        longest=rows.longest,
        longest_evaluated=lambda: longest_evaluated(inputs.evaluation, folder),
        note=inputs.reporter.note,
    )
    grpo_settings.check_enough(config, len(rows.samples))
    return TrainerArguments(rows=rows, functions=functions, config=config)


def _sft_arguments(inputs: TrainerInputs) -> TrainerArguments:
    """The rows with their completions, no reward functions, and the SFTConfig."""
    recipe, note = inputs.recipe, inputs.reporter.note
    rows = supervise(
        inputs.rows,
        inputs.task_plan,
        tokenization.load(inputs.model_folder),
        long=recipe.data.long,
        seed=recipe.data.seed,
        limit=sft_settings.row_limit(recipe, inputs.model_folder),
        note=note,
    )
    config = sft_settings.configure(recipe, inputs.output_dir, longest=rows.longest_row, note=note)
    return TrainerArguments(rows=rows, functions=(), config=config)


def _rewards(recipe: Recipe, task_plan: TaskPlan) -> tuple[list[RewardFunction], list[float]]:
    """The task's reward functions, and their weights with the recipe's in place of the task's."""
    functions, weights = reward_funcs(task_plan.task, reading=task_plan.template.reading)
    by_name = {
        function.__name__: weight for function, weight in zip(functions, weights, strict=True)
    }
    for name in recipe.rewards:
        if name not in by_name:
            raise UnknownName.among(f"reward of task {recipe.task!r}", name, by_name)
    return functions, list((by_name | recipe.rewards).values())


def longest_evaluated(evaluation: Any, model_folder: Path) -> int:
    """The most tokens of a prompt and its completion in evaluation, up to the model's limit."""
    if evaluation is None:
        return 0
    from rewardkit.trainers.evaluation.callback import longest_text

    longest = longest_text(evaluation, tokenization.load(model_folder))
    room = checkpoint.read_json(model_folder / "config.json").get("max_position_embeddings")
    return min(longest, room) if isinstance(room, int) else longest
