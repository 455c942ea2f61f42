"""The processes in which unbounded verifiers run: a nursery, and the workers it forks.

The nursery is a fresh interpreter with one thread. It loads the verifier once, then forks a
worker whenever asked, so replacing a killed one costs milliseconds, not the import of sympy.
It never forks the caller's process, which may hold threads or CUDA.

Frames on the control socket: one byte, `F` (with a worker's channel as ancillary descriptor) is
answered by the worker's process id; `K` with an id kills that worker. On a worker's channel a
pickled list of (text, sample) is answered, in turn, by pickled pairs of a verdict and whether it
is that text's last.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import struct
import sys
from multiprocessing.connection import Connection

from rewardkit.judging.outcome import in_stages, too_costly
from rewardkit.protocols import PreparedVerifier, Verifier

PID = struct.Struct("!q")
READY = b"ready"


def main(control_fd: int, memory: int, cpu_seconds: int) -> None:
    """Serve as the nursery on the inherited socket until its other end closes."""
    control = socket.socket(fileno=control_fd)
    verifier = _load(control)
    if verifier is not None:
        _rear(control, verifier, memory, cpu_seconds)


def _load(control: socket.socket) -> Verifier | None:
    size = PID.unpack(control.recv(PID.size, socket.MSG_WAITALL))[0]
    pickled = control.recv(size, socket.MSG_WAITALL)
    try:
        verifier: Verifier = pickle.loads(pickled)
        if isinstance(verifier, PreparedVerifier):
            verifier.prepare()
    except Exception as error:  # whatever stops a plugin's verifier is told to the caller
        control.sendall(f"{type(error).__name__}: {error}".encode()[:4000])
        return None
    control.sendall(READY)
    return verifier


def _rear(control: socket.socket, verifier: Verifier, memory: int, cpu_seconds: int) -> None:
    """Fork and kill workers as told; at the end none is left."""
    workers: set[int] = set()
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not order:
            break
        if order == b"F":
            pid = os.fork()
            if pid == 0:
                control.close()
                _serve(Connection(descriptors[0]), verifier, memory, cpu_seconds)
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


def _serve(channel: Connection, verifier: Verifier, memory: int, cpu_seconds: int) -> None:
    """Judge what arrives until the channel closes; never returns."""
    try:
        _limit_memory(memory)
        while True:
            for text, sample in pickle.loads(channel.recv_bytes()):
                _limit_cpu(cpu_seconds)
                for told in in_stages(verifier, text, sample):
                    channel.send_bytes(pickle.dumps(told))
    except (EOFError, OSError):
        os._exit(0)
    except MemoryError:
        with contextlib.suppress(Exception):
            channel.send_bytes(pickle.dumps((too_costly("judging it ran out of memory"), True)))
        os._exit(1)
    finally:
        os._exit(1)


def _limit_memory(growth: int) -> None:
    """Let this process grow by so many bytes of address space (Linux; elsewhere no cap)."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    size = pages * resource.getpagesize() + growth
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _limit_cpu(seconds: int) -> None:
    """End this process should it burn so many more CPU-seconds: the last resort, when the caller
    is gone and can't kill it."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
