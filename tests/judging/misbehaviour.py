"""What a verifier may do instead of returning a verdict, and the verdict that the text then gets.

`MISBEHAVIOUR` is the table: each row is a function that misbehaves when it is called in a worker.
"""

from __future__ import annotations

import asyncio
import builtins
import ctypes
import json
import os
import pickle
import re
import resource
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rewardkit import Failure, Sample, Unavailable, Verdict

CRASHED, TIMEOUT = "crashed", "timeout"
UNJUDGED, RIGHT = "unjudged", "right"

REFERENCE = "4"


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even its text")


class Executes:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return exec, ("import os; os.environ['UNPICKLED'] = 'yes'",)


def raises(error: BaseException | type[BaseException]) -> Callable[[], object]:
    def misbehave() -> object:
        raise error

    return misbehave


def returns(value: object) -> Callable[[], object]:
    return lambda: value


def kills(number: int) -> Callable[[], object]:
    return lambda: os.kill(os.getpid(), number)


def recurse() -> object:
    return recurse()


def spin() -> object:
    while True:
        pass


def deadlock() -> object:
    lock = threading.Lock()
    lock.acquire()
    return lock.acquire()


def write_everywhere(content: bytes) -> Callable[[], object]:
    def misbehave() -> object:
        for descriptor in range(3, 32):
            try:
                os.write(descriptor, content)
            except OSError:
                continue
        return True

    return misbehave


def frame(content: bytes) -> bytes:
    return struct.pack("!Q", len(content)) + content


def fork_and_return() -> object:
    os.fork()
    return True


def kill_the_fork_server() -> object:
    os.kill(os.getppid(), signal.SIGKILL)
    return spin()


def kill_the_group() -> object:
    os.killpg(0, signal.SIGKILL)
    return True


def die_a_little_later() -> object:
    threading.Timer(0.005, os._exit, (1,)).start()
    return True


def stop_as_it_takes_the_next_text() -> object:
    loads = pickle.loads

    def stop(content: bytes) -> object:
        os.kill(os.getpid(), signal.SIGSTOP)
        return loads(content)

    pickle.loads = stop  # type: ignore[assignment]
    return True


def remove_len() -> object:
    del builtins.len
    return True


def break_json() -> object:
    json.dumps = None  # type: ignore[assignment]
    return True


def leak_descriptors() -> object:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    LEAKED.extend(os.dup(2) for _ in range(200))
    return True


LEAKED: list[object] = []


def leak_memory() -> object:
    LEAKED.append(bytes(300 * 2**20))
    return True


def limit_the_stack() -> object:
    sys.setrecursionlimit(20)
    return True


def raise_in_a_thread() -> object:
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()
    return True


def ignore_and_spin() -> object:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    return spin()


def trace() -> object:
    def broken(*_: object) -> None:
        raise RuntimeError("a debugger's own fault")

    sys.settrace(broken)
    return True


def close_all() -> object:
    os.closerange(3, 64)
    return True


def closed_streams() -> object:
    os.closerange(0, 3)
    return True


def in_a_removed_folder() -> object:
    os.makedirs("removed-by-a-test", exist_ok=True)
    os.chdir("removed-by-a-test")
    os.rmdir("../removed-by-a-test")
    return True


def start_a_daemon() -> object:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()
    return True


def nested() -> object:
    value: list[object] = []
    for _ in range(10**5):
        value = [value]
    return value


MISBEHAVIOUR: dict[str, tuple[Callable[[], object], str]] = {
    # raises
    "an IndexError": (raises(IndexError("list index out of range")), CRASHED),
    "an exception without a text": (raises(AssertionError), CRASHED),
    "an exception whose text raises": (raises(Unprintable), CRASHED),
    "an exception with a huge text": (raises(ValueError("x" * 10**7)), CRASHED),
    "an exception with half a surrogate": (raises(ValueError("\ud800")), CRASHED),
    "a StopIteration": (raises(StopIteration), CRASHED),
    "a GeneratorExit": (raises(GeneratorExit), CRASHED),
    "a KeyboardInterrupt": (raises(KeyboardInterrupt), CRASHED),
    "a SystemExit": (raises(SystemExit(0)), CRASHED),
    "a CancelledError": (raises(asyncio.CancelledError()), CRASHED),
    "a BaseException": (raises(BaseException("none of Exception")), CRASHED),
    "a BaseExceptionGroup": (raises(BaseExceptionGroup("two", [SystemExit()])), CRASHED),
    "a MemoryError": (raises(MemoryError), CRASHED),
    "a TimeoutError": (raises(TimeoutError("its own")), CRASHED),
    "a BrokenPipeError": (raises(BrokenPipeError("its own")), CRASHED),
    "an EOFError": (raises(EOFError("its own")), CRASHED),
    "recursion without end": (recurse, CRASHED),
    "an ImportError": (raises(ImportError("libfortran.so.9")), UNJUDGED),
    "Unavailable": (raises(Unavailable("no connection")), UNJUDGED),
    # returns what is no verdict
    "None": (returns(None), CRASHED),
    "text": (returns("yes"), CRASHED),
    "not a number": (returns(float("nan")), CRASHED),
    "infinity": (returns(float("inf")), CRASHED),
    "more than 1": (returns(1.5), CRASHED),
    "less than 0": (returns(-0.1), CRASHED),
    "a complex number": (returns(1j), CRASHED),
    "a list without end": (nested, CRASHED),
    "a generator": (lambda: (one for one in [True]), CRASHED),
    "an answer that is a number": (lambda: Verdict.right(answer=4), CRASHED),  # type: ignore[arg-type]
    "an answer that runs code": (lambda: Verdict.right(answer=Executes()), CRASHED),  # type: ignore[arg-type]
    "a function as message": (lambda: Verdict.right(message=spin), CRASHED),  # type: ignore[arg-type]
    "a failure of its own": (
        lambda: Verdict(False, 0.0, failure="bad luck"),  # type: ignore[arg-type]
        CRASHED,
    ),
    "a message of 100 MB": (lambda: Verdict.wrong(Failure.WRONG, message="x" * 10**8), CRASHED),
    "an answer with half a surrogate": (lambda: Verdict.right(answer="\ud83d"), RIGHT),
    # ends its process
    "exit status 0": (lambda: os._exit(0), CRASHED),
    "exit status 3": (lambda: os._exit(3), CRASHED),
    "kills itself": (kills(signal.SIGKILL), CRASHED),
    "a segmentation fault": (kills(signal.SIGSEGV), CRASHED),
    "a null pointer": (lambda: ctypes.string_at(0), CRASHED),
    "aborts": (os.abort, CRASHED),
    "an alarm": (kills(signal.SIGALRM), CRASHED),
    "becomes another program": (lambda: os.execv("/bin/true", ["true"]), CRASHED),
    "kills its process group": (kill_the_group, CRASHED),
    "kills the fork server": (kill_the_fork_server, CRASHED),
    "out of memory": (lambda: bytes(10**10), CRASHED),
    # takes too long
    "computes for ever": (spin, TIMEOUT),
    "sleeps": (lambda: time.sleep(600), TIMEOUT),
    "holds the interpreter's lock": (lambda: 9 ** (9**9) % 2, TIMEOUT),
    "waits for itself": (deadlock, TIMEOUT),
    "waits for input": (lambda: os.read(os.pipe()[0], 1), TIMEOUT),
    "a costly regular expression": (lambda: re.match("(a+)+$", "a" * 64 + "b"), TIMEOUT),
    "ignores signals": (ignore_and_spin, TIMEOUT),
    "stops": (kills(signal.SIGSTOP), CRASHED),
    # meddles with its channel
    "garbage as a reply": (write_everywhere(b"\xff" * 64), CRASHED),
    "gigabytes announced": (write_everywhere(struct.pack("!Q", 2**40)), CRASHED),
    "a pickle as a reply": (write_everywhere(frame(pickle.dumps(Executes()))), CRASHED),
    "JSON nested without end": (write_everywhere(frame(b"[" * 10**5)), CRASHED),
    "JSON that is no reply": (write_everywhere(frame(b'{"verdict": {"score": 1}}')), CRASHED),
    "closes its channel": (close_all, CRASHED),
    "a child that returns too": (fork_and_return, RIGHT),
    # does harm to what comes after it
    "dies a little later": (die_a_little_later, RIGHT),
    "stops as it takes the next text": (stop_as_it_takes_the_next_text, RIGHT),
    "removes a built-in": (remove_len, CRASHED),
    "breaks the encoder": (break_json, CRASHED),
    "leaks descriptors": (leak_descriptors, CRASHED),
    "leaks memory": (leak_memory, RIGHT),
    "limits the stack": (limit_the_stack, RIGHT),
    "exits in a thread": (raise_in_a_thread, RIGHT),
    "traces": (trace, CRASHED),
    "closes the standard streams": (closed_streams, RIGHT),
    "a folder that is gone": (in_a_removed_folder, RIGHT),
    "leaves a daemon behind": (start_a_daemon, RIGHT),
}


def misbehaving(text: str, sample: Sample) -> bool:
    """Do what the text says; right where the text is the reference.

    The latter needs some memory, so that it notices what was left in its process.
    """
    if text in MISBEHAVIOUR:
        return MISBEHAVIOUR[text][0]()  # type: ignore[return-value]
    return len(bytes(120 * 2**20)) > 0 and text == sample.reference


@dataclass(frozen=True)
class Quickly:
    """The same, decided in the caller's process."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict on `text`."""
        return Verdict.of(misbehaving(text, sample))

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        return Verdict.of(misbehaving(text, sample))


def outcome(verdict: Verdict) -> str:
    """The verdict as the table has it."""
    if verdict.correct is None:
        return UNJUDGED
    return RIGHT if verdict.failure is None else verdict.failure.value


@dataclass(frozen=True)
class Always:
    """Misbehaves whatever the text."""

    name: str

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return MISBEHAVIOUR[self.name][0]()  # type: ignore[return-value]


@dataclass(frozen=True)
class AlwaysQuickly(Always):
    """The same, in the caller's process."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        return Verdict.of(self(text, sample))


PERFECT = "the perfect reply"


def needs_the_perfect_reply(text: str, sample: Sample) -> bool:
    if text != PERFECT:
        raise ValueError(text)
    return True


def after_thinking(text: str, sample: Sample) -> bool:
    return text.split("</think>")[1].strip() == sample.reference


def whole_number(text: str, sample: Sample) -> bool:
    return text == str(int(sample.reference))


def unreadable(text: str, sample: Sample) -> Verdict:
    if text == "bad":
        raise ValueError(text)
    return Verdict.unjudged("the reference can't be read")


@dataclass(frozen=True)
class OnceOnly:
    """Crashes on the first text that it sees."""

    flag: str

    def __call__(self, text: str, sample: Sample, /) -> bool:
        if not os.path.exists(self.flag):
            open(self.flag, "x").close()
            os._exit(1)
        return text == sample.reference


class DecidesReferences:
    """Decides references in the caller's process; any other text needs a worker."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        return Verdict.right() if sample.reference in text else None


class NeedsMemory(DecidesReferences):
    def __call__(self, text: str, sample: Sample, /) -> bool:
        return len(bytearray(2**26)) > 0


class BrokenInWorkers(DecidesReferences):
    def __call__(self, text: str, sample: Sample, /) -> bool:
        raise ImportError("libfortran.so.9: cannot open shared object file")


class BrokenHere:
    """Works in workers alone: in the caller's process every text crashes."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        raise KeyError(text)

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return text == sample.reference
