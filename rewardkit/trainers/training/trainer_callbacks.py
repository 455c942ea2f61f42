"""TRL's trainer, watched: its progress told, and Ctrl-C turned into a checkpoint."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from transformers import TrainerCallback

from rewardkit.errors import UsageError
from rewardkit.harness.run.reporter import Reporter
from rewardkit.trainers.training.timing import Clock


class Watch(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Tells a reporter of steps and figures; to stand first, so that a step's time is its own."""

    def __init__(self, reporter: Reporter, clock: Clock) -> None:
        self._reporter = reporter
        self._clock = clock

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """How many steps there are. UsageError where none is left: one more would be trained."""
        if state.global_step >= state.max_steps:
            raise UsageError(
                f"{args.output_dir} is trained already: its last checkpoint is of step "
                f"{state.global_step}, of {state.max_steps}; set max_steps or num_train_epochs "
                "higher to go on"
            )
        if state.is_world_process_zero:
            self._reporter.started(state.max_steps, state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self._clock.step_begins()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop the clock."""
        self._clock.step_ends()
        if state.is_world_process_zero:
            self._reporter.stepped(state.global_step)

    def on_log(
        self, args: Any, state: Any, control: Any, *, logs: Mapping[str, Any], **_: Any
    ) -> None:
        """Pass the figures on; the share goes into TRL's own log too."""
        if state.is_world_process_zero and "reward" in logs:
            self._reporter.logged({**logs, "reward_share": self._clock.reward_share})


class Interruption(TrainerCallback):  # type: ignore[misc]
    """Ctrl-C ends training after the step, with a checkpoint; pressed again, at once.

    To stand last: KeyboardInterrupt leaves training once the checkpoint is written and every
    callback knows of it. Several processes agree on the step.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._asked = False
        self._saving = False
        self._before: Any = None

    def __enter__(self) -> Interruption:
        """Take SIGINT, where this is the main thread: no other may."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Have this step saved, if any process was interrupted."""
        if _any_process(self._asked, args.device):
            self._saving = control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Leave."""
        if self._saving:
            raise KeyboardInterrupt

    def _interrupted(self, *_: object) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._note("stopping after this step, with a checkpoint; Ctrl-C again stops at once")


def _any_process(asked: bool, device: Any) -> bool:
    import torch

    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return asked
    flag = torch.tensor(float(asked), device=device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return bool(flag.item())
