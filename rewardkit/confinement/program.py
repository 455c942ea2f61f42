"""Run a judged program: compiled in the keeper, and run in a confined process of its own.

Once the program runs, nothing here can be trusted: the program may patch, read and forge all of it.
It can only send a value, which the caller compares with a value that the program never sees.
"""

from __future__ import annotations

import _io
import _thread
import atexit
import builtins
import contextlib
import importlib
import io
import linecache
import marshal
import os
import random
import re
import resource
import sys
import threading
import traceback
import types
from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, NoReturn

from rewardkit.confinement import landlock
from rewardkit.confinement.plain import LARGEST, Opaque, TooLarge, connect_jails, decode, encode
from rewardkit.confinement.protocol import LINK, RESULT, frame_result, read_all, write_all
from rewardkit.confinement.syscalls import drop_capabilities

_COMMON = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "json", "typing", "builtins"),
)
_ON_DEMAND = {
    *("array", "asyncio", "calendar", "cmath", "csv", "dataclasses", "inspect", "pprint", "queue"),
    *("textwrap", "unittest", "uuid"),
}
"""Modules that are loaded only for programs that name them, because they make forks slower."""

_OF_KEYWORDS = {"async": "asyncio"}

_PRELUDE = "; ".join(
    [f"from {name} import *" for name in _COMMON] + [f"import {name}" for name in ("sys", *_COMMON)]
)
"""A line that imports what competition sites import for a program."""
_WORD = re.compile(r"\b[a-z]+\b")
_DEEP = 50_000  # the recursion limit on those sites

Restriction = Callable[[], None]
"""Makes a job give up its reach, before it runs anything."""


def confine(resources: Mapping[str, int], rules: int | None, restrict: Restriction | None) -> None:
    """Give up all that this process doesn't need, for ever."""
    if restrict is not None:
        drop_capabilities()
    if rules is not None:
        landlock.restrict(rules)
    for name, amount in resources.items():
        limit(getattr(resource, name), amount)
    if restrict is not None:
        restrict()


def limit(kind: int, amount: int) -> None:
    """Lower a limit. The hard limit of the stack stays, for programs that raise their limit.

    The soft limit of time is a second below the hard one: the soft limit's signal says why the
    process ended. The time that a busy kernel counted may not.
    """
    hard = resource.getrlimit(kind)[1]
    more = {resource.RLIMIT_STACK: resource.RLIM_INFINITY, resource.RLIMIT_CPU: amount + 1}
    resource.setrlimit(kind, (_least(amount, hard), _least(more.get(kind, amount), hard)))


def _least(*amounts: int) -> int:
    finite = [amount for amount in amounts if amount != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY)


class Program:
    """A program, compiled in the keeper, and the namespace in which jobs run it."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.namespace = _module(job["name"], _prelude if job["prelude"] else None)
        self._error: BaseException | None = None
        try:
            self._code = _compiled(job["source"], "program.py")
            words = {_OF_KEYWORDS.get(word, word) for word in _WORD.findall(job["source"])}
            for name in _ON_DEMAND & words:
                importlib.import_module(name)
        except BaseException as error:  # each job raises it
            self._error = error
        if job["prelude"]:
            sys.setrecursionlimit(_DEEP)

    def execute(self) -> None:
        """Run the program's text."""
        if self._error is not None:
            raise self._error
        exec(self._code, self.namespace)  # noqa: S102 - in its jail


def main(
    task: Sequence[str], program: Program | None, restrict: Restriction, failing: int, linked: bool
) -> NoReturn:
    """Do a task in this process, and end the process."""
    status = 1
    try:
        restrict()
        os.closerange(LINK + linked, 256)
        status = _run(_TASKS[task[0]], program, task[1:])
    except BaseException as error:  # the confinement failed: the keeper reads why
        with contextlib.suppress(OSError):
            os.write(failing, f"{type(error).__name__}: {error}".encode()[:2000])
    finally:
        os._exit(status)


def _run(task: Callable[..., bytes], program: Program | None, arguments: Sequence[str]) -> int:
    """Run it as an interpreter runs a script, and return the exit status."""
    status, result = 0, b""
    try:
        result = task(program, arguments)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            status = (error.code or 0) & 0xFF
        else:
            status = 1
            sys.stderr.write(f"{error.code}\n")
    except BaseException as error:  # the program may raise anything
        _show(error)
        status = 1
    try:
        if _thread._count():  # wait for threads, then do what is registered for the exit
            threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.__stdout__):
            if not getattr(stream, "closed", stream is None):
                stream.flush()  # type: ignore[union-attr]
        write_all(RESULT, result)
    except BaseException as error:  # the program's own code runs here, too
        _show(error)
        status = status or 1
    return status


def open_standard_streams() -> None:
    """Open the standard streams once, to save each job the time. A job's files replace theirs."""
    os.dup2(os.memfd_create("stdin"), 0)  # a file, as where input is redirected
    for number in (1, 2):
        os.dup2(os.pipe()[1], number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, buffering, "utf-8", errors, closefd=False)
        for number, mode, buffering, errors in (
            (0, "r", -1, "strict"),
            (1, "w", -1, "strict"),
            (2, "w", 1, "backslashreplace"),
        )
    )
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)
    sys.argv = ["program.py"]
    builtins.open = io.open = _open


_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def _open(file: Any, *arguments: Any, **named: Any) -> Any:
    """Open a file. The names of the standard streams work without /proc."""
    number = _STREAMS.get(str(file))
    return _io.open(file if number is None else os.dup(number), *arguments, **named)


def _show(error: BaseException) -> None:
    if isinstance(error, MemoryError):
        write_all(RESULT, frame_result("memory"))
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    with contextlib.suppress(BaseException):  # the exception's own code runs here
        traceback.print_exception(error.with_traceback(trace))


_prelude = types.ModuleType("solution")
"""Has the names of the prelude."""


def prepare_prelude() -> None:
    """Import the prelude once for all programs. Random numbers start alike in each program."""
    exec(_PRELUDE, _prelude.__dict__)  # noqa: S102 - our own text
    random.seed(0)


def _module(name: str, module: types.ModuleType | None = None) -> dict[str, Any]:
    """The namespace of a module, which is importable by `name`."""
    module = module or types.ModuleType(name)
    module.__name__ = name
    sys.modules[name] = module
    return module.__dict__


def _compiled(source: str, file: str) -> types.CodeType:
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    return compile(source, file, "exec", dont_inherit=True)


def _read_input() -> Any:
    return marshal.loads(read_all(0))


def _run_script(program: Program, arguments: Sequence[str]) -> bytes:
    program.execute()
    return frame_result("completed", arguments[0].encode())


def _check(program: Program, arguments: Sequence[str]) -> bytes:
    tests = _read_input()
    sys.modules["solution"] = sys.modules[program.namespace["__name__"]]
    program.execute()
    exec(_compiled(tests, "program.py"), program.namespace)  # noqa: S102 - in its jail
    return frame_result("completed", arguments[0].encode())


def _function(namespace: dict[str, Any], name: str) -> Callable[..., Any]:
    """The function by its name; for `Class.method`, the method of a new instance."""
    owner, dot, method = name.partition(".")
    if owner not in namespace:
        raise NameError(f"the program defines no {owner!r}")
    function: Callable[..., Any]
    function = getattr(namespace[owner](), method) if dot else namespace[owner]
    return function


def _call(program: Program, arguments: Sequence[str]) -> bytes:
    values = decode(read_all(0))
    program.execute()
    value = _function(program.namespace, arguments[0])(*values)
    try:
        return frame_result("returned", encode(_awaited(value)))
    except Opaque as error:
        return frame_result("opaque", str(error).encode())


def _serve(program: Program, _: Sequence[str]) -> bytes:
    program.execute()
    connect_jails()
    iterators: list[Iterator[object]] = []
    with open(LINK, "rb", closefd=False) as link:
        for line in link:
            write_all(LINK, _answer(program.namespace, iterators, *decode(line)) + b"\n")
    return b""


def _answer(
    namespace: dict[str, Any],
    iterators: list[Iterator[object]],
    name: str | int,
    arguments: list[Any],
    named: dict[str, Any],
) -> bytes:
    """The text of ("returned", value, the arguments after the call) or ("raised", type, [why]).

    An iterator stays here: the answer is ("iterator", its number, …), and a call with the number
    gets its next value. An awaitable is awaited: the answer is ("awaited", value, …).
    """
    try:
        if isinstance(name, int):
            return encode(("returned", next(iterators[name]), []))
        value, kind = _function(namespace, name)(*arguments, **named), "returned"
        if hasattr(value, "__next__"):
            iterators.append(value)
            value, kind = len(iterators) - 1, "iterator"
        elif hasattr(value, "__await__"):
            value, kind = _awaited(value), "awaited"
        elif hasattr(value, "__aiter__"):
            value, kind = _awaited(value), "iterated"
        return encode((kind, value, arguments))
    except Opaque as error:
        return encode(("opaque", str(error), []))
    except Exception as error:
        base = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        if base is type(error):
            with contextlib.suppress(Opaque):
                return encode(("raised", base.__name__, list(error.args)))
        return encode(("raised", base.__name__, [str(error)[:10_000]]))


def _awaited(value: Any) -> Any:
    """A function's result, awaited if it is a coroutine; a list of an asynchronous iterator.

    `hasattr` leaves no trace. `isinstance` of abstract classes writes to memory that forks share.
    """
    if not hasattr(value, "__await__") and not hasattr(value, "__aiter__"):
        return value

    async def wait() -> object:
        return await value if hasattr(value, "__await__") else [item async for item in value]

    return importlib.import_module("asyncio").run(wait())


class ProgramFailed(BaseException):
    """The program in the other jail ended, or its result can't cross. `except Exception` in tests
    doesn't catch this error."""


def _test(program: Program, arguments: Sequence[str]) -> bytes:
    """Run the tests with a stand-in for each function of the program."""
    link = os.fdopen(LINK, "rb")
    connect_jails()
    names, text = _read_input()
    solution, tests = _module("solution"), program.namespace
    for name in names:
        owner, dot, method = name.partition(".")
        stand_in: Any = _stand_in(link, name)
        if dot:
            methods = {**vars(solution.get(owner, object)), method: staticmethod(stand_in)}
            methods = {
                key: value for key, value in methods.items() if isinstance(value, staticmethod)
            }
            stand_in = type(owner, (), methods)
        solution[owner] = tests[owner] = stand_in
    try:
        exec(_compiled(text, "tests.py"), tests)  # noqa: S102 - in its jail
    except ImportError as error:
        if not _raised_by_program(error):
            write_all(RESULT, frame_result("missing", f"{type(error).__name__}: {error}".encode()))
        raise
    return frame_result("completed", arguments[0].encode())


def _raised_by_program(error: BaseException) -> bool:
    """Whether a stand-in raised the error. The program may have written the error's text."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any((code.co_filename, code.co_name) == (__file__, "_ask") for code in codes)


def _stand_in(link: Any, name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        outcome, value, after = _ask(link, name, arguments, named)
        for mine, changed in zip(arguments, after, strict=False):
            _change(mine, changed)
        if outcome == "iterator":
            return _iterated(link, value)
        if outcome == "awaited":
            return _result(value)
        return _asynchronous(value) if outcome == "iterated" else value

    call.__name__ = name.rpartition(".")[2]
    return call


def _ask(link: Any, name: str | int, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The program's answer to a call, or the next value of the iterator with a number."""
    try:
        for value in [*arguments, *named.values()]:
            if hasattr(value, "__next__"):
                raise Opaque("an iterator, which may have no end", value)
        question = encode([name, list(arguments), dict(named)])
    except TooLarge as error:  # it may come from the program, which must not choose its grade
        raise ProgramFailed(f"an argument can't cross: {error}") from None
    except Opaque as error:
        if not _is_of_program(error.value):
            write_all(RESULT, frame_result("opaque", f"an argument can't cross: {error}".encode()))
        raise ProgramFailed(f"an argument can't cross: {error}") from None
    try:
        write_all(LINK, question + b"\n")
        outcome, value, after = decode(link.readline(LARGEST + 1))
    except (OSError, Opaque, ValueError, TypeError) as error:
        raise ProgramFailed(f"the program gave no answer: {error}") from None
    if outcome == "raised":
        kind = getattr(builtins, value, RuntimeError)
        is_error = isinstance(kind, type) and issubclass(kind, Exception)
        raise (kind if is_error else RuntimeError)(*after)
    if outcome == "opaque":
        raise ProgramFailed(f"the program returned {value}")
    return outcome, value, after


def _iterated(link: Any, number: int) -> Iterator[Any]:
    with contextlib.suppress(StopIteration):
        while True:
            yield _ask(link, number, (), {})[1]


async def _result(value: Any) -> Any:
    return value


async def _asynchronous(values: Iterable[Any]) -> AsyncIterator[Any]:
    for value in values:
        yield value


def _is_of_program(value: Any) -> bool:
    """Whether a value is a stand-in for an iterator or a coroutine of the program."""
    codes = [getattr(value, f"{kind}_code", None) for kind in ("gi", "cr", "ag")]
    return any(function.__code__ in codes for function in (_iterated, _result, _asynchronous))


def _change(mine: Any, changed: Any) -> None:
    """Change an argument as the call has changed it."""
    if type(mine) is not type(changed) or encode(mine) == encode(changed):
        return
    if isinstance(mine, (list, bytearray)):
        mine[:] = changed
    elif isinstance(mine, (dict, set)):
        mine.clear()
        mine.update(changed)
    elif isinstance(mine, deque):
        mine.clear()
        mine.extend(changed)
    elif type(mine).__name__ == "ndarray" and mine.shape == changed.shape:
        mine[...] = changed


def _build(_: Program | None, arguments: Sequence[str]) -> NoReturn:
    for name, data in _read_input().items():
        with open(name, "wb") as file:
            file.write(data)
    _become(_, arguments)


def _become(_: Program | None, arguments: Sequence[str]) -> NoReturn:
    os.closerange(RESULT, 256)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": os.getcwd()}
    os.execvpe(arguments[0], list(arguments), environment)


_TASKS: dict[str, Callable[[Any, Sequence[str]], bytes]] = {
    "run": _run_script,
    "check": _check,
    "call": _call,
    "serve": _serve,
    "test": _test,
    "build": _build,
    "execute": _become,
}
