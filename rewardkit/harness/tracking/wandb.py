"""Log to Weights & Biases: offline unless WANDB_MODE says otherwise; `wandb sync` uploads."""

from __future__ import annotations

import os
from typing import Any

from rewardkit.harness.tracking.tracked_runs import PROJECT, TrackedRun


def log_to_wandb(run: TrackedRun) -> None:
    """Log a run to the project that WANDB_PROJECT names, in ./wandb or WANDB_DIR."""
    import wandb

    mode: Any = os.environ.get("WANDB_MODE", "offline")  # wandb refuses an unknown mode
    with wandb.init(
        project=os.environ.get("WANDB_PROJECT", PROJECT),
        name=run.name,
        config=dict(run.config),
        job_type="eval",
        mode=mode,
    ) as logged:
        for point in run.points:
            logged.log(dict(point.figures), step=point.step)
