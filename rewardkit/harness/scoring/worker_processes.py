"""A job's chunks, judged by several processes.

Each process is a fresh interpreter with one judging thread, started as the judging boundary starts
its fork server: nothing of the caller is forked and its script does not run again. It has its
own workers, so deadlines and memory limits hold. Results come in the order of the chunks. A process
has one chunk at a time, and at most `AHEAD` chunks per process wait for an earlier one. It is
trusted as the caller is, and does what the caller would do: only its workers run a verifier on a
text without a bound.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from typing import cast

from rewardkit.errors import JudgingError
from rewardkit.harness.scoring.jobs import ChunkOrder, ChunkResult, Job, pickled_job
from rewardkit.harness.store.data_files import Chunk
from rewardkit.judging.frames import FrameChannel, child_output, socket_pair

AHEAD = 4
"""Chunks for each process that may wait for the result of an earlier one."""


def main(descriptor: int) -> None:
    """Receive a job and judge the chunks that follow, until the other end closes."""
    threading.Thread(target=_exit_with_caller, daemon=True).start()
    channel = FrameChannel(descriptor, descriptor)
    with contextlib.suppress(EOFError, OSError):
        job = _receive_job(channel)
        _answer(channel, job)
        freeze_loaded()
        while True:
            _answer(channel, job)


def _answer(channel: FrameChannel, job: Callable[[Chunk], ChunkResult]) -> None:
    number, chunk = cast("tuple[int, Chunk]", pickle.loads(channel.receive()))
    channel.send(pickled_result(job, number, chunk))


def _receive_job(channel: FrameChannel) -> Callable[[Chunk], ChunkResult]:
    pickled = channel.receive()
    try:
        return cast("Job", pickle.loads(pickled))
    except Exception as error:  # a plugin's own; every chunk is answered with this error
        message = (
            "the verifier can't be loaded into a judging process: "
            f"{type(error).__name__}: {error}; "
            "what it needs must be importable in a fresh interpreter"
        )

        def refuse(_: Chunk) -> ChunkResult:
            raise JudgingError(message)

        return refuse


def pickled_result(job: Callable[[Chunk], ChunkResult], number: int, chunk: Chunk) -> bytes:
    """The number and the result of a chunk, or its exception, pickled."""
    try:
        return pickle.dumps((number, job(chunk)), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # the caller raises it again
        sendable = _survives_pickling(error)
        cause = error if sendable else JudgingError(f"{type(error).__name__}: {error}")
        return pickle.dumps((number, cause))


def freeze_loaded() -> None:
    """Take what is loaded by now out of garbage collection, which would visit it over and over.

    After the first chunk, this is the verifier with all that it imports.
    """
    gc.collect()
    gc.freeze()


def _survives_pickling(error: BaseException) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # an exception class of a plugin
        return False


def _exit_with_caller() -> None:
    # not sys.stdin.read(): at this process's own exit the thread would hold the buffer's lock
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from rewardkit.harness.scoring.worker_processes import main; main(int(sys.argv[1]))"
)


def judge_in_processes(
    job: Job, chunks: Iterator[Chunk], processes: int
) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Yield each chunk with its result, in order.

    An exception of a chunk is raised in that chunk's turn. Raises JudgingError if the job can't be
    sent to a process, or a process ends by itself.
    """
    pickled = pickled_job(job, "other processes")
    order = ChunkOrder(chunks)
    busy: dict[socket.socket, _WorkerProcess] = {}
    with contextlib.ExitStack() as exit_stack:
        idle = [exit_stack.enter_context(_WorkerProcess(pickled)) for _ in range(processes)]
        while True:
            while idle and len(order.waiting) < AHEAD * processes and (chunk := order.next()):
                worker = idle.pop()
                worker.send(*chunk)
                busy[worker.socket] = worker
            if not order.waiting:
                return
            for ready in wait(list(busy)):
                worker = busy.pop(cast("socket.socket", ready))
                order.add(*worker.receive())
                idle.append(worker)
            yield from order.in_turn()


class _WorkerProcess:
    """A judging process, from the caller's side."""

    def __init__(self, pickled: bytes) -> None:
        ours, theirs = socket_pair()
        with theirs:
            # standard input closes when this process ends, however it ends
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=child_output(),
                stderr=child_output(),
                start_new_session=True,
            )
        self.socket = ours
        self._channel = FrameChannel(ours.fileno(), ours.fileno())
        with self._errors():
            self._channel.send(pickled)

    def __enter__(self) -> _WorkerProcess:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self.socket.close()
        try:
            self._process.wait(timeout=5 if failed is None else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def send(self, number: int, chunk: Chunk) -> None:
        """Give the process a chunk; it must be idle."""
        with self._errors():
            self._channel.send(pickle.dumps((number, chunk)))

    def receive(self) -> tuple[int, ChunkResult | BaseException]:
        """The number of its chunk, and the result or the exception."""
        with self._errors():
            content = self._channel.receive()
        return cast("tuple[int, ChunkResult | BaseException]", pickle.loads(content))

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError):
            status = self._process.wait()
            raise JudgingError(
                f"a judging process ended by itself (status {status}), perhaps for lack of "
                "memory; what was judged before is stored, and the same command resumes"
            ) from None
