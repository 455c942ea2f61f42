"""Judging in another thread, where the caller's own exceptions could appear inside a verifier.

Python runs signal handlers in the main thread, between any two instructions. If the caller has
installed one, or has used up most of its stack, another thread judges while the caller's waits.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

T = TypeVar("T")

_NAMES = ("ALRM", "VTALRM", "PROF", "INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU")
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")]
"""Signals whose handlers raise in practice: to ask for all takes as long as a verdict."""


class Abandoned(Exception):
    """The call has raised already, so that nobody waits for the verdicts."""


_running = threading.local()


@dataclass
class Call(Generic[T]):
    """A call in another thread; `abandoned` once the thread that waits for it has raised."""

    result: T | None = None
    error: BaseException | None = None
    abandoned: bool = False


def current_call() -> Call[object] | None:
    """The call of `in_thread` that this thread runs, if any."""
    call: Call[object] | None = getattr(_running, "call", None)
    return call


def may_be_interrupted() -> bool:
    """Whether a signal handler of the caller's may raise in this thread.

    Python's own handler of Ctrl-C is none: its KeyboardInterrupt is taken for no verifier's.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return False
    handlers = map(signal.getsignal, _SIGNALS)
    return any(callable(one) and one is not signal.default_int_handler for one in handlers)


def stack_is_short() -> bool:
    """Whether this thread has used half of the frames that the recursion limit allows.

    Near the limit any line may raise RecursionError, also one that has just taken a lock.
    """
    try:
        sys._getframe(sys.getrecursionlimit() // 2)
    except ValueError:  # there are fewer frames
        return False
    return True


def in_thread(function: Callable[[], T]) -> T:
    """Return what the function returns, or raise what it raises, from another thread."""
    call: Call[T] = Call()
    finished = _thread.allocate_lock()
    finished.acquire()

    def run() -> None:
        _running.call = call
        try:
            call.result = function()
        except BaseException as error:  # raised again in the caller's thread
            call.error = error
        finished.release()

    try:  # threading's own classes are not safe here: an exception may find their locks half taken
        _thread.start_new_thread(run, ())
        finished.acquire()
    finally:
        call.abandoned = True
    if call.error is not None:
        raise call.error
    return cast("T", call.result)
