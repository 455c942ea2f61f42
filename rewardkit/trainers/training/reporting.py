"""The reporter of a quiet training."""

from __future__ import annotations

import os
import sys

from rewardkit.harness.run.reporter import Reporter


class WarningReporter(Reporter):
    """Writes warnings to stderr and reports nothing else."""

    def warned(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"warning: {text}\n")


def quiet_reporter() -> Reporter:
    """Report warnings alone, and only in the main process."""
    return WarningReporter() if is_main_process() else Reporter()


def is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` started."""
    return os.environ.get("RANK", "0") == "0"
