"""What a test program uses: names of the program, parts of pytest, what needs one process."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import marshal
import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from rewardkit.verifiers.code import pytest_subset

PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set),
    *(frozenset, deque, range, Decimal, Fraction, date, datetime, timedelta),
)
"""What crosses from process to process."""
_PLAIN_METHODS = {name for kind in PLAIN for name in dir(kind)} | {"tolist"}
_PLAIN_PARTS = {"real", "imag", "numerator", "denominator", "shape", "dtype", "ndim"}
_KINDS = {kind.__name__ for kind in PLAIN} | {
    *("Generator", "GeneratorType", "Iterator", "ndarray"),
    *("Callable", "Collection", "Container", "Hashable", "Integral", "Iterable", "Mapping"),
    *("Number", "Real", "Sequence", "Set", "Sized"),
}
_CLASS = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
"""A name like the names of classes."""

_MODULES = {
    *("concurrent", "gc", "importlib", "inspect", "mock", "multiprocessing"),
    *("subprocess", "tempfile", "threading", "tracemalloc", "unittest.mock", "weakref"),
}
_NAMES = {
    *("assertLogs", "assertWarns", "assertWarnsRegex", "capsys", "catch_warnings", "chdir"),
    *("environ", "eval", "exec", "getrefcount", "globals", "open", "redirect_stderr"),
    *("redirect_stdout", "setattr", "settrace", "warns"),
}
_OF_VALUES = {
    *("abs", "dir", "getattr", "hasattr", "id", "isinstance", "issubclass", "iter", "len", "max"),
    *("min", "next", "repr", "sorted", "str", "sum", "vars"),
}
"""Functions for which what the program defines is more than something to call."""
_INFORMATION = {"type", "typename", "match", "value"}
"""What is known of an exception that was raised as expected."""
_RAISING = {"raises", "assertRaises", "assertRaisesRegex"}
_EXITS = {"BaseException", "GeneratorExit", "KeyboardInterrupt", "SystemExit"}

_MARKS = {"anyio", "asyncio", "filterwarnings", "skip", "skipif", "trio", "usefixtures", "xfail"}
_SKIPS = {"SkipTest", "expectedFailure", "skipIf", "skipTest", "skipUnless"}
_SET_UPS = re.compile(r"setup(_module|_function|_class)?|setUpModule|teardown_method|load_tests")


LONG_NUMBER = re.compile(r"\d{4000,}")
"""An integer of more digits than Python may read unasked."""


@functools.lru_cache(maxsize=8)
def parsed_program(source: str) -> ast.Module:
    """Return the tree of a test program, where the names of the program, of pytest and of unittest
    stand for what it imports them as. ValueError if it isn't Python."""
    try:
        tree = ast.parse(LONG_NUMBER.sub("0", source))  # its values don't matter here
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"the test {source[:80]!r} isn't Python: {error}") from error
    original: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                named = {alias.name, getattr(node, "module", "")}
                if alias.asname and named & {"solution", "pytest", "unittest"}:
                    original[alias.asname], alias.asname = alias.name, None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = original.get(node.id, node.id)
    return tree


def called_names(source: str) -> list[str]:
    """Return the names of the program that a test program uses, in order.

    It doesn't define them, or imports them from `solution`. Of LeetCode's class `Solution` they are
    its methods. ValueError if it isn't Python.

    >>> called_names("import math; assert f(math.pi) == len(Solution().g([]))")
    ['f', 'Solution.g']
    """
    tree = parsed_program(source)
    bound = set(_bound(tree)) | set(dir(builtins)) | {"__file__", "__name__"}
    used = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name not in bound:
                used.append((node.lineno, node.col_offset, name))
            case ast.ImportFrom(module="solution", names=names):
                used += [(node.lineno, 0, alias.name) for alias in names if alias.name != "*"]
            case ast.Attribute(value=ast.Name(id="solution"), attr=name):
                used.append((node.lineno, node.col_offset, name))
    listed = list(dict.fromkeys(name for _, _, name in sorted(used)))
    methods = [f"Solution.{name}" for name in _methods(tree)]
    return [
        used for name in listed for used in (methods or [name] if name == "Solution" else [name])
    ]


def _methods(tree: ast.Module) -> list[str]:
    """The methods of new instances of the class `Solution` that are called."""
    made = _results(tree, {"Solution"})
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return list(
        dict.fromkeys(node.attr for node in nodes if _maker(node.value, {"Solution"}, made))
    )


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)):
                yield name


def _results(tree: ast.Module, names: set[str]) -> dict[str, str]:
    """The variables that hold the result of a call of these names, and what was called."""
    results: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value) if called := _maker(value, names, {}):
                results |= dict.fromkeys(map(ast.unparse, targets), called)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                if called := _maker(value, names, {}):
                    results[ast.unparse(target)] = called
            case ast.FunctionDef(name=name, body=[*_, ast.Return(ast.expr() as value)]) | (
                ast.FunctionDef(name=name, body=[*_, ast.Expr(ast.Yield(ast.expr() as value))])
            ):  # a fixture
                if called := _maker(value, names, results):
                    results[name] = called
    return results


def _maker(node: ast.AST, names: set[str], results: dict[str, str]) -> str:
    """The name whose call made a value; "" for other values."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in names:
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="solution"), attr=name)):
            return name
        case ast.Name() | ast.Attribute():
            return results.get(ast.unparse(node), "")
    return ""


@functools.lru_cache(maxsize=8)
def needs_one_process(source: str, names: tuple[str, ...]) -> str:
    """Return what of a test program only works in the process of the program; "" for nothing.

    `names` are those of the program. Between processes calls and plain values cross.
    """
    tree = parsed_program(source)
    known = {name.partition(".")[0] for name in names}
    known |= {"candidate"} - known if "def check(candidate" in source else set()
    results = _results(tree, known)
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {node.func for node in calls}
    passed = {
        ast.unparse(argument) for node in calls if _maker(node, known, {}) for argument in node.args
    }
    for node in ast.walk(tree):
        reason = _by_name(node, imported) or _exception(node) or _as_value(node, known)
        if reason := reason or _by_result(node, known, results, called, passed):
            return reason
    return ""


def _by_name(node: ast.AST, imported: set[str]) -> str:
    """The reason that a name in this node gives: output, files, threads, changed modules."""
    match node:
        case ast.Import(names=aliases):
            modules = [alias.name for alias in aliases]
        case ast.ImportFrom(module=str(module), names=aliases):
            modules = [module, *(f"{module}.{alias.name}" for alias in aliases)]
        case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()):
            return f"assigning to {owner}.{name}" if owner in imported else ""
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return name if name in _NAMES else ""
        case _:
            return ""
    return next(
        (name for name in modules if name in _MODULES or name.split(".")[0] in _MODULES), ""
    )


def _as_value(node: ast.AST, names: set[str]) -> str:
    """The part of the program that this node uses as a value, not as a function to call."""
    for value in _operands(node):
        match value:
            case ast.Name(id=name) if name in names:
                return f"{name} as a value"
            case ast.Attribute(value=ast.Name(id="solution"), attr=name):
                return f"{name} as a value"
            case ast.Name(id="solution") if not isinstance(node, ast.Attribute):
                return ast.unparse(node)[:80]
    return ""


def _operands(node: ast.AST) -> Sequence[ast.expr]:
    """The parts of a node that the node uses other than by a call."""
    match node:
        case ast.Attribute(value=value, attr=name) if name != "__name__":
            return [value]
        case ast.Subscript(value=value) | ast.For(iter=value) | ast.FormattedValue(value=value):
            return [value]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others, ops=operators):
            is_test = all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in operators)
            names = [ast.unparse(side) for side in others if not isinstance(side, ast.Constant)]
            is_constant = all(name in dir(builtins) for name in names)
            return [] if is_test and is_constant else [left, *others]
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _OF_VALUES:
            return [*_each_of(arguments)]
        case ast.ClassDef(bases=bases):
            return bases
    return []


def _exception(node: ast.AST) -> str:
    """A kind of exceptions that doesn't cross: not a built-in one, or one that ends a process."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[kinds, *_]):
            listed = [*_each_of([kinds])] if name in _RAISING else []
        case ast.ExceptHandler(type=ast.expr() as kinds):
            listed = [*_each_of([kinds])]
        case _:
            return ""
    names = map(ast.unparse, listed)
    unknown = (name for name in names if name in _EXITS or not hasattr(builtins, name))
    return next((f"the exception {name}" for name in unknown), "")


def _each_of(values: Sequence[ast.expr]) -> Iterator[ast.expr]:
    for value in values:
        yield from value.elts if isinstance(value, ast.Tuple) else [value]


def _by_result(
    node: ast.AST, names: set[str], results: dict[str, str], called: set[ast.expr], passed: set[str]
) -> str:
    """The use of a result in this node that needs more than a plain value.

    `called` are the functions of the calls, `passed` the arguments that the program gets.
    """
    maker = functools.partial(_maker, names=names, results=results)
    match node:
        case ast.Attribute(value=value, attr=attribute) if name := maker(value):
            is_plain = attribute in (_PLAIN_METHODS if node in called else _PLAIN_PARTS)
            is_function = is_plain and not _CLASS.fullmatch(name)
            return "" if is_function or name == "Solution" else f"objects of {name}"
        case ast.Compare(left=left, comparators=others, ops=operators):
            sides = [left, *others]
            if any(isinstance(sign, (ast.Is, ast.IsNot)) for sign in operators):
                shared = [bool(maker(side)) or ast.unparse(side) in passed for side in sides]
                return "identity" if any(map(maker, sides)) and all(shared) else ""
            return _objects([*map(maker, sides)], len(sides))
        case ast.BinOp(left=left, right=right):
            return _objects([maker(left), maker(right)], 2)
        case ast.Call(func=ast.Name(id=name), args=[first, *others]):
            if maker(first) and name == "isinstance" and not _are_plain(others):
                return f"the class of a result of {maker(first)}"
            takes_objects = name in names or name in ("bool", "hash", "repr", "str")
            inside = [part for value in node.args for part in ast.walk(value)]
            return _objects([*map(maker, inside)], 1) if takes_objects else ""
    return ""


def _objects(makers: Sequence[str], least: int) -> str:
    """The reason if at least `least` of the values come from a call of a class."""
    classes = [name for name in makers if _CLASS.fullmatch(name)]
    return f"objects of {classes[0]}" if len(classes) >= least else ""


def _are_plain(kinds: Sequence[ast.expr]) -> bool:
    names = [ast.unparse(kind).rpartition(".")[2] for kind in _each_of(kinds)]
    return all(name in _KINDS or name in dir(builtins) for name in names)


def imported_modules(source: str) -> set[str]:
    """Return the modules that a test program imports, without what is inside them."""
    modules: set[str] = set()
    for node in ast.walk(parsed_program(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add("." * node.level + node.module.partition(".")[0])
    return modules


def pytest_calls(source: str) -> list[str]:
    """Return a line for each test of pytest or unittest that runs it.

    ValueError names what the tests use and `pytest_subset` doesn't offer.
    """
    tree = parsed_program(source)
    calls = []
    tests_of: dict[str, list[str]] = {}
    unittests: set[str] = set()
    for node in tree.body:
        names = _tests_in(node.body if isinstance(node, ast.ClassDef) else [node])
        owner = "globals()"
        if isinstance(node, ast.ClassDef):
            owner, bases = node.name, [*map(ast.unparse, node.bases)]
            inherited = [name for base in bases for name in tests_of.get(base, [])]
            names = tests_of[owner] = list(dict.fromkeys([*inherited, *names]))
            if any(base in unittests or base not in {*tests_of, *_NO_TESTS} for base in bases):
                unittests.add(owner)
            is_made = any(getattr(part, "name", "") == "__init__" for part in node.body)
            if owner not in unittests and (is_made or not owner.startswith("Test")):
                continue
        calls += [f"_pytest.run_test({owner}, {name!r})" for name in names]
    if not calls:
        raise ValueError("the tests have no function test_…")
    unknown = next(filter(None, map(_not_offered, ast.walk(tree))), "")
    if unknown := unknown or _no_information(tree) or _no_fixture(tree):
        raise ValueError(f"the tests use {unknown}, which isn't offered here")
    return calls


_NO_TESTS = {"object", "ABC", "abc.ABC"}
"""Bases of classes whose tests run only in classes that are called Test…"""


def _tests_in(body: Sequence[ast.stmt]) -> list[str]:
    """The tests of a module or a class. ValueError for those that can't be run."""
    tests = []
    for node in body:
        name = getattr(node, "name", "")
        if isinstance(node, ast.AsyncFunctionDef) and name.startswith("test"):
            raise ValueError(f"async tests such as {name} can't be run")
        if isinstance(node, ast.FunctionDef):
            if _SET_UPS.fullmatch(name):
                raise ValueError(f"the tests have a function {name}, which can't be run")
            tests += [name] * name.startswith("test")
        else:
            inner = [part.name for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
            if nested := next((name for name in inner if name.startswith("test")), ""):
                raise ValueError(f"the test {nested} is inside of another statement, and isn't run")
    return tests


def _not_offered(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id="pytest"), attr=name):
            return "" if name in pytest_subset.__all__ else name
        case ast.ImportFrom(module="pytest", names=aliases):
            return next(
                (alias.name for alias in aliases if alias.name not in pytest_subset.__all__), ""
            )
        case ast.ImportFrom(module="unittest", names=aliases):
            return next((alias.name for alias in aliases if alias.name in {"skip", *_SKIPS}), "")
        case ast.Attribute(value=ast.Name(id="unittest"), attr="skip"):
            return "skip"
        case ast.Attribute(attr=name) if name in _SKIPS:
            return name
        case ast.ClassDef(body=body):
            inner = [part for part in body if isinstance(part, ast.FunctionDef)]
            return "a fixture in a class" if "fixture" in _decorators(*inner) else ""
        case ast.Attribute(value=ast.Attribute(attr="mark") | ast.Name(id="mark"), attr=name):
            return f"mark.{name}" if name in _MARKS else ""
        case ast.Call(func=ast.Attribute(attr="parametrize"), keywords=options):
            return next((f"{option.arg}=" for option in options if option.arg == "indirect"), "")
        case ast.Call(
            func=ast.Attribute(attr="fixture") | ast.Name(id="fixture"), keywords=options
        ):
            return next(
                (f"fixture({option.arg}=…)" for option in options if option.arg == "params"), ""
            )
    return ""


def _no_information(tree: ast.Module) -> str:
    """What the tests ask of an exception and `pytest_subset` lacks."""
    known = {
        ast.unparse(node.optional_vars)
        for node in ast.walk(tree)
        if isinstance(node, ast.withitem)
        and node.optional_vars
        and re.match(r"(?:pytest\.)?raises\(", ast.unparse(node.context_expr))
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=part) if name in known:
                if part not in _INFORMATION:
                    return f"raises() as {name}: {name}.{part}"
    return ""


def _no_fixture(tree: ast.Module) -> str:
    """An argument of a test or a fixture without a value."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    fixtures = {node.name for node in functions if "fixture" in _decorators(node)} | {
        "capsys",
        "self",
    }
    fixtures |= set(re.findall(r"fixture\(.*?name=.(\w+)", _decorators(*functions)))
    marks = _decorators(*functions, *(part for part in tree.body if isinstance(part, ast.ClassDef)))
    given = set(re.findall(r"\w+", " ".join(re.findall(r"parametrize\(([^)\]]*)", marks))))
    for function in functions:
        if function.name.startswith("test") or "fixture" in _decorators(function):
            arguments = function.args.args[: len(function.args.args) - len(function.args.defaults)]
            for argument in arguments:
                if argument.arg not in fixtures | given:
                    return f"the fixture {argument.arg}"
    return ""


def _decorators(*nodes: ast.FunctionDef | ast.ClassDef) -> str:
    return "\n".join(ast.unparse(mark) for node in nodes for mark in node.decorator_list)


def with_pytest(source: str, call: str) -> str:
    """Return a program that runs one of the tests; what runs all of them is left out."""
    lines = source.split("\n")
    for node in parsed_program(source).body:
        if isinstance(node, ast.Expr) and re.search(
            r"\b(?:pytest|unittest)\.main\(", ast.unparse(node)
        ):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (
                (node.end_lineno or 0) - node.lineno + 1
            )
    return "\n".join([_prelude(), *lines, call])


@functools.cache
def _prelude() -> str:
    code = compile(inspect.getsource(pytest_subset), "pytest.py", "exec")
    return (
        "import marshal as _marshal, sys as _sys, types as _types\n"
        "_pytest = _sys.modules['pytest'] = _types.ModuleType('pytest')\n"
        f"exec(_marshal.loads({marshal.dumps(code)!r}), _pytest.__dict__)\n"
        "__name__, __file__ = 'tests', 'tests.py'"
    )
