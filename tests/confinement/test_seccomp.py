"""The filters of system calls say the same on both architectures; none of them runs here."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50001, 0x50026
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}
OWN, OTHER = 1000, 1001
THREAD = 0x3D0F00  # the flags of pthread_create
FORK = 0x1200011
NEW_USER = 0x10000000
LOW = 0xFFFFFFFF


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An architecture, for which the modules are loaded again."""
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    for name in ("syscalls", "seccomp"):
        monkeypatch.delitem(sys.modules, f"rewardkit.confinement.{name}", raising=False)
    return str(request.param)


@pytest.fixture
def seccomp(machine: str) -> ModuleType:
    return importlib.import_module("rewardkit.confinement.seccomp")


def verdict(
    program: Sequence[tuple[int, int, int, int]], machine: str, call: int, *arguments: int
) -> int:
    """What a filter returns for a call: the instructions of classic BPF that ours uses."""
    words = {0: call, 4: ARCHITECTURES[machine]}
    for index in range(6):
        argument = (*arguments, *[0] * 6)[index]
        words[16 + 8 * index], words[20 + 8 * index] = argument & LOW, argument >> 32 & LOW
    accumulator = place = 0
    while True:
        code, if_true, if_false, value = program[place]
        place += 1
        if code == 0x20:
            accumulator = words[value]
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return value
        else:
            test = {
                0x15: accumulator == value,
                0x25: accumulator > value,
                0x35: accumulator >= value,
            }
            place += if_true if test[code] else if_false


@pytest.mark.parametrize(
    ("call", "arguments", "keeper", "program"),
    [
        ("read", (), ALLOWED, ALLOWED),
        ("openat", (), ALLOWED, ALLOWED),
        ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC), ALLOWED, ALLOWED),
        ("openat", (0, 0, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), ALLOWED, ALLOWED),
        ("openat", (0, 0, os.O_RDONLY | os.O_TRUNC), EPERM, EPERM),
        ("openat", (0, 0, os.O_RDONLY | os.O_CREAT | os.O_TRUNC), EPERM, EPERM),
        ("openat", (0, 0, os.O_ACCMODE), EPERM, EPERM),
        ("socketpair", (1, 1), ALLOWED, ALLOWED),
        ("socketpair", (1, 1 | os.O_CLOEXEC | os.O_NONBLOCK), ALLOWED, ALLOWED),
        (
            "socketpair",
            (1 << 32 | 1, 2 << 32 | 1),
            ALLOWED,
            ALLOWED,
        ),
        ("socketpair", (1, 2), EPERM, EPERM),
        ("socketpair", (1, 2 | os.O_CLOEXEC), EPERM, EPERM),
        ("socketpair", (1, 3), EPERM, EPERM),
        ("socketpair", (1, 5), EPERM, EPERM),
        ("socketpair", (2, 1), EPERM, EPERM),
        ("socketpair", (16, 1), EPERM, EPERM),
        ("sendto", (4, 0x1000, 5, 0, 0, 0), ALLOWED, ALLOWED),
        ("sendto", (4, 0x1000, 5, 0, 0x1000, 10), EPERM, EPERM),
        ("sendto", (4, 0x1000, 5, 0, 1 << 32, 10), EPERM, EPERM),
        ("sendmsg", (), EPERM, EPERM),
        ("sendmmsg", (), EPERM, EPERM),
        ("getsid", (0,), ALLOWED, ALLOWED),
        ("getsid", (OTHER,), ALLOWED, EPERM),
        ("getpgid", (OTHER,), ALLOWED, EPERM),
        ("sched_getaffinity", (OWN,), ALLOWED, ALLOWED),
        ("sched_getaffinity", (OTHER,), ALLOWED, EPERM),
        ("clock_gettime", (1,), ALLOWED, ALLOWED),
        ("clock_gettime", (~OWN << 3 | 6,), ALLOWED, ALLOWED),
        ("clock_gettime", (~OTHER << 3 | 2,), EPERM, EPERM),
        ("clock_getres", (~OTHER << 3,), EPERM, EPERM),
        ("clock_nanosleep", (~OTHER << 3 | 2,), EPERM, EPERM),
        ("restart_syscall", (), ALLOWED, ALLOWED),
        ("clone", (THREAD,), ALLOWED, ALLOWED),
        ("clone", (FORK,), ALLOWED, EPERM),
        ("clone", (FORK | NEW_USER,), EPERM, EPERM),
        ("clone3", (), ENOSYS, ENOSYS),
        ("setsid", (), ALLOWED, EPERM),
        ("recvmsg", (), ALLOWED, EPERM),
        ("pidfd_open", (), ALLOWED, EPERM),
        ("kill", (OWN,), ALLOWED, ALLOWED),
        ("kill", (0,), ALLOWED, ALLOWED),
        ("kill", (OTHER,), ALLOWED, EPERM),
        ("kill", (-1,), ALLOWED, EPERM),
        ("tgkill", (OWN,), ALLOWED, ALLOWED),
        ("tgkill", (OTHER,), ALLOWED, EPERM),
        ("fcntl", (0, 1), ALLOWED, ALLOWED),
        ("fcntl", (0, 8), EPERM, EPERM),
        ("prctl", (15,), ALLOWED, ALLOWED),
        ("prctl", (22,), ALLOWED, EPERM),
        ("prctl", (36,), EPERM, EPERM),
        ("prlimit64", (0,), ALLOWED, ALLOWED),
        ("prlimit64", (OTHER,), EPERM, EPERM),
        ("unshare", (), EPERM, EPERM),
        ("mount", (), EPERM, EPERM),
        ("execve", (), EPERM, EPERM),
        ("ptrace", (), EPERM, EPERM),
        ("socket", (), EPERM, EPERM),
        ("io_uring_setup", (), EPERM, EPERM),
    ],
)
def test_a_call_is_allowed_or_not(
    seccomp: ModuleType,
    machine: str,
    call: str,
    arguments: tuple[int, ...],
    keeper: int,
    program: int,
) -> None:
    others = {"ptrace": (101, 117), "socket": (41, 198), "io_uring_setup": (425, 425)}
    others |= {"sendmsg": (46, 211), "sendmmsg": (307, 269)}
    known = {**seccomp._ALLOWED, **seccomp.NUMBERS}
    number = known.get(call, others.get(call, (0, 0))[machine == "aarch64"])
    first = verdict(seccomp.listed("keeper"), machine, number, *arguments)
    second = verdict(seccomp.lasting(OWN), machine, number, *arguments)
    assert first == keeper
    assert (first if first != ALLOWED else second) == program
    compiled = verdict(seccomp.listed("execute", OWN), machine, number, *arguments)
    assert compiled == (ALLOWED if call == "execve" else program)


def test_calls_of_another_architecture_kill(seccomp: ModuleType, machine: str) -> None:
    other = next(name for name in ARCHITECTURES if name != machine)
    assert verdict(seccomp.listed("keeper"), other, 0) == KILLED
    assert verdict(seccomp.listed("execute", OWN), other, 0) == KILLED


def header_of(machine: str) -> str:
    """The text of the header; without it, the test fails in CI with the command that installs it,
    and is skipped elsewhere."""
    header = Path(HEADERS[machine])
    if not header.exists():
        comes_with_debian = machine != "x86_64" or os.uname().machine == machine
        lacking = pytest.fail if os.environ.get("CI") and comes_with_debian else pytest.skip
        lacking(f"needs {header}; run: sudo scripts/install-programs")
    return header.read_text()


@pytest.mark.parametrize(("ci", "ending"), [("1", pytest.fail), ("", pytest.skip)])
def test_a_missing_header_fails_in_ci_with_the_command_that_installs_it(
    ci: str, ending: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setitem(HEADERS, "aarch64", str(tmp_path / "unistd.h"))
    with pytest.raises(ending.Exception, match="run: sudo scripts/install-programs"):  # type: ignore[attr-defined]
        header_of("aarch64")


def test_every_number_is_the_kernels(machine: str) -> None:
    rows = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header_of(machine))
    kernels = {name: int(number) for name, number in rows}
    kernels.setdefault("newfstatat", kernels.get("fstatat", -1))
    ours = importlib.import_module("rewardkit.confinement.seccomp")
    for name, number in {**ours._ALLOWED, **ours.NUMBERS}.items():
        assert kernels[name] == number, name
