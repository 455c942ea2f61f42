"""The tracking tools, by name. None of them uploads unless its user configured that."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rewardkit.errors import MissingExtra, UnknownName
from rewardkit.harness.tracking.tensorboard import write_to_tensorboard
from rewardkit.harness.tracking.tracked_runs import TrackedRun, read_tracked_runs
from rewardkit.harness.tracking.trackio import log_to_trackio
from rewardkit.harness.tracking.wandb import log_to_wandb
from rewardkit.redaction import redact

TOOLS: Mapping[str, Callable[[TrackedRun], None]] = {
    "tensorboard": write_to_tensorboard,
    "trackio": log_to_trackio,
    "wandb": log_to_wandb,
}


def check_tools(names: Sequence[str]) -> None:
    """Raise UnknownName or MissingExtra for a tool that can't be logged to."""
    for name in names:
        if name not in TOOLS:
            raise UnknownName.among("tool to log to", name, sorted(TOOLS))
        found = importlib.util.find_spec(name)
        # find_spec also finds a folder of this name, such as wandb leaves where it runs
        if found is None or found.origin is None:
            raise MissingExtra.needing(name, name, f"--log-to {name}")


def log_runs(folder: Path, names: Sequence[str], note: Callable[[str], None]) -> None:
    """Log the runs in a folder to each tool. The failure of a tool is noted; the runs are finished
    and stored before."""
    runs = read_tracked_runs(folder)
    for name in names:
        try:
            # stdout is for results
            with contextlib.redirect_stdout(sys.stderr):
                for run in runs:
                    TOOLS[name](run)
        except Exception as error:  # any tool's, of any class
            message = str(error).strip().partition("\n")[0]
            note(
                f"logging to {name} failed: {type(error).__name__}: {redact(message)}; "
                f"the run itself is complete, in {folder}"
            )
