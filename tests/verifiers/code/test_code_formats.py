"""Every format of tests, told apart by its shape."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rewardkit.records import Sample
from rewardkit.verifiers.code.formats import Case, Suite, read_tests


def suite_of(value: Any, **columns: object) -> Suite:
    reference = value if isinstance(value, str) else json.dumps(value)
    return read_tests(Sample(reference, columns=columns))


def packed(cases: Sequence[Mapping[str, str]]) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()


@pytest.mark.parametrize(
    ("value", "cases"),
    [
        ({"inputs": ["1\n"], "outputs": ["2\n"]}, [Case("1\n", ("2\n",))]),
        ({"inputs": [["1", "2"]], "outputs": [["3"]]}, [Case("1\n2", ("3",))]),
        ([{"type": "stdin_stdout", "input": "1", "output": "2"}], [Case("1", ("2",))]),
        (
            {"language": "Python", "test_cases": [{"input": "1", "output": "2"}]},
            [Case("1", ("2",))],
        ),
    ],
    ids=["apps", "taco", "primeintellect", "open-r1"],
)
def test_tests_on_stdin(value: Any, cases: list[Case]) -> None:
    tests = suite_of(value)
    assert (tests.kind, list(tests.cases)) == ("stdin", cases)


@pytest.mark.parametrize(
    ("value", "cases"),
    [
        (
            {"inputs": ["[1, 2]\n3"], "outputs": ["4"], "fn_name": "f"},
            [Case([[1, 2], 3], (4,))],
        ),
        (
            {"inputs": [[[1, 2], 3]], "outputs": [[4]], "fn_name": "f"},
            [Case([[1, 2], 3], ([4], 4))],
        ),
        (
            [{"type": "function_call", "fn_name": "f", "input": [1], "output": [[2, 3]]}],
            [Case([1], ([[2, 3]], [2, 3]))],
        ),
    ],
    ids=["livecodebench", "apps", "primeintellect"],
)
def test_tests_that_call_a_function(value: Any, cases: list[Case]) -> None:
    tests = suite_of(value)
    assert (tests.kind, tests.entry_point, list(tests.cases)) == ("call", "f", cases)


def test_a_row_of_livecodebench_has_its_tests_in_two_columns_one_of_them_packed() -> None:
    public = [{"input": "1", "output": "2", "testtype": "functional"}]
    private = [{"input": "3", "output": "4", "testtype": "functional"}]
    tests = suite_of(
        "",
        public_test_cases=json.dumps(public),
        private_test_cases=packed(private),
        metadata='{"func_name": "f"}',
    )
    assert (tests.entry_point, list(tests.cases)) == ("f", [Case([1], (2,)), Case([3], (4,))])


class _Runs:
    """Pickles as a call of a function."""

    def __reduce__(self) -> Any:
        return print, ("run",)


def test_a_pickle_that_would_run_anything_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    bomb = base64.b64encode(zlib.compress(pickle.dumps(_Runs()))).decode()
    with pytest.raises(ValueError, match="only text is read"):
        suite_of("", public_test_cases="[]", private_test_cases=bomb)
    assert not capsys.readouterr().out


def test_each_assert_of_a_list_is_a_test_with_the_imports_and_the_setup_of_its_row() -> None:
    tests = suite_of(
        ["assert f(1) == 2", "assert f(g(2)) == 3"],
        test_imports=["import math"],
        test_setup_code="k = 1",
    )
    assert tests.entry_point == "f"
    assert list(tests.cases) == [
        Case("import math\nk = 1\nassert f(1) == 2", ("f",)),
        Case("import math\nk = 1\nassert f(g(2)) == 3", ("f", "g")),
    ]


def test_check_is_called_with_the_entry_point_after_the_helpers_that_the_prompt_defines() -> None:
    prompt = "import math\ndef helper(n):\n    return n\n\ndef area(r):\n    '''Area.'''\n"
    tests = suite_of(
        "def check(candidate):\n    assert helper(candidate(1)) == area(1)",
        prompt=prompt,
        entry_point="area",
    )
    (case,) = tests.cases
    assert case.given.startswith("import math\ndef helper")
    assert case.given.endswith("check(area)")
    assert (case.expected, tests.stub) == (("area",), prompt)


def test_leetcode_names_a_method() -> None:
    tests = suite_of(
        "def check(candidate):\n    assert candidate(n=1) == 2", entry_point="Solution().twice"
    )
    assert (tests.entry_point, tests.function) == ("Solution.twice", "twice")


def test_pytest_s_functions_are_tests_one_by_one() -> None:
    tests = suite_of(
        "from solution import f\nimport solution\ndef test_a():\n    assert f(1)\n"
        "def test_b():\n    assert solution.g(1)\n"
    )
    calls = [case.given.splitlines()[-1] for case in tests.cases]
    assert calls == [f"_pytest.run_test(globals(), {name!r})" for name in ("test_a", "test_b")]
    assert all(case.expected == ("f", "g") for case in tests.cases)


def test_a_name_chooses_the_format() -> None:
    sample = Sample("x = 1\nassert f() == x")
    assert read_tests(sample, "asserts").kind == "script"
    with pytest.raises(ValueError, match="primeintellect"):
        read_tests(sample, "primeintellect")


@pytest.mark.parametrize(
    "value",
    [
        "seven",
        "",
        "[]",
        "{}",
        "12",
        '{"inputs": ["1"], "outputs": []}',
        '{"inputs": 1, "outputs": 2}',
        '[{"input": "1"}]',
        '{"inputs": ["[1"], "outputs": ["2"], "fn_name": "f"}',
        '["assert f(1"]',
        "def check(candidate): pass",
        "[" * 100_000,
        "import pytest",
        '{"inputs": ["\\ud800"], "outputs": ["2"]}',
    ],
)
def test_what_holds_no_tests_says_why(value: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        suite_of(value)
