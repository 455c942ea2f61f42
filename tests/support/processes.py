"""Other processes: those that a test may kill, and waiting for what they do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def children_of(parent: int, command: str = "") -> list[int]:
    """The running children of a process whose command line holds `command`, oldest first."""
    children = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent_id = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        if int(parent_id) == parent and state != "Z" and command in line:
            children.append(int(folder.name))
    return sorted(children)


def descendants_of(ancestor: int) -> set[int]:
    """The running processes that a process has started, directly or not."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if fields[0] not in "ZX":
            parents[int(folder.name)] = int(fields[1])
    found = {ancestor}
    while grown := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= grown
    return found - {ancestor}


def command_line(pid: int) -> bytes:
    """A process's command line, empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def the_fork_server() -> int:
    """The only fork server of workers that this process has started."""
    (server,) = children_of(os.getpid(), "judging.fork_server")
    return server


def is_running(pid: int) -> bool:
    """Whether a process runs: not if it is gone, or waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition is true; pytest's timeout ends a wait in vain."""
    while not condition():
        time.sleep(0.02)
