"""The process that loads a verifier once and forks its workers.

It is a fresh interpreter with one thread, so replacing a killed worker costs milliseconds, not the
import of sympy, and the caller's process, which may hold threads or CUDA, is never forked.

The first frame on its socket is the pickled verifier; the reply is READY or the cause why it can't
be loaded. Then come requests of one byte: FORK, with the worker's channel as ancillary descriptor,
is answered by the worker's process id; KILL is followed by the id of a worker.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import struct
from typing import cast

from rewardkit.judging.frames import FrameChannel
from rewardkit.judging.worker import serve
from rewardkit.protocols import PreparedVerifier, Verifier

PID = struct.Struct("!q")
READY = "ready"
FORK = b"F"
KILL = b"K"

START_SECONDS = 60
"""How long a verifier may take to load, its `prepare()` included."""


def main(descriptor: int, memory: int, cpu_seconds: int) -> None:
    """Fork workers for the caller, on the inherited socket, until its other end closes."""
    control = socket.socket(fileno=descriptor)
    verifier = _load(FrameChannel(descriptor, descriptor))
    if verifier is not None:
        _serve_forks(control, verifier, memory, cpu_seconds)


def _load(channel: FrameChannel) -> Verifier | None:
    signal.alarm(START_SECONDS + 10)  # the caller ends a slow start, unless it is gone
    try:
        verifier: Verifier = pickle.loads(cast("bytes", channel.receive()))
        if isinstance(verifier, PreparedVerifier):
            verifier.prepare()
    except Exception as error:  # whatever stops a plugin's verifier is reported to the caller
        channel.send(f"{type(error).__name__}: {error}"[:4000])
        return None
    signal.alarm(0)
    channel.send(READY)
    return verifier


def _serve_forks(control: socket.socket, verifier: Verifier, memory: int, cpu_seconds: int) -> None:
    """Serve fork and kill requests; kill the workers that are left on exit."""
    workers: set[int] = set()
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not request:
            break
        if request == FORK:
            pid = os.fork()
            if pid == 0:
                control.close()
                channel = FrameChannel(descriptors[0], descriptors[0])
                serve(channel, verifier, memory=memory, cpu_seconds=cpu_seconds)
            os.close(descriptors[0])
            workers.add(pid)
            control.sendall(PID.pack(pid))
        else:
            pid = PID.unpack(control.recv(PID.size, socket.MSG_WAITALL))[0]
            _kill(pid)
            workers.discard(pid)
    for pid in workers:
        _kill(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
