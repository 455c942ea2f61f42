"""Killable workers for one verifier, kept for reuse, safe to borrow from any thread."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

import cloudpickle

from rewardkit.errors import JudgingError
from rewardkit.judging.outcome import too_costly
from rewardkit.judging.worker import PID, READY
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict

MEMORY = 384 * 2**20
"""Bytes by which a worker may grow over what its verifier loaded with."""

START_SECONDS = 120.0
"""How long a verifier may take to load; no text is waiting on its deadline meanwhile."""

KEPT = 8
"""Pools kept alive; the least recently used one is closed for the next."""

MOST_KEPT = 64
"""The same, where closed ones are asked for again: a training has as many rewards as it has."""

Item = tuple[str, Sample]

_BOOT = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from rewardkit.judging.worker import main; main(*map(int, sys.argv[1:4]))"
)


class Worker:
    """One worker process, as its borrower sees it."""

    def __init__(self, channel: Connection, pid: int) -> None:
        self.channel = channel
        self.pid = pid
        self.alive = True

    def judge(self, items: Sequence[Item], allowed: float) -> list[Verdict]:
        """The verdicts of `items`, in order, each within the seconds allowed. Fewer come back when
        one ended the worker: the last verdict is that one's, the rest are still to be judged."""
        with contextlib.suppress(ConnectionError):  # a dead one's channel says so when read
            self.channel.send_bytes(pickle.dumps(list(items)))
        verdicts: list[Verdict] = []
        while self.alive and len(verdicts) < len(items):
            verdicts.append(self._next(allowed))
        return verdicts

    def _next(self, allowed: float) -> Verdict:
        """The next item's verdict; where a limit ends the worker, what it told so far."""
        told: Verdict | None = None
        cause = "would pass the deadline"
        end = time.monotonic() + allowed
        try:
            while self.channel.poll(max(0.0, end - time.monotonic())):
                told, is_last = pickle.loads(self.channel.recv_bytes())
                if is_last:
                    return told
        except (EOFError, ConnectionError):
            cause = "ended the worker process"
        self.alive = False
        return told or too_costly(f"judging it {cause}")


class Pool:
    """The workers of one verifier and the nursery that forks them."""

    def __init__(self, pickled: bytes, cpu_seconds: int) -> None:
        self.users = 0
        self._lock = threading.Condition()
        self._idle: list[Worker] = []
        self._count = 0
        self._control, theirs = socket.socketpair()
        with theirs:
            self._nursery = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    _BOOT,
                    str(theirs.fileno()),
                    str(MEMORY),
                    str(cpu_seconds),
                    *sys.path,
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,
                start_new_session=True,
            )
        self._await_ready(pickled)

    def _await_ready(self, pickled: bytes) -> None:
        self._control.settimeout(START_SECONDS)
        try:
            self._control.sendall(PID.pack(len(pickled)) + pickled)
            said = self._control.recv(4096)
        except (TimeoutError, ConnectionError) as error:
            said = f"{type(error).__name__}: {error}".encode()
        if said != READY:
            self.close()
            cause = said.decode(errors="replace") or "its process ended"
            raise JudgingError(
                f"the verifier can't be loaded into a worker process: {cause}; "
                "what it needs must be importable in a fresh interpreter"
            )
        self._control.settimeout(None)

    @contextlib.contextmanager
    def borrow(self, size: int) -> Iterator[Worker]:
        """A worker of the at most `size` that may run at once; a dead one is replaced."""
        with self._lock:
            while not self._idle and self._count >= size:
                self._lock.wait()
            if self._idle:
                worker = self._idle.pop()
            else:
                worker = self._fork()
                self._count += 1
        try:
            yield worker
        except BaseException:
            worker.alive = False
            raise
        finally:
            self._give_back(worker)

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if worker.alive:
                self._idle.append(worker)
            else:
                worker.channel.close()
                with contextlib.suppress(OSError):
                    self._control.sendall(b"K" + PID.pack(worker.pid))
                self._count -= 1
            self._lock.notify()

    def _fork(self) -> Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"F"], [theirs.fileno()])
                pid = PID.unpack(self._control.recv(PID.size, socket.MSG_WAITALL))[0]
            except (OSError, ValueError) as error:
                ours.close()
                raise JudgingError(f"the process that forks workers is gone: {error}") from error
        return Worker(Connection(ours.detach()), pid)

    def close(self) -> None:
        """End the nursery, and with it every worker."""
        with self._lock:
            for worker in self._idle:
                worker.channel.close()
            self._idle.clear()
            self._control.close()
        try:
            self._nursery.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._nursery.kill()
            self._nursery.wait()

    def broken(self) -> bool:
        """Whether the nursery has ended by itself."""
        return self._nursery.poll() is not None


_pools: OrderedDict[tuple[bytes, int], Pool] = OrderedDict()
_pools_lock = threading.Lock()
_kept = KEPT
_closed: set[int] = set()
"""Pools that were closed for others, by their keys' hashes."""


@contextlib.contextmanager
def pool_in_use(verifier: Verifier, deadline: float) -> Iterator[Pool]:
    """The pool that judges with `verifier`, started when first needed, kept for the next call."""
    key = (_pickled(verifier), int(2 * deadline) + 2)
    with _pools_lock:
        pool = _pools.pop(key, None)
        if pool is None or pool.broken():
            _make_room(key)
            pool = Pool(*key)
        _pools[key] = pool
        pool.users += 1
    try:
        yield pool
    finally:
        with _pools_lock:
            pool.users -= 1
            unused = [key for key, pool in _pools.items() if not pool.users]
            surplus = [_pools.pop(key) for key in unused[: max(0, len(_pools) - _kept)]]
            _closed.update(hash(key) for key in unused[: len(surplus)])
        for old in surplus:
            old.close()


def _make_room(key: tuple[bytes, int]) -> None:
    """Keep one more, where this pool was closed only to be started again."""
    global _kept
    if hash(key) in _closed:
        _closed.remove(hash(key))
        _kept = min(_kept + 1, MOST_KEPT)


def close_pools() -> None:
    """End every worker process that this process started."""
    with _pools_lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.close()


def _pickled(verifier: Verifier) -> bytes:
    try:
        pickled: bytes = cloudpickle.dumps(verifier)
    except Exception as error:  # pickling runs the verifier's own code
        raise JudgingError(
            f"the verifier {verifier!r} can't be sent to a worker process: "
            f"{type(error).__name__}: {error}; it must not hold open files, locks or the like"
        ) from error
    return pickled


def _forget() -> None:
    """In a forked child: the parent's pools aren't ours to use."""
    global _pools, _pools_lock
    _pools = OrderedDict()
    _pools_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
atexit.register(close_pools)
