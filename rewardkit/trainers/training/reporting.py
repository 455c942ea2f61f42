"""Where a quiet training's warnings go."""

from __future__ import annotations

import os
import sys

from rewardkit.harness.run.reporter import Reporter


class WarningReporter(Reporter):
    """Writes warnings to stderr, and nothing else."""

    def warned(self, text: str) -> None:
        """A line of its own."""
        sys.stderr.write(f"warning: {text}\n")


def quiet_training() -> Reporter:
    """A reporter of warnings alone; of nothing in processes other than the main one."""
    return WarningReporter() if is_main_process() else Reporter()


def is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` started."""
    return os.environ.get("RANK", "0") == "0"
