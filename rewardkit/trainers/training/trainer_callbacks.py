"""Callbacks for TRL's trainer: progress reports, and a checkpoint on Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from rewardkit.errors import UsageError
from rewardkit.harness.runs.progress import Reporter
from rewardkit.verifiers.judge.use import add_uses, take_judge_uses

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.use import Uses


class NoStepLeft(UsageError):
    """The checkpoint to resume from has the last step already."""


class ProgressCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Pass steps and figures to a reporter, and measure the rewards' share of the steps' time.

    Make it the first callback, so that a step's time doesn't include other callbacks.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._reward_seconds = self._step_seconds = 0.0
        self._step_started = 0.0

    @property
    def reward_share(self) -> float:
        """The share of the steps' time spent in rewards, in [0, 1]; 0 before the first step."""
        return self._reward_seconds / self._step_seconds if self._step_seconds else 0.0

    def time_rewards(self, trainer: Any) -> None:
        """Measure the time that a GRPO trainer spends in its reward functions."""
        calculate = trainer._calculate_rewards

        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return calculate(*arguments, **named)
            finally:
                self._reward_seconds += time.perf_counter() - started

        trainer._calculate_rewards = timed

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report the number of steps. NoStepLeft if no step is left: TRL would train one more."""
        if state.global_step >= state.max_steps:
            raise NoStepLeft(
                f"the training in {args.output_dir} is complete: its last checkpoint has step "
                f"{state.global_step} of {state.max_steps}; set max_steps or num_train_epochs "
                "higher to continue"
            )
        if state.is_world_process_zero:
            self._reporter.started(state.max_steps, state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._step_started = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._step_seconds += time.perf_counter() - self._step_started
        if state.is_world_process_zero:
            self._reporter.stepped(state.global_step)

    def on_log(
        self, args: Any, state: Any, control: Any, *, logs: Mapping[str, Any], **_: Any
    ) -> None:
        if not state.is_world_process_zero:
            return
        if "reward" in logs:
            self._reporter.logged({**logs, "reward_share": self.reward_share})
        elif "loss" in logs:
            self._reporter.logged(logs)


class InterruptCallback(TrainerCallback):  # type: ignore[misc]
    """On Ctrl-C, end training after the step with a checkpoint; on the second Ctrl-C, at once.

    Make it the last callback: after a checkpoint is written and the other callbacks have run, it
    raises KeyboardInterrupt. All processes stop at the same step. After each step they exchange
    whether they were interrupted, and the costs of their judges.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._interrupted = False
        self._saving = False
        self._previous_handler: Any = None
        self.judge_uses: Uses = {}
        """The costs of the judges of all processes, up to the last step."""

    def __enter__(self) -> InterruptCallback:
        """Handle SIGINT, if this is the main thread: Python allows no other."""
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handler."""
        if self._previous_handler is not None:
            signal.signal(signal.SIGINT, self._previous_handler)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        from accelerate.utils import gather_object

        for interrupted, uses in gather_object([(self._interrupted, take_judge_uses())]):
            add_uses(self.judge_uses, uses)
            if interrupted:
                self._saving = control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._saving:
            raise KeyboardInterrupt

    def _on_interrupt(self, *_: object) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        self._note("stopping after this step, with a checkpoint; Ctrl-C again stops at once")
