"""Evaluate while TRL trains; keep the best checkpoint and report signs of trouble."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from rewardkit.config import PositiveInt, Share, read_value, read_values
from rewardkit.errors import MissingExtra, UnknownName, UsageError
from rewardkit.harness.options import CALLBACK_OPTIONS, EvalOptions
from rewardkit.harness.report.runs import EVALUATIONS, evaluation_name
from rewardkit.harness.results.documents import now
from rewardkit.harness.results.files import replace_text
from rewardkit.harness.results.measure import task_amounts
from rewardkit.harness.results.rates import LOWER_IS_BETTER, NAMES, length_quantiles
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.harness.results.summary import TaskSummary
from rewardkit.harness.runs.options import resolve_tasks
from rewardkit.protocols import Task
from rewardkit.text.printable import get_logger
from rewardkit.trainers.evaluation.live_evaluation import (
    LiveCheckpoint,
    LiveEvaluation,
    TrainerEngine,
    broadcast_from_main,
)
from rewardkit.trainers.evaluation.signs import frequent_answers
from rewardkit.trainers.evaluation.train_log import (
    BEST,
    TrainLog,
    as_json,
    read_best,
)

logger = get_logger(__name__)


def is_better(metric: str, value: float, best: float | None) -> bool:
    """Whether `value` is better than the best so far; an equal value isn't."""
    if best is None:
        return True
    return value < best if metric in LOWER_IS_BETTER else value > best


@dataclass(frozen=True)
class BestCheckpoint:
    """The best checkpoint by a task's metric.

    The rotation of transformers keeps `state.best_model_checkpoint`, compared as text with
    output_dir/checkpoint-N. Each checkpoint has the state, so a resumed training has it too.
    """

    task: str
    metric: str
    checkpoints: Path
    """The trainer's output_dir."""
    record: Path
    """The file best.json."""

    def folder(self, step: int) -> Path:
        return self.checkpoints / f"checkpoint-{step}"

    def is_kept(self, state: Any) -> bool:
        """Whether a resumed training has a best checkpoint by this metric."""
        step = state.best_global_step
        if not step:
            return False
        record = read_best(self.record) or {}
        same_metric = (record.get("task"), record.get("metric")) == (self.task, self.metric)
        if same_metric and self.folder(step).is_dir():
            return True
        why = f"{self.record} names no checkpoint by {self.metric} of {self.task}"
        if same_metric:
            why = f"{self.folder(step)} is gone"
        again = "the search for the best checkpoint starts again at step %d: %s"
        logger.warning(again, state.global_step, why)
        return False

    def choose(self, state: Any, value: float, step: int) -> None:
        """Make this step the best in the trainer's state, before or after it is saved."""
        state.best_metric = value
        state.best_global_step = step
        state.best_model_checkpoint = str(self.folder(step))

    def write(self, state: Any) -> None:
        """Write best.json from the trainer's state; remove the file if there is no best."""
        if state.best_global_step is None:
            self.record.unlink(missing_ok=True)
            return
        record = {
            "step": state.best_global_step,
            "checkpoint": str(self.folder(state.best_global_step)),
            "task": self.task,
            "metric": self.metric,
            "value": state.best_metric,
        }
        replace_text(self.record, as_json(record) + "\n")


RUN_DEPENDENT_PREFIXES = (
    *("part_", "pass@", "pass^", "maj@", "cons@", "avg@", "g-pass@", "mg-pass@"),
    "seed_spread",
)
"""Prefixes of metrics that only some runs have: they are checked after the first run."""

SIGNS = "signs"
"""The key of the number of signs in the trainer's logs."""

Listener = Callable[[int, Mapping[str, TaskSummary]], None]


class EvaluationCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Evaluate while TRL trains; keep log, completions and best checkpoint; report signs.

    There is an evaluation before the first step, at every `every`th step and at the end. It has the
    options and the results of `rewardkit eval`: greedy unless you set `temperature`, independent of
    the training's sampling. An evaluation doesn't change the training. `metric` of the first task
    decides which checkpoint is the best; for rates of failure, such as `error_rate`, lower is
    better. With `log_completions`, TRL keeps all completions of the training with their rewards.

    UsageError for a wrong name, data file or prompt. UsageError before the first step for a prompt
    that is too long, or a `metric` that the task doesn't have.
    """

    def __init__(
        self,
        task: str | Task | Sequence[str | Task],
        *,
        every: int,
        prompt: str | None = None,
        batch_size: int = 64,
        metric: str = "accuracy",
        keep_best: bool = True,
        output_dir: str | Path | None = None,
        truncation_share: float = 0.2,
        on_evaluation: Listener | None = None,
        log_completions: bool = True,
        **given: Any,
    ) -> None:
        if importlib.util.find_spec("matplotlib") is None:
            raise MissingExtra.needing("matplotlib", "figures", "eval_curve.png")
        read_value(PositiveInt, every, "every")
        read_value(PositiveInt, batch_size, "batch_size")
        read_value(Share, truncation_share, "truncation_share")
        if keep_best and metric not in NAMES and not metric.startswith(RUN_DEPENDENT_PREFIXES):
            raise UnknownName.among("metric", metric, NAMES)
        tasks = tuple(task) if isinstance(task, Sequence) and not isinstance(task, str) else (task,)
        values = read_values(CALLBACK_OPTIONS, given, among="option of EvaluationCallback")
        loaded = resolve_tasks(tasks, EvalOptions())
        options = EvalOptions(tasks=loaded, model="in training", prompt=prompt, **values).check()
        self.live_evaluation = LiveEvaluation.plan(options, batch_size)
        self._task = self.live_evaluation.task_plans[0].task.name
        self._every = every
        self._metric = metric
        self._keep_best = keep_best
        self._chosen_dir = None if output_dir is None else Path(output_dir)
        self._truncation_share = truncation_share
        self._on_evaluation = on_evaluation
        self._log_completions = log_completions
        self._engine: TrainerEngine | None = None

    def on_init_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Have TRL keep the completions; print them only if the script sets it."""
        if self._log_completions and getattr(args, "log_completions", True) is False:
            args.log_completions, args.num_completions_to_print = True, 0

    def attach(self, trainer: Any) -> None:
        """Generate with the vLLM of a GRPO trainer, if the trainer has one."""
        self._engine = TrainerEngine(trainer) if getattr(trainer, "use_vllm", False) else None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, *, model: Any, processing_class: Any, **_: Any
    ) -> None:
        self._output_dir = self._chosen_dir or Path(args.output_dir)
        self._checkpoint = LiveCheckpoint(
            model, processing_class, self.live_evaluation.options.engine()
        )
        self._last_step: int | None = None
        self._log = TrainLog(
            self._output_dir,
            resumed_at=state.global_step,
            truncation_share=self._truncation_share,
            about={
                "model": str(getattr(model.config, "_name_or_path", "")),
                "max_steps": state.max_steps,
                "started": now(),
            },
        )
        self._best = BestCheckpoint(
            task=self._task,
            metric=self._metric,
            checkpoints=Path(args.output_dir),
            record=self._output_dir / BEST,
        )
        if self._keep_best:
            if args.metric_for_best_model is not None or args.save_strategy == "best":
                raise UsageError(
                    f"the trainer keeps the best checkpoint by {args.metric_for_best_model!r} "
                    "(metric_for_best_model, load_best_model_at_end or save_strategy='best') and "
                    "EvaluationCallback by its metric; leave these settings of the trainer out, or "
                    "pass keep_best=False"
                )
            # a resumed training keeps its best checkpoint, the same in every process
            if broadcast_from_main(state.is_world_process_zero and self._best.is_kept(state)):
                self._best.choose(state, state.best_metric, state.best_global_step)
            else:
                state.best_metric = state.best_global_step = state.best_model_checkpoint = None
            if state.is_world_process_zero:
                self._best.write(state)
        if state.global_step == 0:
            self._evaluate(args, state, model)

    def on_step_end(self, args: Any, state: Any, control: Any, *, model: Any, **_: Any) -> Any:
        if state.global_step % self._every == 0 or control.should_training_stop:
            self._evaluate_and_keep(args, state, control, model)
        return control

    def on_epoch_end(self, args: Any, state: Any, control: Any, *, model: Any, **_: Any) -> Any:
        """Evaluate the last step if the end of an epoch ends the training."""
        if control.should_training_stop and self._last_step != state.global_step:
            self._evaluate_and_keep(args, state, control, model)
        return control

    def on_log(
        self, args: Any, state: Any, control: Any, *, logs: dict[str, Any], **_: Any
    ) -> None:
        """Record what the trainer logs; add the number of signs."""
        if not state.is_world_process_zero:
            return
        self._log.add_logs(state.global_step, logs)
        if self._log.present_signs:
            # the trainer prints `logs` after its callbacks, and has stored a copy before them
            for entry in (logs, *state.log_history[-1:]):
                entry[SIGNS] = self._log.present_signs

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Draw the curve again: the last step logs after its evaluation."""
        if state.is_world_process_zero:
            self._log.draw()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if (
            self._keep_best
            and state.is_world_process_zero
            and state.best_global_step == state.global_step
        ):
            self._best.write(state)

    def _evaluate_and_keep(self, args: Any, state: Any, control: Any, model: Any) -> None:
        summaries = self._evaluate(args, state, model)
        metric = summaries[self._task].metrics.get(self._metric)
        if self._keep_best and metric and is_better(self._metric, metric.value, state.best_metric):
            self._best.choose(state, metric.value, state.global_step)
            control.should_save = True

    def _evaluate(self, args: Any, state: Any, model: Any) -> Mapping[str, TaskSummary]:
        step = state.global_step
        folder = self._output_dir / EVALUATIONS / evaluation_name(step)
        summaries = self.live_evaluation.run(
            step,
            model,
            self._checkpoint,
            folder=folder,
            gradient_checkpointing=args.gradient_checkpointing_kwargs,
            engine=self._engine,
        )
        is_first, self._last_step = self._last_step is None, step
        summary = summaries[self._task]
        if is_first and self._keep_best and self._metric not in summary.metrics:
            count = summary.unjudged
            unjudged = f"; {count} completions could not be judged" if count else ""
            raise UsageError(
                f"task {self._task!r} has no metric {self._metric!r}; it has "
                f"{', '.join(summary.metrics)}{unjudged}"
            )
        if state.is_world_process_zero:
            rows = RunFolder(folder).rows().values()
            amounts = task_amounts([plan.task for plan in self.live_evaluation.task_plans], rows)
            self._log.add_evaluation(
                step, summaries, length_quantiles(rows), amounts, frequent_answers(rows)
            )
            if self._on_evaluation is not None:
                self._on_evaluation(step, summaries)
        return summaries
