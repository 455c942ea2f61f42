"""Test programs that use more than calls of functions: they run, or what they use is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rewardkit
from rewardkit.confinement import Isolation
from rewardkit.records import Verdict
from rewardkit.verifiers.code.verifier import Code
from tests.confinement.levels import CONFINING, works

pytestmark = pytest.mark.slow  # starts processes

ADD = "def add(a, b):\n    return a {} b"
HALVE = """
class OddError(ValueError):
    pass
def halve(n):
    if n % {}:
        raise OddError(f'{{n}} is odd')
    return n // 2
"""
WITH = "import pytest\nfrom solution import add\n"
HALF = "import pytest\nfrom solution import halve\n"
RAISES = f"{HALF}def test_halve():\n"
RAISES += "    with pytest.raises(ValueError{}) as {}\n"


def judged(program: str, tests: Any, *, in_process: bool = False, **parameters: Any) -> Verdict:
    reference = tests if isinstance(tests, str) else json.dumps(tests)
    columns = {"entry_point": "f"}
    verifier = Code(in_process=in_process, **parameters)
    (verdict,) = rewardkit.verify_batch(verifier, [program], [reference], columns=[columns])
    return verdict


RUN = {
    "parametrize": f"{WITH}@pytest.mark.parametrize('a, b, c', [(1, 2, 3), (4, 5, 9)])\n"
    "def test_add(a, b, c):\n    assert add(a, b) == c",
    "parametrize, a list of names": f"{WITH}@pytest.mark.parametrize(['a', 'c'], [[1, 3]], ids=str)"
    "\ndef test_add(a, c):\n    assert add(a, 2) == c",
    "parametrize, one name": f"{WITH}@pytest.mark.parametrize('n', [3, 5])\n"
    "def test_add(n):\n    assert add(n, 1) == n + 1",
    "parametrize, param": f"{WITH}@pytest.mark.parametrize('n, m', [pytest.param(3, 4, id='x')])\n"
    "def test_add(n, m):\n    assert add(n, 1) == m",
    "parametrize twice": f"{WITH}@pytest.mark.parametrize('a', [3, 5])\n"
    "@pytest.mark.parametrize('b', [7])\ndef test_add(a, b):\n    assert add(a, b) == a + b",
    "the module by another name": "import solution as s\ndef test_add():\n"
    "    assert s.add(1, 2) == 3",
    "a function by another name": "from solution import add as plus\ndef test_add():\n"
    "    assert plus(1, 2) == 3",
    "all names": "from solution import *\ndef test_add():\n    assert add(1, 2) == 3",
    "a static method": f"{WITH}class TestAdd:\n    @staticmethod\n    def test_add():\n"
    "        assert add(1, 2) == 3",
    "an instance called solution": "from solution import Solution\ndef test_add():\n"
    "    solution = Solution()\n    assert solution.add(1, 2) == 3",
    "parametrize, keywords": f"{WITH}CASES = [(1, 2, 3), pytest.param(2, 2, 4, marks=())]\n"
    "@pytest.mark.parametrize(argnames='a,b,c', argvalues=CASES)\n"
    "def test_add(a, b, c):\n    assert add(a, b) == c",
    "a key": "import pytest\ndef test_add():\n    with pytest.raises(KeyError) as e:\n"
    "        at({'a': 1}, 'b')\n    assert e.value.args[0] == 'b' and at({'c': -1}, 'c') == -1",
    "from pytest": "from pytest import mark, approx\nfrom solution import add\n"
    "@mark.parametrize('a', [0.1])\ndef test_add(a):\n    assert add(a, 0.2) == approx(0.3)",
    "a mark": f"{WITH}@pytest.mark.slow\n@pytest.mark.timeout(5)\n"
    "def test_add():\n    assert add(1, 2) == 3",
    "a fixture": f"{WITH}@pytest.fixture\ndef data():\n    return [1, 2]\n"
    "def test_add(data):\n    assert add(*data) == 3",
    "a fixture that yields": f"{WITH}@pytest.fixture(scope='module')\ndef one():\n    yield 1\n"
    "@pytest.fixture()\ndef data(one):\n    return one, 2\n"
    "def test_add(data):\n    assert add(*data) == 3",
    "a fixture and parameters": f"{WITH}@pytest.fixture\ndef two():\n    return 2\n"
    "@pytest.mark.parametrize('a', [1])\ndef test_add(a, two):\n    assert add(a, two) == 3",
    "a fixture for all": f"{WITH}got = []\n@pytest.fixture(autouse=True)\ndef fill():\n"
    "    got.append(1)\ndef test_add():\n    assert add(got[0], 2) == 3",
    "a class": f"{WITH}class TestAdd:\n    def setup_method(self):\n        self.a = 1\n"
    "    def test_add(self):\n        assert add(self.a, 2) == 3",
    "a class with parameters": f"{WITH}class TestAdd:\n"
    "    @pytest.mark.parametrize('a', [1, 2])\n"
    "    def test_add(self, a):\n        assert add(a, 2) == a + 2",
    "a class beside a function": f"{WITH}def test_true():\n    assert add(0, 0) == 0\n"
    "class TestAdd:\n    def test_add(self):\n        assert add(1, 2) == 3",
    "unittest": "import unittest\nfrom solution import add\nclass TestAdd(unittest.TestCase):\n"
    "    def setUp(self):\n        self.a = 1\n    def test_add(self):\n"
    "        self.assertEqual(add(self.a, 2), 3)\nif __name__ == '__main__':\n    unittest.main()",
    "unittest, a base": "from unittest import TestCase\nfrom solution import add\n"
    "class TestAdd(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.a = 1\n"
    "    def test_add(self):\n        with self.subTest('x'):\n"
    "            self.assertEqual(add(self.a, 2), 3)\n",
    "a class that is made with a value": f"{WITH}class TestData:\n    def __init__(self, a):\n"
    "        self.a = a\n    def test_value(self):\n        return self.a\n"
    "def test_add():\n    assert add(TestData(1).test_value(), 2) == 3",
    "inherited": f"{WITH}class Checks:\n    b = 0\n    def test_add(self):\n"
    "        assert add(1, self.b) == 1 + self.b\nclass TestTwo(Checks):\n    b = 2\n"
    "def test_zero():\n    assert add(0, 0) == 0",
    "inherited, with parameters": f"{WITH}class TestZero:\n    b = 0\n"
    "    @pytest.mark.parametrize('a', [1, 2])\n    def test_add(self, a):\n"
    "        assert add(a, self.b) == a + self.b\nclass TestTwo(TestZero):\n    b = 2",
    "inherited, abstract": "from abc import ABC, abstractmethod\nfrom solution import add\n"
    "class Checks(ABC):\n    @abstractmethod\n    def b(self):\n        pass\n"
    "    def test_add(self):\n        assert add(1, self.b()) == 1 + self.b()\n"
    "class TestTwo(Checks):\n    def b(self):\n        return 2",
    "inherited, unittest": "import unittest\nfrom solution import add\n"
    "class Zero(unittest.TestCase):\n    b = 0\n    def test_add(self):\n"
    "        self.assertEqual(add(1, self.b), 1 + self.b)\nclass Two(Zero):\n    b = 2",
    "inherited, beside unittest": "import unittest\nfrom solution import add\nclass Checks:\n"
    "    def test_add(self):\n        self.assertEqual(add(1, self.b), 1 + self.b)\n"
    "class Two(Checks, unittest.TestCase):\n    b = 2",
    "main": f"{WITH}def test_add():\n    assert add(1, 2) == 3\npytest.main()",
    "main with a file": f"{WITH}def test_add():\n    assert add(1, 2) == 3\n"
    "if __name__ == '__main__':\n    pytest.main([__file__, '-v'])",
    "exit by main": f"{WITH}import sys\ndef test_add():\n    assert add(1, 2) == 3\n"
    "if __name__ == '__main__':\n    sys.exit(pytest.main(['-x']))",
    "exit by main at once": f"{WITH}import sys\ndef test_add():\n    assert add(1, 2) == 3\n"
    "sys.exit(pytest.main())",
    "fail": f"{WITH}def test_add():\n    if add(1, 2) != 3:\n        pytest.fail('no')",
    "approx of a dict": f"{WITH}def test_add():\n"
    "    assert {{'a': add(0.1, 0.2)}} == pytest.approx({{'a': 0.3}})".replace("{{", "{").replace(
        "}}", "}"
    ),
    "approx of a list": f"{WITH}def test_add():\n    assert [add(0.1, 0.2), 1] == "
    "pytest.approx([0.3, 1])",
    "approx, absolute": f"{WITH}def test_add():\n    assert add(1.0, 2) == "
    "pytest.approx(3.4, abs=0.5)\n    assert add(1.0, 2) != pytest.approx(3.4)",
    "approx, relative": f"{WITH}def test_add():\n    assert add(100, 1) == "
    "pytest.approx(102, rel=0.02)",
    "approx of infinity": f"{WITH}def test_add():\n    assert add(float('inf'), 1) == "
    "pytest.approx(float('inf'))\n    assert add(1, 2) == pytest.approx(3)",
    "approx, nan": f"{WITH}def test_add():\n    assert add(float('nan'), 1) == "
    "pytest.approx(float('nan'), nan_ok=True)\n    assert add(1, 2) == pytest.approx(3)",
    "LeetCode's class": [
        "assert Solution().add(1, 2) == 3",
        "s = Solution()\nassert s.add(2, 2) == 4\nassert s.add(b=2, a=5) == 7",
    ],
    "a capital": ["assert Add_All(1, 2) == 3", "assert set([Add_All(1, 1)]) == {2}"],
    "methods of a result": ["assert str(add(1, 2)).strip() == '3'", "r = add([1], [2])\nr.sort()\n"
    "assert r == [1, 2]"],
    "a function as a value": [
        "assert callable(add)\nassert list(map(add, [1], [2])) == [3]",
        "for g in (add,):\n    assert g(1, 2) == 3 and g.__name__ == 'add'",
    ],
    "identity of a parameter": f"{WITH}@pytest.mark.parametrize('a, c', [(1, True), (3, False)])\n"
    "def test_add(a, c):\n    got = add(a, 2) == 3\n    assert got is c and add(a, 0) is not c",
    "a deeper limit": ["import sys\nsys.setrecursionlimit(5000)\nassert add(1, 2) == 3"],
    "identity of None": ["assert add(1, 2) is not None\nassert (add(1, 2) == 3) is True"],
    "the type of a result": ["assert type(add(1, 2)) is int and isinstance(add(1, 2), (int, float))"
    " and add(1, 2) == 3"],
    "random input": ["import random\nrandom.seed(1)\nn = random.random()\n"
    "assert add(n, 1) == n + 1"],
}  # fmt: skip
PROGRAMS = {
    "LeetCode's class": "class Solution:\n    def add(self, a, b):\n        return a {} b",
    "a key": "def at(a, b):\n    return {} a[b]",
    "an instance called solution": "class Solution:\n    def add(self, a, b):\n"
    "        return a {} b",
    "a capital": ADD.replace("add", "Add_All"),
}
EXCEPTIONS = {
    "value": RAISES.format("", "e:\n        halve(3)\n    assert str(e.value) == '3 is odd'"),
    "match of value": RAISES.format("", "e:\n        halve(3)\n    assert e.match('odd')"),
    "type": RAISES.format(
        "", "info:\n        halve(3)\n    assert issubclass(info.type, ValueError)"
    ),
    "match": RAISES.format(", match=r'\\d is odd'", "e:\n        halve(3)"),
    "args": RAISES.format("", "e:\n        halve(3)\n    assert e.value.args == ('3 is odd',)"),
    "two kinds": f"{HALF}def test_halve():\n    with pytest.raises((TypeError, ValueError)):\n"
    "        halve(3)",
    "called": f"{HALF}def test_halve():\n    pytest.raises(ValueError, halve, 3)",
    "keywords": RAISES.replace("(ValueError", "(expected_exception=ValueError").format(
        ", match='odd'", "e:\n        halve(3)\n    assert e.value.args[0] == '3 is odd'"
    ),
    "unittest": "import unittest\nfrom solution import halve\nclass TestHalve(unittest.TestCase):\n"
    "    def test_halve(self):\n        with self.assertRaises(ValueError) as e:\n"
    "            halve(3)\n        self.assertIn('odd', str(e.exception))",
    "fail where exceptions are caught": f"{HALF}def test_halve():\n    try:\n        halve(3)\n"
    "        pytest.fail('no error')\n    except Exception:\n        pass",
    "raises where exceptions are caught": f"{HALF}def test_halve():\n    try:\n"
    "        with pytest.raises(ValueError):\n            halve(3)\n"
    "    except Exception:\n        pass",
    "raises in raises": f"{HALF}def test_halve():\n    with pytest.raises(Exception):\n"
    "        with pytest.raises(ValueError):\n            halve(3)\n        raise KeyError",
    "a key": "import pytest\nfrom solution import halve\ndef test_halve():\n"
    "    with pytest.raises(ValueError, match='^3 is odd$'):\n        halve(3)",
}


@pytest.mark.parametrize("in_process", [False, True], ids=["apart", "in_process"])
@pytest.mark.parametrize("name", RUN)
def test_tests_that_can_run_tell_right_from_wrong(name: str, in_process: bool) -> None:
    program = PROGRAMS.get(name, ADD)
    right = judged(program.format("+"), RUN[name], in_process=in_process)
    assert right.correct, right.message
    assert judged(program.format("-"), RUN[name], in_process=in_process).correct is False


@pytest.mark.parametrize("in_process", [False, True], ids=["apart", "in_process"])
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_are_met_with_what_they_say(name: str, in_process: bool) -> None:
    right = judged(HALVE.format(2), EXCEPTIONS[name], in_process=in_process)
    assert right.correct, right.message
    assert judged(HALVE.format(1), EXCEPTIONS[name], in_process=in_process).correct is False


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
TOGETHER = {
    "a class": (
        "Stack",
        "from solution import Stack\ndef test_s():\n    s = Stack()\n    s.push(1)\n"
        "    assert s.pop() == 1",
    ),
    "a class by another name": (
        "Stack",
        "from solution import Stack as S\ndef test_s():\n    assert S([1]).pop() == 1",
    ),
    "a class of the module": (
        "Stack",
        "import solution as m\ndef test_s():\n    s = m.Stack([1])\n    assert s.pop() == 1",
    ),
    "a class, at once": ("Stack", ["assert Stack([3]).pop() == 3"]),
    "a class as a fixture": (
        "Stack",
        "import pytest\nfrom solution import Stack\n@pytest.fixture\ndef s():\n    return Stack()\n"
        "def test_s(s):\n    s.push(1)\n    assert s.items == [1]",
    ),
    "a class in self": (
        "Stack",
        "from solution import Stack\nclass TestS:\n    def setup_method(self):\n"
        "        self.s = Stack()\n    def test_s(self):\n        self.s.push(1)\n"
        "        assert self.s.pop() == 1",
    ),
    "objects compared": ("Stack", ["assert Stack([1]) == Stack([1])"]),
    "objects in an argument": ("Stack", ["assert len(same([Stack(), Stack([1])])) == 2"]),
    "an object as an argument": ("objects of", ["assert same(Stack([1])).items == [1]"]),
    "an object of a function": ("make", ["m = make(3)\nassert m.items == [3]"]),
    "a kind of object": ("Stack", ["assert isinstance(make(3), Stack)"]),
    "a candidate's object": ("candidate", "def check(candidate):\n    assert candidate(3).items\n"),
    "an attribute": ("doubled", ["assert doubled.__doc__ == 'Twice.'"]),
    "a constant": ("SIZE", ["assert SIZE == 3"]),
    "a constant of the module": ("SIZE", "import solution\ndef test_s():\n"
    "    assert solution.SIZE < 4"),
    "an exception": (
        "EmptyError",
        "import pytest\nfrom solution import EmptyError, make, doubled\ndef test_s():\n"
        "    with pytest.raises(EmptyError):\n        s = make(3)\n        s.pop()\n"
        "        s.pop()",
    ),
    "an exception caught": (
        "EmptyError",
        ["try:\n    make(3)\nexcept EmptyError:\n    raise"],
    ),
    "identity": ("identity", ["a = [1]\nassert same(a) is a"]),
    "no identity": ("identity", ["a = [1]\nassert copied(a) is not a and copied(a) == a"]),
    "capsys": (
        "capsys",
        "from solution import greet\ndef test_s(capsys):\n    greet()\n"
        "    assert capsys.readouterr().out == 'hello\\n'",
    ),
    "redirected output": (
        "redirect_stdout",
        ["import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "    greet()\nassert out.getvalue() == 'hello\\n'"],
    ),
    "replaced output": (
        "sys.stdout",
        ["import io, sys\nold, sys.stdout = sys.stdout, io.StringIO()\ngreet()\n"
        "text, sys.stdout = sys.stdout.getvalue(), old\nassert text == 'hello\\n'"],
    ),
    "mock": (
        "unittest.mock",
        "from unittest.mock import patch\nfrom solution import ask\ndef test_s():\n"
        "    with patch('builtins.input', return_value='x'):\n        assert ask() == 'x'",
    ),
    "replaced input": (
        "builtins.input",
        ["import builtins\nbuiltins.input = lambda: 'x'\nassert ask() == 'x'"],
    ),
    "warns": (
        "warns",
        "import pytest\nfrom solution import old\ndef test_s():\n"
        "    with pytest.warns(DeprecationWarning, match='old'):\n        assert old() == 1",
    ),
    "caught warnings": (
        "catch_warnings",
        ["import warnings\nwith warnings.catch_warnings(record=True) as w:\n"
        "    warnings.simplefilter('always')\n    old()\nassert len(w) == 1"],
    ),
    "an exit": (
        "SystemExit",
        "import pytest\nfrom solution import leave\ndef test_s():\n"
        "    with pytest.raises(SystemExit) as e:\n        leave()\n    assert e.value.code == 2",
    ),
    "signature": ("inspect", ["import inspect\n"
    "assert len(inspect.signature(doubled).parameters)"]),
    "globals": ("getattr", "import solution\ndef test_s():\n"
    "    assert getattr(solution, 'same')(1)"),
    "threads": (
        "concurrent",
        ["from concurrent.futures import ThreadPoolExecutor as T\n"
        "assert list(T(2).map(doubled, [1, 2])) == [2, 4]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_tests_that_need_the_program_s_process_name_why_and_run_there(name: str) -> None:
    said, tests = TOGETHER[name]
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


@pytest.mark.parametrize("in_process", [False, True], ids=["apart", "in_process"])
@pytest.mark.parametrize(
    ("said", "tests"),
    [
        ("tmp_path", "from solution import f\ndef test_f(tmp_path):\n    assert f(tmp_path)"),
        ("monkeypatch", "from solution import f\ndef test_f(monkeypatch):\n    assert f(1)"),
        ("mocker", "from solution import f\ndef test_f(mocker):\n    assert f(1)"),
        ("skip", "import pytest\nfrom solution import f\n@pytest.mark.skip\n"
         "def test_f():\n    f(1)"),
        ("xfail", "from pytest import mark\nfrom solution import f\n@mark.xfail(strict=True)\n"
         "def test_f():\n    f(1)"),
        ("indirect", "import pytest\nfrom solution import f\n"
         "@pytest.mark.parametrize('a', [1], indirect=True)\ndef test_f(a):\n    f(1)"),
        ("params", "import pytest\nfrom solution import f\n@pytest.fixture(params=[1])\n"
         "def a(request):\n    return 1\ndef test_f(a):\n    f(1)"),
        ("importorskip", "import pytest\nn = pytest.importorskip('numpy')\n"
         "def test_f():\n    f(1)"),
        ("deprecated_call", "from pytest import deprecated_call\ndef test_f():\n    f(1)"),
        ("async", "from solution import f\nasync def test_f():\n    await f(1)\n"
         "def test_g():\n    f(1)"),
        ("setup_module", "from solution import f\ndef setup_module():\n    pass\n"
         "def test_f():\n    f(1)"),
        ("exconly", "import pytest\nfrom solution import f\ndef test_f():\n"
         "    with pytest.raises(ValueError) as e:\n        f(1)\n    assert e.exconly()"),
        ("fixture in a class", "import pytest\nfrom solution import f\nclass TestF:\n"
         "    @pytest.fixture\n    def a(self):\n        return 1\n"
         "    def test_f(self, a):\n        f(a)"),
        ("skipIf", "import unittest\nfrom solution import f\nclass TestF(unittest.TestCase):\n"
         "    @unittest.skipIf(True, '')\n    def test_f(self):\n        f(1)"),
        ("skipTest", "import unittest\nfrom solution import f\n"
         "class TestF(unittest.TestCase):\n    def test_f(self):\n        self.skipTest('')"),
        ("test_f", "from solution import f\nclass TestF:\n    class TestInner:\n"
         "        def test_f(self):\n            f(1)\ndef test_g():\n    f(1)"),
        ("test_f", "from solution import f\nif True:\n    def test_f():\n        f(1)\n"
         "def test_g():\n    f(1)"),
        ("import", "from .solution import f\ndef test_f():\n    f(1)"),
        ("hypothesis", "from hypothesis import given\nfrom solution import f\n"
         "def test_f():\n    f(1)"),
        ("skip", "import unittest as u\nfrom solution import f\nclass TestF(u.TestCase):\n"
         "    @u.skip('later')\n    def test_f(self):\n        f(1)"),
        ("SkipTest", "import unittest\nfrom solution import f\ndef test_f():\n    f(1)\n"
         "    raise unittest.SkipTest('later')"),
        ("skipIf", "from unittest import TestCase, skipIf\nfrom solution import f\n"
         "class TestF(TestCase):\n    @skipIf(True, '')\n    def test_f(self):\n        f(1)"),
        ("expectedFailure", "from unittest import TestCase, expectedFailure as fails\n"
         "from solution import f\nclass TestF(TestCase):\n    @fails\n"
         "    def test_f(self):\n        f(1)"),
        ("skip", "import pytest as p\nfrom solution import f\ndef test_f():\n    p.skip('')"),
        ("usefixtures", "import pytest\nfrom solution import f\n@pytest.mark.usefixtures('a')\n"
         "def test_f():\n    f(1)"),
    ],
)  # fmt: skip
def test_what_is_not_offered_is_named(said: str, tests: str, in_process: bool) -> None:
    for program in ("def f(n):\n    return n", "def f(n):\n    return"):
        verdict = judged(program, tests, in_process=in_process)
        assert verdict.correct is None
        assert said in verdict.message


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
            verdict = judged(program, RUN[name], isolation=works(level))
            assert verdict.correct is False, (name, program, verdict.message)
