"""Signal handlers of the caller's: what they raise is the caller's, not a verifier's.

Python runs them in the main thread, between any two instructions. Where the caller has installed
one, another thread judges while the main thread waits.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

_NAMES = ("ALRM", "VTALRM", "PROF", "INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU")
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")]
"""Signals whose handlers raise in practice: to ask for all takes as long as a verdict."""


class Abandoned(Exception):
    """The call has raised already, so that nobody waits for the verdicts."""


class _JudgingThread(threading.Thread):
    abandoned = False


def is_abandoned(thread: threading.Thread) -> bool:
    """Whether the thread judges for a call that a signal handler has ended."""
    return isinstance(thread, _JudgingThread) and thread.abandoned


def may_be_interrupted() -> bool:
    """Whether a signal handler of the caller's may raise in this thread.

    Python's own handler of Ctrl-C is none: its KeyboardInterrupt is taken for no verifier's.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    handlers = map(signal.getsignal, _SIGNALS)
    return any(callable(one) and one is not signal.default_int_handler for one in handlers)


def in_thread(function: Callable[[], T]) -> T:
    """Return what the function returns, or raise what it raises, from another thread."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # raised again in the caller's thread
            future.set_exception(error)

    thread = _JudgingThread(target=run, daemon=True)
    thread.start()
    try:
        return future.result()
    finally:
        thread.abandoned = True
