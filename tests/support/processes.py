"""Other processes: those that a test may kill, and waiting for what they do."""

from __future__ import annotations

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


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition is true; pytest's timeout ends a wait in vain."""
    while not condition():
        time.sleep(0.02)
