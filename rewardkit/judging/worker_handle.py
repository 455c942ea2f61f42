"""The caller's end of a worker: send texts, and wait for their verdicts within their limits."""

from __future__ import annotations

import contextlib
import pickle
import secrets
import select
import socket
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from rewardkit.available_resources import killed_for_memory
from rewardkit.judging.crashes import Crash, TextAndSample, VerdictOrCrash
from rewardkit.judging.deadline import (
    GRACE,
    Deadline,
    LimitPassed,
    ProcessTime,
    exit_cause,
    process_state,
)
from rewardkit.judging.frames import FrameChannel, FrameError
from rewardkit.judging.worker import LARGEST_REPLY, JudgingRequest, WorkerReply, decode_reply
from rewardkit.records import Failure, Verdict

SECONDS_TO_TAKE = 60
"""How long a worker may take to receive texts; it does nothing else meanwhile."""

ENDED = "judging it ended the worker process"
STOPPED = "a signal stopped the worker process"


class WorkerHandle:
    """The caller's end of a worker's channel. `alive` is False once the worker must be replaced."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self._killed_for_memory = killed_for_memory()
        self.alive = True
        self._connection = connection
        self._connection.setblocking(False)
        self._channel = FrameChannel(connection.fileno(), limit=LARGEST_REPLY)
        self._time = ProcessTime()
        self._items: tuple[int, ...] = ()
        """The ids of the texts that the worker may be judging."""
        self.blocked = 0.0
        """Seconds for which an event loop has been blocked at most."""

    def judge(
        self,
        items: Sequence[TextAndSample],
        allowed: Sequence[float],
        backstop: float,
        at_once: int = 0,
    ) -> dict[int, VerdictOrCrash | None]:
        """Return the outcomes of `items` by their place, each within its `allowed` seconds.

        If an item ended the worker, the outcomes of the items after it are missing. If an earlier
        item has stopped the worker, all outcomes are missing. An async verifier judges `at_once`
        items at once. The outcome is None for an item that must be judged alone, because another
        item may have taken its time or ended the worker.
        """
        # what a text left running may reply, too, but only the texts of this call know these ids
        ids = [1 + secrets.randbits(53) for _ in items]
        jobs = [(i, s, *item) for i, s, item in zip(ids, allowed, items, strict=True)]
        request = JudgingRequest(jobs, at_once, backstop)
        content = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            self._channel.send(content, SECONDS_TO_TAKE)
        except TimeoutError:
            self.alive = False
        except OSError:  # a dead worker is noticed when its channel is read
            pass
        waiting = dict(zip(ids, range(len(items)), strict=True))
        outcomes: dict[int, VerdictOrCrash | None] = {}
        while self.alive and waiting:
            self._items = tuple(islice(waiting, max(1, at_once)))  # they start in order
            seconds = max(allowed[waiting[item]] for item in self._items)
            item, outcome = self._next(seconds * GRACE if at_once else seconds, backstop)
            if at_once > 1 and not self.alive:
                outcomes |= dict.fromkeys(waiting[item] for item in self._items)
            else:
                outcomes[waiting.pop(item)] = outcome
        return outcomes

    def has_ended(self) -> bool:
        """Whether an idle worker's process has ended: its channel is then readable."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the channel. A worker that still runs then ends."""
        self.alive = False
        self._connection.close()

    def _next(self, allowed: float, backstop: float) -> tuple[int, VerdictOrCrash | None]:
        """Return the id of an item and its outcome, from the next reply.

        If a limit ends the call, the verdict of the last stage counts.
        """
        deadline = Deadline(self.pid, self._time, allowed, backstop)
        partial: Verdict | None = None
        item = self._items[0]
        try:
            while True:
                try:
                    reply = self._reply(deadline.wait())
                except TimeoutError:
                    continue
                outcome = reply.outcome
                if isinstance(outcome, Crash):
                    self.alive = reply.item != 0
                    return reply.item or item, self._explained(outcome, deadline)
                if reply.is_last:
                    return reply.item, outcome
                partial = outcome
        except LimitPassed as error:
            self.alive = False
            self.blocked = max(self.blocked, deadline.elapsed())
            with contextlib.suppress(OSError, EOFError, FrameError):
                reply = self._reply(0.0)  # it arrived while this process itself wasn't running
                if reply.is_last and isinstance(reply.outcome, Verdict):
                    return reply.item, reply.outcome
            state = process_state(self.pid)
            if state not in ("T", "Z"):
                return item, partial or Verdict.wrong(Failure.TIMEOUT, message=str(error))
            # stopped perhaps by an earlier text, or ended while a child keeps its channel open
            message = STOPPED if state == "T" else ENDED + exit_cause(self.pid)
        except (EOFError, OSError):
            message = ENDED + exit_cause(self.pid)
        except FrameError as error:
            message = f"the verifier's reply is lost: {error}"
        self.alive = False
        return item, self._explained(Crash(message, partial, alone=True), deadline)

    def _explained(self, crash: Crash, deadline: Deadline) -> Crash:
        """The crash with its time, and whether the machine may have caused it."""
        used_up = crash.alone and killed_for_memory() > self._killed_for_memory
        return replace(crash, seconds=deadline.elapsed(), used_up=used_up)

    def _reply(self, seconds: float) -> WorkerReply:
        reply = decode_reply(self._channel.receive(seconds))
        of_request = reply.item == 0 and isinstance(reply.outcome, Crash)
        if reply.item not in self._items and not of_request:
            raise FrameError("it is about another text")
        if reply.outcome is None and len(self._items) == 1:
            raise FrameError("there is no verdict")
        self._time = ProcessTime(reply.computed, reply.waited)
        self.blocked = max(self.blocked, reply.blocked)
        return reply
