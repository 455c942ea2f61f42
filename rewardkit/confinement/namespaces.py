"""Namespaces: a process tree with users, files, a network and process numbers of its own."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterable

from rewardkit.confinement.syscalls import syscall

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_NEW_NAMES, _NEW_IPC, _NEW_PROCESSES, _NEW_NETWORK = 0x4000000, 0x8000000, 0x20000000, 0x40000000
_SHARED = _NEW_USER | _NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_NETWORK
_READ_ONLY, _NO_SUID, _NO_DEVICES, _REMOUNT, _NO_ACCESS_TIMES, _BIND = 1, 2, 4, 32, 1024, 4096
_RECURSIVE, _PRIVATE, _RELATIVE_TIMES = 16384, 1 << 18, 1 << 21
_KEPT = 2 | 4 | 8 | 1024 | 2048  # flags that a mount in a user namespace must keep
_DETACH = 2
_ROOT = "/dev"  # any folder that exists: the new root is mounted over it
_DEVICES = ("/dev/null", "/dev/urandom")
_USER = 65534

WRITABLE = "/tmp"
"""The folder where a judged program may write. It is empty at first."""
SCRATCH = "/rewardkit-build"
"""The folder of builds and their results."""
_ASIDE = "/rewardkit-packages"
_covered: list[str] = []
"""Readable folders below WRITABLE, which each jail covers. _ASIDE has them, too."""


def enter(readable: Iterable[str]) -> None:
    """Become a user of a new namespace, who sees only `readable`, read-only.

    OSError if the kernel refuses a step.
    """
    user, group = os.geteuid(), os.getegid()
    syscall("unshare", _SHARED)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_USER} {user} 1")
    _write("/proc/self/gid_map", f"{_USER} {group} 1")
    socket.sethostname("jail")
    _change_root(readable)


def fork() -> int:
    """Fork a child that is process 1 of a new namespace, with its own mounts.

    When the child ends, all other processes there end. No other call forks process 1 in one step.
    """
    return syscall("clone", _NEW_PROCESSES | _NEW_MOUNTS | signal.SIGCHLD, 0, 0, 0, 0)


def mount_tmpfs(path: str, size: int) -> None:
    """Mount an empty folder in memory. Reading it leaves no trace."""
    flags = _NO_SUID | _NO_DEVICES | _NO_ACCESS_TIMES
    options = f"size={size},nr_inodes=4096,mode=755".encode()
    syscall("mount", b"tmpfs", path.encode(), b"tmpfs", flags, options)


def mount_writable(size: int) -> None:
    """Mount an empty WRITABLE of at most `size` bytes. Readable folders below it stay."""
    mount_tmpfs(WRITABLE, size)
    for path in _covered:
        os.mkdir(path)
        syscall("mount", (_ASIDE + path).encode(), path.encode(), None, _BIND | _RECURSIVE, None)
        make_read_only(path)


def make_read_only(path: str) -> None:
    """Make a mount read-only."""
    status = os.statvfs(path).f_flag
    flags = status & _KEPT | (_RELATIVE_TIMES if status & 4096 else 0)
    every = _BIND | _REMOUNT | _READ_ONLY | _NO_SUID | flags
    syscall("mount", None, path.encode(), None, every, None)


def _change_root(readable: Iterable[str]) -> None:
    sources = {path: os.open(path, os.O_PATH) for path in (*_outermost(readable), *_DEVICES)}
    syscall("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
    mount_tmpfs(_ROOT, 2**20)
    lying = {path for path in sources if path.startswith(f"{WRITABLE}/")}
    _covered[:] = {"/".join(path.split("/")[:3]) for path in lying}
    for path, descriptor in sources.items():
        for target in (path, _ASIDE + path) if path in lying else (path,):
            _bind(descriptor, _ROOT + target, is_file=path in _DEVICES)
        os.close(descriptor)
    for folder in (WRITABLE, SCRATCH):
        if folder in sources:
            raise OSError(f"Python or a package is {folder}, which programs must find empty")
        os.makedirs(_ROOT + folder, exist_ok=True)
    os.chdir(_ROOT)
    syscall("pivot_root", b".", b".")
    syscall("umount2", b".", _DETACH)
    os.chdir("/")
    make_read_only("/")


def _bind(descriptor: int, target: str, *, is_file: bool) -> None:
    """Mount an open file or folder at `target`, read-only."""
    if is_file:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write(target, "")
    else:
        os.makedirs(target, exist_ok=True)
    source = f"/proc/self/fd/{descriptor}".encode()
    syscall("mount", source, target.encode(), None, _BIND | _RECURSIVE, None)
    make_read_only(target)


def _outermost(paths: Iterable[str]) -> list[str]:
    """The existing folders that are not inside another of them, sorted."""
    outermost: list[str] = []
    for path in sorted(filter(os.path.isdir, paths)):
        if not any(path == top or path.startswith(top + "/") for top in outermost):
            outermost.append(path)
    return outermost


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
