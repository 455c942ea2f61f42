"""The messages between the caller, its keepers and their jobs: how they are framed and parsed.

The caller sends an interpreter the socket to a new keeper, and a file with the keeper's job. Then
the caller sends the keeper a request for each task, with a file as standard input, pipes for the
output, and for a linked job a socket to the job in the other jail. A keeper replies in JSON: its
stage as it starts, then how each job ended, or what failed. A job writes the kind and the content
of its result. Two linked jobs send each other plain values, each on a line (`plain.py`).
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Sequence
from typing import Any

RESULT, LINK = 3, 4
"""Descriptors of a job: a pipe for its result, and a socket to the other jail."""

OPEN, KILL = b"open", b"kill"
"""Messages to an interpreter, and to a keeper about its running job."""

LONGEST = 2**14
"""Bytes of a message."""


def memory_file(content: bytes) -> int:
    """Return a descriptor of a read-only file in memory."""
    with os.fdopen(os.memfd_create("rewardkit"), "wb") as file:
        file.write(content)
        file.flush()
        return os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY)


def read_all(descriptor: int) -> bytes:
    """Return all bytes up to the end."""
    data = b""
    while piece := os.read(descriptor, 2**16):
        data += piece
    return data


def write_all(descriptor: int, message: bytes) -> None:
    """Write all of a message."""
    left = memoryview(message)
    while left:
        left = left[os.write(descriptor, left) :]


def frame_request(cpu_seconds: float, wall_seconds: float, task: Sequence[str]) -> bytes:
    """Return the caller's request for a job: its time limits, and its task with arguments."""
    return marshal.dumps([cpu_seconds, wall_seconds, *task])


def parse_request(message: bytes) -> tuple[float, float, list[str]]:
    """Read a request in the keeper, which trusts its caller."""
    cpu_seconds, wall_seconds, *task = marshal.loads(message)
    return cpu_seconds, wall_seconds, task


def frame_reply(**reply: object) -> bytes:
    """Return a keeper's message to the caller."""
    return json.dumps(reply).encode()


def parse_reply(message: bytes) -> dict[str, Any]:
    """Read a reply in the caller, which takes only JSON from a jail. It is empty at the end."""
    reply: dict[str, Any] = json.loads(message or b"{}")
    return reply


def frame_result(kind: str, content: bytes = b"") -> bytes:
    """Return a job's message about its result."""
    return kind.encode() + b" " + content


def parse_result(result: bytes) -> tuple[str, bytes]:
    """Read a result in the caller. The job may have forged it."""
    kind, _, content = result.partition(b" ")
    return kind[:20].decode(errors="replace"), content
