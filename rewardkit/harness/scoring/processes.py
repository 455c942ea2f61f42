"""A job's chunks spread over processes of their own.

Each is a fresh interpreter with one thread at work, started as the nursery of the judging boundary
is: nothing of the caller's is forked, its script is not run again, and each has workers of its own
for what can't be decided at once, so deadlines and memory caps hold as ever. Results come in the
order of the chunks; each process has one chunk at a time, and no more than `AHEAD` chunks for each
process wait for an earlier one.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import cast

import cloudpickle

from rewardkit.errors import JudgingError
from rewardkit.harness.scoring.chunk_result import ChunkResult
from rewardkit.harness.scoring.chunks import Chunk
from rewardkit.harness.scoring.jobs import Job

AHEAD = 4

_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from rewardkit.harness.scoring.processes import main; main(int(sys.argv[1]))"
)


def spread(
    job: Job, chunks: Iterator[Chunk], processes: int
) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Each chunk with what the job makes of it, in order. What a chunk raises is raised when its
    turn has come; JudgingError where a process can't be given the job, or ends."""
    try:
        pickled = cloudpickle.dumps(job)
    except Exception as error:  # pickling runs code of verifiers and tasks
        raise JudgingError(
            f"the verifier can't be sent to other processes: {type(error).__name__}: {error}; "
            "it must not hold open files, locks or the like"
        ) from error
    with contextlib.ExitStack() as started:
        crew = [started.enter_context(_WorkerProcess(pickled)) for _ in range(processes)]
        yield from _in_order(crew, chunks)


class _WorkerProcess:
    """A judging process, as the caller sees it."""

    def __init__(self, pickled: bytes) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # standard input closes when this process ends, however it ends
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=2,
                start_new_session=True,
            )
        self.channel = Connection(ours.detach())
        self._send(pickled)

    def __enter__(self) -> _WorkerProcess:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self.channel.close()
        try:
            self._process.wait(timeout=5 if failed is None else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def give(self, number: int, chunk: Chunk) -> None:
        """Hand over a chunk; the process must be idle."""
        self._send(pickle.dumps((number, chunk)))

    def take(self) -> tuple[int, ChunkResult | BaseException]:
        """What has become of its chunk."""
        try:
            number, result = pickle.loads(self.channel.recv_bytes())
        except (EOFError, ConnectionError):
            raise self._ended() from None
        return number, result

    def _send(self, frame: bytes) -> None:
        try:
            self.channel.send_bytes(frame)
        except (BrokenPipeError, ConnectionError):
            raise self._ended() from None

    def _ended(self) -> JudgingError:
        status = self._process.wait()
        return JudgingError(
            f"a judging process ended by itself (status {status}), killed for memory perhaps; "
            "what was judged before is safe, the same command line carries on"
        )


def _in_order(
    crew: list[_WorkerProcess], chunks: Iterator[Chunk]
) -> Iterator[tuple[Chunk, ChunkResult]]:
    idle = list(crew)
    working: dict[Connection, _WorkerProcess] = {}
    waiting: dict[int, Chunk] = {}
    results: dict[int, ChunkResult | BaseException] = {}
    numbered = enumerate(chunks)
    turn = 0
    while True:
        while idle and len(waiting) < AHEAD * len(crew) and (more := next(numbered, None)):
            process = idle.pop()
            waiting[more[0]] = more[1]
            process.give(*more)
            working[process.channel] = process
        if not waiting:
            return
        for channel in wait(list(working)):
            process = working.pop(cast("Connection", channel))
            number, results[number] = process.take()
            idle.append(process)
        while turn in results:
            result = results.pop(turn)
            if isinstance(result, BaseException):
                raise result
            yield waiting.pop(turn), result
            turn += 1


def main(descriptor: int) -> None:
    """Judge what arrives until the other end closes."""
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    channel = Connection(descriptor)
    with contextlib.suppress(EOFError, ConnectionError):
        job = _loaded(channel.recv_bytes())
        while True:
            number, chunk = pickle.loads(channel.recv_bytes())
            channel.send_bytes(_result(job, number, chunk))


def _loaded(pickled: bytes) -> Job:
    try:
        job: Job = pickle.loads(pickled)
    except Exception as error:  # whatever stops a plugin's verifier is told to the caller
        message = (
            "the verifier can't be loaded into a judging process: "
            f"{type(error).__name__}: {error}; "
            "what it needs must be importable in a fresh interpreter"
        )

        def refuse(_: Chunk) -> ChunkResult:
            raise JudgingError(message)

        return refuse
    return job


def _result(job: Job, number: int, chunk: Chunk) -> bytes:
    try:
        return pickle.dumps((number, job(chunk)), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # raised again in the caller's process
        told = error if _travels(error) else JudgingError(f"{type(error).__name__}: {error}")
        return pickle.dumps((number, told))


def _travels(error: BaseException) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # an error class of anyone's
        return False


def _end_with_the_caller() -> None:
    # not sys.stdin.read(): at this process's own end the thread would hold the buffer's lock
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
