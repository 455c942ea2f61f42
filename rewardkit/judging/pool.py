"""The workers of one verifier, safe to borrow from any thread."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import cloudpickle

from rewardkit.available_resources import limits_in_force
from rewardkit.errors import JudgingError
from rewardkit.judging.fork_server import FORK, KILL, PID, READY, START_SECONDS
from rewardkit.judging.frames import (
    READ_AT_ONCE,
    FrameChannel,
    FrameError,
    child_output,
    socket_pair,
)
from rewardkit.judging.options import JudgingOptions
from rewardkit.judging.worker_environment import passed_variables, worker_environment
from rewardkit.judging.worker_handle import WorkerHandle
from rewardkit.protocols import Verifier
from rewardkit.text.printable import get_logger

logger = get_logger(__name__)

MEMORY = 384 * 2**20
"""Bytes by which a worker may grow after its verifier is loaded."""

_BOOT = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from rewardkit.judging.fork_server import main; main(*map(int, sys.argv[1:4]))"
)


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # no descriptors, processes or memory are left
        raise JudgingError(
            f"no worker process can be started: {error.strerror or error}; "
            "raise the limit (ulimit -n, -u, -v), or judge with fewer workers"
        ) from error


CLOSED = "the worker processes were closed as one started"


class ForkServerGone(JudgingError):
    """The fork server has ended by itself; a new one can replace it."""


@dataclass(frozen=True, slots=True)
class PoolKey:
    """What the workers of a pool have in common.

    A worker ends itself after `cpu_seconds` of CPU time. `passed` are the variables that a worker
    gets although their names look like secrets.
    """

    pickled: bytes
    cpu_seconds: int
    passed: tuple[str, ...] = ()


class Pool:
    """The workers of one verifier and the fork server that makes them."""

    def __init__(self, key: PoolKey) -> None:
        self.users = 0
        self._key = key
        self._starting = threading.Lock()
        self._lock = threading.Condition()
        self._idle: list[WorkerHandle] = []
        self._count = 0
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._error: JudgingError | None = None
        self._loading = False
        self._closed = False
        self._warned = False

    def start(self) -> None:
        """Start the fork server, unless it runs. Other threads wait until it runs.

        JudgingError if the verifier can't be loaded there, or takes too long.
        """
        with self._starting:
            if self._error is not None:
                raise self._error
            if self._server is not None:
                return
            with _starting():
                self._control, theirs = socket_pair()
                with theirs:
                    numbers = (theirs.fileno(), MEMORY, self._key.cpu_seconds)
                    self._server = subprocess.Popen(
                        [sys.executable, "-c", _BOOT, *map(str, numbers), *sys.path],
                        pass_fds=[theirs.fileno()],
                        stdin=subprocess.DEVNULL,
                        stdout=child_output(),
                        stderr=child_output(),
                        # sympy's results may depend on the order of a set: on the seed of hashes
                        env={"PYTHONHASHSEED": "0", **worker_environment(self._key.passed)},
                        start_new_session=True,
                    )
            self._loading = True
            try:
                if self._closed:  # before there was a process that `close` could end
                    raise JudgingError(CLOSED)
                self._load(self._control)
                self._control.settimeout(START_SECONDS)
            except BaseException as error:  # an interrupt, too, must not leave it half started
                self._error = error if isinstance(error, JudgingError) else None
                self.kill()
                raise
            finally:
                self._loading = False

    def _load(self, control: socket.socket) -> None:
        channel = FrameChannel(control.fileno(), limit=2**20)
        try:
            control.setblocking(False)
            channel.send(self._key.pickled, START_SECONDS)
            reply = channel.receive(START_SECONDS)
        except TimeoutError:
            raise JudgingError(
                f"the verifier took more than {START_SECONDS} s to load, its `prepare()` included; "
                "do such work once, outside of the verifier, and let it read the result"
            ) from None
        except (OSError, EOFError) as error:
            if self._closed:
                raise JudgingError(CLOSED) from error
            raise ForkServerGone(
                "the verifier can't be loaded into a worker process: its process ended "
                f"({self._ending()})"
            ) from error
        except FrameError as error:
            reply = str(error).encode()
        if reply != READY:
            cause = reply.decode(errors="replace")
            raise JudgingError(f"the verifier can't be loaded into a worker process: {cause}")

    def _ending(self) -> str:
        status = 0
        if self._server is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=1)
            self.kill()
            status = self._server.returncode
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        limits = limits_in_force() or "none is set"
        return f"{how}; for lack of memory, or by a limit: {limits}"

    @contextlib.contextmanager
    def borrow(self, size: int) -> Iterator[WorkerHandle]:
        """Lend a worker. At most `size` workers run at once; a dead worker is replaced."""
        with self._lock:
            try:
                while True:
                    while self._idle and self._idle[-1].has_ended():  # it was killed meanwhile
                        self._remove(self._idle.pop())
                    if self._idle or self._count < size:
                        break
                    self._lock.wait()
                worker = self._idle.pop() if self._idle else self._fork()
            except BaseException:
                # wake the threads that wait: the fork server is gone for them, too, or Ctrl-C came
                # to this thread as a worker was free
                self._lock.notify_all()
                raise
        try:
            yield worker
        except BaseException:
            worker.alive = False
            raise
        finally:
            with self._lock:
                if worker.alive:
                    self._idle.append(worker)
                else:
                    self._remove(worker)
                self._lock.notify()

    def warn_of_blocking(self, verifier: Verifier, worker: WorkerHandle, seconds: float) -> None:
        """Log once that an async verifier blocks its loop: for a second, or half of a deadline."""
        if worker.blocked < min(seconds / 2, 1.0) or self._warned:
            return
        self._warned = True
        function = getattr(verifier, "function", verifier)
        logger.warning(
            "the verifier %s blocks its event loop: nothing else ran for %.2f s, so its verdicts "
            "don't run together; await what takes long, or call it by asyncio.to_thread",
            getattr(function, "__qualname__", type(function).__qualname__),
            worker.blocked,
        )

    def end_idle_workers(self) -> None:
        """End the workers that judge nothing; others are forked when they are needed."""
        with self._lock:
            while self._idle:
                self._remove(self._idle.pop())

    def _remove(self, worker: WorkerHandle) -> None:
        worker.close()
        with contextlib.suppress(OSError):
            self._request(KILL + PID.pack(worker.pid))
        self._count -= 1

    def _fork(self) -> WorkerHandle:
        with _starting():
            ours, theirs = socket_pair()
        with theirs:
            try:
                control = self._request(FORK, theirs.fileno())
                pid = PID.unpack(control.recv(PID.size, socket.MSG_WAITALL))[0]
            except (OSError, ValueError, struct.error) as error:
                ours.close()
                raise ForkServerGone(
                    f"the process that forks workers ended by itself: {error} ({self._ending()})"
                ) from error
        if pid < 0:
            ours.close()
            with _starting():
                raise OSError(-pid, os.strerror(-pid))
        self._count += 1
        return WorkerHandle(ours, pid)

    def _request(self, request: bytes, *descriptors: int) -> socket.socket:
        if self._control is None:
            raise BrokenPipeError("it was closed")
        socket.send_fds(self._control, [request], descriptors)
        return self._control

    def close(self) -> None:
        """End the fork server, and with it every worker."""
        self._closed = True
        if self._loading:  # the thread that loads the verifier finds the process ended
            self._end_server()
        # that thread reads from `_control` until then: closed before, its number could be that of
        # another socket, which the thread would read from
        with self._starting, self._lock:
            for worker in self._idle:
                worker.close()
            self._idle.clear()
            self._hang_up()
        if self._server is not None:
            try:
                self._server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._end_server()

    def _hang_up(self) -> None:
        """Wait until the fork server has ended all workers and the processes that they started.

        A fork server that is killed before, on a busy machine, leaves daemons of workers behind.
        """
        if self._control is None:
            return
        with self._control, contextlib.suppress(OSError):  # it is gone, or doesn't answer
            self._control.shutdown(socket.SHUT_WR)
            while self._control.recv(READ_AT_ONCE):
                pass

    def kill(self) -> None:
        """End the fork server at once; it has no workers yet, or doesn't answer."""
        if self._control is not None:
            self._control.close()
        self._end_server()

    def _end_server(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._server.wait()

    def broken(self) -> bool:
        """Whether the fork server has ended by itself."""
        return self._server is not None and self._server.poll() is not None


KEPT = 16
"""Pools kept alive. The idle pool that was used least recently is closed for a new pool."""

LEAST_CPU_SECONDS = 122
"""Enough for every deadline of up to a minute: verdicts with such deadlines share a pool."""

_pools: OrderedDict[PoolKey, Pool] = OrderedDict()
_pools_lock = threading.Lock()


@contextlib.contextmanager
def pool_in_use(verifier: Verifier, options: JudgingOptions) -> Iterator[Pool]:
    """Lend the pool of `verifier`, which is started at first use and kept for the next call.

    Threads that judge with other verifiers don't wait while the pool starts.
    """
    key = _key(verifier, options)
    with _pools_lock:
        pool = _pools.pop(key, None)
        if pool is None or pool.broken():
            if pool is not None and not pool.users:
                pool.close()
            pool = Pool(key)
        _pools[key] = pool
        pool.users += 1
    try:
        pool.start()
        yield pool
    finally:
        with _pools_lock:
            pool.users -= 1
            if pool.broken() and _pools.get(key) is pool:
                del _pools[key]
            surplus = set() if pool.users or _pools.get(key) is pool else {pool}
            unused = [key for key, pool in _pools.items() if not pool.users]
            surplus |= {_pools.pop(key) for key in unused[: max(0, len(_pools) - KEPT)]}
        for old in surplus:
            old.close()


def end_idle_workers(verifier: Verifier, options: JudgingOptions) -> None:
    """End the idle workers of a verifier: the next texts are judged in new processes."""
    key = _key(verifier, options)
    with _pools_lock:
        pool = _pools.get(key)
    if pool is not None:
        pool.end_idle_workers()


def close_pools() -> None:
    """End every worker process that this process started."""
    with _pools_lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.close()


def _key(verifier: Verifier, options: JudgingOptions) -> PoolKey:
    main = sys.modules.get("__mp_main__")
    if main is not None:  # a spawned child's name for the script, which has it nowhere else
        cloudpickle.register_pickle_by_value(main)
    try:
        pickled = cloudpickle.dumps(verifier)
    except Exception as error:  # pickling runs the verifier's own code
        raise JudgingError(
            f"the verifier {verifier!r} can't be sent to a worker process: "
            f"{type(error).__name__}: {error}; it must not hold open files, locks or the like"
        ) from error
    cpu_seconds = max(LEAST_CPU_SECONDS, int(2 * options.seconds) + 2)
    return PoolKey(pickled, cpu_seconds, passed_variables(options.env))


def _forget_pools() -> None:
    global _pools, _pools_lock
    _pools = OrderedDict()
    _pools_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_pools)
atexit.register(close_pools)
