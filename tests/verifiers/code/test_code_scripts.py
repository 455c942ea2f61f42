"""Test programs that use more than calls of functions: they run, or what they use is named."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.confinement import Isolation
from rewardkit.records import Verdict
from rewardkit.verifiers.code.verifier import Code
from tests.confinement.levels import CONFINING, works

pytestmark = pytest.mark.slow  # starts processes

CASES: dict[str, list[dict[str, Any]]] = defaultdict(list)
for line in Path(__file__).with_name("script_cases.jsonl").read_text("utf-8").splitlines():
    CASES[json.loads(line)["group"]].append(json.loads(line))
RUN = {case["name"]: case for case in CASES["run"]}
TOGETHER = {case["name"]: case for case in CASES["together"]}
"""What works only in the program's process, STACK, and what a verdict says about the reason."""
STACK = """
import random, sys, warnings
SIZE = 3
class EmptyError(Exception):
    pass
class Stack:
    def __init__(self, items=()):
        self.items = list(items)
    def push(self, item):
        self.items.append(item)
    def pop(self):
        if not self.items:
            raise EmptyError
        return self.items.pop()
    def __eq__(self, other):
        return self.items == other.items
def make(n):
    return Stack([n])
def copied(a):
    return list(a)
def same(a):
    return a
def greet():
    print("hello")
def ask():
    return input()
def old():
    warnings.warn("old", DeprecationWarning)
    return 1
def leave():
    sys.exit(2)
def count():
    yield 1
def doubled(n):
    '''Twice.'''
    return 2 * n
"""


def judged(program: str, tests: Any, *, in_process: bool = False, **parameters: Any) -> Verdict:
    reference = tests if isinstance(tests, str) else json.dumps(tests)
    columns = {"entry_point": "f"}
    verifier = Code(in_process=in_process, **parameters)
    (verdict,) = rewardkit.verify_batch(verifier, [program], [reference], columns=[columns])
    return verdict


BOTH = pytest.mark.parametrize("in_process", [False, True], ids=["apart", "in_process"])


@BOTH
@pytest.mark.parametrize("name", RUN)
def test_tests_that_can_run_tell_right_from_wrong(name: str, in_process: bool) -> None:
    case = RUN[name]
    right = judged(case["right"], case["tests"], in_process=in_process)
    assert right.correct, right.message
    assert judged(case["wrong"], case["tests"], in_process=in_process).correct is False


@pytest.mark.parametrize("name", TOGETHER)
def test_tests_that_need_the_program_s_process_name_why_and_run_there(name: str) -> None:
    said, tests = TOGETHER[name]["said"], TOGETHER[name]["tests"]
    program = STACK + ("\nf = make" if name == "a candidate's object" else "")
    apart = judged(program, tests)
    assert apart.correct is None
    assert said in apart.message
    assert "in_process" in apart.message
    together = judged(program, tests, in_process=True, isolation="landlock")
    assert together.correct, together.message
    assert "weak_isolation" in together.message
    wrong = judged("x = 1", tests, in_process=True)
    assert wrong.correct is False, wrong.message


@BOTH
@pytest.mark.parametrize("case", CASES["not offered"], ids=lambda case: case["said"])
def test_what_is_not_offered_is_named(case: dict[str, str], in_process: bool) -> None:
    for program in ("def f(n):\n    return n", "def f(n):\n    return"):
        verdict = judged(program, case["tests"], in_process=in_process)
        assert verdict.correct is None
        assert case["said"] in verdict.message


@pytest.mark.parametrize("level", CONFINING)
def test_no_program_makes_tests_unjudged_by_what_it_is(level: Isolation) -> None:
    programs = [
        "class add:\n    def __new__(cls, a, b):\n        return object.__new__(cls)\n"
        "    def __eq__(self, other):\n        return True",
        "add = 3",
        "def add(a, b):\n    return lambda: 3",
        "def add(a, b):\n    return (n for n in [3])",
        "def add(a, b):\n    raise SystemExit",
        "class E(Exception):\n    pass\ndef add(a, b):\n    raise E",
    ]
    for name in ("parametrize", "a class", "unittest", "approx of a dict", "identity of None"):
        for program in programs:
            verdict = judged(program, RUN[name]["tests"], isolation=works(level))
            assert verdict.correct is False, (name, program, verdict.message)
