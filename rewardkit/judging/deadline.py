"""Deadlines of verifier calls.

A deadline counts the verifier's own time: what it computes and what it sleeps. The time for which
the machine doesn't let it run doesn't count, up to a backstop by the clock. On an idle machine the
two are the same.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_ASLEEP = ("S", "Z", "X")


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """Seconds of a process's life so far.

    `computed` is its CPU time; `waited` is how long its main thread was ready to run and waited
    for a processor, or None where the system doesn't count that. `asleep`: all its threads sleep.
    """

    computed: float = 0.0
    waited: float | None = 0.0
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


def exit_cause(pid: int, proc: Path = Path("/proc")) -> str:
    """How a process ended that nobody has reaped yet; "" where that is unknown."""
    try:
        status = int(_stat_fields(proc / str(pid))[49])
        number = status & 0x7F
        return f" ({signal.Signals(number).name})" if number else f" (exit status {status >> 8})"
    except (OSError, IndexError, ValueError):
        return ""


def is_zombie(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether a process has ended that nobody has reaped yet."""
    return _state(proc / str(pid)) == "Z"


def is_stopped(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether a signal has stopped a process."""
    return _state(proc / str(pid)) == "T"


def _state(folder: Path) -> str:
    """The letter of a process's state; "" where that is unknown."""
    try:
        return _stat_fields(folder)[0]
    except (OSError, IndexError):
        return ""


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


LOOK_EVERY = 0.02
"""Seconds between two looks at a worker that has passed its deadline by the clock."""

ALMOST = 0.95
"""The share of a deadline that counts as all of it: CPU time is counted in steps of 10 ms."""


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


_counts = LimitCounts()
_counts_lock = threading.Lock()


def take_limit_counts() -> LimitCounts:
    """Return the counts of this process since the last call, and start again at 0."""
    global _counts
    with _counts_lock:
        taken, _counts = _counts, LimitCounts()
    return taken


def _count(*, extended: int = 0, stopped: int = 0) -> None:
    with _counts_lock:
        _counts.add(LimitCounts(extended, stopped))


def _forget() -> None:
    """Free the lock in a forked child."""
    global _counts_lock
    _counts_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


class LimitPassed(Exception):
    """A call of a verifier has passed a limit; the text says which."""


class Deadline:
    """The limits of one call: `allowed` seconds of its own time, `backstop` seconds by the clock.

    `before` is the worker's time when the call started.
    """

    def __init__(self, pid: int, before: ProcessTime, allowed: float, backstop: float) -> None:
        self._pid = pid
        self._before = before
        self._allowed = allowed
        self._backstop = max(backstop, allowed)
        self._start = time.monotonic()
        self._last: ProcessTime | None = None
        self._looks = 0

    def elapsed(self) -> float:
        """Seconds by the clock since the call started."""
        return time.monotonic() - self._start

    def wait(self) -> float:
        """Return the seconds to wait for a reply before asking again. Raises LimitPassed."""
        elapsed = self.elapsed()
        if elapsed < self._allowed:
            return self._allowed - elapsed
        now = process_time(self._pid)
        cause = self._passed(elapsed, now)
        if cause:
            raise LimitPassed(f"judging it would pass the deadline: {cause}")
        self._looks += 1
        if self._looks == 2:  # at the first look it isn't known yet whether it waits
            _count(extended=1)
        if elapsed >= self._backstop:
            _count(stopped=1)
            raise LimitPassed(
                f"judging it was stopped after {elapsed:.1f} s: the machine was too busy "
                "to give it its time"
            )
        self._last = now
        return min(LOOK_EVERY, self._backstop - elapsed)

    def _passed(self, elapsed: float, now: ProcessTime | None) -> str:
        """The reason why the verifier's own time is over; empty if it isn't."""
        if now is None:
            return f"{elapsed:.2f} s have passed"
        computed = now.computed - self._before.computed
        if computed >= ALMOST * self._allowed:
            return f"it used {computed:.2f} s of CPU time"
        if elapsed - self._waited(elapsed, computed, now) < ALMOST * self._allowed:
            return ""
        if now.asleep:
            return f"it was asleep after {elapsed:.2f} s"
        if self._last is None or self._last.computed == now.computed:
            return ""  # ready to run, and not seen running: it may be waiting for a processor
        return f"it computed and slept for {elapsed:.2f} s"

    def _waited(self, elapsed: float, computed: float, now: ProcessTime) -> float:
        if now.waited is None or self._before.waited is None:
            return 0.0 if now.asleep else elapsed - computed
        return now.waited - self._before.waited
