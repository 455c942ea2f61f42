"""Landlock: a process gives up TCP, signals to others, and all files but the listed ones."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from rewardkit.confinement.syscalls import syscall

EXECUTE, READ_FILE, READ_DIR, WRITE_FILE, TRUNCATE = 1 << 0, 1 << 2, 1 << 3, 1 << 1, 1 << 14
READ = READ_FILE | READ_DIR
_OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # how many rights a version of the interface knows
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def version() -> int:
    """Return the version of the kernel's interface; 0 if Landlock is missing or switched off."""
    try:
        return syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def ruleset(rights: Iterable[tuple[str, int]]) -> int:
    """Return a descriptor of rights beneath paths. Missing paths are skipped."""
    abi = version()
    handled = (1 << max(count for first, count in _FILE_RIGHTS.items() if first <= abi)) - 1
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("QQQ", handled, _TCP, _SCOPES)[:size]
    rules = syscall("landlock_create_ruleset", attributes, size, 0)
    for path, allowed in rights:
        _allow(rules, path, allowed & handled)
    return rules


def restrict(rules: int) -> None:
    """Leave this process only these rights, for ever. `no_new_privs` must be set before."""
    syscall("landlock_restrict_self", rules, 0)


ALL = (1 << 13) - 1 | TRUNCATE
"""All rights but moving files between folders and controlling devices."""


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        allowed &= _OF_FILES
    syscall("landlock_add_rule", rules, 1, struct.pack("=Qi", allowed, descriptor), 0)
    os.close(descriptor)
