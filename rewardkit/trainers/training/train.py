"""Train with a recipe: run TRL's trainer by a checked plan."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import logging
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.harness.results.documents import hardware, versions
from rewardkit.harness.results.model_folder import loading_error
from rewardkit.harness.results.rollouts import COMPLETIONS, remove_steps_after
from rewardkit.harness.results.training_checkpoints import step_of
from rewardkit.harness.runs.progress import Reporter
from rewardkit.text.redaction import redact_value
from rewardkit.trainers.evaluation.signs import evaluations
from rewardkit.trainers.evaluation.train_log import BEST, read_best, read_log
from rewardkit.trainers.training import training_folder
from rewardkit.trainers.training.training_plan import (
    TrainingPlan,
    TrainOptions,
    is_main_process,
    plan_training,
    quiet_reporter,
)
from rewardkit.verifiers.judge.use import add_uses, judges_record, take_judge_uses


@contextlib.contextmanager
def only_warnings(warned: Callable[[str], None]) -> Iterator[None]:
    """Hide progress bars and notices; pass on each warning of rewardkit, TRL and Python once."""
    import datasets
    from transformers.utils import logging as transformers_logging

    warn_once = functools.cache(warned)

    class WarningHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn_once(record.getMessage())

    handler = WarningHandler(logging.WARNING)
    logging.getLogger("vllm").setLevel(logging.ERROR)  # TRL imports it wherever it is installed
    with contextlib.ExitStack() as restored, warnings.catch_warnings():
        restored.callback(transformers_logging.set_verbosity, transformers_logging.get_verbosity())
        transformers_logging.set_verbosity_error()
        if transformers_logging.is_progress_bar_enabled():
            restored.callback(transformers_logging.enable_progress_bar)
            transformers_logging.disable_progress_bar()
        if datasets.is_progress_bar_enabled():
            restored.callback(datasets.enable_progress_bars)
            datasets.disable_progress_bars()
        for logger in map(logging.getLogger, ("rewardkit", "trl")):
            restored.callback(setattr, logger, "propagate", logger.propagate)
            restored.callback(logger.removeHandler, handler)
            logger.addHandler(handler)
            logger.propagate = False
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: warn_once(str(message))
        yield


def session_record(plan: TrainingPlan, command: Sequence[str]) -> dict[str, Any]:
    """The command, model, data, limits and versions of a session, enough to run it again."""
    config = plan.config
    unused = {judge: Counter[str]() for reward in plan.functions for judge in reward.judges}
    limits = (
        ("max_length", "packing") if plan.recipe.is_sft else ("max_completion_length", "use_vllm")
    )
    return {
        "command": redact_value(command or sys.argv),
        "recipe": plan.recipe.name,
        "model": str(plan.model_folder),
        "samples": len(plan.rows.samples),
        "left_out": plan.rows.left_out,
        "seed": config.seed,
        "processes": config.world_size,
        **{name: getattr(config, name) for name in limits},
        "prompt_source": plan.task_plan.template.source,
        "resumed_from": str(plan.resumed_from) if plan.resumed_from else None,
        "versions": versions() | {"trl": importlib.metadata.version("trl")},
        "hardware": hardware(),
        **({"judges": judges_record(unused)} if unused else {}),
    }


def build_trainer(plan: TrainingPlan, progress: Any, interrupt: Any) -> Any:
    """Make the trainer of a plan, with these callbacks and the plan's evaluation."""
    from transformers import PrinterCallback

    trainer_class, arguments = _trainer_class(plan)
    callbacks = [progress, plan.evaluation, interrupt]
    try:
        trainer = trainer_class(
            model=str(plan.model_folder),
            args=plan.config,
            train_dataset=plan.dataset,
            processing_class=plan.tokenizer,
            callbacks=[callback for callback in callbacks if callback is not None],
            peft_config=plan.lora,
            **arguments,
        )
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise loading_error(f"TRL can't start to train {plan.model_folder}", error) from error
    trainer.remove_callback(PrinterCallback)
    if not plan.recipe.is_sft:
        progress.time_rewards(trainer)
    if plan.evaluation is not None:
        plan.evaluation.attach(trainer)
    if is_main_process():  # steps that are trained again are written again
        step = step_of(str(plan.resumed_from)) if plan.resumed_from else None
        remove_steps_after(plan.output_dir / COMPLETIONS, step or 0)
    return trainer


def _save_final(trainer: Any, plan: TrainingPlan) -> None:
    """Save the model after the last step as a whole checkpoint, with an adapter merged into it.

    The folder gets its name when it is complete.
    """
    final = plan.output_dir / training_folder.FINAL
    unfinished = final.with_name(f"{final.name}.unfinished")
    if plan.lora is None:
        trainer.save_model(str(unfinished))
    elif is_main_process():
        model = trainer.accelerator.unwrap_model(trainer.model)
        model.merge_and_unload().save_pretrained(unfinished)
        plan.tokenizer.save_pretrained(unfinished)
    trainer.accelerator.wait_for_everyone()
    if is_main_process():
        shutil.rmtree(final, ignore_errors=True)
        unfinished.rename(final)


def _trainer_class(plan: TrainingPlan) -> tuple[Any, dict[str, Any]]:
    import trl

    from rewardkit.trainers.recipe_trainer import MomentumGRPOTrainer, RecipeGRPOTrainer

    recipe = plan.recipe
    if recipe.is_sft:
        return trl.SFTTrainer, {}
    schedules = zip(plan.functions, plan.weights, strict=True)
    arguments = {
        "reward_funcs": list(plan.functions),
        "gates": {name: reward.gate for name, reward in recipe.rewards.items() if reward.gate},
        "weights": {reward.__name__: steps for reward, steps in schedules if len(steps) > 1},
        "baseline": recipe.baseline,
        "skip_silent_groups": recipe.skip_silent_groups,
    }
    if recipe.momentum is None:
        return RecipeGRPOTrainer, arguments
    return MomentumGRPOTrainer, {**arguments, **vars(recipe.momentum)}


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """The outcome of a training and its files."""

    output_dir: Path
    final: Path
    """The model after the last step, with its tokenizer."""
    task: str
    steps: int
    evaluations: Sequence[tuple[int, Mapping[str, Any]]]
    """The task's metrics by step, in the form of summary.json."""
    best: Mapping[str, Any] | None
    """best.json: step, checkpoint, metric and value of the best checkpoint."""
    warnings: Sequence[str]
    """The signs in train_log.json."""
    reward_share: float
    """Share of the steps' time spent in rewards, in [0, 1]."""


def train(
    recipe: str | Path,
    *,
    model: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
    task: str | None = None,
    data: str | Path | None = None,
    output_dir: str | Path | None = None,
    resume: bool = False,
    seed: int | None = None,
    trust_remote_code: bool = False,
    timeout: float | None = None,
    reporter: Reporter | None = None,
) -> TrainingResult:
    """Train `model` with a recipe: the name of a recipe, or the path of a TOML file.

    `settings` override settings of the recipe, as --set does. The other arguments are the options
    of `rewardkit train`. UsageError for a wrong setting, name or data file, before any weights are
    loaded.
    """
    options = TrainOptions(
        recipe=str(recipe),
        model=model,
        settings=settings or {},
        task=task,
        data=data,
        output_dir=output_dir,
        resume=resume,
        seed=seed,
        trust_remote_code=trust_remote_code,
        timeout=timeout,
    )
    reporter = reporter or quiet_reporter()
    return run_training(plan_training(options, reporter), reporter)


def run_training(
    plan: TrainingPlan, reporter: Reporter, command: Sequence[str] = ()
) -> TrainingResult:
    """Train by the plan and save the model. KeyboardInterrupt after Ctrl-C and a checkpoint."""
    from rewardkit.trainers.training.trainer_callbacks import (
        InterruptCallback,
        NoStepLeft,
        ProgressCallback,
    )

    progress = ProgressCallback(reporter)
    with (
        training_folder.lock(plan.output_dir) if is_main_process() else contextlib.nullcontext(),
        only_warnings(reporter.warned),
        _threads(plan),
        InterruptCallback(reporter.note) as interrupt,
    ):
        take_judge_uses()  # without the costs of other work in this process
        trainer = build_trainer(plan, progress, interrupt)
        main = bool(trainer.is_world_process_zero())
        if main:
            training_folder.begin(
                plan.output_dir,
                plan.fingerprint,
                session_record(plan, command),
                resumed=plan.resumed_from is not None,
            )
        try:
            resumed = str(plan.resumed_from) if plan.resumed_from else None
            try:
                trainer.train(resume_from_checkpoint=resumed)
            except NoStepLeft:  # the trainer holds the checkpoint's weights
                if (plan.output_dir / training_folder.FINAL).exists():
                    raise
            _save_final(trainer, plan)
        finally:
            reporter.ended()
            if main:
                add_uses(interrupt.judge_uses, take_judge_uses())  # since the last step
                uses = interrupt.judge_uses
                judges = {"judges": judges_record(uses)} if uses else {}
                training_folder.end(plan.output_dir, steps=trainer.state.global_step, **judges)
    log = read_log(plan.output_dir)
    task = plan.task_plan.task.name
    return TrainingResult(
        output_dir=plan.output_dir,
        final=plan.output_dir / training_folder.FINAL,
        task=task,
        steps=trainer.state.global_step,
        evaluations=[(each.step, each.metrics) for each in evaluations(log, task)],
        best=read_best(plan.output_dir / BEST),
        warnings=[warning for entry in log for warning in entry["warnings"]],
        reward_share=progress.reward_share,
    )


@contextlib.contextmanager
def _threads(plan: TrainingPlan) -> Iterator[None]:
    """On a CPU, use a thread for each 64 MiB of weights, as in evaluation: more are slower."""
    import torch

    from rewardkit.harness.engines.local_model import LocalModel
    from rewardkit.harness.options import EngineOptions

    before = torch.get_num_threads()
    if plan.config.use_cpu:
        trust = EngineOptions(trust_remote_code=plan.recipe.model.trust_remote_code)
        local = LocalModel(str(plan.model_folder), trust, backend="transformers")
        torch.set_num_threads(local.useful_threads(before))
    try:
        yield
    finally:
        torch.set_num_threads(before)
