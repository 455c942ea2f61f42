"""Bytes in frames over a pipe or a socket, with a limit on what is read.

A frame is eight bytes of length, then its content. A reader refuses a frame over its limit before
reading the content, so a process that replies with gigabytes costs nothing.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import subprocess
import time

HEADER = struct.Struct("!Q")
READ_AT_ONCE = 2**16


class FrameError(Exception):
    """A frame that is over the reader's limit, or whose content the reader can't decode."""


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets, neither at the number of a standard stream that is closed.

    A child's own standard streams would take the place of a socket there.
    """
    first, second = socket.socketpair()
    return _above_standard(first), _above_standard(second)


def _above_standard(low: socket.socket) -> socket.socket:
    if low.fileno() > 2:
        return low
    with low:
        return socket.socket(fileno=fcntl.fcntl(low.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


def child_output() -> int:
    """Return where a child's output goes: to standard error, or nowhere if that is closed.

    The caller's standard output is for results.
    """
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


class FrameChannel:
    """Frames to and from another process, over a descriptor, which the caller closes.

    `limit` is the size in bytes of the largest frame that `receive` reads; None reads any.
    """

    def __init__(self, descriptor: int, *, limit: int | None = None) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._buffer = bytearray()

    def send(self, content: bytes, seconds: float | None = None) -> None:
        """Write a frame.

        Raises OSError when the other end is closed, and TimeoutError if it hasn't taken all of the
        frame after `seconds`; the descriptor must not block then.
        """
        end = None if seconds is None else time.monotonic() + seconds
        for part in (HEADER.pack(len(content)), content):
            left = memoryview(part)
            while left:
                try:
                    left = left[os.write(self._descriptor, left) :]
                except BlockingIOError:
                    self._wait(end, select.POLLOUT)

    def receive(self, seconds: float | None = None) -> bytes:
        """Return the content of the next frame.

        Raises TimeoutError after `seconds` without a whole frame (what has arrived is kept for the
        next call), EOFError when the other end is closed, and FrameError for a frame that is over
        the limit.
        """
        end = None if seconds is None else time.monotonic() + seconds
        self._fill(HEADER.size, end)
        size = HEADER.unpack_from(self._buffer)[0]
        if self._limit is not None and size > self._limit:
            raise FrameError(f"a reply of {size:,} bytes is over the limit of {self._limit:,}")
        whole = HEADER.size + size
        self._fill(whole, end)
        content = bytes(memoryview(self._buffer)[HEADER.size : whole])
        del self._buffer[:whole]
        return content

    def _fill(self, size: int, end: float | None) -> None:
        """Read until the buffer has at least `size` bytes."""
        while (missing := size - len(self._buffer)) > 0:
            self._wait(end, select.POLLIN)
            arrived = os.read(self._descriptor, max(missing, READ_AT_ONCE))
            if not arrived:
                raise EOFError("the other end is closed")
            self._buffer += arrived

    def _wait(self, end: float | None, event: int) -> None:
        if end is None:
            return
        poll = select.poll()
        poll.register(self._descriptor, event)
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            arrived = "arrived" if event == select.POLLIN else "was taken"
            raise TimeoutError(f"no complete frame {arrived} in time")
