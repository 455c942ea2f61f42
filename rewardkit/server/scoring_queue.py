"""The bounded queue of requests; a full queue refuses requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rewardkit.available_resources import available_cores
from rewardkit.judging import take_limit_counts
from rewardkit.records import Verdict
from rewardkit.server.requests import DISCONNECTED


class ServerMetrics:
    """Counts of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        self._verdicts = counter(
            "rewardkit_verdicts", "Verdicts, by verifier and outcome.", ["verifier", "outcome"]
        )
        self.refused = counter(
            "rewardkit_refused_requests",
            "Requests refused because the queue or the limit of bytes was full.",
        )
        self._extended = counter(
            "rewardkit_extended_verdicts",
            "Verdicts that got more time because the machine was busy.",
        )
        self._stopped = counter(
            "rewardkit_stopped_verdicts", "Verdicts that ended at the backstop."
        )
        self.latency = Histogram(
            "rewardkit_request_seconds",
            "Seconds from a request's arrival to its answer.",
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=self.registry,
        )
        self.waiting = gauge("rewardkit_waiting_completions", "Completions in the queue.")
        self.judging = gauge("rewardkit_judging_completions", "Completions being judged.")

    def count(self, verifier: str, verdicts: Sequence[Verdict]) -> None:
        """Count verdicts: `right`, the failure, or `unjudged`."""
        for verdict in verdicts:
            outcome = "unjudged" if verdict.correct is None else verdict.failure or "right"
            self._verdicts.labels(verifier, str(outcome)).inc()
        limits = take_limit_counts()
        self._extended.inc(limits.extended)
        self._stopped.inc(limits.stopped)


RETRY_AFTER = 1
"""Seconds after which a refused client may try again."""


def busy_error(metrics: ServerMetrics, why: str) -> HTTPException:
    """Refuse a request for which there is no room now, and count it."""
    metrics.refused.inc()
    return HTTPException(429, f"{why}; try again", headers={"Retry-After": str(RETRY_AFTER)})


JudgingResult = TypeVar("JudgingResult")


class ScoringQueue:
    """Runs a few requests at once in threads; others wait, up to `most_waiting` completions.

    The deadline of a completion starts when it is judged, not while its request waits. A client
    that disconnects while it waits frees its place.
    """

    def __init__(self, metrics: ServerMetrics, *, most_waiting: int) -> None:
        places = 2 * available_cores()
        self._metrics = metrics
        self._most_waiting = most_waiting
        self._places = asyncio.Semaphore(places)
        self._executor = ThreadPoolExecutor(places, thread_name_prefix="judging")
        self._waiting = 0

    async def run(
        self, request: Request, count: int, judge: Callable[[], JudgingResult]
    ) -> JudgingResult:
        """Call `judge` in a thread when there is a place, and return its result.

        HTTPException 429 if `count` more completions don't fit into the queue.
        """
        await self._wait(request, count)
        self._metrics.judging.inc(count)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, judge)
        finally:
            self._metrics.judging.dec(count)
            self._places.release()

    def close(self) -> None:
        """Wait for the requests that are being judged."""
        self._executor.shutdown(wait=True)

    async def _wait(self, request: Request, count: int) -> None:
        if self._waiting and self._waiting + count > self._most_waiting:
            why = f"{self._waiting:,} completions are waiting already"
            raise busy_error(self._metrics, why)
        self._waiting += count
        self._metrics.waiting.set(self._waiting)
        try:
            await _acquire_unless_disconnected(self._places, request)
        finally:
            self._waiting -= count
            self._metrics.waiting.set(self._waiting)


async def _acquire_unless_disconnected(places: asyncio.Semaphore, request: Request) -> None:
    """Acquire a place; HTTPException if the client disconnects first."""
    if not places.locked():
        await places.acquire()
        return
    acquired = asyncio.ensure_future(places.acquire())
    # after the whole body, the next message means that the client sends no more, or is gone
    disconnected = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({acquired, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if acquired.done() and not acquired.cancelled():
            return
        raise HTTPException(
            DISCONNECTED, "the client closed its side of the connection while its request waited"
        )
    finally:
        disconnected.cancel()
        if not acquired.done():
            acquired.cancel()
