"""Train by a recipe: run TRL's trainer over a checked plan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rewardkit.errors import UnknownName
from rewardkit.harness.run.reporter import Reporter
from rewardkit.trainers.evaluation.json_documents import read_document
from rewardkit.trainers.training import training_folder
from rewardkit.trainers.training.reporting import quiet_reporter
from rewardkit.trainers.training.session_record import session_record
from rewardkit.trainers.training.timing import Clock
from rewardkit.trainers.training.train_options import TrainOptions, TrainValues
from rewardkit.trainers.training.training_plan import TrainingPlan, plan_training
from rewardkit.trainers.training.trl_trainer import build_trainer


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """The outcome of a training and its files."""

    output_dir: Path
    final: Path
    """The model after the last step, with its tokenizer."""
    task: str
    steps: int
    evaluations: Sequence[tuple[int, Mapping[str, Any]]]
    """The task's metrics, as summary.json holds them, by step."""
    best: Mapping[str, Any] | None
    """best.json: step, checkpoint, metric and value of the best checkpoint."""
    warnings: Sequence[str]
    """The signs of reward hacking in train_log.json."""
    reward_share: float
    """Share of the steps' time spent in rewards, in [0, 1]."""


def train(
    recipe: str | Path,
    *,
    model: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[TrainValues],
) -> TrainingResult:
    """Train `model` by a recipe's name or TOML file, with `settings` over the recipe's.

    `settings` are those of --set, and `options` the other ones of `rewardkit train`: data,
    output_dir, resume, seed, rollouts. UsageError, before any weights load, for every setting, name
    or data that can't be used.
    """
    for name in options:
        if name not in TrainValues.__annotations__:
            known = (*TrainValues.__annotations__, "model", "settings")
            raise UnknownName.among("option of train", name, known)
    resolved = reporter or quiet_reporter()
    train_options = TrainOptions(
        recipe=str(recipe), model=model, settings=settings or {}, **options
    )
    return run_training(plan_training(train_options, resolved), resolved)


def run_training(
    plan: TrainingPlan, reporter: Reporter, command: Sequence[str] = ()
) -> TrainingResult:
    """Train by the plan and save the model.

    KeyboardInterrupt on Ctrl-C, once a checkpoint is saved.
    """
    from rewardkit.trainers.training.log_filter import only_warnings
    from rewardkit.trainers.training.trainer_callbacks import InterruptCallback

    clock = Clock()
    with (
        only_warnings(reporter.warned),
        _threads(plan),
        InterruptCallback(reporter.note) as interrupt,
    ):
        trainer = build_trainer(plan, clock, reporter, interrupt)
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
            trainer.train(resume_from_checkpoint=resumed)
            trainer.save_model(str(plan.output_dir / training_folder.FINAL))
        finally:
            reporter.ended()
            if main:
                training_folder.end(plan.output_dir, steps=trainer.state.global_step)
    return _result(plan, trainer.state.global_step, clock)


@contextlib.contextmanager
def _threads(plan: TrainingPlan) -> Iterator[None]:
    """On a CPU, use one thread for each 64 MiB of weights, as in evaluation: more are slower."""
    import torch

    from rewardkit.harness.backends.engine_options import EngineOptions
    from rewardkit.harness.backends.local_model import LocalModel

    before = torch.get_num_threads()
    if plan.config.use_cpu:
        local = LocalModel(str(plan.model_folder), EngineOptions(), backend="transformers")
        torch.set_num_threads(local.useful_threads(before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _result(plan: TrainingPlan, steps: int, clock: Clock) -> TrainingResult:
    task = plan.task_plan.task.name
    log = read_document(plan.output_dir / "train_log.json") or []
    return TrainingResult(
        output_dir=plan.output_dir,
        final=plan.output_dir / training_folder.FINAL,
        task=task,
        steps=steps,
        evaluations=[
            (entry["step"], entry["evaluation"][task])
            for entry in log
            if task in entry["evaluation"]
        ],
        best=read_document(plan.output_dir / "best.json"),
        warnings=[warning for entry in log for warning in entry["warnings"]],
        reward_share=clock.reward_share,
    )
