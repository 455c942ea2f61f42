"""Log to Trackio: to a local database, and to a Space on the hub if TRACKIO_SPACE_ID names one."""

from __future__ import annotations

import os

from rewardkit.harness.tracking.tracked_runs import PROJECT, TrackedRun


def log_to_trackio(run: TrackedRun) -> None:
    """Log a run to the project that TRACKIO_PROJECT names."""
    import trackio

    trackio.init(
        project=os.environ.get("TRACKIO_PROJECT", PROJECT),
        name=run.name,
        config=dict(run.config),
        embed=False,
        auto_log_gpu=False,
        auto_log_cpu=False,
    )
    try:
        for point in run.points:
            trackio.log(dict(point.figures), step=point.step)
    finally:
        trackio.finish()
