"""Deadlines of verifier calls.

A deadline counts the verifier's time: the time in which it computes or sleeps. The time in which
the verifier waits for a processor doesn't count, up to a backstop by the clock. On an idle machine
both are the same.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_ASLEEP = ("S", "Z", "X")


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """Seconds of a process's life so far.

    `computed` is its CPU time; `waited` is how long its main thread was ready to run and waited
    for a processor, or 0 where the system doesn't count that. `asleep`: all its threads sleep.
    """

    computed: float = 0.0
    waited: float = 0.0
    asleep: bool = False


def process_time(pid: int, proc: Path = Path("/proc")) -> ProcessTime | None:
    """Return the time of another process; None if it is gone, or on other systems than Linux."""
    folder = proc / str(pid)
    try:
        fields = _stat_fields(folder)
        asleep = all(_stat_fields(task)[0] in _ASLEEP for task in (folder / "task").iterdir())
    except (OSError, IndexError):
        return None
    computed = (int(fields[11]) + int(fields[12])) * _TICK
    return ProcessTime(computed, _waited(folder), asleep)


def own_time() -> ProcessTime:
    """Return this process's time."""
    times = os.times()
    return ProcessTime(times.user + times.system, _waited(Path("/proc/self")))


def process_state(pid: int) -> str:
    """The letter of a process's state, such as "Z" or "T"; "" where that is unknown."""
    try:
        return _stat_fields(Path(f"/proc/{pid}"))[0]
    except (OSError, IndexError):
        return ""


def exit_cause(pid: int) -> str:
    """How a process ended that nobody has reaped yet; "" where that is unknown."""
    try:
        status = int(_stat_fields(Path(f"/proc/{pid}"))[49])
        number = status & 0x7F
        return f" ({signal.Signals(number).name})" if number else f" (exit status {status >> 8})"
    except (OSError, IndexError, ValueError):
        return ""


def _stat_fields(folder: Path) -> list[str]:
    """The fields of `stat` after the command's name, which may hold spaces and brackets."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _waited(folder: Path) -> float:
    try:
        return int((folder / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


LOOK_EVERY = 0.02
"""Seconds between two looks at a worker that has passed its deadline by the clock."""

ALMOST = 0.95
"""The share of a deadline that counts as all of it: CPU time is counted in steps of 10 ms."""


GRACE = 1.15
"""An async verdict may take this many times its deadline before its worker is ended. The event loop
has cancelled the verdict before."""


@dataclass
class LimitCounts:
    """How many verdicts took longer than their deadline by the clock, because the machine was busy.

    `extended` were given more time; `stopped` of them ended at the backstop.
    """

    extended: int = 0
    stopped: int = 0

    def add(self, other: LimitCounts) -> None:
        """Add the counts of another process or batch."""
        self.extended += other.extended
        self.stopped += other.stopped

    def __str__(self) -> str:
        """One sentence for a person, empty when nothing happened."""
        if not self.extended:
            return ""
        stopped = f", {self.stopped:,} of them ended at the backstop" if self.stopped else ""
        return f"the machine was busy: {self.extended:,} verdicts were given more time{stopped}"


_counts: deque[LimitCounts] = deque()
"""A deque needs no lock, which a forked child might find taken."""


def take_limit_counts() -> LimitCounts:
    """Return the counts of this process since the last call, and start again at 0."""
    taken = LimitCounts()
    for _ in range(len(_counts)):
        taken.add(_counts.popleft())
    return taken


class LimitPassed(Exception):
    """A call of a verifier has passed a limit; the text says which."""


class Deadline:
    """The limits of a call: `allowed` seconds of a worker's time, `backstop` seconds by the clock.

    `before` is the worker's time when the call started.
    """

    def __init__(self, pid: int, before: ProcessTime, allowed: float, backstop: float) -> None:
        self._pid = pid
        self._before = before
        self._allowed = allowed
        self._backstop = max(backstop, allowed)
        self._start = time.monotonic()
        self._looks = 0

    def elapsed(self) -> float:
        """Seconds by the clock since the call started."""
        return time.monotonic() - self._start

    def wait(self) -> float:
        """Return the seconds to wait for a reply before the next call. Raises LimitPassed."""
        elapsed = self.elapsed()
        if elapsed < self._allowed:
            return self._allowed - elapsed
        now = process_time(self._pid)
        cause = ""  # where there is none, it may be waiting for a processor
        if now is None:
            cause = f"{elapsed:.2f} s have passed"
        elif (computed := now.computed - self._before.computed) >= ALMOST * self._allowed:
            cause = f"it used {computed:.2f} s of CPU time"
        elif now.asleep:
            waited = now.waited - self._before.waited
            if elapsed - waited >= ALMOST * self._allowed:
                cause = f"it was asleep after {elapsed:.2f} s"
        if cause:
            raise LimitPassed(f"judging it would pass the deadline: {cause}")
        self._looks += 1
        if self._looks == 2:  # at the first look it isn't known yet whether it waits
            _counts.append(LimitCounts(extended=1))
        if elapsed >= self._backstop:
            _counts.append(LimitCounts(stopped=1))
            raise LimitPassed(
                f"judging it was stopped after {elapsed:.1f} s: the machine was too busy "
                "to give it its time"
            )
        return min(LOOK_EVERY, self._backstop - elapsed)
