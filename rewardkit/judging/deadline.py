"""Deadlines of verifier calls.

A deadline counts the verifier's own time: what it computes and what it sleeps. The time for which
the machine doesn't let it run doesn't count, up to a backstop by the clock. On an idle machine the
two are the same.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from rewardkit.judging.process_time import ProcessState, ProcessTime, process_state

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
        return f"the machine was busy: {self.extended:,} verdicts had more time{stopped}"


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
        state = process_state(self._pid)
        cause = self._passed(elapsed, state)
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
        self._last = state.time if state else None
        return min(LOOK_EVERY, self._backstop - elapsed)

    def _passed(self, elapsed: float, state: ProcessState | None) -> str:
        """The reason why the verifier's own time is over; empty if it isn't."""
        if state is None:
            return f"{elapsed:.2f} s have passed"
        computed = state.time.computed - self._before.computed
        if computed >= ALMOST * self._allowed:
            return f"it used {computed:.2f} s of CPU time"
        if elapsed - self._waited(elapsed, computed, state) < ALMOST * self._allowed:
            return ""
        if state.asleep:
            return f"it was asleep after {elapsed:.2f} s"
        if self._last is None or self._last.computed == state.time.computed:
            return ""  # ready to run, and not seen running: it may be waiting for a processor
        return f"it computed and slept for {elapsed:.2f} s"

    def _waited(self, elapsed: float, computed: float, state: ProcessState) -> float:
        if state.time.waited is None or self._before.waited is None:
            return 0.0 if state.asleep else elapsed - computed
        return state.time.waited - self._before.waited
