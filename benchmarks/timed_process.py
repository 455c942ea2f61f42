"""A whole process, timed: from before it is started until it has ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """What one process took, its own children included. Seconds and MiB."""

    wall: float
    user_cpu: float
    system_cpu: float
    max_rss: float
    """Of the largest single process."""
    load_before: float
    """The machine's load average over the minute before: near 0 on a quiet one."""


def timed(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Timing:
    """Run it with its output in `log`. SystemExit, with the log's end, where it fails."""
    load = os.getloadavg()[0]
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        # not process.wait(): only wait4 gives this one process' use, not all children's together
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = log.read_text(errors="replace")[-4000:]
        raise SystemExit(f"{tail}\n{' '.join(command)}\nended with {process.returncode}")
    return Timing(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024, load)
