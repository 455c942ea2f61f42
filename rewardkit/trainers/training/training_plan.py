"""A training, checked through: names, data, prompts, settings; no weights yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import PromptTooLong, UnknownName, UsageError
from rewardkit.harness.backends import tokenization
from rewardkit.harness.run.default_folder import RUNS, file_name
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.run_plan import template_for
from rewardkit.harness.run.task_plan import TaskPlan, plan_task
from rewardkit.harness.store import checkpoint
from rewardkit.trainers.recipes.overrides import apply_overrides
from rewardkit.trainers.recipes.recipe import Recipe
from rewardkit.trainers.recipes.recipe_file import RecipeContents, find_recipe
from rewardkit.trainers.recipes.validation import build_recipe
from rewardkit.trainers.rewards.functions import RewardFunction, reward_funcs
from rewardkit.trainers.training import grpo_settings, tokenizer_check, training_folder
from rewardkit.trainers.training.requirements import check_installed
from rewardkit.trainers.training.trainer_fields import trainer_fields
from rewardkit.trainers.training.training_rows import Rows, dataset, rendered


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What `rewardkit train` takes, under the same names; `settings` are its --set pairs."""

    recipe: str
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    data: str | None = None
    output_dir: str | None = None
    resume: bool = False
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that decides a training, resolved."""

    recipe: Recipe
    folder: Path
    """The model's."""
    output_dir: Path
    question: TaskPlan
    rows: Rows
    dataset: Any
    """The rows as TRL takes them."""
    functions: Sequence[RewardFunction]
    config: Any
    """TRL's GRPOConfig."""
    tokenizer: Any
    evaluation: Any
    """An EvaluationCallback, or None."""
    resumed_from: Path | None
    marks: Mapping[str, Any]
    """What a resumed training must share."""


def plan_for(options: TrainOptions, reporter: Reporter) -> TrainingPlan:
    """Every name resolved, all data read and rendered, every setting checked; no weights yet."""
    check_installed()
    name, contents = find_recipe(options.recipe)
    asked = _resolved(name, contents, options)
    output_dir = Path(options.output_dir or _default_folder(asked))
    resumed_from = training_folder.resumed_from(output_dir, resume=options.resume)
    task = _question(asked)
    functions, weights = _rewards(asked, task)
    folder = checkpoint.resolve(str(asked.model.name))
    if not checkpoint.weight_files(folder):
        raise UsageError(f"{folder} holds no weights; give a checkpoint's folder")
    rows = _rows(asked, task, folder, reporter)
    completion = _completion_length(asked, task, rows, folder)
    config = grpo_settings.configured(
        asked,
        output_dir,
        weights=weights,
        completion=completion,
        longest=rows.longest,
        note=reporter.note,
    )
    grpo_settings.check_enough(config, len(rows.samples))
    tokenizer = tokenizer_check.load(folder)
    tokenizer_check.check_same_prompts(tokenizer, rows)
    marks = _marks(asked, task, rows, folder)
    if resumed_from:
        training_folder.check_same(output_dir, marks)
    return TrainingPlan(
        recipe=asked,
        folder=folder,
        output_dir=output_dir,
        question=task,
        rows=rows,
        dataset=dataset(rows),
        functions=functions,
        config=config,
        tokenizer=tokenizer,
        evaluation=_evaluation(asked, task, reporter),
        resumed_from=resumed_from,
        marks=marks,
    )


def _resolved(name: str, contents: RecipeContents, options: TrainOptions) -> Recipe:
    """The recipe with everything set over it that the command names."""
    settings: dict[str, object] = dict(options.settings)
    named = {"model.name": options.model, "data.file": options.data, "trainer.seed": options.seed}
    settings |= {key: value for key, value in named.items() if value is not None}
    fields = trainer_fields()
    found = build_recipe(name, apply_overrides(contents, settings, fields), fields)
    if found.model.name is None:
        raise UsageError(f"recipe {name!r} has no model of its own; pass --model")
    return found


def _question(asked: Recipe) -> TaskPlan:
    task = registry.installed().task(asked.task)
    template = template_for(task, asked.prompt, asked.system_prompt)
    task.verifier(template.reading)
    data = asked.data
    return plan_task(
        task, template, data=data.file, split=data.split, seed=data.seed, limit=data.limit
    )


def _rewards(asked: Recipe, task: TaskPlan) -> tuple[list[RewardFunction], list[float]]:
    functions, weights = reward_funcs(task.task, reading=task.template.reading)
    known = [function.__name__ for function in functions]
    for name in asked.rewards:
        if name not in known:
            raise UnknownName.among(f"reward of task {asked.task!r}", name, known)
    return functions, [
        asked.rewards.get(name, weight) for name, weight in zip(known, weights, strict=True)
    ]


def _rows(asked: Recipe, task: TaskPlan, folder: Path, reporter: Reporter) -> Rows:
    tokenizer = tokenization.load(folder)
    rows = rendered(
        task,
        tokenizer,
        chat=asked.chat_template,
        max_prompt_length=asked.data.max_prompt_length,
    )
    if rows.left_out:
        reporter.note(
            f"{rows.left_out} of {rows.left_out + len(rows.samples)} prompts are longer than "
            f"data.max_prompt_length {asked.data.max_prompt_length} and left out"
        )
    if asked.chat_template and not rows.conversational:
        reporter.note("the tokenizer has no chat template: prompts are plain text, as in eval")
    return rows


def _completion_length(asked: Recipe, task: TaskPlan, rows: Rows, folder: Path) -> int:
    """Tokens a completion may have. PromptTooLong where prompt and completion don't fit."""
    total = asked.data.max_total_length
    length = asked.trainer.get("max_completion_length")
    if length is None and total is not None:
        length = total - rows.longest
        if length < 1:
            raise PromptTooLong(
                f"the longest prompt has {rows.longest} tokens, and data.max_total_length is "
                f"{total}, completion included; raise it, or set data.max_prompt_length"
            )
    length = length or task.task.max_tokens
    limit = checkpoint.read_json(folder / "config.json").get("max_position_embeddings")
    if isinstance(limit, int) and rows.longest + length > limit:
        raise PromptTooLong(
            f"the longest prompt has {rows.longest} tokens; with max_completion_length {length} "
            f"it needs {rows.longest + length}, and the model takes {limit} in all; set "
            f"max_completion_length={max(limit - rows.longest, 1)} or data.max_prompt_length"
        )
    return int(length)


def _evaluation(asked: Recipe, task: TaskPlan, reporter: Reporter) -> Any:
    """The callback that evaluates, or None where nothing is to be evaluated."""
    from rewardkit.trainers import EvaluationCallback

    chosen = dict(vars(asked.evaluation))
    if not chosen["every"]:
        return None
    return EvaluationCallback(
        task.task,
        prompt=asked.prompt,
        system_prompt=asked.system_prompt,
        chat_template=asked.chat_template,
        seed=asked.data.seed,
        on_evaluation=reporter.evaluated,
        **chosen,
    )


def _marks(asked: Recipe, task: TaskPlan, rows: Rows, folder: Path) -> dict[str, Any]:
    settings = asked.settings()
    # weights and rows count, wherever they lie
    settings["model"].pop("name")
    settings["data"].pop("file", None)
    return {
        "settings": settings,
        "prompt": task.template.hash(),
        "data": rows.hash(),
        "model": dict(checkpoint.fingerprint(folder, None)),
    }


def _default_folder(asked: Recipe) -> str:
    model = str(asked.model.name).rstrip("/").rpartition("/")[2]
    return f"{RUNS}/train-{asked.name}-{file_name(model)}"
