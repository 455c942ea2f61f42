"""A warm interpreter, which forks a keeper for each jail. A keeper forks a process for each job.

The caller starts the interpreter by exec, so no process with threads or a GPU is forked. When the
caller ends, its sockets are closed, and the interpreter and all keepers end.

A keeper of Python programs gives up its reach, compiles the program once, and forks: little is left
for a job to do. The kernel copies each page that a process touches after a fork. That is most of a
job's cost, so keeper and job do as little as they can.
"""

from __future__ import annotations

import _socket  # without the enumerations of `socket`, which are slow after a fork
import contextlib
import fcntl
import gc
import importlib
import importlib.util
import json
import marshal
import math
import os
import resource
import select
import signal
import site
import socket
import struct
import sys
import sysconfig
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any, NamedTuple, NoReturn

from rewardkit.confinement import landlock, namespaces, program, protocol, seccomp
from rewardkit.confinement.syscalls import SET_DEATH_SIGNAL, SET_SUBREAPER, fork, prctl

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_HIGH = 100  # descriptors from here on belong to the keeper; a job closes them
_INTERVAL = 0.02  # seconds between two looks at the number of a job's threads


class Place(NamedTuple):
    """What the jails of an interpreter have in common."""

    isolation: str
    readable: Sequence[str]
    processes: int
    """A descriptor of /proc."""
    rules: int | None
    """What Landlock allows Python programs, if that is the same in every jail."""
    keep: program.Restriction | None
    """Takes system calls from the keeper of Python programs."""
    restrict: program.Restriction | None
    """Takes more system calls from the programs."""


def main(isolation: str, *options: str) -> None:
    """Fork a keeper for every message on standard input, a socket, until it is closed.

    `options` are JSON: readable folders, and the folders of packages by name.
    """
    readable, packages = map(json.loads, options)
    control = socket.socket(fileno=os.dup(0))
    program.open_standard_streams()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then buries the jails
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    os.environ.clear()
    _import(packages)
    site.setquit()
    place, refused = _enter(isolation, [*_python_folders(), *readable])
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, protocol.LONGEST, 2)
        if not message:
            return
        if refused:
            _tell(descriptors[0], failed=refused)
        elif _fork(isolation, descriptors[0]) == 0:
            Keeper(descriptors[0], descriptors[1], place).keep()
        for descriptor in descriptors:
            os.close(descriptor)


def _tell(control: int, **reply: object) -> None:
    with contextlib.suppress(OSError):
        os.write(control, protocol.frame_reply(**reply))


class _Packages:
    """Finds the named packages of the caller's environment, and no others."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._folders = folders

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return where a package is."""
        if name not in self._folders:
            return None
        folder = self._folders[name]
        return importlib.util.spec_from_file_location(
            name, f"{folder}/__init__.py", submodule_search_locations=[folder]
        )


def _import(packages: dict[str, str]) -> None:
    """Load what programs import, before processes are forked."""
    program.prepare_prelude()
    if packages:
        os.putenv("OPENBLAS_NUM_THREADS", "1")  # threads would not survive the fork
        os.putenv("OMP_NUM_THREADS", "1")
        sys.meta_path.append(_Packages(packages))
        for name in packages:
            with contextlib.suppress(Exception):  # a program that imports it gets the error
                importlib.import_module(name)


def _enter(isolation: str, readable: Sequence[str]) -> tuple[Place, str]:
    """Prepare what jails have in common. Also return why the kernel refuses it, or ""."""
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    rules, refused = None, ""
    try:
        if isolation == "namespaces":
            namespaces.enter(readable)
        elif isolation == "landlock" and not landlock.version():
            refused = "this kernel has no Landlock, or it is not switched on"
        elif isolation == "landlock":
            rules = _move_away(landlock.ruleset(_rights(readable)))
    except OSError as error:
        refused = str(error)
    confines = isolation != "none"
    keep = seccomp.installer(seccomp.listed("keeper")) if confines else None
    restrict = seccomp.installer(seccomp.lasting()) if confines else None
    return Place(isolation, readable, processes, rules, keep, restrict), refused


def _rights(readable: Sequence[str], read: int = landlock.READ) -> list[tuple[str, int]]:
    rights = [(path, read) for path in (*readable, "/dev/urandom")]
    return [*rights, ("/dev/null", landlock.READ | landlock.WRITE_FILE)]


def _fork(isolation: str, control: int) -> int:
    try:
        return namespaces.fork() if isolation == "namespaces" else fork()
    except OSError as error:  # no processes or memory are left
        _tell(control, failed=str(error), used_up=True)
        return -1


def _python_folders() -> list[str]:
    paths = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    paths += [str(sysconfig.get_config_var(name)) for name in ("DESTSHARED", "LIBDIR")]
    return [*paths, *(path for path in sys.path if os.path.isdir(path)), *LIBRARIES]


class Keeper:
    """The process of a jail that forks jobs. With namespaces it is process 1."""

    def __init__(self, control: int, job: int, place: Place) -> None:
        self._control = _move_away(control)
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, self._control)
        self._place = place
        self._processes = _move_away(place.processes)
        self._namespaces = place.isolation == "namespaces"
        self._job: dict[str, Any] = marshal.loads(protocol.read_all(job))
        self._limits: dict[str, Any] = self._job["limits"]
        self._python = self._job["do"] == "python"
        self._alone = self._python and place.isolation != "none"  # its jobs can't start processes
        self._program: program.Program | None = None
        self._scratch: str | None = None
        self._empty: tuple[int, int] | None = None
        self._rules: int | None = None
        self._filter: program.Restriction | None = None

    def keep(self) -> NoReturn:
        """Run jobs until the caller closes the jail. Leave nothing behind, and exit."""
        try:
            self._start()
            _tell(self._control, stage="ready")
            if self._python:
                self._program = program.Program(self._job)
            if self._has_little_time_left():
                _tell(self._control, ended="timeout")
            else:
                _tell(self._control, stage="loaded")
                gc.freeze()
                while self._serve():
                    pass
        except BaseException as error:  # the caller reads why
            _tell(self._control, failed=str(error))
        finally:
            if self._scratch is not None and not self._namespaces:
                importlib.import_module("shutil").rmtree(self._scratch, ignore_errors=True)
            os._exit(0)

    def _start(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        prctl(SET_SUBREAPER, 1)
        process = os.readlink("self", dir_fd=self._processes)
        children = os.open(
            f"{process}/task/{process}/children", os.O_RDONLY, dir_fd=self._processes
        )
        self._children = _move_away(children)
        readable, writable = os.pipe()
        self._failure, self._failing = _move_away(readable), _move_away(writable)
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._failure, select.POLLIN)
        for number in (protocol.RESULT, protocol.LINK):  # so that no descriptor comes to lie there
            os.dup2(0, number)
        os.closerange(protocol.LINK + 1, _HIGH)
        if self._python:
            os.chdir("/")
            self._confine()

    def _confine(self) -> None:
        """Give up what jobs must not have, but forking, which jobs give up themselves."""
        rules = self._place.rules
        if self._namespaces:
            namespaces.mount_writable(self._limits["file_bytes"])
            self._empty = _traces()
            if landlock.version():
                rules = landlock.ruleset([*_rights(["/"]), (namespaces.WRITABLE, landlock.ALL)])
        program.confine(self._limits["resources"], rules, self._place.keep)

    def _serve(self) -> bool:
        """Run a job and report how it ended. Return False if the caller has closed the jail."""
        message, ancillary, _, _ = self._socket.recvmsg(protocol.LONGEST, 64)
        if message == protocol.KILL:  # for a job that has ended by itself
            return True
        if not message:
            return False
        cpu, wall, task = protocol.parse_request(message)
        descriptors = struct.unpack(f"{len(ancillary[0][2]) // 4}i", ancillary[0][2])
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.closerange(protocol.LINK + 1, _HIGH)
        if not self._python:
            self._prepare(task[0])
        linked = len(descriptors) > protocol.LINK
        try:
            child = fork()
        except OSError as error:
            _tell(self._control, failed=str(error), used_up=True)
            return False
        if child == 0:
            program.limit(resource.RLIMIT_CPU, max(1, math.ceil(cpu)))
            program.main(task, self._program, self._restrict, self._failing, linked)
        if linked:  # the other jail must notice when the job ends
            os.dup2(protocol.RESULT, protocol.LINK)
        _tell(self._control, **self._watch(child, cpu, wall))
        return True

    def _restrict(self) -> None:
        """In a job: give up what programs must not have, before anything runs."""
        os.setsid()
        if not self._namespaces:
            prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        if not self._python:
            program.confine(self._limits["resources"], self._rules, self._filter)
        elif self._place.restrict is not None:
            self._place.restrict()

    def _prepare(self, kind: str) -> None:
        """Prepare the folder of builds, the rules for files and the filter for a command."""
        confines = self._place.isolation != "none"
        if self._scratch is None:
            if self._namespaces:  # in memory, where this process may mount
                namespaces.mount_tmpfs(namespaces.SCRATCH, 2**28)
                self._scratch = namespaces.SCRATCH
            else:
                self._scratch = importlib.import_module("tempfile").mkdtemp(
                    prefix="rewardkit-jail-"
                )
            os.chdir(self._scratch)
        if self._rules is not None:
            os.close(self._rules)
            self._rules = None
        if confines and landlock.version():
            read = landlock.READ | landlock.EXECUTE
            scratch = (self._scratch, read if kind == "execute" else landlock.ALL)
            rights = [*_rights(self._place.readable, read), scratch]
            self._rules = _move_away(landlock.ruleset(rights))
        elif confines and kind == "execute":
            namespaces.make_read_only(self._scratch)
        if confines:
            self._filter = seccomp.installer(seccomp.listed(kind))

    def _watch(self, child: int, cpu_seconds: float, wall_seconds: float) -> dict[str, Any]:
        """Wait until the job ends or passes a limit. Kill what is left, and return how it ended."""
        start = time.monotonic()
        process = os.pidfd_open(child)
        self._poll.register(process, select.POLLIN)
        ended = ""
        while not (events := self._poll.poll(_INTERVAL * 1000)):
            if time.monotonic() - start > wall_seconds:
                ended = "timeout"
            elif self._threads() > self._limits["threads"]:
                ended = "threads"
            if ended:
                break
        self._poll.unregister(process)
        os.close(process)
        ready = {descriptor for descriptor, _ in events}
        if self._failure in ready:
            os.kill(child, signal.SIGKILL)
            cause = os.read(self._failure, 4096).decode(errors="replace")
            self._end(child)
            return {"failed": cause}
        if events and process not in ready:
            ended = "killed"  # the caller wants it, or has gone
        return self._describe_end(ended, time.monotonic() - start, cpu_seconds, *self._end(child))

    def _describe_end(
        self, ended: str, seconds: float, cpu_seconds: float, status: int, used: Any
    ) -> dict[str, Any]:
        """The reply for the caller. A "spent" keeper must run no other job."""
        cpu = used.ru_utime + used.ru_stime
        signalled = os.WIFSIGNALED(status)
        number = os.WTERMSIG(status) if signalled else os.WEXITSTATUS(status)
        by_time = signalled and (number == signal.SIGXCPU or cpu > cpu_seconds - 0.1)
        late = cpu_seconds < self._limits["cpu_seconds"] and cpu > cpu_seconds + 0.1
        if not ended and (by_time or late):
            ended = "timeout"
        ended = ended or ("signal" if signalled else "exit")
        spent = self._has_little_time_left() or (self._empty and self._empty != _traces())
        facts = {"status": number, "cpu_seconds": cpu, "seconds": seconds, "spent": bool(spent)}
        return {"ended": ended, **facts}

    def _has_little_time_left(self) -> bool:
        """Whether the keeper has used much of the time that each job has."""
        most: float = self._limits["cpu_seconds"]
        return self._python and 2 * time.process_time() > most

    def _threads(self) -> int:
        count = 0
        with contextlib.suppress(OSError, ValueError):
            for child in os.pread(self._children, 4096, 0).split():
                count += os.stat(child.decode() + "/task", dir_fd=self._processes).st_nlink - 2
        return count

    def _end(self, child: int) -> tuple[int, Any]:
        """Kill the job and all that it started. Return the job's status and resources."""
        os.kill(child, signal.SIGKILL)
        if not self._alone:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # it may not have a group of its own yet
        _, status, used = os.wait4(child, 0)
        if not self._alone:
            with contextlib.suppress(ChildProcessError):
                while True:
                    self._kill_orphans()
                    os.waitpid(-1, 0)
        return status, used

    def _kill_orphans(self) -> None:
        orphans = [-1] if self._namespaces else map(int, os.pread(self._children, 4096, 0).split())
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _traces() -> tuple[int, int]:
    """Values that change if a job writes files. The next job then gets another keeper."""
    status = os.stat(namespaces.WRITABLE)
    return status.st_size, status.st_mtime_ns


def _move_away(descriptor: int) -> int:
    """Move a descriptor away from the numbers of a job's descriptors."""
    moved: int = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(descriptor)
    return moved
