"""One job in a jail, seen from outside: its limits, its pipes and what came of it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from rewardkit.available_resources import too_low_limit
from rewardkit.confinement.plain import LARGEST, Opaque, decode
from rewardkit.errors import ConfinementError, ResourcesUsedUp

_GRACE = 10.0  # seconds by which a keeper's reply may come after the limit
_START_SECONDS = 60.0  # the same for the first one, for which an interpreter may have to start
_AT_ONCE = 2**16
_SHORT, _LONG = 20, 1000  # milliseconds


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one test: time in seconds, the rest in bytes or numbers.

    `file_bytes` bounds a file and the folder for files; `output_bytes` stdout and stderr, each.
    """

    cpu_seconds: float = 10.0
    wall_seconds: float = 30.0
    memory: int = 2**30
    threads: int = 64
    open_files: int = 64
    file_bytes: int = 2**24
    output_bytes: int = 2**24

    def limits(self) -> dict[str, Any]:
        """Return what a keeper needs to know."""
        resources = {
            "RLIMIT_AS": self.memory,
            "RLIMIT_DATA": self.memory,
            "RLIMIT_CPU": math.ceil(self.cpu_seconds),
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_STACK": self.memory // 4,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 0,
        }
        return {**asdict(self), "resources": resources}

    def check(self) -> None:
        """Raise ConfinementError if a limit of this process leaves programs less than this.

        A program that lacks what it is promised would be wrong for it.
        """
        resources = self.limits()["resources"]
        needed = {getattr(resource, name): amount for name, amount in resources.items()}
        if reason := too_low_limit(needed, "a program"):
            raise ConfinementError(reason)


@dataclass(slots=True)
class Allowance:
    """The seconds that all jobs of a jail have left: of processor time, and by the clock."""

    cpu_seconds: float = math.inf
    wall_seconds: float = math.inf

    def is_over(self) -> bool:
        """Whether nothing is left."""
        return min(self.cpu_seconds, self.wall_seconds) <= 0

    def take(self, outcomes: Sequence[Outcome]) -> None:
        """Subtract what jobs took that ran beside each other."""
        self.cpu_seconds -= sum(outcome.cpu_seconds for outcome in outcomes)
        self.wall_seconds -= max(outcome.seconds for outcome in outcomes)


Ended = Literal[
    "completed",
    "returned",
    "opaque",
    "missing",
    "exit",
    "signal",
    "timeout",
    "memory",
    "output",
    "threads",
    "killed",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a program.

    `ended`: "completed", all of its text ran; "returned", `value` is what the function returned;
    "opaque", that is no plain value; "missing", tests can't import a module;
    "exit" or "signal", it ended before, with `status`; else the limit that it passed.
    """

    ended: Ended
    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
    value: Any = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Keeper:
    """A jail's keeper, seen from outside: what it runs, and how far it has come."""

    def __init__(self, control: socket.socket, budget: Budget) -> None:
        self.control = control
        self.budget = budget
        self.stage = ""
        self.since = time.monotonic()
        self.spent = False

    def reply(self) -> dict[str, Any] | None:
        """Read its next message. None if that says how far it has come, and not how a job ended."""
        reply: dict[str, Any] = {}
        for _ in range(2):  # a reset, of what it left unread, comes before its own last messages
            with contextlib.suppress(OSError):
                reply = json.loads(self.control.recv(2**14) or b"{}")
                break
        if "stage" in reply:
            self.stage, self.since = reply["stage"], time.monotonic()
            return None
        self.spent = bool(reply.pop("spent", True))
        if not reply and self.stage == "ready":  # it ended as it compiled the program
            return {"ended": "signal", "status": signal.SIGKILL}
        return reply or {"failed": "its keeper ended by itself"}


class Job:
    """A job that a keeper has been given. `communicate` runs it to its end.

    `nonce` is what it reports when all of its text has run; `time` is what it may take at most.
    """

    def __init__(
        self,
        keeper: Keeper,
        task: Sequence[str],
        stdin: bytes = b"",
        nonce: str = "",
        link: socket.socket | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        most = allowance or Allowance()
        cpu = min(most.cpu_seconds, keeper.budget.cpu_seconds)
        self._wall = min(most.wall_seconds, keeper.budget.wall_seconds)
        self.ended: dict[str, Any] | None = None
        self._keeper = keeper
        limits = (f"{cpu:.3f}", f"{self._wall:.3f}")
        self._message = "\0".join([*limits, *task, *filter(None, [nonce])]).encode()
        self._nonce = nonce
        self._stdin = stdin
        self._link = link
        self._over = False
        self._buffers: dict[int, bytearray] = {}
        self._output: list[bytearray] = []
        self._start = time.monotonic()

    def start(self) -> None:
        """Hand it to the keeper."""
        given: list[int] = []
        try:
            given.append(memory_file(self._stdin))
            given.extend(self._readers() for _ in range(3))
            if self._link is not None:
                given.append(self._link.detach())
            with contextlib.suppress(OSError):  # a keeper that has ended is noticed as it replies
                socket.send_fds(self._keeper.control, [self._message], given)
        finally:
            for descriptor in given:
                os.close(descriptor)

    def pipes(self) -> list[int]:
        """The pipes to read from."""
        return [*self._buffers]

    def act(self, descriptor: int) -> None:
        """Read from a pipe, or take the keeper's message."""
        if descriptor == self._keeper.control.fileno():
            self.ended = self._keeper.reply()
        elif descriptor in self._buffers:
            self._read(descriptor)

    def control(self) -> int:
        """The descriptor of the socket to its keeper."""
        return self._keeper.control.fileno()

    def check_time(self) -> None:
        """Raise ConfinementError if the keeper should have ended it long ago."""
        late = time.monotonic() - max(self._start, self._keeper.since) - self._wall
        if late > 0 and self._keeper.stage == "ready":  # it takes too long to compile
            self.ended = {"ended": "timeout", "seconds": self._wall}
            self._keeper.spent = True
        elif late > (_GRACE if self._keeper.stage else _START_SECONDS):
            raise ConfinementError("a jail did not answer in time: is the machine overloaded?")

    def kill(self) -> None:
        """Have the keeper end it."""
        if self.ended is None:
            with contextlib.suppress(OSError):
                self._keeper.control.send(b"kill")

    def finish(self) -> None:
        """Read what is left in its pipes: nothing writes to them any more."""
        for descriptor in [*self._buffers]:
            while descriptor in self._buffers and self._read(descriptor):
                pass

    def close(self) -> None:
        """Close the pipes that are left."""
        for descriptor in [*self._buffers]:
            self._close(descriptor)

    def outcome(self) -> Outcome:
        """Return what came of it."""
        reply = self.ended or {}
        if "failed" in reply:
            kind = ResourcesUsedUp if "used_up" in reply else ConfinementError
            raise kind(f"a program can't be started in its jail: {reply['failed']}")
        stdout, stderr, result = map(bytes, self._output)
        outcome = Outcome(**reply, stdout=stdout, stderr=stderr)
        if self._over:
            return replace(outcome, ended="output")
        return _with_result(outcome, result, self._nonce) if outcome.ended == "exit" else outcome

    def _readers(self) -> int:
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        self._buffers[ours] = bytearray()
        self._output.append(self._buffers[ours])
        return theirs

    def _read(self, descriptor: int) -> bool:
        buffer = self._buffers[descriptor]
        most = LARGEST + 64 if buffer is self._output[2] else self._keeper.budget.output_bytes
        try:
            data = os.read(descriptor, _AT_ONCE)
        except BlockingIOError:
            return False
        buffer += data[: most - len(buffer)]
        if len(buffer) == most:
            self._over = True
            self.kill()
        if not data or self._over:
            self._close(descriptor)
        return bool(data)

    def _close(self, descriptor: int) -> None:
        del self._buffers[descriptor]
        os.close(descriptor)


def memory_file(content: bytes) -> int:
    """Return a descriptor of a file in memory that can only be read."""
    with os.fdopen(os.memfd_create("rewardkit"), "wb") as file:
        file.write(content)
        file.flush()
        return os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY)


def _with_result(ended: Outcome, result: bytes, nonce: str) -> Outcome:
    """The outcome with what the program reported. It may have forged all but the nonce."""
    kind, _, content = result.partition(b" ")
    if kind == b"returned":
        try:
            return replace(ended, ended="returned", value=decode(content))
        except Opaque as error:
            return replace(ended, ended="opaque", value=str(error))
    if kind in (b"opaque", b"missing"):
        why = content[:1000].decode(errors="replace")
        return replace(ended, ended="opaque" if kind == b"opaque" else "missing", value=why)
    if kind == b"memory":
        return replace(ended, ended="memory")
    if nonce and content == nonce.encode():
        return replace(ended, ended="completed")
    return ended


def communicate(jobs: Sequence[Job]) -> None:
    """Run jobs to their end; when the first one ends, the others are killed."""
    try:
        for job in jobs:
            job.start()
        wait = _SHORT  # most jobs end sooner, and then all of their output is read at once
        while any(job.ended is None for job in jobs):
            _act(jobs, wait)
            wait = _LONG
            if jobs[0].ended is not None:
                for job in jobs[1:]:
                    job.kill()
        for job in jobs:
            job.finish()
    finally:
        for job in jobs:
            job.close()


def _act(jobs: Sequence[Job], wait: int) -> None:
    """Wait for the keepers, and unless the wait is short for pipes too, and do what they need."""
    poll = select.poll()
    owners: dict[int, Job] = {}
    for job in jobs:
        pipes = job.pipes() if wait == _LONG else []
        if job.ended is None:
            pipes.append(job.control())
        for descriptor in pipes:
            owners[descriptor] = job
            poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll(wait):
        owners[descriptor].act(descriptor)
    for job in jobs:
        if job.ended is None:
            job.check_time()
