"""The workers of one verifier, safe to borrow from any thread."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import re
import resource
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import cloudpickle

from rewardkit.available_resources import killed_for_memory
from rewardkit.errors import JudgingError
from rewardkit.judging.crashes import Crash, Item, Outcome
from rewardkit.judging.deadline import (
    GRACE,
    Deadline,
    LimitPassed,
    ProcessTime,
    exit_cause,
    process_state,
)
from rewardkit.judging.frames import (
    READ_AT_ONCE,
    FrameChannel,
    FrameError,
    child_output,
    socket_pair,
)
from rewardkit.judging.options import JudgingOptions
from rewardkit.judging.worker import (
    FORK,
    KILL,
    LARGEST_REPLY,
    PID,
    READY,
    START_SECONDS,
    Reply,
    Request,
    decoded,
)
from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Verdict
from rewardkit.text.printable import get_logger

logger = get_logger(__name__)

PASSED_VARIABLE = "REWARDKIT_WORKER_ENV"
"""Names, separated by commas, of variables that workers get in any case."""

_SECRET = re.compile(
    r"(^|_)(key|keys|token|tokens|pat|pass|auth|jwt|sas|cookie|cookies|dsn|connstr)(_|$)"
    r"|^(?!oldpwd$)\w+pwd(_|$)"
    r"|apikey|accesskey|secret|passw|passphrase|credential|webhook|connection_?string"
    r"|((^|_)(db|pg|jdbc|smtp)|database|postgres|mysql|maria|mongo|redis|amqp|rabbit|broker|sqlalchemy"
    r"|elastic|kafka|clickhouse)([a-z]*_)+(url|uri)s?(_|$)",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"://[^\s/?#@]*:[^\s/?#@]+@")


def looks_secret(name: str, value: str = "") -> bool:
    """Whether a variable's name is that of a key, a token, a password or the like, or its value is
    an address with a password.

    >>> [name for name in ("HF_TOKEN", "HOME", "TOKENIZERS_PARALLELISM") if looks_secret(name)]
    ['HF_TOKEN']
    """
    return bool(_SECRET.search(name) or _PASSWORD_IN_URL.search(value))


def passed_variables(
    names: Iterable[str], environment: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """The names in `names` and in REWARDKIT_WORKER_ENV, sorted, each once."""
    listed = environment.get(PASSED_VARIABLE, "").split(",")
    return tuple(sorted({*names, *(name.strip() for name in listed)} - {""}))


def worker_environment(
    passed: Iterable[str], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment without the variables that look like secrets, except the `passed` ones."""
    kept = set(passed)
    return {
        name: value
        for name, value in environment.items()
        if name in kept or not looks_secret(name, value)
    }


class WorkerHandle:
    """The caller's end of a worker's channel. `alive` is False once the worker must be replaced."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self._killed_for_memory = killed_for_memory()
        self.alive = True
        self._connection = connection
        self._connection.setblocking(False)
        self._channel = FrameChannel(connection.fileno(), limit=LARGEST_REPLY)
        self._time = ProcessTime()
        self._items: tuple[int, ...] = ()
        """The ids of the texts that the worker may be judging."""
        self.blocked = 0.0
        """Seconds for which an event loop has been blocked at most."""

    def judge(
        self, items: Sequence[Item], allowed: Sequence[float], backstop: float, at_once: int = 0
    ) -> dict[int, Outcome | None]:
        """Return the outcomes of `items` by their place, each within its `allowed` seconds.

        Fewer come back when judging an item ended the worker: the items after it are not judged
        yet. None come back from a worker that an earlier item has stopped: it takes no items.
        `at_once` is how many an async verifier judges at once. The outcome is None for an item
        that must be judged alone, since another one may have taken its time or ended the worker.
        """
        # what a text left running may reply, too, but only the texts of this call know these ids
        ids = [1 + secrets.randbits(53) for _ in items]
        jobs = [(i, s, *item) for i, s, item in zip(ids, allowed, items, strict=True)]
        content = pickle.dumps(Request(jobs, at_once, backstop), protocol=pickle.HIGHEST_PROTOCOL)
        try:
            self._channel.send(content, SECONDS_TO_TAKE)
        except TimeoutError:
            self.alive = False
        except OSError:  # a dead worker is noticed when its channel is read
            pass
        waiting = dict(zip(ids, range(len(items)), strict=True))
        outcomes: dict[int, Outcome | None] = {}
        while self.alive and waiting:
            self._items = tuple(islice(waiting, max(1, at_once)))  # they start in order
            seconds = max(allowed[waiting[item]] for item in self._items)
            item, outcome = self._next(seconds * GRACE if at_once else seconds, backstop)
            if at_once > 1 and not self.alive:
                outcomes |= dict.fromkeys(waiting[item] for item in self._items)
            else:
                outcomes[waiting.pop(item)] = outcome
        return outcomes

    def has_ended(self) -> bool:
        """Whether an idle worker's process has ended: its channel is then readable."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the channel, at which the worker ends if it still runs."""
        self.alive = False
        self._connection.close()

    def _next(self, allowed: float, backstop: float) -> tuple[int, Outcome | None]:
        """Return the id of an item and its outcome: the next that arrives.

        Where a limit ends the call, the last stage's verdict counts.
        """
        deadline = Deadline(self.pid, self._time, allowed, backstop)
        partial: Verdict | None = None
        item = self._items[0]
        try:
            while True:
                try:
                    reply = self._reply(deadline.wait())
                except TimeoutError:
                    continue
                outcome = reply.outcome
                if isinstance(outcome, Crash):
                    self.alive = reply.item != 0
                    return reply.item or item, self._explained(outcome, deadline)
                if reply.is_last:
                    return reply.item, outcome
                partial = outcome
        except LimitPassed as error:
            self.alive = False
            self.blocked = max(self.blocked, deadline.elapsed())
            with contextlib.suppress(OSError, EOFError, FrameError):
                reply = self._reply(0.0)  # it arrived while this process itself wasn't running
                if reply.is_last and isinstance(reply.outcome, Verdict):
                    return reply.item, reply.outcome
            state = process_state(self.pid)
            if state not in ("T", "Z"):
                return item, partial or Verdict.wrong(Failure.TIMEOUT, message=str(error))
            # stopped perhaps by an earlier text, or ended while a child keeps its channel open
            message = STOPPED if state == "T" else ENDED + exit_cause(self.pid)
        except (EOFError, OSError):
            message = ENDED + exit_cause(self.pid)
        except FrameError as error:
            message = f"the verifier's reply is lost: {error}"
        self.alive = False
        return item, self._explained(Crash(message, partial, alone=True), deadline)

    def _explained(self, crash: Crash, deadline: Deadline) -> Crash:
        """The crash with its time, and whether the machine may have caused it."""
        used_up = crash.alone and killed_for_memory() > self._killed_for_memory
        return replace(crash, seconds=deadline.elapsed(), used_up=used_up)

    def _reply(self, seconds: float) -> Reply:
        reply = decoded(self._channel.receive(seconds))
        of_request = reply.item == 0 and isinstance(reply.outcome, Crash)
        if reply.item not in self._items and not of_request:
            raise FrameError("it is about another text")
        if reply.outcome is None and len(self._items) == 1:
            raise FrameError("there is no verdict")
        self._time = ProcessTime(reply.computed, reply.waited)
        self.blocked = max(self.blocked, reply.blocked)
        return reply


SECONDS_TO_TAKE = 60
"""How long a worker may take to receive texts: it does nothing else then."""

ENDED = "judging it ended the worker process"
STOPPED = "a signal stopped the worker process"

MEMORY = 384 * 2**20
"""Bytes by which a worker may grow after its verifier is loaded."""

_BOOT = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from rewardkit.judging.worker import main; main(*map(int, sys.argv[1:4]))"
)


_LIMITS = {
    "ulimit -v": resource.RLIMIT_AS,
    "ulimit -d": resource.RLIMIT_DATA,
    "ulimit -t": resource.RLIMIT_CPU,
    "ulimit -s": resource.RLIMIT_STACK,
    "ulimit -n": resource.RLIMIT_NOFILE,
}


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

    `cpu_seconds` is the CPU time after which a worker ends itself, `passed` are the variables that
    it gets although they look like secrets.
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
        """Start the fork server, unless it runs; other threads wait until it has.

        JudgingError when the verifier can't be loaded there, or takes too long.
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
        """How the fork server ended."""
        status = 0
        if self._server is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=1)
            self.kill()
            status = self._server.returncode
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        limits = ", ".join(
            f"{name} {amount:,}"
            for name, number in _LIMITS.items()
            if (amount := resource.getrlimit(number)[0]) != resource.RLIM_INFINITY
        )
        return f"{how}; for lack of memory, or by a limit: {limits or 'none is set'}"

    @contextlib.contextmanager
    def borrow(self, size: int) -> Iterator[WorkerHandle]:
        """A worker of the at most `size` that may run at once; a dead one is replaced."""
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
        """Have the fork server end all workers and what they started; wait until it has.

        Killed before, on a busy machine, it would leave what detached itself from a worker.
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
"""Pools kept alive; the least recently used idle one is closed for the next."""

LEAST_CPU_SECONDS = 122
"""Enough for every deadline of up to a minute, so that other deadlines need no other pools."""

_pools: OrderedDict[PoolKey, Pool] = OrderedDict()
_pools_lock = threading.Lock()


@contextlib.contextmanager
def pool_in_use(verifier: Verifier, options: JudgingOptions) -> Iterator[Pool]:
    """The pool that judges with `verifier`, started when first needed, kept for the next call.

    Threads that judge with other verifiers don't wait while it starts.
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
    """Let the next texts be judged in new processes: those at hand may be about to end."""
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
    """In a forked child: the parent's pools aren't ours to use."""
    global _pools, _pools_lock
    _pools = OrderedDict()
    _pools_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_pools)
atexit.register(close_pools)
