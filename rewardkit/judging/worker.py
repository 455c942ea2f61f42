"""A worker process: it judges the texts that arrive on its channel until that closes.

A request is a list of (text, sample). The replies are (outcome, is_last, time): for each text its
outcome, before it, for a verifier in stages, the verdicts so far, and the worker's time until then.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from typing import cast

from rewardkit.judging.crashes import Crash, Item, Outcome, raised, run_stages
from rewardkit.judging.deadline import OwnTime
from rewardkit.judging.frames import FrameChannel
from rewardkit.protocols import PreparedVerifier, Verifier

LARGEST_REPLY = 16 * 2**20
"""Bytes of the largest reply about one text."""


def serve(channel: FrameChannel, verifier: Verifier, *, memory: int, cpu_seconds: int) -> None:
    """Judge the texts that arrive until the channel closes. Never returns."""
    try:
        _limit_memory(memory)
        time = OwnTime()
        while True:
            for text, sample in cast("Sequence[Item]", channel.receive()):
                _limit_cpu(cpu_seconds)
                for outcome, is_last in run_stages(verifier, text, sample):
                    _reply(channel, outcome, is_last, time)
    except (EOFError, OSError):
        os._exit(0)
    except MemoryError as error:
        with contextlib.suppress(Exception):
            channel.send((raised(error), True, time.now()))
        os._exit(1)
    finally:
        os._exit(1)


def _reply(channel: FrameChannel, outcome: Outcome, is_last: bool, time: OwnTime) -> None:
    try:
        pickled = pickle.dumps((outcome, is_last, time.now()))
    except MemoryError:
        raise
    except Exception as error:  # a verdict may hold anything that its verifier put there
        pickled = pickle.dumps((raised(error), True, time.now()))
    if len(pickled) > LARGEST_REPLY:
        crash = Crash(
            f"the verifier's verdict has {len(pickled):,} bytes; the limit is {LARGEST_REPLY:,}"
        )
        pickled = pickle.dumps((crash, True, time.now()))
    channel.send_pickled(pickled)


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
    """End this process if it uses so many more CPU seconds: the last resort when the caller is
    gone and can't kill it."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


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
