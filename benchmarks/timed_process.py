"""Time a whole process, from before its start to its end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """What one process took, including its children: seconds and MiB."""

    wall: float
    user_cpu: float
    system_cpu: float
    max_rss: float
    """Peak of the largest single process."""
    load_before: float
    """The load average of the minute before; near 0 on a quiet machine."""


def timed(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Timing:
    """Run the command with its output in `log`. Raise SystemExit with the log's end if it fails."""
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
        # not process.wait(): only wait4 gives the usage of this process alone
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = log.read_text(errors="replace")[-4000:]
        raise SystemExit(f"{tail}\n{' '.join(command)}\nended with {process.returncode}")
    return Timing(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024, load)
