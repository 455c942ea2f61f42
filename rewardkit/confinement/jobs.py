"""The caller's side of a job in a jail: its limits, its pipes and its outcome."""

from __future__ import annotations

import contextlib
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
from rewardkit.confinement import protocol
from rewardkit.confinement.plain import LARGEST, Opaque, decode
from rewardkit.errors import ConfinementError, ResourcesUsedUp

_GRACE = 10.0  # seconds by which a keeper's reply may come after the limit
_START_SECONDS = 60.0  # the same for the first one, for which an interpreter may have to start
_AT_ONCE = 2**16
_SHORT, _LONG = 20, 1000  # milliseconds


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a test: time in seconds, others in bytes or numbers.

    `file_bytes` limits each file, and the folder for files. `output_bytes` limits stdout, and also
    stderr.
    """

    cpu_seconds: float = 10.0
    wall_seconds: float = 30.0
    memory: int = 2**30
    threads: int = 64
    open_files: int = 64
    file_bytes: int = 2**24
    output_bytes: int = 2**24

    def limits(self) -> dict[str, Any]:
        """Return the limits as a keeper needs them."""
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
        """Raise ConfinementError if a limit of this process leaves programs less than the budget.

        Otherwise a right program could be wrong for lack of resources.
        """
        resources = self.limits()["resources"]
        needed = {getattr(resource, name): amount for name, amount in resources.items()}
        if reason := too_low_limit(needed, "a program"):
            raise ConfinementError(reason)


@dataclass(slots=True)
class Allowance:
    """The seconds that the jobs of a jail have left: of processor time, and by the clock."""

    cpu_seconds: float = math.inf
    wall_seconds: float = math.inf

    def is_over(self) -> bool:
        """Return whether nothing is left."""
        return min(self.cpu_seconds, self.wall_seconds) <= 0

    def take(self, outcomes: Sequence[Outcome]) -> None:
        """Subtract the time of jobs that ran in parallel."""
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
    """The outcome of a program.

    `ended` is "completed" (all of the text ran), "returned" (`value` is the function's result),
    "opaque" (the result is no plain value), "missing" (tests can't import a module), "exit" or
    "signal" (the program ended before, with `status`), or the limit that the program passed.
    """

    ended: Ended
    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
    value: Any = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class KeeperSocket:
    """The caller's side of a keeper: the keeper's stage, and whether it takes more jobs."""

    def __init__(self, control: socket.socket, budget: Budget) -> None:
        self.control = control
        self.budget = budget
        self.stage = ""
        self.since = time.monotonic()
        self.spent = False

    def reply(self) -> dict[str, Any] | None:
        """Return how a job ended, from the next message. None if the message is a stage."""
        reply: dict[str, Any] = {}
        for _ in range(2):  # a reset, of what it left unread, comes before its own last messages
            with contextlib.suppress(OSError):
                reply = protocol.parse_reply(self.control.recv(protocol.LONGEST))
                break
        if "stage" in reply:
            self.stage, self.since = reply["stage"], time.monotonic()
            return None
        self.spent = bool(reply.pop("spent", True))
        if not reply and self.stage == "ready":  # it ended as it compiled the program
            return {"ended": "signal", "status": signal.SIGKILL}
        return reply or {"failed": "its keeper ended by itself"}


class Job:
    """A job of a keeper. `communicate` runs the job to its end.

    The job reports `nonce` when all of its text has run. `allowance` is the time that it may take.
    """

    def __init__(
        self,
        keeper: KeeperSocket,
        task: Sequence[str],
        stdin: bytes = b"",
        nonce: str = "",
        link: socket.socket | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        most = allowance or Allowance()
        cpu = min(most.cpu_seconds, keeper.budget.cpu_seconds)
        self._wall = min(most.wall_seconds, keeper.budget.wall_seconds)
        self.keeper = keeper
        self.ended: dict[str, Any] | None = None
        self.pipes: dict[int, bytearray] = {}
        """The bytes so far of each open pipe."""
        self._message = protocol.frame_request(cpu, self._wall, [*task, *filter(None, [nonce])])
        self._nonce = nonce
        self._stdin = stdin
        self._link = link
        self._over = False
        self._output: list[bytearray] = []
        self._start = time.monotonic()

    def start(self) -> None:
        """Hand the job to the keeper."""
        given: list[int] = []
        try:
            given.append(protocol.memory_file(self._stdin))
            for _ in range(3):  # stdout, stderr and the result
                ours, theirs = os.pipe()
                os.set_blocking(ours, False)
                self._output.append(bytearray())
                self.pipes[ours] = self._output[-1]
                given.append(theirs)
            if self._link is not None:
                given.append(self._link.detach())
            with contextlib.suppress(OSError):  # a keeper that has ended is noticed as it replies
                socket.send_fds(self.keeper.control, [self._message], given)
        finally:
            for descriptor in given:
                os.close(descriptor)

    def check_time(self) -> None:
        """Raise ConfinementError if the keeper should have ended the job long ago."""
        late = time.monotonic() - max(self._start, self.keeper.since) - self._wall
        if late > 0 and self.keeper.stage == "ready":  # it takes too long to compile
            self.ended = {"ended": "timeout", "seconds": self._wall}
            self.keeper.spent = True
        elif late > (_GRACE if self.keeper.stage else _START_SECONDS):
            raise ConfinementError("a jail did not answer in time: is the machine overloaded?")

    def kill(self) -> None:
        """Have the keeper end the job."""
        if self.ended is None:
            with contextlib.suppress(OSError):
                self.keeper.control.send(protocol.KILL)

    def read(self, pipe: int) -> bool:
        """Read from a pipe, and close the pipe at its end. Return whether there were bytes."""
        buffer = self.pipes[pipe]
        most = LARGEST + 64 if buffer is self._output[2] else self.keeper.budget.output_bytes
        try:
            data = os.read(pipe, _AT_ONCE)
        except BlockingIOError:
            return False
        buffer += data[: most - len(buffer)]
        if len(buffer) == most:
            self._over = True
            self.kill()
        if not data or self._over:
            del self.pipes[pipe]
            os.close(pipe)
        return bool(data)

    def close(self) -> None:
        """Close the open pipes."""
        while self.pipes:
            os.close(self.pipes.popitem()[0])

    def outcome(self) -> Outcome:
        """Return the job's outcome."""
        reply = self.ended or {}
        if "failed" in reply:
            kind = ResourcesUsedUp if "used_up" in reply else ConfinementError
            raise kind(f"a program can't be started in its jail: {reply['failed']}")
        stdout, stderr, result = map(bytes, self._output)
        outcome = Outcome(**reply, stdout=stdout, stderr=stderr)
        if self._over:
            return replace(outcome, ended="output")
        return _with_result(outcome, result, self._nonce) if outcome.ended == "exit" else outcome


def _with_result(ended: Outcome, result: bytes, nonce: str) -> Outcome:
    """The outcome, with the program's report. The program may forge all of it but the nonce."""
    kind, content = protocol.parse_result(result)
    match kind:
        case "returned":
            try:
                return replace(ended, ended="returned", value=decode(content))
            except Opaque as error:
                return replace(ended, ended="opaque", value=str(error))
        case "opaque" | "missing":
            return replace(ended, ended=kind, value=content[:1000].decode(errors="replace"))
        case "memory":
            return replace(ended, ended="memory")
    return replace(ended, ended="completed") if nonce and content == nonce.encode() else ended


def communicate(jobs: Sequence[Job]) -> None:
    """Run jobs to their end. When the first job ends, the others are killed."""
    try:
        for job in jobs:
            job.start()
        wait = _SHORT  # most jobs end sooner, and then all of their output is read at once
        while running := [job for job in jobs if job.ended is None]:
            _wait(running, wait, [] if wait == _SHORT else jobs)
            wait = _LONG
            if jobs[0].ended is not None:
                for job in jobs[1:]:
                    job.kill()
        for job in jobs:  # nothing writes to their pipes any more
            for pipe in [*job.pipes]:
                while pipe in job.pipes and job.read(pipe):
                    pass
    finally:
        for job in jobs:
            job.close()


def _wait(running: Sequence[Job], wait: int, read: Sequence[Job]) -> None:
    poll = select.poll()
    keepers = {job.keeper.control.fileno(): job for job in running}
    pipes = {pipe: job for job in read for pipe in job.pipes}
    for descriptor in (*keepers, *pipes):
        poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll(wait):
        if descriptor in pipes:
            pipes[descriptor].read(descriptor)
        else:
            job = keepers[descriptor]
            job.ended = job.keeper.reply()
    for job in running:
        if job.ended is None:
            job.check_time()
