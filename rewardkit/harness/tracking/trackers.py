"""The tools that figures can be logged to, by name; none uploads unless its user has told it to."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rewardkit.errors import MissingExtra, UnknownName
from rewardkit.harness.tracking.tensorboard import write_to_tensorboard
from rewardkit.harness.tracking.tracked_runs import Tracked, tracked
from rewardkit.harness.tracking.trackio import log_to_trackio
from rewardkit.harness.tracking.wandb import log_to_wandb

TOOLS: Mapping[str, Callable[[Tracked], None]] = {
    "tensorboard": write_to_tensorboard,
    "trackio": log_to_trackio,
    "wandb": log_to_wandb,
}


def check_tools(names: Sequence[str]) -> None:
    """UnknownName or MissingExtra for a tool that can't be logged to, before anything is run."""
    for name in names:
        if name not in TOOLS:
            raise UnknownName.among("tool to log to", name, sorted(TOOLS))
        found = importlib.util.find_spec(name)
        # a folder of this name, such as wandb leaves where it runs, is found as well
        if found is None or found.origin is None:
            raise MissingExtra.needing(name, name, f"--log-to {name}")


def log_runs(folder: Path, names: Sequence[str], note: Callable[[str], None]) -> None:
    """Tell each tool of the runs in a folder. A tool that fails loses nothing: what is in the
    folder is finished, and the failure is noted."""
    runs = tracked(folder)
    for name in names:
        try:
            # what tools say is no result of ours
            with contextlib.redirect_stdout(sys.stderr):
                for run in runs:
                    TOOLS[name](run)
        except Exception as error:  # other people's code, after the run
            said = str(error).strip().partition("\n")[0]
            note(
                f"logging to {name} failed: {type(error).__name__}: {said}; "
                f"the run itself is whole, in {folder}"
            )
