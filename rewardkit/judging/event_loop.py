"""Async verdicts in the event loop of a worker, several at once.

If other texts have blocked the loop when a text's time is over, the text has no outcome here: the
caller has the text judged alone.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rewardkit.judging.crashes import VerdictOrCrash, outcome_of_error
from rewardkit.judging.deadline import GRACE, own_time
from rewardkit.protocols import Judged
from rewardkit.records import Failure, Sample, Verdict

if TYPE_CHECKING:
    from rewardkit.judging.worker import JudgingRequest

AsyncVerifier = Callable[[str, Sample], Awaitable[Judged]]

LOOK_EVERY = 0.05
"""Seconds between two looks at the loop."""

BLOCKED_SHARE = 0.05
"""The share of a deadline for which other texts may block the loop; beyond, it doesn't count."""


class _Turns:
    """How long coroutines have blocked the loop, without the time in which the process waits."""

    def __init__(self) -> None:
        self._total = self._longest = 0.0
        self._seen, self._waited = time.monotonic(), own_time().waited

    async def watch(self) -> None:
        while True:
            self._seen, self._waited = time.monotonic(), own_time().waited
            await asyncio.sleep(LOOK_EVERY)
            self._longest, self._total = self.longest(), self.total()

    def total(self) -> float:
        return self._total + self._late()

    def longest(self) -> float:
        return max(self._longest, self._late())

    def _late(self) -> float:
        """For how long `watch` has waited for its turn, unless it is its usual delay."""
        waited = own_time().waited - self._waited
        late = time.monotonic() - self._seen - LOOK_EVERY - waited
        return late if late > LOOK_EVERY else 0.0


async def judge_together(
    judge: AsyncVerifier, request: JudgingRequest, send: Callable[..., None]
) -> None:
    """Send the outcome of each text. The texts start in order, `request.at_once` at a time."""
    turns, waiting = _Turns(), iter(request.jobs)
    endless: set[asyncio.Task[VerdictOrCrash]] = set()

    async def judge_one_by_one() -> None:
        for item, seconds, text, sample in waiting:
            blocked = turns.total()
            judging = asyncio.create_task(_outcome(judge, text, sample))
            elapsed = await _wait(judging, seconds, max(seconds, request.backstop))
            if judging.done() and elapsed <= GRACE * seconds:
                send(item, _result(judging), blocked=turns.longest())
                continue
            judging.cancel()
            endless.add(judging)
            passed = f"judging it would pass the deadline: {elapsed:.2f} s have passed"
            timeout = Verdict.wrong(Failure.TIMEOUT, message=passed)
            certain = request.at_once == 1 or turns.total() - blocked < BLOCKED_SHARE * seconds
            send(item, timeout if certain else None, blocked=turns.longest())

    watching = asyncio.create_task(turns.watch())
    async with asyncio.TaskGroup() as group:
        for _ in range(min(request.at_once, len(request.jobs))):
            group.create_task(judge_one_by_one())
    watching.cancel()
    if endless and (await asyncio.wait(endless, timeout=2 * LOOK_EVERY))[1]:
        os._exit(0)  # what doesn't let itself be cancelled would run beside the next texts


async def _outcome(judge: AsyncVerifier, text: str, sample: Sample) -> VerdictOrCrash:
    try:
        return Verdict.of(await judge(text, sample))
    except BaseException as error:  # a verifier may raise anything; the batch goes on
        return outcome_of_error(error)


async def _wait(judging: asyncio.Task[VerdictOrCrash], seconds: float, backstop: float) -> float:
    """Wait until a verdict is there or its time is over; return the seconds of its own time."""
    start, waited = time.monotonic(), own_time().waited
    while True:
        elapsed = time.monotonic() - start
        used = elapsed - (own_time().waited - waited)
        left = min(seconds - used, backstop - elapsed)
        if judging.done() or left <= 0:
            return used
        await asyncio.wait({judging}, timeout=left)


def _result(judging: asyncio.Task[VerdictOrCrash]) -> VerdictOrCrash:
    try:
        return judging.result()
    except BaseException as error:
        return outcome_of_error(error)
