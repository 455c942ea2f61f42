"""The fork server: a process that has loaded a verifier, and forks workers for the caller."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from rewardkit.errors import JudgingError
from rewardkit.judging.frames import FrameChannel
from rewardkit.judging.worker import Limits, serve
from rewardkit.protocols import Verifier, is_async

PID = struct.Struct("!q")
READY = b"ready"
FORK = b"F"
KILL = b"K"

START_SECONDS = 60
"""How long a verifier may take to load, its `prepare()` included."""


def main(descriptor: int, memory: int, cpu_seconds: int) -> None:
    """Fork workers for the caller, on the inherited socket, until its other end closes."""
    os.set_inheritable(descriptor, False)
    warnings.simplefilter("ignore", SyntaxWarning)  # of Python in a reply that a verifier parses
    control = socket.socket(fileno=descriptor)
    channel = FrameChannel(descriptor)
    signal.alarm(START_SECONDS + 10)  # the caller ends a slow start, unless it is gone
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # the caller may be a worker itself
    try:
        verifier: Verifier = pickle.loads(channel.receive())
        verifier.prepare()
        if is_async(verifier):  # imported before there are workers, and before any deadline
            importlib.import_module("rewardkit.judging.event_loop")
        limits = Limits(memory, cpu_seconds)
    except BaseException as error:  # whatever stops a plugin's verifier is reported to the caller
        cause = f"{type(error).__name__}: {error}"[:4000]
        if not isinstance(error, JudgingError):
            cause += "; what it needs must be importable in a fresh interpreter"
        channel.send(cause.encode(errors="replace"))
        return
    signal.alarm(0)
    channel.send(READY)
    _serve_forks(control, verifier, limits)


def _serve_forks(control: socket.socket, verifier: Verifier, limits: Limits) -> None:
    """Serve fork and kill requests; kill the workers that are left on exit."""
    workers: set[int] = set()
    family = _Family()
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not request:
            break
        if request == FORK:
            try:
                pid = os.fork() if descriptors else -errno.EMFILE
            except OSError as error:
                pid = -(error.errno or errno.EAGAIN)
            if pid == 0:
                control.close()
                family.leave()
                os.set_inheritable(descriptors[0], False)
                serve(FrameChannel(descriptors[0]), verifier, limits)
            for descriptor in descriptors:
                os.close(descriptor)
            if pid > 0:
                workers.add(pid)
            control.sendall(PID.pack(pid))
        else:
            pid = PID.unpack(control.recv(PID.size, socket.MSG_WAITALL))[0]
            workers.discard(pid)
            _kill([pid])
            family.end_orphans(workers)
    _kill(workers)
    family.end_orphans(())
    control.close()  # the caller knows by this that they have ended


_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36  # of prctl(2)


class _Family:
    """The processes that workers start. On Linux they end with their worker.

    A process that detaches itself becomes a child of its worker. When the worker ends, the process
    becomes a child of the fork server.
    """

    def __init__(self) -> None:
        self._server = os.getpid()
        self._prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: 0
        self._prctl(_SET_SUBREAPER, 1, 0, 0, 0)

    def leave(self) -> None:
        """Let a worker have a process group of its own, and end with the fork server."""
        os.setsid()
        self._prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        self._prctl(_SET_SUBREAPER, 1, 0, 0, 0)
        if os.getppid() != self._server:
            os._exit(1)

    def end_orphans(self, workers: Iterable[int]) -> None:
        """Kill the children that are no workers. Their children become children of this process."""
        children = Path(f"/proc/self/task/{self._server}/children")
        for _ in range(MOST_GENERATIONS):
            try:
                orphans = set(map(int, children.read_text().split())) - set(workers)
            except OSError:  # no /proc
                return
            if not orphans:
                return
            _kill(orphans)


MOST_GENERATIONS = 100
"""Generations of descendants that are killed. A process that forks faster than that escapes."""


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
