"""Evaluate the model in training with the harness's own run."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.options import CallbackOptions
from rewardkit.harness.run.options import EvalOptions
from rewardkit.harness.run.plan import RunPlan, TaskPlan, plan_tasks
from rewardkit.harness.run.run import RunSummary, run
from rewardkit.settings import types_of
from rewardkit.trainers.evaluation.live_backend import (
    LiveBackend,
    LiveCheckpoint,
    TrainerEngine,
    broadcast_from_main,
)


@contextlib.contextmanager
def eval_mode(model: Any, gradient_checkpointing: Mapping[str, Any] | None) -> Iterator[None]:
    """Put the model in evaluation mode; restore it and all random states afterwards.

    `gradient_checkpointing` are the arguments with which it was switched on, if it was.
    """
    from accelerate.utils import extract_model_from_parallel
    from trl.models.utils import disable_gradient_checkpointing

    inner = extract_model_from_parallel(model)
    modes = [(module, module.training) for module in model.modules()]
    with (
        disable_gradient_checkpointing(inner, gradient_checkpointing),
        _without_generation_defaults(inner),
        _random_states_restored(inner.device),
    ):
        model.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def _without_generation_defaults(model: Any) -> Iterator[None]:
    """Remove the model's sampling defaults, which would replace every setting that we leave out."""
    from transformers import GenerationConfig

    # an adapter's wrapper generates with its base model's configuration
    owner = model.get_base_model() if hasattr(model, "get_base_model") else model
    defaults = owner.generation_config
    owner.generation_config = GenerationConfig()
    try:
        yield
    finally:
        owner.generation_config = defaults


@contextlib.contextmanager
def _random_states_restored(device: Any) -> Iterator[None]:
    """Restore the state of every random generator afterwards."""
    import numpy as np
    import torch

    python_state, numpy_state = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)


@dataclass(frozen=True)
class LiveEvaluation:
    """The same prompts with the same sampling, at any step."""

    options: EvalOptions
    task_plans: Sequence[TaskPlan]
    batch_size: int

    @classmethod
    def plan(cls, options: EvalOptions, batch_size: int) -> LiveEvaluation:
        """Resolve every name, read the data and render every prompt once.

        UsageError for what can't be found or read, or for an option that trainers don't have.
        """
        options.engine().refuse("trainer's", "thinking_token_budget")
        return cls(options, plan_tasks(options, [options.prompt])[options.prompt], batch_size)

    def longest(self, tokenizer: Tokenizer) -> int:
        """The most tokens that a prompt and its completion need."""
        return max(
            len(
                tokenizer.prompt(
                    plan.template.messages(sample), chat=self.options.chat_template
                ).token_ids
            )
            + (self.options.max_tokens or plan.task.max_tokens)
            for plan in self.task_plans
            for sample in plan.samples
        )

    def run(
        self,
        step: int,
        model: Any,
        checkpoint: LiveCheckpoint,
        *,
        folder: Path,
        gradient_checkpointing: Mapping[str, Any] | None,
        engine: TrainerEngine | None = None,
    ) -> Mapping[str, TaskSummary]:
        """Each task's summary, in every process; the main process judges and writes `folder`."""
        from accelerate import PartialState

        with eval_mode(model, gradient_checkpointing):
            backend = LiveBackend(
                model, checkpoint, step=step, batch_size=self.batch_size, engine=engine
            )
            if PartialState().is_main_process:
                return self._run_in_main(backend, step, folder).tasks
            backend.follow()
        summaries: Mapping[str, TaskSummary] | None = broadcast_from_main(None)
        if summaries is None:
            raise BackendError(
                f"the evaluation at step {step} failed in the main process, whose error says why"
            )
        return summaries

    def _run_in_main(self, backend: LiveBackend, step: int, folder: Path) -> RunSummary:
        summary: RunSummary | None = None
        try:
            summary = run(self._run_plan(backend, step, folder))
        finally:
            backend.close()
            broadcast_from_main(None if summary is None else summary.tasks)
        return summary

    def _run_plan(self, backend: LiveBackend, step: int, folder: Path) -> RunPlan:
        model = f"in training, at step {step}"
        given = {name: getattr(self.options, name) for name in types_of(CallbackOptions)}
        return RunPlan(
            # an earlier training's evaluation there is of other weights
            replace(self.options, model=model, overwrite=True),
            self.task_plans,
            backend,
            output_dir=folder,
            settings={"model": model, "prompt": self.options.prompt, **given},
        )
