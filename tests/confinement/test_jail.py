"""What a program gets and gives in a jail, on every level."""

from __future__ import annotations

import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.confinement import Budget, Isolation, Jail
from tests.confinement.hacking_programs import SEND, TRUNCATE
from tests.confinement.levels import CONFINING, FIRST_LANDLOCK, opened, works

pytestmark = pytest.mark.slow  # starts processes


@pytest.fixture(params=[*CONFINING, "none"], scope="module")
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    level: Isolation = request.param
    with Jail(
        isolation=level if level == "none" else works(level), budget=Budget(memory=2**29)
    ) as jail:
        yield jail


@pytest.mark.parametrize(
    "source",
    [
        "print(input()); print(input())",
        "import sys; print(sys.stdin.read(), end='')",
        "import sys\nfor line in sys.stdin: print(line, end='')",
        "import sys; print(sys.stdin.readline(), end=''); print(sys.stdin.readline(), end='')",
        "import sys; print(sys.stdin.buffer.readline().decode() + input())",
        "print(open(0).read(), end='')",
        "import os; os.write(1, os.read(0, 100))",
        "import threading as t; t.stack_size(2**26); "
        "t.Thread(target=lambda: print(open(0).read(), end='')).start()",
        "import fileinput\nfor line in fileinput.input(): print(line, end='')",
        "import io, sys; sys.stdin = io.TextIOWrapper(sys.stdin.buffer); "
        "print(input()); print(input())",
        "import io, sys; sys.stdout = io.StringIO(); sys.__stdout__.write(sys.stdin.read())",
        "import sys; print(sys.stdin.read(), end=''); sys.stdout.close()",
        "import atexit, sys; atexit.register(sys.stdout.write, sys.stdin.read())",
        "import sys; print(sys.stdin.read(), end=''); exit()",
        "print(open('/dev/stdin').read(), end='')",
        "import pathlib; open('/dev/stdout', 'w').write(pathlib.Path('/dev/stdin').read_text())",
        "import os, sys; print(sys.stdin.read(), end='', flush=True); os._exit(0)",
    ],
)
def test_programs_read_and_write_as_scripts_do(jail: Jail, source: str) -> None:
    assert jail.run(source, b"first\nsecond\n").stdout == b"first\nsecond\n"


@pytest.mark.parametrize("size", [2**16, 2**16 + 1, 3 * 2**20])
def test_long_inputs_reach_a_program_whole(jail: Jail, size: int) -> None:
    source = "import sys\ntext = sys.stdin.read()\nprint(len(text), text[-1])"
    assert jail.run(source, b"x" * size).stdout == b"%d x\n" % size


@pytest.mark.parametrize(
    ("source", "ended", "status"),
    [
        ("pass", "completed", 0),
        ("raise ValueError", "exit", 1),
        ("raise SystemExit(3)", "exit", 3),
        ("import os; os._exit(0)", "exit", 0),
        ("def (", "exit", 1),
        ("import os; os.kill(os.getpid(), 11)", "signal", 11),
        ("[bytearray(10**8) for _ in range(100)]", "memory", 1),
    ],
)
def test_an_outcome_says_how_it_ended(jail: Jail, source: str, ended: str, status: int) -> None:
    outcome = jail.run(source)
    assert (outcome.ended, outcome.status) == (ended, status)


@pytest.mark.parametrize(
    ("before", "status"),
    [("", signal.SIGXCPU), ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)", signal.SIGKILL)],
)
def test_a_signal_says_that_processor_time_ran_out(jail: Jail, before: str, status: int) -> None:
    budget, jail.budget = jail.budget, Budget(cpu_seconds=1)
    outcome = jail.run(f"import signal\n{before}\nwhile True: pass")
    jail.budget = budget
    assert (outcome.ended, outcome.status) == ("timeout", status)


@pytest.mark.parametrize(
    "value",
    [None, True, -1, 2**70000, 0.5, 1e400, 1j, "é\ud800", b"\x00\xff", [], [1, [2.0, "x"]],
     (1, (2,)), {1, 2}, frozenset({"a"}), {"a": 1, (1, 2): {3: None}}],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_plain_values_cross_as_they_are(jail: Jail, value: object) -> None:
    outcome = jail.call("def same(x): return x", "same", [value])
    assert (outcome.ended, type(outcome.value), outcome.value) == ("returned", type(value), value)


def test_a_method_is_called_on_a_new_instance(jail: Jail) -> None:
    source = "class Solution:\n    def add(self, a, b): return a + b"
    assert jail.call(source, "Solution.add", [1, 2]).value == 3


@pytest.mark.parametrize(
    ("tests", "ended"),
    [
        ("assert add(1, 2) == 3", "completed"),
        ("from solution import add\nassert add(1, b=2) == 3", "completed"),
        ("assert Solution().double((1,)) == (1, 1)", "completed"),
        ("try: add(1, 'a')\nexcept TypeError: pass\nelse: raise AssertionError", "completed"),
        ("x = [2, 1]; order(x); assert x == [1, 2]", "completed"),
        ("assert add(1, 2) == 4", "exit"),
        ("add(len, 1)", "opaque"),
        ("try: leave()\nexcept Exception: pass", "exit"),
        ("try: thing()\nexcept Exception: pass", "exit"),
    ],
)
def test_tests_call_the_program_in_another_jail(jail: Jail, tests: str, ended: str) -> None:
    source = (
        "import os\ndef add(a, b): return a + b\ndef order(x): x.sort()\n"
        "def leave(): os._exit(0)\ndef thing(): return object()\n"
        "class Solution:\n    def double(self, x): return x + x"
    )
    names = ["add", "order", "leave", "thing", "Solution.double"]
    outcome = jail.check(tests, source, names)
    assert outcome.ended == ended, outcome.stderr.decode()


def test_nothing_goes_from_one_run_to_the_next(jail: Jail) -> None:
    source = "import math, random; print(math.pi, random.random()); math.pi = 4"
    assert jail.run(source).stdout == jail.run(source).stdout


def test_files_of_one_run_are_not_there_in_the_next() -> None:
    with opened("namespaces", budget=Budget(memory=2**29)) as jail:  # elsewhere files can't be made
        source = "import os; print(os.listdir('/tmp')); open('/tmp/x', 'w').close()"
        assert [jail.run(source).stdout for _ in range(3)] == [b"[]\n"] * 3
        source = "import os; print(os.stat('/tmp').st_mtime_ns == os.stat('/tmp').st_atime_ns); "
        source += "open('/tmp/x', 'w').close(); os.unlink('/tmp/x'); os.listdir('/tmp')"
        assert [jail.run(source).stdout for _ in range(3)] == [b"True\n"] * 3


@pytest.mark.parametrize("level", CONFINING)
def test_a_folder_in_tmp_may_be_read_and_not_written(level: Isolation) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder, "inner").mkdir()
        Path(folder, "inner", "read").write_text("me")
        source = f"""print(open('{folder}/inner/read').read())
for name in 'inner/write', 'write':
    try: open('{folder}/' + name, 'w')
    except OSError: print('refused')"""
        with Jail(isolation=works(level), readable=[f"{folder}/inner"]) as jail:
            said = [jail.run(source).stdout for _ in range(2)]
        assert said == [b"me\nrefused\nrefused\n"] * 2


@pytest.mark.parametrize("level", [*CONFINING, FIRST_LANDLOCK])
def test_no_datagram_leaves_a_jail(level: str, tmp_path: Path) -> None:
    paths = [str(tmp_path / "socket"), f"\0{tmp_path}"]
    sockets = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in paths]
    for end, path in zip(sockets, paths, strict=True):
        end.bind(path)
        end.setblocking(False)
    with opened(level, readable=(str(tmp_path),)) as jail:
        outcome = jail.run(SEND.format(paths=paths))
    assert outcome.ended == "completed", outcome.stderr.decode()
    for end in sockets:
        with end, pytest.raises(BlockingIOError):
            end.recv(10)


@pytest.mark.parametrize("level", [*CONFINING, FIRST_LANDLOCK])
def test_no_file_is_emptied_from_a_jail(level: str, tmp_path: Path) -> None:
    files = [tmp_path / "readable" / "file", tmp_path / "other" / "file"]
    for file in files:
        file.parent.mkdir()
        file.write_text("kept")
    with opened(level, readable=(str(files[0].parent),)) as jail:
        for file in files:
            jail.run(TRUNCATE.format(paths=[str(file)]))
        assert jail.run(f"print(open({str(files[0])!r}).read())").stdout == b"kept\n"
    assert [file.read_text() for file in files] == ["kept", "kept"]


def test_a_program_too_long_to_compile_is_its_own_fault(jail: Jail) -> None:
    budget, jail.budget = jail.budget, Budget(cpu_seconds=0.1)
    outcome = jail.run("x = [1, 2, 3]\n" * 40_000)
    jail.budget = budget
    assert outcome.ended in ("timeout", "signal")


def test_a_program_that_can_not_be_compiled_says_why(jail: Jail) -> None:
    for source, error in (("x = (", b"SyntaxError"), ("(" * 10**5, b"Error"), ("\0", b"null")):
        outcome = jail.run(source)
        assert (outcome.ended, outcome.status) == ("exit", 1)
        assert error in outcome.stderr


def test_a_flag_that_a_program_sets_on_a_pipe_is_gone_in_the_next_run(jail: Jail) -> None:
    source = "import os; print(os.get_blocking(1)); os.set_blocking(1, False)"
    assert [jail.run(source).stdout for _ in range(2)] == [b"True\n"] * 2
