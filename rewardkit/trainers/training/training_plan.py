"""The options and the plan of a training: names, data, prompts, settings, resolved and checked."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.available_resources import sleep_while_waiting
from rewardkit.errors import DataError, MissingExtra, PromptTooLong, UnknownName, UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.results import model_folder as model_folders
from rewardkit.harness.results.files import check_output_folder
from rewardkit.harness.runs.options import RUNS, file_name
from rewardkit.harness.runs.plan import TaskPlan, plan_task
from rewardkit.harness.runs.progress import Reporter
from rewardkit.registry import known_names
from rewardkit.text.printable import printable
from rewardkit.text.redaction import redact
from rewardkit.trainers.objectives import WeightSchedule
from rewardkit.trainers.recipes.recipe import (
    ANY,
    Recipe,
    RewardSettings,
    apply_overrides,
    build_recipe,
    find_recipe,
    trainer_section,
)
from rewardkit.trainers.rewards.reward_functions import TrlReward, reward_func, reward_funcs
from rewardkit.trainers.training import training_folder, trl_config
from rewardkit.trainers.training.training_rows import (
    TrainingRows,
    add_completions,
    render_rows,
)
from rewardkit.trainers.training.trl_config import trainer_fields

REQUIRED = ("torch", "transformers", "trl", "datasets")


def check_installed() -> None:
    """Raise MissingExtra if a package of the extra [train] is missing."""
    for package in REQUIRED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra.needing(package, "train", "rewardkit train")


class WarningReporter(Reporter):
    """Writes warnings to stderr, and nothing else."""

    def warned(self, text: str) -> None:
        sys.stderr.write(f"warning: {printable(redact(text))}\n")


def quiet_reporter() -> Reporter:
    """Report only warnings, and only in the main process."""
    return WarningReporter() if is_main_process() else Reporter()


def is_main_process() -> bool:
    """Whether this process is the first one of `accelerate launch`."""
    return os.environ.get("RANK", "0") == "0"


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `rewardkit train`, under the same names; `settings` are its --set pairs."""

    recipe: str
    model: str | Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    task: str | None = None
    data: str | Path | None = None
    output_dir: str | Path | None = None
    resume: bool = False
    seed: int | None = None
    trust_remote_code: bool = False
    timeout: float | None = None


def resolve_recipe(options: TrainOptions) -> Recipe:
    """The recipe with the settings of the command."""
    name, contents = find_recipe(options.recipe)
    model = contents.get("model")
    if isinstance(model, Mapping) and model.get("trust_remote_code"):
        raise UsageError(f"recipe {name!r} sets trust_remote_code; pass --trust-remote-code")
    section = trainer_section(contents)
    values = {
        "task": options.task,
        "model.name": options.model and str(options.model),
        "data.file": options.data and str(options.data),
        f"{section}.seed": options.seed,
        "model.trust_remote_code": options.trust_remote_code or None,
        "timeout": options.timeout,
    }
    overrides = {key: value for key, value in values.items() if value is not None}
    fields = trainer_fields(section)
    changed = apply_overrides(contents, {**options.settings, **overrides}, fields)
    recipe = build_recipe(name, changed, fields)
    if recipe.model.name is None:
        raise UsageError(f"recipe {name!r} has no model of its own; pass --model")
    return recipe


def output_folder(options: TrainOptions, recipe: Recipe) -> Path:
    """The folder in the options; else a folder named after the recipe and the model."""
    if options.output_dir:
        return Path(options.output_dir)
    model = str(recipe.model.name).rstrip("/").rpartition("/")[2]
    name = file_name(recipe.task) if recipe.name == ANY else recipe.name
    return Path(f"{RUNS}/train-{name}-{file_name(model)}")


MARGIN = 1.25
"""The length limit of a completion, as a multiple of the longest worked reply."""


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that determines a training, resolved."""

    recipe: Recipe
    model_folder: Path
    output_dir: Path
    task_plan: TaskPlan
    rows: TrainingRows
    dataset: Any
    """The rows in TRL's form."""
    functions: Sequence[TrlReward]
    """The reward functions of GRPO."""
    weights: Sequence[WeightSchedule]
    """The weights of the functions by step."""
    config: Any
    """TRL's GRPOConfig, or SFTConfig."""
    tokenizer: Any
    lora: Any
    """peft's LoraConfig, or None to train all weights."""
    evaluation: Any
    """An EvaluationCallback, or None."""
    resumed_from: Path | None
    fingerprint: Mapping[str, Any]
    """The settings, data and weights, which a resumed training must share."""


def plan_training(options: TrainOptions, reporter: Reporter) -> TrainingPlan:
    """Resolve every name, read and render all data, and check every setting; load no weights."""
    sleep_while_waiting()  # before TRL imports torch
    check_installed()
    recipe = resolve_recipe(options)
    output_dir = output_folder(options, recipe)
    check_output_folder(output_dir)
    resumed_from = training_folder.checkpoint_to_resume(
        output_dir, resume=options.resume, warned=reporter.warned
    )
    data = recipe.data
    data_options = EvalOptions(
        system_prompt=recipe.system_prompt,
        data=data.file,
        split=data.split,
        seed=data.seed,
        limit=data.limit,
        timeout=recipe.timeout,
    )
    task = registry.installed().task(recipe.task, **recipe.task_args)
    task_plan = plan_task(task, recipe.prompt, data_options)
    folder = model_folders.resolve(str(recipe.model.name))
    if not model_folders.weight_files(folder):
        raise UsageError(f"{folder} holds no weights; pass the folder of a checkpoint")
    tokenizer = load_tokenizer(folder, trust_remote_code=recipe.model.trust_remote_code)
    rows = _rows(recipe, task_plan, tokenizer, folder, reporter)
    evaluation = _evaluation(recipe, task_plan, rows, reporter)
    functions, weights = _rewards(recipe, task_plan)
    if recipe.is_sft:
        config = trl_config.build_sft_config(
            recipe, output_dir, longest=rows.longest_row, note=reporter.note
        )
    else:
        config = trl_config.build_grpo_config(
            recipe,
            output_dir,
            weights=[schedule[0][1] for schedule in weights],
            completion=completion_length(recipe, task_plan, rows, folder, reporter),
            longest=rows.longest,
            longest_evaluation=lambda: longest_evaluation(evaluation, tokenizer, folder),
            note=reporter.note,
        )
        trl_config.check_enough(config, len(rows.samples))
    fingerprint = _fingerprint(recipe, task_plan, rows, folder)
    if resumed_from:
        training_folder.check_same(output_dir, fingerprint)
    return TrainingPlan(
        recipe=recipe,
        model_folder=folder,
        output_dir=output_dir,
        task_plan=task_plan,
        rows=rows,
        dataset=rows.dataset(),
        functions=functions,
        weights=weights,
        config=config,
        tokenizer=tokenizer.loaded,
        lora=trl_config.lora_config(recipe),
        evaluation=evaluation,
        resumed_from=resumed_from,
        fingerprint=fingerprint,
    )


def _rows(
    recipe: Recipe,
    task_plan: TaskPlan,
    tokenizer: tokenization.Tokenizer,
    folder: Path,
    reporter: Reporter,
) -> TrainingRows:
    """The rows to train on; for SFT with completions."""
    rows = render_rows(
        task_plan,
        tokenizer,
        chat=recipe.chat_template,
        max_prompt_length=recipe.data.max_prompt_length,
    )
    if rows.left_out:
        reporter.note(
            f"{rows.left_out} of {rows.left_out + len(rows.samples)} prompts are longer than "
            f"data.max_prompt_length {recipe.data.max_prompt_length} and left out"
        )
    if recipe.chat_template and tokenizer.chat_template is None:
        reporter.note("the tokenizer has no chat template: prompts are plain text, as in eval")
    if not recipe.is_sft:
        return rows
    return add_completions(
        rows,
        task_plan,
        tokenizer,
        long=recipe.data.long,
        seed=recipe.data.seed,
        limit=trl_config.row_limit(recipe, folder),
        note=reporter.note,
    )


def _evaluation(recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, reporter: Reporter) -> Any:
    """The EvaluationCallback, or None if the recipe has none. Warns of rows of both kinds."""
    from rewardkit.trainers import EvaluationCallback

    if not recipe.evaluation.every:
        return None
    try:
        evaluation = EvaluationCallback(
            task_plan.task,
            prompt=recipe.prompt,
            system_prompt=recipe.system_prompt,
            chat_template=recipe.chat_template,
            seed=recipe.data.seed,
            timeout=recipe.timeout,
            on_evaluation=reporter.evaluated,
            log_completions=False,  # the setting of the trainer decides
            **vars(recipe.evaluation),
        )
    except DataError as error:
        raise DataError(
            f"the problems of the evaluation can't be read: {error}. Name other problems with "
            "--set evaluation.data=FILE, or leave the evaluation out with --set evaluation.every=0"
        ) from error
    trained = {(sample.question, sample.reference) for sample in rows.samples}
    plans = evaluation.live_evaluation.task_plans
    samples = [sample for plan in plans for sample in plan.samples]
    shared = sum((sample.question, sample.reference) in trained for sample in samples)
    if shared:
        reporter.warned(
            f"{shared} of {len(samples)} problems of the evaluation are also trained on, so the "
            "accuracy doesn't hold for new problems; name other problems with --set "
            "evaluation.data=FILE or evaluation.split=NAME"
        )
    return evaluation


def _rewards(recipe: Recipe, task_plan: TaskPlan) -> tuple[list[TrlReward], list[WeightSchedule]]:
    """The reward functions with their weights by step: of the task, and others of the recipe."""
    if recipe.is_sft:
        return [], []
    functions, task_weights = reward_funcs(
        task_plan.task,
        verifier=recipe.verifier,
        verifier_args=recipe.verifier_args,
        rescue=recipe.rescue,
        confirm=recipe.confirm,
        reading=task_plan.template.reading,
        timeout=recipe.timeout,
    )
    names = [function.__name__ for function in functions]
    weights = dict(zip(names, task_weights, strict=True))
    for name in recipe.rewards:
        if name not in weights:
            if name not in known_names():
                known = {*weights, *known_names()}
                raise UnknownName.among(f"reward of task {recipe.task!r}", name, known)
            functions.append(reward_func(name, timeout=recipe.timeout))
            weights[name] = 1.0
    for name, settings in recipe.rewards.items():
        for gate in settings.gate:
            if gate not in weights or gate == name:
                raise UnknownName.among(f"other reward for the gate of {name!r}", gate, weights)
    plain = RewardSettings()
    return functions, [
        recipe.rewards.get(name, plain).schedule(weight) for name, weight in weights.items()
    ]


def longest_evaluation(
    evaluation: Any, tokenizer: tokenization.Tokenizer, model_folder: Path
) -> int:
    """The maximum tokens of a prompt with its completion in evaluation; at most the model's."""
    if evaluation is None:
        return 0
    longest: int = evaluation.live_evaluation.longest(tokenizer)
    return min(longest, trl_config.model_room(model_folder) or longest)


def _fingerprint(
    recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, model_folder: Path
) -> dict[str, Any]:
    settings = recipe.settings()
    # hashes identify weights and rows; paths don't
    settings["model"].pop("name")
    settings["data"].pop("file", None)
    return {
        "settings": settings,
        "prompt": task_plan.template.hash(),
        "data": rows.hash(),
        "model": dict(model_folders.fingerprint(model_folder, None)),
    }


def completion_length(
    recipe: Recipe, task_plan: TaskPlan, rows: TrainingRows, folder: Path, reporter: Reporter
) -> int:
    """Return the limit of a completion, in tokens.

    The limit is max_completion_length, if it is set. Otherwise it is data.max_total_length minus
    the longest prompt, if every worked reply fits. Otherwise it is the task's default, or more if
    the longest worked reply needs more. The reporter notes whether data.max_total_length applies,
    and warns of worked replies that don't fit. PromptTooLong if the model has too little room.
    """
    prompt, reply = rows.longest, rows.longest_reply
    length: int | None = recipe.trainer_settings.get("max_completion_length")
    total = recipe.data.max_total_length
    if length is None and total is not None:
        if total - prompt < reply:
            reporter.note(
                f"data.max_total_length {total} doesn't apply: the longest prompt has {prompt} "
                f"tokens and the longest worked reply {reply}, so the worked replies determine the "
                "limit of a completion"
            )
        else:
            length = total - prompt
            reporter.note(
                f"data.max_total_length {total}: the longest prompt has {prompt} tokens, so that "
                f"a completion may have {length} tokens; the longest worked reply has {reply}"
            )
    if length is None:
        length = max(task_plan.task.max_tokens, math.ceil(MARGIN * reply))
    room = trl_config.model_room(folder)
    if room is not None and prompt + length > room:
        raise PromptTooLong(
            f"the longest prompt has {prompt} tokens; with max_completion_length {length} "
            f"prompt and completion have {prompt + length}, and the model takes {room} in all; set "
            f"max_completion_length={max(room - prompt, 1)} or data.max_prompt_length"
        )
    cut_off = sum(tokens > length for tokens in rows.reply_lengths)
    if cut_off:
        reporter.warned(
            f"{cut_off} of {len(rows.reply_lengths)} worked replies of task "
            f"{task_plan.task.name!r} are longer than the {length} tokens of a completion (the "
            f"longest has {reply}), so that a right completion may be cut off; set "
            f"max_completion_length={reply} or more"
        )
    return length


def load_tokenizer(folder: Path, *, trust_remote_code: bool = False) -> tokenization.Tokenizer:
    """Load the folder's tokenizer in the form that TRL needs. UsageError without an eos_token."""
    tokenizer = tokenization.load(folder, trust_remote_code=trust_remote_code)
    if tokenizer.loaded.eos_token is None:
        raise UsageError(
            f"the tokenizer in {folder} has no eos_token, so no completion would ever end; "
            "set eos_token in tokenizer_config.json"
        )
    tokenizer.loaded.padding_side = tokenizer.loaded.truncation_side = "left"
    return tokenizer
