"""CPU time of processes, as Linux counts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_ASLEEP = ("S", "Z", "X")


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """Seconds of a process's life so far.

    `computed` is its CPU time; `waited` is how long its main thread was ready to run and had no
    processor, or None where the system doesn't count that.
    """

    computed: float = 0.0
    waited: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ProcessState:
    """A process's time, and whether all of its threads sleep."""

    time: ProcessTime
    asleep: bool


def process_state(pid: int, proc: Path = Path("/proc")) -> ProcessState | None:
    """Return the state of another process; None if it is gone, or on other systems than Linux."""
    folder = proc / str(pid)
    try:
        fields = _stat_fields(folder)
        asleep = all(_stat_fields(task)[0] in _ASLEEP for task in (folder / "task").iterdir())
    except (OSError, IndexError):
        return None
    computed = (int(fields[11]) + int(fields[12])) * _TICK
    return ProcessState(ProcessTime(computed, _waited(folder)), asleep)


def _stat_fields(folder: Path) -> list[str]:
    """The fields of `stat` after the command's name, which may hold spaces and brackets."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _waited(folder: Path) -> float | None:
    try:
        return int((folder / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


class OwnTime:
    """This process's time, read cheaply: once for each completion that it judges."""

    def __init__(self) -> None:
        try:
            self._schedstat = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._schedstat = -1

    def now(self) -> ProcessTime:
        """The time until now."""
        times = os.times()
        try:
            waited = int(os.pread(self._schedstat, 80, 0).split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return ProcessTime(times.user + times.system, None)
        return ProcessTime(times.user + times.system, waited)
