"""How many requests are in flight, and when none may be sent."""

from __future__ import annotations

import asyncio
import math
import resource
from collections import deque
from dataclasses import dataclass

DEFAULT_CONCURRENCY = 1024
"""Maximum number of requests at once unless `concurrency` sets it; FIRST_CONCURRENCY at first."""
FIRST_CONCURRENCY = 64

DECREASE = 0.5
"""The factor on the limit when the server refuses requests."""

_FAST_GROWTH = 1.0
_GROWTH = 0.1
_GROWTH_AFTER_REFUSALS = 0.02
"""The share by which the limit grows in a round, which has as many answers as the limit allows."""

_LEAST_GAIN = 1.1
"""The factor by which throughput must grow when the limit has grown by `_GROWN`."""
_GROWN = 1.3
_FIRST_HOLD, _LONGEST_HOLD = 4, 64
"""Rounds without growth after growth has gained nothing; doubled each time."""


@dataclass(slots=True)
class _Round:
    """The answers since `start`, the end of the round before, as many as `size` of them."""

    size: int
    start: float
    answers: int = 0
    tokens: int = 0
    saturated: bool = True
    """Whether as many requests as allowed were in flight throughout."""


class ConcurrencyLimit:
    """Grows while more requests in flight bring more tokens a second; halves at a refusal.

    The limit starts at `first` and doubles with each round of answers. Once a larger limit brings
    no more throughput (requests queue in the server, and latency grows in its place), it goes back
    and waits before it grows again, slowly. A refusal halves it once for all requests that were
    sent before; then it grows by 2% a round.
    """

    def __init__(self, first: int, maximum: int) -> None:
        self.maximum = maximum
        self._size = float(min(first, maximum))
        self._growth = _FAST_GROWTH
        self._decreased_at = float("-inf")
        self._round: _Round | None = None
        self._best: tuple[float, float] | None = None
        self._hold, self._next_hold = 0, _FIRST_HOLD

    @property
    def current(self) -> int:
        """How many requests may be in flight now, at least 1."""
        return max(1, int(self._size))

    def answered(self, *, tokens: int, in_flight: int, now: float) -> None:
        """Count an answer; `in_flight` counts its request."""
        if self._round is None:
            # the first answers come in a burst, and say nothing about throughput
            self._round = _Round(self.current, now, saturated=False)
        self._round.answers += 1
        self._round.tokens += tokens
        if in_flight < self.current:
            self._round.saturated = False
        elif not self._hold:
            self._size = min(self.maximum, self._size + self._step())
        if self._round.answers >= self._round.size:
            self._end_round(self._round, now)

    def refused(self, *, sent: float, now: float) -> bool:
        """Halve the limit, unless it was halved after the request was `sent`.

        Returns whether the limit changed.
        """
        if sent < self._decreased_at:
            return False
        self._size = max(1.0, self._size * DECREASE)
        self._growth = _GROWTH_AFTER_REFUSALS
        self._decreased_at = now
        self._round = self._best = None
        return True

    def cap(self, maximum: int) -> None:
        """Lower the maximum for good."""
        self.maximum = max(1, min(self.maximum, maximum))
        self._size = min(self._size, self.maximum)

    def _step(self) -> float:
        """What an answer adds, so that a round adds its share, and 1 at least."""
        return max(1.0, self._growth * self._size) / self._size

    def _end_round(self, ended: _Round, now: float) -> None:
        self._hold = max(0, self._hold - 1)
        if ended.saturated and now > ended.start:
            self._compare(ended.tokens / (now - ended.start))
        self._round = _Round(self.current, now)

    def _compare(self, rate: float) -> None:
        """Go back to the limit before if a larger one has not raised the tokens a second."""
        size, best = self._best or (0.0, 0.0)
        if self._size < size * _GROWN:
            return
        if rate >= best * _LEAST_GAIN:
            self._best = (self._size, rate)
            return
        self._size = size
        self._growth = min(self._growth, _GROWTH)
        self._hold, self._next_hold = self._next_hold, min(_LONGEST_HOLD, 2 * self._next_hold)


class RequestGate:
    """Lets as many requests through as the limit allows, in order; shut for a while on demand.

    Counts what all requests of one call learn about the server.
    """

    def __init__(self, limit: ConcurrencyLimit, requests: int) -> None:
        self.limit = limit
        self.unsent = requests
        """Number of requests that were not sent yet."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.answers = 0
        self.refusals = 0
        """Number of refused attempts."""
        self.refusal = ""
        """The cause of the last refusal, such as 429."""
        self.retried = 0
        """Number of further tries after faults, without refusals."""
        self.held = 0
        """Number of refused requests that wait to be sent again."""
        self.refused_rounds = 0
        """Number of times that the limit was lowered since the last answer."""
        self.refused_since: float | None = None
        """When the first refusal came since the last answer."""
        self.silent = 0
        """Number of requests in a row without a reply in time while no other got one."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens_at = float("-inf")
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        """The time in seconds, by the loop's clock."""
        return self._loop.time()

    async def enter(self, *, again: bool) -> float:
        """Wait for a place, before all others if the request was sent before; return the time."""
        future = self._loop.create_future()
        if again:
            self._waiting.appendleft(future)
        else:
            self._waiting.append(future)
        self._admit()
        self.held += again
        try:
            await future
        finally:
            self.held -= again
        self.unsent -= not again
        return self.now()

    def waits(self) -> str:
        """What the requests wait for, such as `12 waiting 30 s (429), 4 retried`; any thread may
        call it."""
        seconds = math.ceil(self._opens_at - self.now()) if self._opens_at > 0 else 0
        waiting = f"{self.held:,} waiting {seconds} s ({self.refusal})" if seconds > 0 else ""
        retried = f"{self.retried:,} retried" if self.retried else ""
        return ", ".join(filter(None, (waiting, retried)))

    def leave(self) -> None:
        """Give the place to the next request."""
        self.in_flight -= 1
        self._admit()

    def answered(self, tokens: int) -> None:
        """Count an answer of so many tokens, and give the place to the next request."""
        self.answers += 1
        self.refused_rounds, self.refused_since, self.silent = 0, None, 0
        self.limit.answered(tokens=tokens, in_flight=self.in_flight, now=self.now())
        self.leave()

    def shut(self, seconds: float) -> None:
        """Let no request through for at least this many seconds."""
        opens_at = self.now() + seconds
        if opens_at > self._opens_at:
            self._opens_at = opens_at
            self._loop.call_at(opens_at, self._open, opens_at)

    def _open(self, opens_at: float) -> None:
        """Open the gate, unless it was shut for longer in the meantime."""
        if opens_at == self._opens_at:
            self._opens_at = float("-inf")  # a timer may fire a moment before its time
            self._admit()

    def _admit(self) -> None:
        if self.now() < self._opens_at:
            return
        while self._waiting and self.in_flight < self.limit.current:
            future = self._waiting.popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)
        self.most_in_flight = max(self.most_in_flight, self.in_flight)


RESERVED = 256
"""Open files for everything but connections: data, pipes to workers, libraries."""


def connections_allowed(wanted: int) -> int:
    """How many of `wanted` connections fit the limit of open files, at least 1.

    Raises the process's soft limit as far as the hard limit allows and the number needs.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or wanted + RESERVED <= soft:
        return wanted
    raised = wanted + RESERVED if hard == resource.RLIM_INFINITY else min(hard, wanted + RESERVED)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):  # some systems refuse what they announce
        raised = soft
    return max(1, min(wanted, raised - min(RESERVED, raised // 2)))
