"""Jails: run programs that can reach nothing outside."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import marshal
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

from rewardkit.available_resources import killed_for_memory
from rewardkit.confinement.jobs import Allowance, Budget, Job, KeeperSocket, Outcome, communicate
from rewardkit.confinement.plain import encode
from rewardkit.confinement.protocol import OPEN, memory_file
from rewardkit.errors import ConfinementError, ResourcesUsedUp, UnknownName

Isolation = Literal["namespaces", "landlock", "none"]
"""The levels, best first; "none" confines nothing."""
TOOLCHAIN = ("/usr", "/bin", "/etc/alternatives")
"""Folders that compilers need."""
DEFAULT_BUDGET = Budget()
_LIMITS = ("signal", "timeout", "memory", "output", "threads")


def choose_isolation(wanted: str = "auto") -> Isolation:
    """Return the level `wanted`, or for "auto" the best level that confines. Each is tried once.

    ConfinementError says what the kernel refuses if the level doesn't work.
    """
    levels: tuple[Isolation, ...] = get_args(Isolation)
    if wanted not in ("auto", *levels):
        raise UnknownName.among("isolation", wanted, ("auto", *levels))
    reasons = []
    for level in [
        level for level in levels if wanted == level or (wanted == "auto" and level != "none")
    ]:
        reason = refusal(level)
        if reason is None:
            return level
        reasons.append(f"{level}: {reason}")
    raise ConfinementError(
        f"programs can't be confined here ({'; '.join(reasons)}); use a kernel from 5.13 on with "
        "Landlock or unprivileged user namespaces, or run them unconfined with isolation='none'"
    )


@functools.cache
def refusal(level: Isolation) -> str | None:
    """Return why a level doesn't work here; None if a program ran in it."""
    try:
        with Jail(isolation=level) as jail:
            jail.run("")
    except ConfinementError as error:
        return str(error)
    return None


class Jail:
    """A place for a program and its tests. Only one thread may use it at a time.

    Every job is a new process: only the files of `build` stay from job to job. Another program, or
    another `budget`, gets a new place. A program can import the standard library and `packages`.
    With `prelude`, a program has the names on which programs for competition sites rely. `time` is
    for all jobs together: if nothing is left, a job has the outcome "timeout". ConfinementError
    means that the jail itself failed. No program can cause it.
    """

    def __init__(
        self,
        *,
        isolation: str = "auto",
        budget: Budget = DEFAULT_BUDGET,
        readable: Sequence[str] = (),
        packages: Sequence[str] = (),
        prelude: bool = False,
        time: Allowance | None = None,
    ) -> None:
        self._time = time or Allowance()
        self._kills = killed_for_memory()
        self.isolation = choose_isolation() if isolation == "auto" else isolation
        self.budget = budget
        self._options = (tuple(readable), tuple(packages))
        self._prelude = prelude
        self._open = False
        self._keeper: KeeperSocket | None = None
        self._loaded: object = None
        self._beside: Jail | None = None

    def __enter__(self) -> Self:
        self._open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that runs in the jail."""
        if self._beside is not None:
            self._beside.close()
        self._open = False
        self._hang_up()

    def run(self, source: str, stdin: bytes = b"") -> Outcome:
        """Run a Python program as a script."""
        return self._outcome(_python(source), ["run"], stdin, secrets.token_hex())

    def check_in_process(self, tests: str, source: str) -> Outcome:
        """Run a program and its tests in one process: the program can see and fool the tests."""
        return self._outcome(_python(source), ["check"], marshal.dumps(tests), secrets.token_hex())

    def call(self, source: str, function: str, arguments: Sequence[object]) -> Outcome:
        """Call a function of a program, or the method of a new instance: "Solution.two_sum".

        Raises Opaque if the arguments can't cross.
        """
        return self._outcome(
            _python(source, "solution"), ["call", function], encode(list(arguments))
        )

    def check(self, tests: str, source: str, names: Sequence[str]) -> Outcome:
        """Run tests that call the program in another jail. "completed": all tests ran.

        `names` are the functions of the program that the tests use, as for `call`. Tests can also
        import them from `solution`. "opaque": the tests need the program in their own process.
        """
        if self._beside is None:
            readable, packages = self._options
            self._beside = Jail(
                isolation=self.isolation, readable=readable, packages=packages, time=self._time
            ).__enter__()
        self._beside.budget = self.budget
        if self._time.is_over():
            return Outcome("timeout")
        ours, theirs = socket.socketpair()
        text = marshal.dumps([list(names), tests])
        tester = self._beside._job(_python(""), ["test"], text, secrets.token_hex(), ours)
        program = self._job(_python(source, "solution"), ["serve"], link=theirs)
        return _joined(*self._communicate([tester, program]))

    def build(self, command: Sequence[str], files: Mapping[str, bytes]) -> Outcome:
        """Run a compiler on files, in a folder that stays until the jail is closed."""
        return self._outcome({"do": "command"}, ["build", *command], marshal.dumps(dict(files)))

    def execute(self, command: Sequence[str], stdin: bytes = b"") -> Outcome:
        """Run a built program, which may neither write files nor start processes."""
        return self._outcome({"do": "command"}, ["execute", *command], stdin)

    def _outcome(
        self, program: dict[str, Any], task: Sequence[str], stdin: bytes, nonce: str = ""
    ) -> Outcome:
        if self._time.is_over():
            return Outcome("timeout")
        return self._communicate([self._job(program, task, stdin, nonce)])[0]

    def _job(
        self,
        program: dict[str, Any],
        task: Sequence[str],
        stdin: bytes = b"",
        nonce: str = "",
        link: socket.socket | None = None,
    ) -> Job:
        if not self._open:
            raise ConfinementError("the jail isn't open: use it in a `with` statement")
        return Job(self._keeper_of(program), task, stdin, nonce, link, self._time)

    def _keeper_of(self, program: dict[str, Any]) -> KeeperSocket:
        """The keeper that has loaded a program, with this budget; a new keeper if that is spent."""
        wanted = (program, self.budget)
        if self._keeper is None or self._keeper.spent or self._loaded != wanted:
            self._hang_up()
            job = {**program, "limits": self.budget.limits(), "prelude": self._prelude}
            interpreter = _interpreter(self.isolation, *self._options)
            control = interpreter.open_jail(marshal.dumps(job))
            self._keeper, self._loaded = KeeperSocket(control, self.budget), wanted
        return self._keeper

    def _hang_up(self) -> None:
        if self._keeper is not None:
            self._keeper.control.close()
            self._keeper = None

    def _communicate(self, jobs: Sequence[Job]) -> list[Outcome]:
        try:
            communicate(jobs)
            outcomes = [job.outcome() for job in jobs]
            if any(
                (outcome.ended, outcome.status) == ("signal", signal.SIGKILL)
                for outcome in outcomes
            ):
                self._check_kills()
        except ConfinementError:
            self.close()
            if interpreter := _interpreters.get((self.isolation, *self._options)):
                interpreter.let_end()
            self._check_kills()
            raise
        except BaseException as error:
            self.close()  # after an interrupt, too: its reply must not become the next one's
            if isinstance(error, OSError):
                raise ResourcesUsedUp(
                    f"a program's input and output can't be opened: {error.strerror}; raise the "
                    "limit (ulimit -n), or judge fewer programs at once"
                ) from error
            raise
        self._time.take(outcomes)
        return outcomes

    def _check_kills(self) -> None:
        """Raise ResourcesUsedUp if the kernel has killed processes since this jail was made."""
        if killed_for_memory() > self._kills:
            raise ResourcesUsedUp(
                "the machine's memory was used up, and the kernel ended a program"
            )


def _python(source: str, name: str = "__main__") -> dict[str, Any]:
    return {"do": "python", "name": name, "source": source}


def _joined(tests: Outcome, program: Outcome) -> Outcome:
    """The outcome of the tests, with the cause of the program's end if that ended the tests."""
    both = replace(
        tests,
        stdout=program.stdout,
        stderr=tests.stderr + program.stderr,
        cpu_seconds=tests.cpu_seconds + program.cpu_seconds,
    )
    if tests.ended == "exit" and program.ended in _LIMITS:  # it may forge the others
        return replace(both, ended=program.ended, status=program.status)
    return both


_BOOT = """
import sys, types
folder, *options = sys.argv[1:]
for name in ("rewardkit", "rewardkit.confinement"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [f"{folder}/{name.replace('.', '/')}"]
from rewardkit.confinement.keeper import main
main(*options)
"""  # without the packages' own files, which import the rest


class _Interpreter:
    """The process of `keeper.py`, which ends when `control` is closed, and its jails' sockets."""

    def __init__(self, isolation: str, readable: Sequence[str], packages: Sequence[str]) -> None:
        self.jails: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = str(Path(__file__).parents[2])
        folders = {name: found for name in packages if (found := package_folder(name))}
        libraries = [f"{found}.libs" for found in folders.values()]
        readable = [*readable, *folders.values(), *libraries]
        # without the packages of this environment; integers of any length are read and printed; a
        # fixed seed makes the order of sets the same
        options = ["-P", "-s", "-S", "-B", "-X", "int_max_str_digits=0", "-c"]
        command = [sys.executable, *options, _BOOT]
        with theirs:
            self.process = subprocess.Popen(  # symbols bound now need no look-up in every fork
                [*command, folder, isolation, json.dumps(readable), json.dumps(folders)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONHASHSEED": "0", "LD_BIND_NOW": "1"},
                cwd="/",
                start_new_session=True,
            )

    def open_jail(self, job: bytes) -> socket.socket:
        """Give a new jail's keeper its job, and return the socket to the keeper.

        The keeper's first message says whether it entered the jail.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.jails.add(ours)
        file = memory_file(job)
        try:
            with theirs:
                socket.send_fds(self.control, [OPEN], [theirs.fileno(), file])
        except OSError as error:
            ours.close()
            self.let_end()
            raise ConfinementError(f"a jail can't be entered: {error}") from error
        finally:
            os.close(file)
        return ours

    def let_end(self) -> None:
        """Wait for the process's end, if it is about to end: the next jail gets a new process."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING_SECONDS)


ENDING_SECONDS = 0.5
"""How long an interpreter may take to end once its keepers have."""

_lock = threading.Lock()
_interpreters: dict[tuple[str, tuple[str, ...], tuple[str, ...]], _Interpreter] = {}


@functools.cache
def package_folder(name: str) -> str:
    """Return where a package of this environment is; "" if it isn't installed."""
    spec = importlib.util.find_spec(name)
    return spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else ""


def _interpreter(
    isolation: str, readable: tuple[str, ...], packages: tuple[str, ...]
) -> _Interpreter:
    """The interpreter for such jails. ResourcesUsedUp if it can't be started."""
    key = (isolation, readable, packages)
    with _lock:
        interpreter = _interpreters.get(key)
        if interpreter is None or interpreter.process.poll() is not None:  # it was killed
            if interpreter is not None:
                interpreter.control.close()
            try:
                interpreter = _interpreters[key] = _Interpreter(*key)
            except OSError as error:
                raise ResourcesUsedUp(f"no process can be started: {error}") from error
    return interpreter


def _forget() -> None:
    """In a forked child: close the sockets of the parent's interpreters."""
    global _lock
    _lock = threading.Lock()
    for interpreter in _interpreters.values():
        interpreter.control.close()
        for jail in interpreter.jails:
            jail.close()
        interpreter.process.returncode = 0  # not this process's child: no warning that it runs
    _interpreters.clear()


def _close() -> None:
    for interpreter in _interpreters.values():
        interpreter.control.close()
        interpreter.process.kill()
        interpreter.process.wait()


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)
