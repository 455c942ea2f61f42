"""Seccomp: the system calls that a judged program may make. Every other call fails with EPERM."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable, Iterable, Sequence

from rewardkit.confinement.syscalls import (
    MACHINE,
    NUMBERS,
    SET_DEATH_SIGNAL,
    SET_SECCOMP,
    numbers,
    prctl,
)

# Left out on purpose: sockets but for pairs of streams, ptrace and its kin, namespaces and mounts,
# keys, bpf, io_uring, shared memory that outlives a process, memfd (not counted as memory), setsid
# and setpgid, modes, owners, times and locks of files (Landlock does not restrict those).
_ALLOWED = numbers("allowed_calls.txt")
_KEEPERS = ["fork", "setsid", "recvmsg", "pidfd_open"]
_OF_PROCESSES = ["kill", "tgkill", "getpgid", "getsid", "sched_getaffinity"]
_EXTRA = {
    "keeper": [*_OF_PROCESSES, *_KEEPERS],
    "execute": ["execve"],
    "build": ["execve", "fork", "vfork", "chmod", "fchmod", "fchmodat"],
}

_FCNTL = (0, 1, 2, 3, 4, 1030, 1031, 1032)  # no locks, and no signals to the owner of a file
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal? how much is there?
_PRCTL = (15, 16, 0x53564D41)  # names of threads and of memory
_THREAD, _NEW_NAMESPACES = 0x10000, 0x7E020080
_LOCAL, _STREAM, _SOCKET_FLAGS = 1, 1, os.O_NONBLOCK | os.O_CLOEXEC
_CLOCKS_OF_OTHERS = 0x80000000  # the number of a process, inverted, but for a thread's own clock
_CLOCK_OF_THREAD = 4

_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_DENY, _MISSING = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

OWN = 0x7FFFFFFF
"""In a filter, this stands for the number of the process that installs the filter."""

Instruction = tuple[int, int, int, int]


def _when(call: str, body: list[Instruction]) -> list[Instruction]:
    """Run `body`, which must return, for this call, if the machine has the call."""
    return [(_EQUAL, 0, len(body), NUMBERS[call]), *body] if call in NUMBERS else []


def _argument_in(index: int, values: Iterable[int], mask: int = 0xFFFFFFFF) -> list[Instruction]:
    return [(_LOAD, 0, 0, 16 + 8 * index), (_AND, 0, 0, mask), *_search(_runs(values))]


def _runs(values: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of consecutive values, in order."""
    runs: list[tuple[int, int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def _search(runs: list[tuple[int, int]]) -> list[Instruction]:
    """Allow the values in the runs, by a binary search: the kernel tries every call once."""
    if len(runs) == 1:
        within = [(_AT_LEAST, 0, 2, runs[0][0]), (_ABOVE, 1, 0, runs[0][1])]
        return [*within, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
    middle = len(runs) // 2
    lower = _search(runs[:middle])
    return [(_AT_LEAST, len(lower), 0, runs[middle][0]), *lower, *_search(runs[middle:])]


def _clone_flags(mask: int, wanted: int) -> list[Instruction]:
    return _argument_in(0, [wanted], mask)


def _opens(flags: int) -> list[Instruction]:
    """Allow opening to read or to write, and truncating only to write.

    Landlock's first versions check neither the fourth access mode nor a truncating open to read.
    """
    ways = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC]
    return _argument_in(flags, ways, os.O_ACCMODE | os.O_TRUNC)


def _pairs_of_streams() -> list[Instruction]:
    """Allow pairs of streams. A datagram socket could send to any other on the machine."""
    kind = _argument_in(1, [_STREAM], 0xFFFFFFFF ^ _SOCKET_FLAGS)
    return [(_LOAD, 0, 0, 16), (_EQUAL, 1, 0, _LOCAL), (_RETURN, 0, 0, _DENY), *kind]


def _without_address() -> list[Instruction]:
    """Allow sending only to a socket's peer: both words of the address are 0."""
    low, high = 16 + 8 * 4, 20 + 8 * 4
    first = [(_LOAD, 0, 0, low), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _DENY)]
    return [*first, (_LOAD, 0, 0, high), *_search([(0, 0)])]


def _clocks() -> list[Instruction]:
    """Allow clocks of the machine and of this process, but not of other processes."""
    clocks = [0, _CLOCK_OF_THREAD, _CLOCKS_OF_OTHERS | _CLOCK_OF_THREAD]
    return _argument_in(0, clocks, _CLOCKS_OF_OTHERS | _CLOCK_OF_THREAD)


def listed(kind: str, process: int = OWN) -> list[Instruction]:
    """Return the filter for a process of a kind, whose number is `process`.

    A "keeper" may start processes and signal them. "build" may start processes and programs.
    "execute" may start threads, and become a program once. The last two see and signal only
    themselves.
    """
    keeper = kind == "keeper"
    prctl = (*_PRCTL, SET_SECCOMP, SET_DEATH_SIGNAL) if keeper else _PRCTL
    flags = (_THREAD, _THREAD) if kind == "execute" else (_NEW_NAMESPACES, 0)
    return [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURE[MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        *([] if keeper else _itself(process)),
        *_when("open", _opens(1)),
        *_when("openat", _opens(2)),
        *_when("socketpair", _pairs_of_streams()),
        *_when("sendto", _without_address()),
        *[
            instruction
            for call in ("clock_gettime", "clock_getres", "clock_nanosleep")
            for instruction in _when(call, _clocks())
        ],
        *_when("fcntl", _argument_in(1, _FCNTL)),
        *_when("ioctl", _argument_in(1, _IOCTL)),
        *_when("prctl", _argument_in(0, prctl)),
        *_when("prlimit64", _argument_in(0, [0])),
        *_when("clone", _clone_flags(*flags)),
        *_when("clone3", [(_RETURN, 0, 0, _MISSING)]),  # libraries then call clone
        *_search(_runs([*_ALLOWED.values(), *_known(_EXTRA[kind])])),
    ]


def lasting(process: int = OWN) -> list[Instruction]:
    """Return what a keeper's fork, whose number is `process`, adds to the keeper's filter."""
    denied = [(_EQUAL, 0, 1, number) for number in _known(_KEEPERS)]
    return [
        (_LOAD, 0, 0, 0),
        *_itself(process),
        *_when("clone", _clone_flags(_THREAD, _THREAD)),
        *_when("prctl", _argument_in(0, _PRCTL)),
        *[instruction for test in denied for instruction in (test, (_RETURN, 0, 0, _DENY))],
        (_RETURN, 0, 0, _ALLOW),
    ]


def _known(names: Iterable[str]) -> list[int]:
    return [NUMBERS[name] for name in names if name in NUMBERS]


def _itself(process: int) -> list[Instruction]:
    """Allow a process to signal and see only itself and its group, which has no other process."""
    return [
        instruction
        for call in _OF_PROCESSES
        for instruction in _when(call, _argument_in(0, [process, 0]))
    ]


def installer(filters: Sequence[Instruction]) -> Callable[[], None]:
    """Return a function that installs a filter for the calling process, for ever.

    All but the process's number is prepared before a fork, to save each fork the time.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in filters)
    program = ctypes.create_string_buffer(code, len(code))
    address = struct.pack("H6xQ", len(filters), ctypes.addressof(program))
    header = ctypes.create_string_buffer(address, len(address))
    places = [8 * index + 4 for index, instruction in enumerate(filters) if instruction[3] == OWN]
    words = memoryview(program).cast("B").cast("I")

    def install() -> None:
        process = os.getpid()
        for place in places:
            words[place // 4] = process
        prctl(SET_SECCOMP, 2, ctypes.addressof(header))

    return install
