"""Write TensorBoard event files into the run's folder: `tensorboard --logdir runs` shows all runs.

tensorboard's own writer writes them: torch's takes seconds to import.
"""

from __future__ import annotations

import json
import time

from rewardkit.harness.tracking.tracked_runs import TrackedRun

FOLDER = "tensorboard"


def write_to_tensorboard(run: TrackedRun) -> None:
    """Write a scalar for each metric, and the configuration as text."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.summary_v2 import text_pb
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(run.folder / FOLDER / run.name))
    try:
        config = json.dumps(dict(run.config), indent=2, ensure_ascii=False, default=str)
        text = text_pb("run.json", f"```\n{config}\n```")
        writer.add_event(Event(wall_time=time.time(), step=0, summary=text))
        for point in run.points:
            values = [
                Summary.Value(tag=name, simple_value=value) for name, value in point.figures.items()
            ]
            event = Event(wall_time=time.time(), step=point.step, summary=Summary(value=values))
            writer.add_event(event)
    finally:
        writer.close()
