"""System calls that Python lacks, on Linux with x86_64 and aarch64."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

MACHINE = platform.machine()


def numbers(table: str) -> dict[str, int]:
    """Return this machine's numbers from a file with the columns "name x86_64 aarch64"."""
    with open(os.path.join(os.path.dirname(__file__), table), encoding="ascii") as file:
        rows = [line.split() for line in file]
    column = {"x86_64": 1, "aarch64": 2}.get(MACHINE)
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"} if column else {}


NUMBERS = numbers("conditional_calls.txt")
"""The calls that confine a process, and the calls that are allowed under conditions."""

_LIBC = ctypes.PyDLL(None, use_errno=True)  # holds the interpreter's lock: `clone` needs that


def syscall(name: str, *arguments: int | bytes | None) -> int:
    """Return the call's result. OSError names the call if the kernel refuses it."""
    if name not in NUMBERS:
        raise OSError(f"{name}: unknown on {platform.system()} {MACHINE}")
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(_LIBC.syscall(ctypes.c_long(NUMBERS[name]), *values))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def fork() -> int:
    """Fork without Python's handlers, which take a fifth of a job's time and serve threads only."""
    child = int(_LIBC.fork())
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return child


_PRCTL = _LIBC.prctl
_PRCTL.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)


def prctl(option: int, second: int, third: int = 0) -> None:
    """Call prctl(2) for this process. OSError if the kernel refuses it."""
    if _PRCTL(option, second, third, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


SET_DEATH_SIGNAL, SET_SECCOMP, SET_SUBREAPER, SET_NO_NEW_PRIVILEGES = 1, 22, 36, 38
"""Options of prctl(2)."""


def drop_capabilities() -> None:
    """Give up every capability, for ever."""
    prctl(SET_NO_NEW_PRIVILEGES, 1)
    syscall("capset", struct.pack("Ii", 0x20080522, 0), bytes(24))
