"""Retry a request until it is answered or retries no longer help."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rewardkit.errors import BackendError
from rewardkit.harness.backends.openai.faults import describe, may_pass
from rewardkit.harness.backends.openai.reply import Reply
from rewardkit.harness.backends.openai.request_gate import RequestGate
from rewardkit.harness.backends.openai.server_errors import (
    ConnectionLost,
    StatusError,
    TooManyOpenFiles,
    TooSlow,
)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
PATIENCE = 600.0
"""Seconds that refusals may last, and that a server may ask to wait, before the run ends."""
MOST_REFUSALS = 30
"""Maximum number of refusals of one request while others are answered."""
MOST_TIME_LIMITS = 2
"""Time limits that the tries of a request may take in all before the next try."""
MOST_SILENT = 3
"""Maximum number of requests in a row that a silent server leaves without a reply."""


@dataclass(slots=True)
class ServerState:
    """What all requests of one call share about the server."""

    answers: int = 0
    refusals: int = 0
    """Number of refused attempts."""
    refused_rounds: int = 0
    """Number of times that the limit was lowered since the last answer."""
    refused_since: float | None = None
    """When the first refusal came since the last answer."""
    unsent: int = 0
    """Number of requests that were not sent yet."""
    silent: int = 0
    """Number of requests in a row that got no reply in time while no other request got one."""


class Attempts:
    """The attempts at one request, each of which may take `seconds`; `name` is for messages."""

    def __init__(
        self, gate: RequestGate, state: ServerState, *, retries: int, seconds: float, name: str
    ) -> None:
        self._gate = gate
        self._state = state
        self._retries = retries
        self._seconds = seconds
        self._name = name
        self._faults = 0
        self._spent = 0.0
        self._answers_before = state.answers
        self._refusals = 0
        self._answers_seen = 0
        self._reused = False

    @property
    def tries(self) -> int:
        """How often the request was tried, without refusals."""
        return self._faults + 1

    async def reply(self, attempt: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply of the first attempt that gets one.

        Raises the error of the last attempt, or BackendError if the server has refused every
        request, or answered none, for too long.
        """
        is_retry = False
        while True:
            sent = await self._gate.enter(first=is_retry)
            if not is_retry:
                self._state.unsent -= 1
            self._answers_before = self._state.answers
            is_retry = True
            try:
                reply = await attempt()
            except Exception as error:
                self._gate.leave()
                if not await self._wait_after(error, sent):
                    raise
            else:
                self._answered(reply)
                return reply

    def _answered(self, reply: Reply) -> None:
        state, gate = self._state, self._gate
        state.answers += 1
        state.refused_rounds, state.refused_since, state.silent = 0, None, 0
        tokens = reply.completion.completion_tokens or 1
        gate.limit.answered(tokens=tokens, in_flight=gate.in_flight, now=gate.now())
        gate.leave()

    async def _wait_after(self, error: Exception, sent: float) -> bool:
        """Wait before the next attempt; False if there is none."""
        if isinstance(error, TooManyOpenFiles) or (
            isinstance(error, StatusError) and error.refused
        ):
            return self._wait_after_refusal(error, sent)
        if isinstance(error, ConnectionLost) and error.unused and not self._reused:
            self._reused = True  # the server closed an idle connection: nothing is wrong
            return True
        if not may_pass(error):
            return False
        now, is_slow = self._gate.now(), isinstance(error, TooSlow)
        self._spent += max(now - sent, self._seconds if is_slow else 0.0)
        if self._faults >= self._retries or self._spent >= MOST_TIME_LIMITS * self._seconds:
            if is_slow:
                self._check_silence()
            return False
        if is_slow:
            self._gate.limit.refused(sent=sent, now=now)
        await asyncio.sleep(_pause(self._faults))
        self._faults += 1
        return True

    def _check_silence(self) -> None:
        """Raise BackendError if no request was answered during the last try, as during those of
        the requests before, and others are waiting."""
        state = self._state
        if state.answers > self._answers_before:
            return
        state.silent += 1
        if state.silent >= MOST_SILENT and state.unsent:
            raise BackendError(
                f"the server answers no request: {state.silent} in a row had no reply in time, the "
                f"last of them {self._name} in {self.tries} tries of {self._seconds:g} s; the same "
                "command resumes. If the server is only slow, raise --backend-arg timeout="
                f"{self._seconds:g} or lower --backend-arg concurrency"
            )

    def _wait_after_refusal(self, error: Exception, sent: float) -> bool:
        """Shut the gate for as long as the server asks, or for longer each time."""
        state, now = self._state, self._gate.now()
        state.refusals += 1
        if state.answers > self._answers_seen:
            self._answers_seen = state.answers
            self._refusals += 1
        if state.refused_since is None:
            state.refused_since = now
        wait = getattr(error, "wait", None) or 0.0
        if not self._is_patient(error, now + wait):
            return False
        lowered = self._gate.limit.refused(sent=sent, now=now)
        if wait:
            self._gate.shut(wait)
        elif lowered:
            self._gate.shut(_pause(state.refused_rounds))
        state.refused_rounds += lowered
        return True

    def _is_patient(self, error: Exception, until: float) -> bool:
        """Whether to try again; BackendError if that should end the run."""
        state = self._state
        since = until if state.refused_since is None else state.refused_since
        if until - since <= PATIENCE and self._refusals < MOST_REFUSALS:
            return True
        if self._refusals >= MOST_REFUSALS or not state.unsent:
            return False
        raise BackendError(
            f"the server has refused every request for {until - since:,.0f} s, counted to the end "
            f"of the wait that it asks for ({describe(error)}); the same command resumes later"
        )


def _pause(times: int) -> float:
    """Seconds before another try: doubling, with some jitter."""
    pause: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times, 10))
    return pause * (1 - random.random() / 4)
