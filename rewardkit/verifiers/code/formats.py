"""Read tests in the formats that data sets have, told apart by their shape."""

from __future__ import annotations

import base64
import contextlib
import json
import pickletools
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

import msgspec

from rewardkit.records import Sample
from rewardkit.verifiers.code.scripts import (
    LONG_NUMBER,
    called_names,
    needs_one_process,
    pytest_calls,
    with_pytest,
)

SuiteFormat = Literal[
    "", "livecodebench", "apps", "primeintellect", "open-r1", "asserts", "humaneval", "pytest"
]
"""The names of formats; "" tells them apart by their shape. TACO is `apps`; MBPP's and AceCode's
lists are `asserts`, LeetCode's `check` is `humaneval`, and KodCode's `pytest`."""

ALIASES = {"py": "python", "python3": "python", "c++": "cpp", "cc": "cpp", "cxx": "cpp"}
"""Other names of the languages of fenced blocks."""

LONGEST_NUMBER = 50_000
"""Digits of an integer in a reference, as in LiveCodeBench's grader."""

LONGEST_TESTS = 256_000_000
"""Bytes that compressed tests may unpack to."""

FREE_BYTES = 2**24
"""Bytes that compressed tests may always unpack to."""

MOST_RATIO = 64
"""Maximum ratio of unpacked to compressed tests, beyond FREE_BYTES."""

MOST_CASES = 100_000
"""Maximum number of packed tests of a problem."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test: what the program reads from stdin, the arguments of a call, or a test program.

    `expected` holds the results that are right, or the names of the program that a test program
    uses.
    """

    given: Any
    expected: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """A problem's tests, all of one kind.

    `stdin`: a case's text is the program's input. `call`: a case's list holds the arguments of the
    function `entry_point`; "Solution." before its name means a method. `script`: a case is a test
    program. `stub` is what the prompt shows of the program: up to the header of its function.
    `language` is "" if the tests don't say. `one_process` is what of test programs only works in
    the program's own process.
    """

    kind: Literal["stdin", "call", "script"]
    cases: tuple[Case, ...]
    entry_point: str = ""
    stub: str = ""
    language: str = ""
    one_process: str = ""

    @property
    def function(self) -> str:
        return self.entry_point.rpartition(".")[2]

    def describe(self) -> str:
        """Return how many tests there are, and of what kind."""
        kinds = {
            "stdin": "on stdin",
            "call": f"that call {self.entry_point}",
            "script": "that are programs",
        }
        return f"{len(self.cases)} {kinds[self.kind]}, {self.language}"


def read_tests(sample: Sample, named: SuiteFormat = "") -> Suite:
    """Return a sample's tests. ValueError if its reference holds none in this format."""
    columns = sample.columns
    try:
        value = _parse(sample.reference)
        tests = _READERS[named or _shape(value, columns)](value, columns)
    except (LookupError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise ValueError(
            f"the tests don't have the form of {named or 'any format'}: {error}"
        ) from error
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(f"the packed tests can't be unpacked: {error}") from error
    if not tests.cases:
        raise ValueError("there are no tests")
    stubs = [columns.get("prompt"), columns.get("starter_code"), sample.question]
    stub = next(
        (text for text in stubs if isinstance(text, str) and _header(text, tests.function)), ""
    )
    tests = replace(tests, stub=stub)
    if tests.kind != "script":
        return tests
    cases = [_script(case, tests) for case in tests.cases]
    reasons = (
        needs_one_process(str(case.given), script.expected)
        for case, script in zip(tests.cases, cases, strict=True)
    )
    return replace(tests, cases=tuple(cases), one_process=next(filter(None, reasons), ""))


def _script(case: Case, tests: Suite) -> Case:
    """A test program with what the prompt defines before the function, and the names it uses."""
    source = f"{before_function(tests.stub, tests.function)}\n{case.given}".lstrip("\n")
    names = tuple(called_names(source))
    return Case(with_pytest(source, case.expected[0]) if case.expected else source, names)


def _header(text: str, function: str) -> re.Match[str] | None:
    return (
        re.search(rf"^[ \t]*(?:async )?def {re.escape(function)}\b", text, re.M)
        if function
        else None
    )


def before_function(stub: str, function: str) -> str:
    """Return what a stub has before the function's header: imports, and other functions."""
    header = _header(stub, function)
    return "" if header is None else stub[: header.start()].strip()


def _parse(text: str) -> Any:
    try:
        return _load(text)
    except (ValueError, RecursionError):
        return text


def _load(text: str) -> Any:
    """The value of JSON; integers may have more digits than Python reads by default."""
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"an integer of {len(digits):,} digits; at most {LONGEST_NUMBER:,}")
    return int(Decimal(digits)) if LONG_NUMBER.search(digits) else int(digits)


def _shape(value: Any, columns: Mapping[str, object]) -> SuiteFormat:
    if "private_test_cases" in columns and "public_test_cases" in columns:
        return "livecodebench"
    if isinstance(value, Mapping):
        return "apps" if "inputs" in value else "open-r1"
    if isinstance(value, list) and value:
        return "primeintellect" if isinstance(value[0], Mapping) else "asserts"
    if isinstance(value, str):
        if re.search(r"^def check\(", value, re.M):
            return "humaneval"
        if re.search(r"^(?:def test|class Test|import pytest|from solution)", value, re.M):
            return "pytest"
        if re.search(r"^assert\b", value, re.M):
            return "asserts"
    raise ValueError(f"the reference {str(value)[:80]!r} holds no tests in a known format")


def _inputs_outputs(value: Any, columns: Mapping[str, object]) -> Suite:
    """`{"inputs": [...], "outputs": [...], "fn_name": ...}`: APPS, TACO, LiveCodeBench's grader."""
    inputs, outputs, name = value["inputs"], value["outputs"], value.get("fn_name") or ""
    if len(inputs) != len(outputs):
        raise ValueError(f"there are {len(inputs)} inputs and {len(outputs)} outputs")
    read = _call if name else _stdin
    cases = tuple(map(read, inputs, outputs))
    return Suite("call" if name else "stdin", cases, entry_point=str(name))


def _stdin(given: Any, expected: Any) -> Case:
    text = _join(given)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a test's input isn't text: {error}") from error
    return Case(text, (_join(expected),))


def _join(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _call(given: Any, expected: Any) -> Case:
    """A call's arguments: a list, or JSON, an argument a line. A result may be in a list of one.

    As in APPS's own grader, a dict in a list's first place has its keys as integers if they are.
    """
    arguments = [_load(line) for line in given.split("\n")] if isinstance(given, str) else given
    if not isinstance(arguments, list):
        raise ValueError(f"the arguments {arguments!r:.80} are not a list")
    if arguments and isinstance(arguments[0], dict) and not isinstance(given, str):
        with contextlib.suppress(ValueError):
            arguments = [{int(key): item for key, item in arguments[0].items()}, *arguments[1:]]
    if isinstance(expected, str) and isinstance(given, str):
        return Case(arguments, (_load(expected),))
    wrapped = isinstance(expected, list) and len(expected) == 1
    return Case(arguments, (expected, expected[0]) if wrapped else (expected,))


def _listed(value: Any, columns: Mapping[str, object]) -> Suite:
    """`[{"type": ..., "input": ..., "output": ..., "fn_name": ...}]`: PrimeIntellect, SYNTHETIC."""
    names = {str(case.get("fn_name") or "") for case in value}
    if len(names) > 1:
        raise ValueError(f"the tests call different functions: {', '.join(sorted(names))}")
    both = {"inputs": [case["input"] for case in value], "outputs": [c["output"] for c in value]}
    return _inputs_outputs({**both, "fn_name": names.pop() if names else ""}, columns)


def _verification_info(value: Any, columns: Mapping[str, object]) -> Suite:
    """`{"language": ..., "test_cases": [...]}`: open-r1."""
    language = str(value.get("language") or "").lower()
    tests = _listed(value["test_cases"], columns)
    return replace(tests, language=ALIASES.get(language, language))


def _livecodebench(value: Any, columns: Mapping[str, object]) -> Suite:
    """A row of LiveCodeBench: two columns of tests, and a function's name in `metadata`."""
    if "private_test_cases" not in columns:
        return _inputs_outputs(value, columns) if isinstance(value, Mapping) else _listed(value, {})
    cases = [*_unpack(columns["public_test_cases"]), *_unpack(columns["private_test_cases"])]
    metadata = columns.get("metadata") or {}
    known = json.loads(metadata) if isinstance(metadata, str) else metadata
    name = known.get("func_name") if isinstance(known, Mapping) else None
    return _listed([{**case, "fn_name": name} for case in cases], columns)


class PackedCase(msgspec.Struct):
    """A test of LiveCodeBench."""

    input: str
    output: str


def _unpack(value: Any) -> list[Any]:
    """A column of LiveCodeBench's tests: JSON, or a pickle of it, compressed, in base 64."""
    parsed = _parse(value) if isinstance(value, str) else value
    if isinstance(parsed, str):
        packed = base64.b64decode(parsed)
        most = min(LONGEST_TESTS, max(FREE_BYTES, MOST_RATIO * len(packed)))
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(packed, most)
        if unpacker.unconsumed_tail:
            raise ValueError(f"the packed tests unpack to more than {most:,} bytes")
        text = _pickled_text(unpacked)
        if text.count('"input"') > MOST_CASES:
            raise ValueError(f"there are more than {MOST_CASES:,} packed tests")
        cases = msgspec.json.decode(text, type=list[PackedCase])
        parsed = [msgspec.structs.asdict(case) for case in cases]
    if not isinstance(parsed, list):
        raise ValueError("the tests are not a list")
    return parsed


def _pickled_text(pickled: bytes) -> str:
    """The text that a pickle holds; nothing of the pickle is run, and any other is refused."""
    steps = [(step.name, value) for step, value, _ in islice(pickletools.genops(pickled), 6)]
    texts = [value for name, value in steps if name in _TEXT_STEPS]
    names = {name for name, _ in steps} - _TEXT_STEPS
    if len(texts) != 1 or steps[-1][0] != "STOP" or names - _OTHER_STEPS:
        raise ValueError("the packed tests are a pickle of something else; only text is read")
    return str(texts[0])


_TEXT_STEPS = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_OTHER_STEPS = {"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP"}


def _asserts(value: Any, columns: Mapping[str, object]) -> Suite:
    """A list of assert statements, each a test, or a text with several: MBPP, AceCode."""
    imports = columns.get("test_imports")
    lines = [*(imports if isinstance(imports, list) else []), columns.get("test_setup_code") or ""]
    before = "\n".join(map(str, lines)).strip()
    listed = [value] if isinstance(value, str) else value
    sources = [f"{before}\n{statement}".lstrip() for statement in listed]
    name = columns.get("entry_point") or next(iter(called_names(sources[0])), "")
    return _scripts(sources, str(name))


def _check(value: Any, columns: Mapping[str, object]) -> Suite:
    """HumanEval's and LeetCode's function `check`, called with the column `entry_point`."""
    name = str(columns["entry_point"]).replace("Solution().", "Solution.")
    return _scripts([f"{value}\ncheck({name.rpartition('.')[2]})"], name)


def _pytest(value: Any, columns: Mapping[str, object]) -> Suite:
    """KodCode's functions `test_…`, which import the program as `solution`."""
    source = str(value)
    return Suite("script", tuple(Case(source, (call,)) for call in pytest_calls(source)))


def _scripts(sources: Sequence[str], name: str) -> Suite:
    return Suite("script", tuple(Case(source, ()) for source in sources), entry_point=name)


_READERS: Mapping[str, Callable[[Any, Mapping[str, object]], Suite]] = {
    "livecodebench": _livecodebench,
    "apps": _inputs_outputs,
    "primeintellect": _listed,
    "open-r1": _verification_info,
    "asserts": _asserts,
    "humaneval": _check,
    "pytest": _pytest,
}
