"""What the caller, its keepers and their jobs send each other: who frames it, and who parses.

The caller sends an interpreter the socket to a new keeper and a file with what it is for; then
that keeper a request for each job, with a file as standard input, pipes for what comes of it, and
a socket where it is linked to a job in another jail. A keeper replies in JSON: its stage as it
starts, then how each job ended, or what failed. A job writes the kind and the content of its
result; two linked jobs send each other plain values, a line each (`plain.py`).
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Sequence
from typing import Any

RESULT, LINK = 3, 4
"""Descriptors of a job: a pipe for its result; a socket to the other jail."""

OPEN, KILL = b"open", b"kill"
"""Messages to an interpreter, and to a keeper about the job that it runs."""

LONGEST = 2**14
"""Bytes of a message."""


def memory_file(content: bytes) -> int:
    """Return a descriptor of a file in memory that can only be read."""
    with os.fdopen(os.memfd_create("rewardkit"), "wb") as file:
        file.write(content)
        file.flush()
        return os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY)


def read_all(descriptor: int) -> bytes:
    """Return what is left to read."""
    data = b""
    while piece := os.read(descriptor, 2**16):
        data += piece
    return data


def write_all(descriptor: int, message: bytes) -> None:
    """Write all of a message, however little a pipe takes at once."""
    left = memoryview(message)
    while left:
        left = left[os.write(descriptor, left) :]


def frame_request(cpu_seconds: float, wall_seconds: float, task: Sequence[str]) -> bytes:
    """Return the caller's request for a job: what it may take, what to do and with which words."""
    return marshal.dumps([cpu_seconds, wall_seconds, *task])


def parse_request(message: bytes) -> tuple[float, float, list[str]]:
    """Read a request in the keeper, which believes its caller."""
    cpu_seconds, wall_seconds, *task = marshal.loads(message)
    return cpu_seconds, wall_seconds, task


def frame_reply(**reply: object) -> bytes:
    """Return a keeper's message to the caller."""
    return json.dumps(reply).encode()


def parse_reply(message: bytes) -> dict[str, Any]:
    """Read it in the caller, which takes no more than JSON from a jail; none if it has ended."""
    reply: dict[str, Any] = json.loads(message or b"{}")
    return reply


def frame_result(kind: str, content: bytes = b"") -> bytes:
    """Return what a job says of itself."""
    return kind.encode() + b" " + content


def parse_result(result: bytes) -> tuple[str, bytes]:
    """Read it in the caller: the job may have forged it."""
    kind, _, content = result.partition(b" ")
    return kind[:20].decode(errors="replace"), content
