"""The plan of a training: names, data, prompts and settings, all resolved and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.backends import tokenization
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.task_plan import TaskPlan, plan_task
from rewardkit.harness.store import checkpoint
from rewardkit.harness.store.output_folder import refuse_checkpoint_folder
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.rewards.reward_functions import RewardFunction
from rewardkit.trainers.training import tokenizer_check, training_folder
from rewardkit.trainers.training.requirements import check_installed
from rewardkit.trainers.training.train_options import TrainOptions, output_folder, resolve_recipe
from rewardkit.trainers.training.trainer_arguments import TrainerInputs, trainer_arguments
from rewardkit.trainers.training.training_rows import TrainingRows, render_rows


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that decides a training, resolved."""

    recipe: Recipe
    model_folder: Path
    output_dir: Path
    task_plan: TaskPlan
    rows: TrainingRows
    dataset: Any
    """The rows as TRL takes them."""
    functions: Sequence[RewardFunction]
    config: Any
    """TRL's GRPOConfig, or SFTConfig."""
    tokenizer: Any
    evaluation: Any
    """An EvaluationCallback, or None."""
    resumed_from: Path | None
    fingerprint: Mapping[str, Any]
    """The settings, data and weights that a resumed training must share."""


def plan_training(options: TrainOptions, reporter: Reporter) -> TrainingPlan:
    """Resolve every name, read and render all data, check every setting; load no weights."""
    check_installed()
    recipe = resolve_recipe(options)
    output_dir = output_folder(options, recipe)
    refuse_checkpoint_folder(output_dir)
    resumed_from = training_folder.resumed_from(output_dir, resume=options.resume)
    task_plan = _plan_task(recipe)
    model_folder = checkpoint.resolve(str(recipe.model.name))
    if not checkpoint.weight_files(model_folder):
        raise UsageError(f"{model_folder} holds no weights; give a checkpoint's folder")
    rows = _rows(recipe, task_plan, model_folder, reporter)
    evaluation = _evaluation(recipe, task_plan, reporter)
    arguments = trainer_arguments(
        TrainerInputs(
            recipe=recipe,
            task_plan=task_plan,
            rows=rows,
            model_folder=model_folder,
            output_dir=output_dir,
            evaluation=evaluation,
            reporter=reporter,
        )
    )
    rows = arguments.rows
    tokenizer = tokenizer_check.load_tokenizer(model_folder)
    tokenizer_check.check_same_prompts(tokenizer, rows)
    fingerprint = _fingerprint(recipe, task_plan, rows, model_folder)
    if resumed_from:
        training_folder.check_same(output_dir, fingerprint, task_plan.template.source)
    return TrainingPlan(
        recipe=recipe,
        model_folder=model_folder,
        output_dir=output_dir,
        task_plan=task_plan,
        rows=rows,
        dataset=rows.dataset(),
        functions=arguments.functions,
        config=arguments.config,
        tokenizer=tokenizer,
        evaluation=evaluation,
        resumed_from=resumed_from,
        fingerprint=fingerprint,
    )


def _plan_task(recipe: Recipe) -> TaskPlan:
    task = registry.installed().task(recipe.task)
    template = resolve_prompt(task, recipe.prompt, recipe.system_prompt)
    task.verifier(template.reading)
    data = recipe.data
    return plan_task(
        task, template, data=data.file, split=data.split, seed=data.seed, limit=data.limit
    )


def _rows(
    recipe: Recipe, task_plan: TaskPlan, model_folder: Path, reporter: Reporter
) -> TrainingRows:
    rows = render_rows(
        task_plan,
        tokenization.load(model_folder),
        chat=recipe.chat_template,
        max_prompt_length=recipe.data.max_prompt_length,
    )
    if rows.left_out:
        reporter.note(
            f"{rows.left_out} of {rows.left_out + len(rows.samples)} prompts are longer than "
            f"data.max_prompt_length {recipe.data.max_prompt_length} and left out"
        )
    if recipe.chat_template and not rows.conversational:
        reporter.note("the tokenizer has no chat template: prompts are plain text, as in eval")
    return rows


def _evaluation(recipe: Recipe, task_plan: TaskPlan, reporter: Reporter) -> Any:
    """The EvaluationCallback, or None if the recipe has no evaluation."""
    from rewardkit.trainers import EvaluationCallback

    if not recipe.evaluation.every:
        return None
    try:
        return EvaluationCallback(
            task_plan.task,
            prompt=recipe.prompt,
            system_prompt=recipe.system_prompt,
            chat_template=recipe.chat_template,
            seed=recipe.data.seed,
            on_evaluation=reporter.evaluated,
            **dict(recipe.evaluation),
        )
    except DataError as error:
        raise DataError(
            f"the problems to evaluate on can't be read: {error}. --set evaluation.data=FILE names "
            "others, and --set evaluation.every=0 leaves the evaluation out"
        ) from error


def _fingerprint(
    recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, model_folder: Path
) -> dict[str, Any]:
    settings = recipe.settings()
    # weights and rows are identified by their hashes, not by their paths
    settings["model"].pop("name")
    settings["data"].pop("file", None)
    return {
        "settings": settings,
        "prompt": task_plan.template.hash(),
        "data": rows.hash(),
        "model": dict(checkpoint.fingerprint(model_folder, None)),
    }
