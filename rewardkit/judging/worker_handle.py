"""A worker process as its borrower sees it."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Sequence
from typing import cast

from rewardkit.judging.deadline import Deadline, LimitPassed
from rewardkit.judging.frames import FrameChannel, FrameError
from rewardkit.judging.outcomes import Crash, Outcome
from rewardkit.judging.process_time import ProcessTime
from rewardkit.judging.worker import LARGEST_REPLY, Item
from rewardkit.records import Failure, Verdict

LARGEST_FRAME = LARGEST_REPLY + 2**16


class WorkerHandle:
    """The caller's end of a worker's channel. `alive` is False once the worker must be replaced."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self.alive = True
        self._connection = connection
        descriptor = connection.fileno()
        self._channel = FrameChannel(descriptor, descriptor, limit=LARGEST_FRAME)
        self._time = ProcessTime()

    def judge(
        self, items: Sequence[Item], allowed: Sequence[float], backstop: float
    ) -> list[Outcome]:
        """Return the outcomes of `items`, in order, each within its `allowed` seconds.

        Fewer come back when judging an item ended the worker: the last outcome is that item's, and
        the items after it are not judged yet.
        """
        with contextlib.suppress(OSError):  # a dead worker is noticed when its channel is read
            self._channel.send(list(items))
        outcomes: list[Outcome] = []
        while self.alive and len(outcomes) < len(items):
            outcomes.append(self._next(allowed[len(outcomes)], backstop))
        return outcomes

    def has_ended(self) -> bool:
        """Whether an idle worker's process has ended: its channel is then readable."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the channel, at which the worker ends if it still runs."""
        self.alive = False
        self._connection.close()

    def _next(self, allowed: float, backstop: float) -> Outcome:
        """Return the next outcome. Where a limit ends the call, the last stage's verdict counts."""
        deadline = Deadline(self.pid, self._time, allowed, backstop)
        partial: Verdict | None = None
        try:
            while True:
                outcome, is_last = self._receive(deadline)
                if isinstance(outcome, Crash):
                    return Crash(outcome.message, outcome.partial, deadline.elapsed())
                if is_last:
                    return outcome
                partial = outcome
        except LimitPassed as error:
            self.alive = False
            return self._late_verdict() or partial or _out_of_time(error)
        except (EOFError, OSError):
            self.alive = False
            return Crash("judging it ended the worker process", partial, deadline.elapsed())
        except FrameError as error:
            self.alive = False
            return Crash(f"the verifier's reply is lost: {error}", partial, deadline.elapsed())

    def _receive(self, deadline: Deadline) -> tuple[Outcome, bool]:
        while True:
            seconds = deadline.wait()
            with contextlib.suppress(TimeoutError):
                return self._reply(seconds)

    def _late_verdict(self) -> Verdict | None:
        """The verdict that arrived while this process itself wasn't running."""
        with contextlib.suppress(OSError, EOFError, FrameError):
            outcome, is_last = self._reply(0.0)
            if is_last and isinstance(outcome, Verdict):
                return outcome
        return None

    def _reply(self, seconds: float) -> tuple[Outcome, bool]:
        reply = self._channel.receive(seconds)
        try:
            outcome, is_last, self._time = cast("tuple[Outcome, bool, ProcessTime]", reply)
        except (TypeError, ValueError):
            raise FrameError("it isn't in a worker's form") from None
        return outcome, is_last


def _out_of_time(error: LimitPassed) -> Verdict:
    return Verdict.wrong(Failure.TIMEOUT, message=str(error))
