"""The part of pytest that tests of programs use. Its text runs in a jail, where it is `pytest`."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import re
import types
import warnings as _warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

__all__ = ["approx", "fail", "fixture", "main", "mark", "param", "raises", "warns"]


class _ExceptionInfo:
    value: BaseException
    type: type[BaseException]

    @property
    def typename(self) -> str:
        return self.type.__name__

    def match(self, pattern: str) -> bool:
        assert re.search(pattern, str(self.value)), f"{pattern!r} doesn't match {self.value!r}"
        return True


@contextlib.contextmanager
def _raising(kind: Any, match: str | None) -> Iterator[_ExceptionInfo]:
    info = _ExceptionInfo()
    try:
        yield info
    except kind as error:
        info.value, info.type = error, type(error)
        assert match is None or info.match(match)
    else:
        fail(f"{kind} was not raised")


def raises(expected_exception: Any, *call: Any, match: str | None = None, **named: Any) -> Any:
    """Return a context in which an exception is to be raised; or make a call that raises it."""
    context = _raising(expected_exception, match)
    if not call:
        return context
    with context as info:
        call[0](*call[1:], **named)
    return info


@contextlib.contextmanager
def warns(expected_warning: Any = Warning, *, match: str | None = None) -> Iterator[list[Any]]:
    """A context in which such a warning is to be given."""
    with _warnings.catch_warnings(record=True) as found:
        _warnings.simplefilter("always")
        yield found
    texts = [str(given.message) for given in found if issubclass(given.category, expected_warning)]
    assert any(re.search(match or "", text) for text in texts)


class approx:  # noqa: N801 - pytest's name
    """Equal to what is near a number, or near each number of a list or a dict."""

    __array_ufunc__ = None  # numpy then leaves comparisons to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, expected: Any, rel: Any = None, abs: Any = None, nan_ok: bool = False
    ) -> None:
        self.expected = expected
        self.within = (rel, abs, nan_ok)

    def __eq__(self, actual: object) -> bool:
        return _near(actual, self.expected, *self.within)

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"


def _near(actual: Any, expected: Any, *within: Any) -> bool:
    actual, expected = (
        side.tolist() if hasattr(side, "tolist") else side for side in (actual, expected)
    )
    if isinstance(expected, Mapping):
        same = isinstance(actual, Mapping) and actual.keys() == expected.keys()
        return same and all(_near(actual[key], expected[key], *within) for key in expected)
    if isinstance(expected, (list, tuple)):
        same = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
        return same and all(_near(*pair, *within) for pair in zip(actual, expected, strict=True))
    return bool(actual == expected) or _is_near(actual, expected, *within)


def _is_near(actual: Any, expected: Any, rel: Any, abs_: Any, nan_ok: bool) -> bool:
    try:
        distance = abs(actual - expected)
        size = abs(expected)
    except TypeError:
        return False
    if isinstance(actual, bool) or isinstance(expected, bool):
        return False
    if nan_ok and actual != actual and expected != expected:
        return True
    relative = (
        0.0 if rel is None and abs_ is not None else (1e-6 if rel is None else rel) * float(size)
    )
    return math.isfinite(size) and bool(distance <= max(relative, 1e-12 if abs_ is None else abs_))


class Failed(BaseException):
    """A test has failed: none that it catches as the program's `Exception`."""


def fail(reason: str = "", pytrace: bool = True) -> NoReturn:
    """Fail the test."""
    raise Failed(reason)


def main(*_: object, **__: object) -> int:
    """Do nothing: the tests run one by one."""
    return 0


class _Parameters(tuple[Any, ...]):
    """The values of one row of parameters."""


def param(*values: Any, id: object = None, marks: object = None) -> _Parameters:
    """Return a row of parameters."""
    return _Parameters(values)


class _Mark:
    """Marks: of those offered, `parametrize` alone changes anything."""

    def parametrize(
        self, argnames: str | Sequence[str], argvalues: Any, **_: Any
    ) -> Callable[..., Any]:
        """Run a test with each row of parameters."""
        split = re.findall(r"\w+", argnames) if isinstance(argnames, str) else argnames
        several = len(split) > 1 or not isinstance(argnames, str)
        listed = [
            dict(zip(split, row if several or type(row) is _Parameters else [row], strict=True))
            for row in argvalues
        ]

        def mark(test: Any) -> Any:
            test._parameters = [*vars(test).get("_parameters", []), listed]
            return test

        return mark

    def __getattr__(self, _: str) -> Any:
        def mark(*values: Any, **__: Any) -> Any:
            return values[0] if values and callable(values[0]) else mark

        return mark


mark = _Mark()
_fixtures: dict[str, Callable[..., Any]] = {}
_for_all: list[str] = []


def fixture(function: Any = None, *, name: str = "", autouse: bool = False, scope: str = "") -> Any:
    """Make a function give the value of its name to tests; each test gets a new one."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        named = name or function.__name__
        _fixtures[named] = function
        _for_all.extend([named] * autouse)
        return function

    return register if function is None else register(function)


@fixture
def capsys() -> Iterator[Any]:
    """Give what is printed."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):

        def read() -> Any:
            texts = [stream.getvalue() for stream in (out, err)]
            for stream in (out, err):
                stream.seek(0)
                stream.truncate()
            return types.SimpleNamespace(out=texts[0], err=texts[1])

        yield types.SimpleNamespace(readouterr=read)


def run_test(owner: Any, name: str) -> None:
    """Run a test of a module's namespace, or of a class, with each row of its parameters."""
    is_class = isinstance(owner, type)
    if is_class and hasattr(owner, "debug"):  # unittest's
        owner.setUpClass()
        owner(name).debug()
        return
    function = getattr(owner, name) if is_class else owner[name]
    function = getattr(function, "__func__", function)
    marked = [*getattr(owner, "_parameters", []), *getattr(function, "_parameters", [])]
    for rows in itertools.product(*marked):
        values = {key: value for row in rows for key, value in row.items()}
        with contextlib.ExitStack() as stack:
            for needed in _for_all:
                _value(needed, values, stack)
            test = getattr(owner(), name) if is_class else function
            set_up = getattr(getattr(test, "__self__", None), "setup_method", None)
            if set_up is not None:
                set_up(*[test] * (set_up.__code__.co_argcount - 1))
            test(**_arguments(test, values, stack))


def _arguments(
    function: Any, values: dict[str, Any], stack: contextlib.ExitStack
) -> dict[str, Any]:
    code = function.__code__
    first = int(hasattr(function, "__self__"))
    last = code.co_argcount - len(function.__defaults__ or ())
    names = code.co_varnames[first:last]
    return {name: _value(name, values, stack) for name in names}


def _value(name: str, values: dict[str, Any], stack: contextlib.ExitStack) -> Any:
    if name not in values:
        value = _fixtures[name](**_arguments(_fixtures[name], values, stack))
        if isinstance(value, types.GeneratorType):
            stack.callback(next, value, None)
            value = next(value)
        values[name] = value
    return values[name]
