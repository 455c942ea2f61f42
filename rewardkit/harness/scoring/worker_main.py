"""The main loop of a process that judges chunks for another."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import threading
from typing import cast

from rewardkit.errors import JudgingError
from rewardkit.harness.scoring.chunk_result import ChunkResult
from rewardkit.harness.scoring.chunks import Chunk
from rewardkit.harness.scoring.jobs import Job
from rewardkit.judging.frames import FrameChannel, FrameError


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


def _answer(channel: FrameChannel, job: Job) -> None:
    number, chunk = cast("tuple[int, Chunk]", channel.receive())
    channel.send_pickled(pickled_result(job, number, chunk))


def _receive_job(channel: FrameChannel) -> Job:
    try:
        return cast("Job", channel.receive())
    except FrameError as error:  # every chunk is answered with this error
        message = (
            f"the verifier can't be loaded into a judging process: {error}; "
            "what it needs must be importable in a fresh interpreter"
        )

        def refuse(_: Chunk) -> ChunkResult:
            raise JudgingError(message)

        return refuse


def pickled_result(job: Job, number: int, chunk: Chunk) -> bytes:
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
