"""The number of requests in flight, and pauses without requests."""

from __future__ import annotations

import asyncio
import math
import resource
from collections import deque
from dataclasses import dataclass

DEFAULT_CONCURRENCY = 1024
"""Maximum number of requests at once by default; a run starts with FIRST_CONCURRENCY."""
FIRST_CONCURRENCY = 64

DECREASE = 0.5
"""The factor on the limit when the server refuses requests."""

_FAST_GROWTH = 1.0
_GROWTH = 0.1
_GROWTH_AFTER_REFUSALS = 0.02
"""The share by which the limit grows in a round, which is a limit's number of answers."""

_LEAST_GAIN = 1.1
"""The factor by which throughput must grow when the limit has grown by `_GROWN`."""
_GROWN = 1.3
_FIRST_HOLD, _LONGEST_HOLD = 4, 64
"""Rounds without growth after a growth without gain; doubled each time."""


@dataclass(slots=True)
class _Round:
    """The `size` answers after `start`, the end of the round before."""

    size: int
    start: float
    answers: int = 0
    tokens: int = 0
    is_saturated: bool = True
    """Whether the number of requests in flight was always at the limit."""


class ConcurrencyLimit:
    """A limit that grows while the throughput grows with it, and halves at a refusal.

    The limit starts at `first` and doubles with each round of answers. When a larger limit brings
    no more tokens a second, because requests queue in the server, the limit goes back, waits, and
    then grows slowly. A refusal halves the limit once for all requests that were sent before;
    afterwards the limit grows by 2% a round.
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
        """The number of requests that may be in flight now, at least 1."""
        return max(1, int(self._size))

    def count_answer(self, *, tokens: int, in_flight: int, now: float) -> None:
        """Count an answer; `in_flight` includes its request."""
        if self._round is None:
            # the first answers come in a burst, and don't show the throughput
            self._round = _Round(self.current, now, is_saturated=False)
        self._round.answers += 1
        self._round.tokens += tokens
        if in_flight < self.current:
            self._round.is_saturated = False
        elif not self._hold:
            self._size = min(self.maximum, self._size + self._step())
        if self._round.answers >= self._round.size:
            self._end_round(self._round, now)

    def halve(self, *, sent: float, now: float) -> bool:
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
        """Lower the maximum."""
        self.maximum = max(1, min(self.maximum, maximum))
        self._size = min(self._size, self.maximum)

    def _step(self) -> float:
        """The growth by an answer; a round adds its share, and at least 1."""
        return max(1.0, self._growth * self._size) / self._size

    def _end_round(self, ended: _Round, now: float) -> None:
        self._hold = max(0, self._hold - 1)
        if ended.is_saturated and now > ended.start:
            self._compare(ended.tokens / (now - ended.start))
        self._round = _Round(self.current, now)

    def _compare(self, rate: float) -> None:
        """Go back to the previous limit if a larger limit hasn't raised the tokens a second."""
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
    """Lets requests through in order, up to the limit; can be shut for a while.

    Has the counts of all requests of a call.
    """

    def __init__(self, limit: ConcurrencyLimit, requests: int) -> None:
        self.limit = limit
        self.unsent = requests
        """Number of requests that haven't been sent."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.answers = 0
        self.refusals = 0
        """Number of refused attempts."""
        self.refusal = ""
        """The cause of the last refusal, such as 429."""
        self.retried = 0
        """Number of retries after faults, without refusals."""
        self.held = 0
        """Number of refused requests that wait to be sent again."""
        self.refused_rounds = 0
        """Number of reductions of the limit since the last answer."""
        self.refused_since: float | None = None
        """Time of the first refusal since the last answer."""
        self.silent = 0
        """Number of requests in a row without a reply in time, while no request got a reply."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens_at = float("-inf")
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        """The time in seconds, by the loop's clock."""
        return self._loop.time()

    async def enter(self, *, again: bool) -> float:
        """Wait for a place and return the time; a request that is sent again goes first."""
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
        """Why requests wait, such as `12 waiting 30 s (429), 4 retried`. Thread-safe."""
        seconds = math.ceil(self._opens_at - self.now()) if self._opens_at > 0 else 0
        waiting = f"{self.held:,} waiting {seconds} s ({self.refusal})" if seconds > 0 else ""
        retried = f"{self.retried:,} retried" if self.retried else ""
        return ", ".join(filter(None, (waiting, retried)))

    def leave(self) -> None:
        """Give the place to the next request."""
        self.in_flight -= 1
        self._admit()

    def count_answer(self, tokens: int) -> None:
        """Count an answer and its tokens, and give the place to the next request."""
        self.answers += 1
        self.refused_rounds, self.refused_since, self.silent = 0, None, 0
        self.limit.count_answer(tokens=tokens, in_flight=self.in_flight, now=self.now())
        self.leave()

    def shut(self, seconds: float) -> None:
        """Let no request through for at least `seconds`."""
        opens_at = self.now() + seconds
        if opens_at > self._opens_at:
            self._opens_at = opens_at
            self._loop.call_at(opens_at, self._open, opens_at)

    def _open(self, opens_at: float) -> None:
        if opens_at == self._opens_at:
            self._opens_at = float("-inf")  # a timer may fire slightly early
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
"""Open files that are no connections: data, pipes to workers, libraries."""


def allowed_connections(wanted: int) -> int:
    """The number of `wanted` connections that the limit of open files allows, at least 1.

    Raises the soft limit of the process if necessary and possible.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or wanted + RESERVED <= soft:
        return wanted
    raised = wanted + RESERVED if hard == resource.RLIM_INFINITY else min(hard, wanted + RESERVED)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):  # some systems refuse a limit that they announce
        raised = soft
    return max(1, min(wanted, raised - min(RESERVED, raised // 2)))
