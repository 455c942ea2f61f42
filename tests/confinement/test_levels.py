"""The level is the best that the kernel offers; nothing outlives a jail or its caller."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from rewardkit.confinement import (
    TOOLCHAIN,
    Budget,
    Isolation,
    Jail,
    Opaque,
    choose_isolation,
    plain,
    refusal,
)
from rewardkit.confinement.jobs import KeeperSocket
from rewardkit.confinement.plain import DEEPEST_NESTING, TooLarge, decode, encode
from rewardkit.errors import ConfinementError, UnknownName
from tests.confinement.hacking_programs import SEND, TRUNCATE
from tests.confinement.levels import CONFINING, works
from tests.support.processes import (
    children_of,
    command_line,
    descendants_of,
    is_running,
    wait_until,
)
from tests.support.programs import needed

REPOSITORY = Path(__file__).parents[2]
FORBID = """
import ctypes, errno, struct
from rewardkit.confinement.seccomp import _ARCHITECTURE
from rewardkit.confinement.syscalls import MACHINE, NUMBERS, SET_SECCOMP, syscall

def forbid(*names):
    '''No process from here on can make these calls: as on a kernel that lacks them.'''
    code = [(0x20, 0, 0, 0)]
    for name in names:
        code += [(0x15, 0, 1, NUMBERS[name]), (6, 0, 0, 0x50000 | errno.ENOSYS)]
    code = b"".join(struct.pack("HBBI", *one) for one in [*code, (6, 0, 0, 0x7FFF0000)])
    buffer = ctypes.create_string_buffer(code, len(code))
    syscall("prctl", 38, 1, 0, 0, 0)
    header = struct.pack("H6xQ", len(code) // 8, ctypes.addressof(buffer))
    syscall("prctl", SET_SECCOMP, 2, header, 0, 0)
"""
TRY = """
from rewardkit.confinement import Jail, choose_isolation
from rewardkit.errors import ConfinementError
try:
    with Jail(isolation="auto") as jail:
        print(jail.isolation, jail.run("print(1)").stdout)
except ConfinementError as error:
    print(error)
"""
NO_USER_NAMESPACES = """
import os
user = os.geteuid()
syscall("unshare", 0x10000000)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1")):
    open(f"/proc/self/{name}", "w").write(text)
open("/proc/sys/user/max_user_namespaces", "w").write("0")
"""


def output_of(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, check=True, timeout=120
    ).stdout


@pytest.mark.slow
def test_without_namespaces_the_level_is_landlock() -> None:
    works("landlock")
    assert output_of(FORBID + "forbid('unshare')" + TRY).strip() == "landlock b'1\\n'"


@pytest.mark.slow
def test_where_namespaces_are_used_up_the_level_is_landlock() -> None:
    works("namespaces")
    works("landlock")
    assert output_of(FORBID + NO_USER_NAMESPACES + TRY).strip() == "landlock b'1\\n'"


@pytest.mark.slow
def test_without_landlock_namespaces_confine_alone() -> None:
    works("namespaces")
    attempt = TRY.replace('"print(1)"', "\"open('/etc/passwd')\"").replace("stdout", "stderr")
    shown = output_of(FORBID + "forbid('landlock_create_ruleset')" + attempt)
    assert shown.startswith("namespaces")
    assert "FileNotFoundError" in shown


@pytest.mark.slow
def test_without_either_programs_are_refused_with_the_reasons() -> None:
    shown = output_of(FORBID + "forbid('unshare', 'landlock_create_ruleset')" + TRY)
    assert shown.startswith("programs can't be confined here (namespaces: ")
    assert "unshare: Function not implemented" in shown
    assert "this kernel has no Landlock" in shown
    assert "isolation='none'" in shown


def output_as_plain_user(script: str) -> str:
    python = needed("python3", "sudo apt-get install python3")  # one that every user may run
    with tempfile.TemporaryDirectory() as folder:  # and a copy that every user may read
        os.chmod(folder, 0o755)
        shutil.copytree(REPOSITORY / "rewardkit", f"{folder}/rewardkit")
        return subprocess.run(
            [python, "-B", "-c", f"import sys; sys.path.insert(0, {folder!r})\n" + script],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            cwd=folder,
            user=65534,
            group=65534,
            extra_groups=(),
        ).stdout


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.mark.slow
@only_root
def test_a_plain_user_reaches_the_same_levels() -> None:
    assert output_as_plain_user(TRY).strip() == f"{choose_isolation()} b'1\\n'"


ATTACK = """
import pathlib, socket, tempfile
from rewardkit.confinement import Jail
for level in {levels}:
    folder = tempfile.mkdtemp()
    kept, path = pathlib.Path(folder, "kept"), folder + "/socket"
    kept.write_text("kept")
    host = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    host.bind(path)
    host.setblocking(False)
    with Jail(isolation=level, readable=[folder]) as jail:
        for script in {scripts}:
            jail.run(script.format(paths=[path, str(kept)]))
    try: print("received", host.recv(10))
    except BlockingIOError: print(kept.read_text())
"""


@pytest.mark.slow
@only_root
def test_a_plain_users_files_and_sockets_are_out_of_reach() -> None:
    levels = [level for level in CONFINING if refusal(level) is None]
    shown = output_as_plain_user(ATTACK.format(levels=levels, scripts=[SEND, TRUNCATE]))
    assert shown.split() == ["kept"] * len(levels)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'landlock'"):
        choose_isolation("landlok")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"stage": "ready"}], {"ended": "signal", "status": signal.SIGKILL}),
        ([{"stage": "ready"}, {"stage": "loaded"}], {"failed": "its keeper ended by itself"}),
        ([{"failed": "no"}], {"failed": "no"}),
        ([], {"failed": "its keeper ended by itself"}),
    ],
)
def test_a_keeper_that_ends_as_it_compiles_is_the_programs_fault(
    messages: list[dict[str, str]], said: dict[str, object]
) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.send(b"run")  # it is not read, so the other end's last message comes with a reset
    for message in messages:
        theirs.send(json.dumps(message).encode())
    theirs.close()
    with ours:
        keeper = KeeperSocket(ours, Budget())
        while (reply := keeper.reply()) is None:
            pass
        assert reply == said


def test_a_jail_that_is_not_open_is_refused() -> None:
    with pytest.raises(ConfinementError, match="use it in a `with` statement"):
        Jail(isolation="none").run("")


def deep(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [object(), len, deep(DEEPEST_NESTING), [type], "x" * 2**24, iter(int, 1), [0] * 2**22]
)
def test_other_values_do_not_cross(value: object) -> None:
    with pytest.raises(Opaque):
        encode(value)


@pytest.mark.parametrize(
    "text",
    ["", "[", "{}", '{"list": 1, "set": 2}', '{"eval": "1"}', '{"set": [[1]]}', '{"int": 5}',
     '{"bytes": "€"}', '{"dict": [[1], []]}', "[" * 10**5, "9" * 5000, '{"complex": [1, 2, 3]}',
     f'{{"set": {list(range(0, 3000 * (2**61 - 1), 2**61 - 1))}}}', '{"range": [0, 1, 1]}',
     '{"ndarray": ["<f8", [1], [1]]}', '{"Decimal": "sNaN"}', '{"Decimal": "x"}',
     '{"Fraction": [1, 0]}', '{"Fraction": [1, {"int": "0x1' + "0" * 9999 + '"}]}',
     '{"date": "2024-13-01"}', '{"timedelta": [1e99]}', '{"deque": [[], -1]}'],
)  # fmt: skip
def test_forged_texts_are_refused(text: str) -> None:
    with pytest.raises(Opaque):
        decode(text.encode())


@pytest.fixture
def few_values(monkeypatch: pytest.MonkeyPatch) -> int:
    """A text may hold a 256th of the usual number of values: larger texts take time."""
    for name in ("MOST_VALUES", "MOST_CONTAINERS"):
        monkeypatch.setattr(plain, name, getattr(plain, name) // 256)
    return plain.MOST_VALUES


@pytest.mark.parametrize(
    "part", ["[]", "[[[[[1]]]]]", "1", '""', '{"dict": [[], []]}', '{"set": [1]}']
)
def test_a_text_of_many_values_is_refused_before_it_is_read(
    part: str, few_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"[{','.join([part] * few_values)}, 1]".encode()
    monkeypatch.setattr(f"{plain.__name__}.json", None)
    with pytest.raises(TooLarge):
        decode(text)


@pytest.mark.parametrize(
    "value",
    ["[,{" * 2**13, '"' * 2**14, "\\" * 2**14, ["a,b,[" * 2**12] * 2],
    ids=["[", '"', "\\", "a"],
)
def test_commas_and_brackets_of_texts_are_no_values(value: object, few_values: int) -> None:
    assert decode(encode(value)) == value


@pytest.mark.slow
@pytest.mark.parametrize("level", [*CONFINING, "none"])
def test_a_compiled_program_runs_without_reach(level: Isolation) -> None:
    needed("g++", "sudo apt-get install g++")
    source = b"""
#include <cstdio>
#include <unistd.h>
int main() {
    int number;
    scanf("%d", &number);
    printf("%d %d %d", 2 * number, fork() < 0, fopen("file", "w") == nullptr);
}"""
    budget = Budget(memory=2**31)
    with Jail(
        isolation=level if level == "none" else works(level), readable=TOOLCHAIN, budget=budget
    ) as jail:
        built = jail.build(["g++", "main.cpp", "-o", "main"], {"main.cpp": source})
        assert (built.ended, built.status) == ("exit", 0), built.stderr.decode()
        assert jail.execute(["./main"], b"21").stdout.startswith(b"42")
        assert jail.execute(["./main"], b"21").stdout == b"42 1 1" or level == "none"
        assert jail.build(["g++", "main.cpp"], {"main.cpp": b"int main() {"}).status == 1


CALLER = """
import os, sys
from rewardkit.confinement import Budget, Jail
with Jail(isolation=sys.argv[1], budget=Budget(cpu_seconds=60, wall_seconds=60)) as jail:
    jail.run("")
    if os.fork() == 0:  # a child that lives on holds nothing of the jail
        import time; time.sleep(60); os._exit(0)
    print("ready", flush=True)
    jail.run("while True: pass")
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", CONFINING)
def test_nothing_outlives_a_caller_that_is_killed(level: Isolation) -> None:
    works(level)
    command = [sys.executable, "-c", CALLER, level]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"ready\n"
        wait_until(lambda: len(descendants_of(caller.pid)) >= 4)  # also the child, keeper, program
        started = descendants_of(caller.pid)
        (forked,) = (pid for pid in started if b"os.fork()" in command_line(pid))
        caller.kill()
    try:
        wait_until(lambda: not any(is_running(pid) for pid in started - {forked}))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(forked, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("level", CONFINING)
def test_a_killed_interpreter_is_replaced(level: Isolation) -> None:
    with Jail(isolation=works(level)) as jail:
        jail.run("")
        arguments = f"\0{level}\0[]\0{{}}\0".encode()
        (interpreter,) = (
            pid for pid in children_of(os.getpid()) if command_line(pid).endswith(arguments)
        )
        os.kill(interpreter, signal.SIGKILL)
    wait_until(lambda: not is_running(interpreter))
    with Jail(isolation=level) as jail:
        assert jail.run("print(1)").stdout == b"1\n"


@pytest.mark.slow
def test_jails_open_from_threads_and_from_asyncio() -> None:
    def run(number: int) -> bytes:
        with Jail() as jail:
            return jail.run("print(input())", str(number).encode()).stdout

    async def run_all() -> list[bytes]:
        return await asyncio.gather(*(asyncio.to_thread(run, number) for number in range(8)))

    assert asyncio.run(run_all()) == [f"{number}\n".encode() for number in range(8)]


FORK = """
import os
from rewardkit.confinement import Jail
with Jail() as jail:
    if os.fork() == 0:
        with Jail() as own:
            print(own.run("print(2)").stdout, flush=True)
        os._exit(0)
    os.wait()
    print(jail.run("print(1)").stdout)
"""


@pytest.mark.slow
def test_a_forked_child_opens_jails_of_its_own() -> None:
    command = [sys.executable, "-W", "error", "-c", FORK]
    result = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=120)
    assert (result.stdout, result.stderr) == ("b'2\\n'\nb'1\\n'\n", "")


def ticks(pid: int) -> int:
    """What a process has computed; 0 if it has ended."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    return 0


@pytest.mark.slow
def test_an_interrupt_closes_the_jail() -> None:
    with Jail(budget=Budget(cpu_seconds=60, wall_seconds=60)) as jail:
        jail.run("")
        before = descendants_of(os.getpid())

        def interrupt() -> None:
            wait_until(lambda: any(ticks(pid) > 10 for pid in descendants_of(os.getpid()) - before))
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            jail.run("while True: pass")
        with pytest.raises(ConfinementError):
            jail.run("")
