"""Who is told how a training goes on."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from rewardkit.harness.metrics.summary import TaskSummary


class TrainingReporter(Protocol):
    """Who is told how a training goes on."""

    def note(self, text: str) -> None:
        """A sentence for the person who watches."""
        ...

    def warned(self, text: str) -> None:
        """A warning of rewardkit, TRL or Python."""
        ...

    def started(self, total: int, done: int) -> None:
        """So many steps there are, so many were done before."""
        ...

    def stepped(self, step: int) -> None:
        """This step is done."""
        ...

    def logged(self, logs: Mapping[str, float]) -> None:
        """TRL's figures, under its names, and `reward_share`: of the steps' time."""
        ...

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """The model was evaluated at this step."""
        ...

    def ended(self) -> None:
        """Nothing more will come."""
        ...


class SilentTraining:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Nothing."""

    def warned(self, text: str) -> None:
        """Nothing."""

    def started(self, total: int, done: int) -> None:
        """Nothing."""

    def stepped(self, step: int) -> None:
        """Nothing."""

    def logged(self, logs: Mapping[str, float]) -> None:
        """Nothing."""

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """Nothing."""

    def ended(self) -> None:
        """Nothing."""


class QuietTraining(SilentTraining):
    """Tells of nothing but warnings, on stderr."""

    def warned(self, text: str) -> None:
        """A line of its own."""
        sys.stderr.write(f"warning: {text}\n")


def quiet_training() -> TrainingReporter:
    """Warnings alone, of the process that speaks."""
    return QuietTraining() if is_main_process() else SilentTraining()


def is_main_process() -> bool:
    """Whether this process speaks: of those that `accelerate launch` started, the first."""
    return os.environ.get("RANK", "0") == "0"
