"""Make a call in a thread of its own where the caller's thread may raise between any two lines."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

T = TypeVar("T")

_NAMES = ("ALRM", "VTALRM", "PROF", "INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU")
_SIGNALS = [int(getattr(signal, f"SIG{name}")) for name in _NAMES if hasattr(signal, f"SIG{name}")]
"""Signals whose handlers raise in practice."""


class Abandoned(Exception):
    """The caller's thread has raised already, so nobody waits for the verdicts."""


@dataclass
class ThreadedCall(Generic[T]):
    """A call in another thread; `abandoned` once the thread that waits for it has raised."""

    result: T | None = None
    error: BaseException | None = None
    abandoned: bool = False

    def check(self) -> None:
        """Raise Abandoned if nobody waits for the call any more."""
        if self.abandoned:
            raise Abandoned


_this_thread = threading.local()


def running_call() -> ThreadedCall[object]:
    """Return the call that this thread makes; a call that is never abandoned if there is none."""
    call: ThreadedCall[object] = getattr(_this_thread, "call", None) or ThreadedCall()
    return call


def call_undisturbed(function: Callable[[], T]) -> T:
    """Call the function, in another thread if this thread may raise at any line."""
    return in_thread(function) if may_be_interrupted() or stack_is_short() else function()


def may_be_interrupted() -> bool:
    """Return whether a signal handler of the caller's may raise in this thread.

    Python's own handler of Ctrl-C doesn't count: no verifier is blamed for a KeyboardInterrupt.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return False
    handlers = map(_signal.getsignal, _SIGNALS)  # `signal.getsignal` makes enumerations: slow
    return any(
        callable(handler) and handler is not signal.default_int_handler for handler in handlers
    )


def stack_is_short() -> bool:
    """Return whether this thread has used half of the frames that the recursion limit allows.

    Near the limit any line may raise RecursionError, also a line that has just taken a lock.
    """
    try:
        sys._getframe(sys.getrecursionlimit() // 2)
    except ValueError:  # there are fewer frames
        return False
    return True


def in_thread(function: Callable[[], T]) -> T:
    """Return what the function returns, or raise what it raises, from another thread.

    Python runs signal handlers in the main thread, between any two instructions: there, the
    caller's own exceptions could appear inside a verifier.
    """
    call: ThreadedCall[T] = ThreadedCall()
    finished = _thread.allocate_lock()
    finished.acquire()

    def run() -> None:
        _this_thread.call = call
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
