"""Report the progress of a training."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from rewardkit.harness.metrics.summary import TaskSummary


class TrainingReporter:
    """Receives the progress of a training; every method does nothing unless it is overridden."""

    def note(self, text: str) -> None:
        """A sentence for the person who watches."""

    def warned(self, text: str) -> None:
        """A warning of rewardkit, TRL or Python."""

    def started(self, total: int, done: int) -> None:
        """`total` steps planned, `done` trained before."""

    def stepped(self, step: int) -> None:
        """This step is done."""

    def logged(self, logs: Mapping[str, float]) -> None:
        """TRL's figures by its names, and `reward_share`: the rewards' share of the time."""

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """The model was evaluated at this step."""

    def ended(self) -> None:
        """Training ended or failed; no other call follows."""


class WarningReporter(TrainingReporter):
    """Writes warnings to stderr and reports nothing else."""

    def warned(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"warning: {text}\n")


def quiet_reporter() -> TrainingReporter:
    """Report warnings alone, and only in the main process."""
    return WarningReporter() if is_main_process() else TrainingReporter()


def is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` started."""
    return os.environ.get("RANK", "0") == "0"
