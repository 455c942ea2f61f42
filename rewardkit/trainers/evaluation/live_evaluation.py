"""What a training is asked from time to time: the harness's own run, on the model as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.run.option import option_fields
from rewardkit.harness.run.options import CallbackOptions, EvalOptions
from rewardkit.harness.run.run import RunSummary, run
from rewardkit.harness.run.run_plan import RunPlan, plan_tasks
from rewardkit.harness.run.task_plan import TaskPlan
from rewardkit.trainers.evaluation.eval_mode import at_rest
from rewardkit.trainers.evaluation.live_backend import LiveBackend, LiveCheckpoint, from_main


@dataclass(frozen=True)
class LiveEvaluation:
    """The same prompts with the same sampling, at any step."""

    options: EvalOptions
    task_plans: Sequence[TaskPlan]
    batch_size: int

    @classmethod
    def of(cls, options: EvalOptions, batch_size: int) -> LiveEvaluation:
        """With every name resolved, the data read and every prompt rendered once."""
        return cls(options, plan_tasks(options, [options.prompt])[options.prompt], batch_size)

    def checkpoint(self, model: Any, tokenizer: Any) -> LiveCheckpoint:
        """How this model's checkpoints are asked."""
        engine = self.options.engine()
        return LiveCheckpoint(model, tokenizer, engine)

    def at(
        self,
        step: int,
        model: Any,
        checkpoint: LiveCheckpoint,
        *,
        folder: Path,
        gradient_checkpointing: Mapping[str, Any] | None,
    ) -> Mapping[str, TaskSummary]:
        """Each task's summary, in every process; the main one judges, and writes `folder`."""
        from accelerate import PartialState

        with at_rest(model, gradient_checkpointing):
            backend = LiveBackend(model, checkpoint, step=step, batch_size=self.batch_size)
            if PartialState().is_main_process:
                return self._run(backend, step, folder).tasks
            backend.follow()
        found: Mapping[str, TaskSummary] | None = from_main(None)
        if found is None:
            raise BackendError(
                f"the evaluation at step {step} failed in the main process, which says why"
            )
        return found

    def _run(self, backend: LiveBackend, step: int, folder: Path) -> RunSummary:
        summary: RunSummary | None = None
        try:
            # whatever another training left there is of other weights
            summary = run(self._plan(backend, step, folder))
        finally:
            backend.close()
            from_main(None if summary is None else summary.tasks)
        return summary

    def _plan(self, backend: LiveBackend, step: int, folder: Path) -> RunPlan:
        values = self.options.values
        given = {name: values[name] for name in option_fields(CallbackOptions)}  # type: ignore[literal-required]
        return RunPlan(
            task_plans=self.task_plans,
            backend=backend,
            sampling=self.options.sampling(),
            output_dir=folder,
            num_samples=values["num_samples"],
            max_tokens=values["max_tokens"],
            overwrite=True,
            settings={
                "model": f"in training, at step {step}",
                "prompt": self.options.prompt,
                **given,
            },
        )
