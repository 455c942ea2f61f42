"""Programs of our own judged by tests, in a real jail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit
import rewardkit.judging
from rewardkit.confinement import Isolation, choose_isolation
from rewardkit.errors import UsageError
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.code.verifier import Code, CodeOutput
from tests.confinement.levels import CONFINING, works
from tests.support.commands import run_command
from tests.support.programs import needed
from tests.verifiers.code.cheats import IDIOMS

pytestmark = pytest.mark.slow  # starts processes

ADD = {"inputs": ["1 2\n", "3 4\n", "0 0\n"], "outputs": ["3\n", "7\n", "0\n"]}
READ_ADD = "print(sum(map(int, input().split())))"
LARGEST = {
    "prompt": (
        "from typing import List\n\ndef sign(n: int) -> int:\n    return (n > 0) - (n < 0)\n\n"
        "def largest(numbers: List[int]) -> int:\n    '''Return the largest number.'''\n"
    ),
    "entry_point": "largest",
    "test": (
        "def check(candidate):\n    assert candidate([1, 3, 2]) == 3\n"
        "    assert sign(candidate([-5, -2])) == -1\n    assert largest([7]) == 7\n"
    ),
}


def judged(program: str, tests: Any, verifier: Code | None = None, **columns: object) -> Verdict:
    reference = tests if isinstance(tests, str) else json.dumps(tests)
    (verdict,) = rewardkit.verify_batch(
        verifier or Code(), [program], [reference], columns=[columns]
    )
    return verdict


@pytest.mark.parametrize("idiom", IDIOMS)
def test_every_idiom_of_reading_stdin_is_right(idiom: str) -> None:
    tests = {**ADD, "inputs": ["1\n2\n", "3\n4\n", "0\n0\n"]} if "each" in idiom else ADD
    verdict = judged(f"{IDIOMS[idiom]}\nprint(a + b)", tests)
    assert verdict.correct, verdict.message
    assert "3 of 3 tests pass" in verdict.message


@pytest.mark.parametrize(
    ("program", "failure", "said"),
    [
        ("print(3)", Failure.WRONG, "test 2 of 3: the output differs"),
        ("print(1 / 0)", Failure.WRONG, "ZeroDivisionError: division by zero"),
        ("print(", Failure.WRONG, "SyntaxError"),
        ("while True: pass", Failure.TIMEOUT, "ran out of time"),
        ("import time; time.sleep(60)", Failure.TIMEOUT, "ran out of time"),
        (f"{READ_ADD}\nraise SystemExit(3)", Failure.WRONG, "exit 3"),
        ("x = bytearray(10**11)", Failure.WRONG, "emory"),
        ("", Failure.NO_ANSWER, "no program"),
    ],
)
def test_a_wrong_program_is_told_why(program: str, failure: Failure, said: str) -> None:
    verdict = judged(program, ADD, Code(timeout=0.5))
    assert (verdict.correct, verdict.failure) == (False, failure)
    assert said in verdict.message


NUMPY = """
import numpy as np
numbers = np.array(input().split(), dtype=int)
print(int(numbers @ np.ones(2)) + round(np.linalg.det(np.zeros((2, 2)))))
"""


@pytest.mark.parametrize("level", CONFINING)
def test_programs_may_import_numpy_and_the_packages_named(level: Isolation) -> None:
    verdict = judged(NUMPY, ADD, Code(isolation=works(level)))
    assert verdict.correct, verdict.message
    verdict = judged(NUMPY, ADD, Code(isolation=level, packages=()))
    assert verdict.correct is False
    assert "No module named 'numpy'" in verdict.message
    assert not judged("import rewardkit, msgspec", ADD, Code(isolation=level)).correct


def test_tests_may_import_numpy() -> None:
    tests = "import numpy as np\ndef check(candidate):\n    assert np.isclose(candidate(1), 2)"
    assert judged("def f(x): return x + 1", tests, entry_point="f").correct


def test_the_message_shows_the_input_and_both_outputs() -> None:
    lines = judged("print(3)", ADD).message.splitlines()
    assert lines[1:] == ["input     3 4", "expected  7", "output    3"]


def test_the_share_of_tests_passed_can_be_the_score() -> None:
    verdict = judged("print(3)", ADD, Code(score="share"))
    assert verdict.correct is False
    assert verdict.score == pytest.approx(1 / 3)
    assert judged("print(3)", ADD, Code(max_tests=1)).correct


def test_calls_of_functions_and_of_leetcode_s_methods() -> None:
    tests = {"inputs": ["[3, 1, 2]", "[]"], "outputs": ["[1, 2, 3]", "[]"], "fn_name": "order"}
    method = "class Solution:\n    def order(self, a: List[int]) -> List[int]:\n        return "
    assert judged("def order(a):\n    return tuple(sorted(a))", tests).correct
    assert judged(f"{method}sorted(a)", tests).correct
    assert not judged(f"{method}a", tests).correct
    missing = judged("def other(a):\n    return a", tests)
    assert missing.failure is Failure.WRONG


@pytest.mark.parametrize(
    ("completion", "correct"),
    [
        ("    return max(numbers)\n", True),
        ("```python\ndef largest(numbers: List[int]) -> int:\n    return max(numbers)\n```", True),
        ("    return numbers[0]\n", False),
        ("    return sign(max(numbers))\n", False),
        ("def sign(n):\n    return -1\n\ndef largest(numbers):\n    return max(numbers)", True),
        ("    import sys\n    sys.exit(0)\n", False),
        ("    while True: pass\n", False),
    ],
)
def test_a_function_is_completed_as_humaneval_poses_it(completion: str, correct: bool) -> None:
    verdict = judged(completion, LARGEST["test"], Code(timeout=0.5), **LARGEST)
    assert verdict.correct is correct, verdict.message


def test_lists_of_asserts_and_leetcode_s_check_and_pytest() -> None:
    asserts = ["assert twice(2) == 4", "assert set(twice([1])) == {1}"]
    assert judged("def twice(n):\n    return n * 2", asserts).correct
    assert not judged("def twice(n):\n    return 4", asserts).correct
    check = "def check(candidate):\n    assert candidate(n=2) == 4\n"
    solution = "class Solution:\n    def twice(self, n):\n        return n * "
    assert judged(f"{solution}2", check, entry_point="Solution().twice").correct
    assert not judged(f"{solution}3", check, entry_point="Solution().twice").correct
    pytest_file = (
        "import pytest\nfrom solution import half\n\ndef test_half():\n    assert half(4) == 2\n\n"
        "def test_zero():\n    with pytest.raises(TypeError):\n        half('a')\n"
        "    assert half(0.6) == pytest.approx(0.3)\n"
    )
    assert judged("def half(n):\n    return n / 2", pytest_file).correct
    assert not judged("def half(n):\n    return 2", pytest_file).correct


def test_references_in_a_list_are_all_to_be_met() -> None:
    sample = Sample("assert f(1) == 1", references=("assert f(2) == 2",))
    verdicts = [
        rewardkit.judging.judge(Code(), text, sample)
        for text in ("def f(n):\n    return n", "def f(n):\n    return 1")
    ]
    assert [verdict.correct for verdict in verdicts] == [True, False]


def test_tests_that_need_an_object_of_the_program_are_unjudged_until_they_run_in_its_process() -> (
    None
):
    program = "def apply(f, x):\n    return f(x)"
    tests = "assert apply(lambda n: n + 1, 1) == 2"
    apart = judged(program, tests)
    assert apart.correct is None
    assert "in_process" in apart.message
    together = judged(program, tests, Code(in_process=True))
    assert together.correct
    assert "weak_isolation" in together.message


def test_the_statement_that_fails_is_shown_and_tests_that_can_t_run_are_unjudged() -> None:
    check = "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate(2) == 3\n"
    failing = judged("def f(n):\n    return n", check, entry_point="f")
    assert "assert candidate(2) == 3: AssertionError" in failing.message
    unknown = judged("def f(n):\n    return n", f"import no_such_module\n{check}", entry_point="f")
    assert unknown.correct is None
    assert "no_such_module" in unknown.message
    own = judged("import no_such_module\ndef f(n):\n    return n", check, entry_point="f")
    assert own.correct is False


@pytest.mark.parametrize(
    ("program", "in_process"),
    [
        ("def f(n):\n    return '\\nImportError: x'", False),
        ("def f(n):\n    import no_such_module", False),
        ("def f(n):\n    raise ImportError('x')", False),
        ("import os\nos.write(3, b'missing x')\nos._exit(0)", False),
        ("import os\nos.write(3, b'missing x')\nos._exit(0)", True),
        ("import os\nos.write(3, b'opaque x')\nos._exit(0)", True),
        ("import sys\nprint('ImportError: x', file=sys.stderr)\nsys.exit(1)", False),
    ],
)
def test_no_program_makes_its_tests_unjudged(program: str, in_process: bool) -> None:
    tests = "def check(candidate):\n    got = candidate(1)\n    assert got == 4, got\n"
    verdict = judged(program, tests, Code(in_process=in_process), entry_point="f")
    assert verdict.correct is False, verdict.message


def test_a_number_of_numpy_s_is_a_number() -> None:
    program = "import numpy as np\ndef f(a):\n    return {0}"
    asserts = ["assert f([1, 2]) == 3"]
    calls = {"fn_name": "f", "inputs": ["[1, 2]"], "outputs": ["3"]}
    for tests in (asserts, calls):
        assert judged(program.format("np.sum(a)"), tests).correct
        assert not judged(program.format("np.prod(a)"), tests).correct
        assert not judged(program.format("np.array(a)"), tests).correct
    assert judged(program.format("[np.max(a) > 1]"), ["assert f([1, 2]) == [True]"]).correct


def test_a_program_of_blank_lines_costs_little() -> None:
    assert judged("\n" * 1_000_000 + READ_ADD, ADD).correct


def test_a_counter_or_a_named_tuple_is_what_it_holds() -> None:
    program = "import collections\ndef f(text):\n    return collections.Counter(text)"
    assert judged(program, ["assert f('aab') == {'a': 2, 'b': 1}"]).correct
    assert not judged(program, ["assert f('aab') == {'a': 2}"]).correct


def test_the_same_program_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[str] = []
    judge = Code._judge

    def judge_counted(self: Code, program: str, *limits: Any) -> Verdict:
        programs.append(program)
        return judge(self, program, *limits)

    monkeypatch.setattr(Code, "_judge", judge_counted)
    texts = [f"```python\n{READ_ADD}\n```", f"Here:\n```python\n{READ_ADD}\n```", "print(3)"]
    verdicts = rewardkit.verify_batch(Code(), texts, [json.dumps(ADD)] * 3)
    assert [verdict.correct for verdict in verdicts] == [True, True, False]
    assert len(programs) == 2


@pytest.mark.parametrize(
    ("tolerance", "right"), [(None, False), (0.0, False), (1e-9, False), (1e-3, True)]
)
def test_livecodebench_s_rules_with_a_tolerance(tolerance: float | None, right: bool) -> None:
    rules = Code(rules="livecodebench", tolerance=tolerance)
    printed = f"```python\n{READ_ADD.replace('print(', 'print(1e-5 + ')}\n```"
    called = "```python\ndef f(n):\n    return [n + 1 + 1e-5]\n```"
    assert judged(printed, ADD, rules).correct is right
    assert judged(called, {**CALLS, "outputs": ["[2]"]}, rules).correct is right


def test_livecodebench_s_rules() -> None:
    rules = Code(rules="livecodebench")
    fenced = "```python\n{}\n```"
    assert judged(fenced.format(READ_ADD.replace("print(", "print(1.0 * ")), ADD, rules).correct
    assert judged(fenced.format(f"{READ_ADD}\nsys.exit(1)"), ADD, rules).correct
    assert judged(READ_ADD, ADD, rules).failure is Failure.NO_ANSWER
    assert not judged(fenced.format(f"{READ_ADD}\nsys.exit(1)"), ADD).correct


@pytest.mark.parametrize(
    "parameters",
    [
        {"rules": "livecodebench", "compare": "float"},
        {"rules": "livecodebench", "compare": "tokens"},
        {"rules": "livecodebench", "compare": "unordered"},
        {"rules": "livecodebench", "compare": "exact"},
        {"rules": "livecodebench", "checker": "tests.verifiers.code.test_code_verifier:any_even"},
        {"tolerance": 0.1},
        {"tolerance": 1e-6, "compare": "tokens"},
        {"tolerance": 0.1, "compare": "livecodebench"},
        {"tolerance": -1.0, "compare": "float"},
        {"tolerance": float("nan"), "compare": "float"},
        {"checker": "tests.verifiers.code.test_code_verifier:any_even", "compare": "float"},
        {"language": "cpp", "in_process": True},
        {"max_tests": -1},
        {"timeout": 0.0},
        {"timeout": float("inf")},
        {"memory_mb": 0},
        {"workers": -1},
    ],
)
def test_a_parameter_that_would_have_no_effect_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="|".join(parameters)):
        rewardkit.load_verifier("code", **parameters)
    with pytest.raises(UsageError):
        Code(**parameters)


CALLS = {"inputs": ["1"], "outputs": ["2"], "fn_name": "f"}


@pytest.mark.parametrize(
    ("parameters", "tests", "said"),
    [
        ({"checker": f"{__name__}:any_even"}, CALLS, "checker"),
        ({"checker": f"{__name__}:any_even"}, ["assert f(1) == 2"], "checker"),
        ({"compare": "float"}, ["assert f(1) == 2"], "compare"),
        ({"compare": "float", "tolerance": 0.1}, "def test_f():\n    assert f(1) == 2", "compare"),
        ({"compare": "unordered"}, ["assert f(1) == 2"], "compare"),
        ({"rules": "livecodebench", "tolerance": 0.1}, ["assert f(1) == 2"], "tolerance=0.1"),
        ({"compare": "tokens"}, ["assert f(1) == 2"], "compare"),
    ],
)
def test_tests_to_which_a_parameter_does_not_apply_are_unjudged(
    parameters: dict[str, Any], tests: Any, said: str
) -> None:
    verdict = judged("def f(n):\n    return n + 1", tests, Code(**parameters))
    assert verdict.correct is None
    assert said in verdict.message


@pytest.mark.parametrize(
    ("parameters", "tests"),
    [
        ({"rules": "livecodebench"}, CALLS),
        ({"rules": "livecodebench", "score": "share", "max_tests": 1}, CALLS),
        ({"rules": "livecodebench", "tolerance": 1.5}, {**CALLS, "outputs": ["3"]}),
        ({"compare": "float", "tolerance": 1.5}, {**CALLS, "outputs": ["3"]}),
        ({"compare": "float"}, {**CALLS, "outputs": ["2.0000001"]}),
        ({"compare": "exact"}, CALLS),
        ({"compare": "tokens"}, CALLS),
        ({}, ["assert f(1) == 2"]),
    ],
)
def test_a_parameter_that_applies_is_honoured(parameters: dict[str, Any], tests: Any) -> None:
    verdict = judged("```python\ndef f(n):\n    return n + 1\n```", tests, Code(**parameters))
    assert verdict.correct, verdict.message


@pytest.mark.parametrize(
    ("body", "given", "expected", "correct"),
    [
        ("{1: 5}", [3], {"1": 5}, True),
        ("{1: 5}", [3], [{"1": 5}], True),
        ("{1: {2: 3}, -4: []}", [3], {"1": {"2": 3}, "-4": []}, True),
        ("[{0: 'a'}, 2]", [3], [{"0": "a"}, 2], True),
        ("{True: 1, None: 2, 1.5: 3}", [3], {"true": 1, "null": 2, "1.5": 3}, True),
        ("{n + k: 0 for k in range(2)}", [3], {"4": 0, "3": 0}, True),
        ("{'1': 5}", [3], {"1": 5}, True),
        ("n[1]", [{"1": 5, "20": 6}], 5, True),
        ("sum(n)", [{"1": 5, "-20": 6}], -19, True),
        ("n['a']", [{"a": 5, "1": 6}], 5, True),
        ("{1: 6}", [3], {"1": 5}, False),
        ("{2: 5}", [3], {"1": 5}, False),
        ("{1: 5, '1': 6}", [3], {"1": 5}, False),
        ("{1: 5, '1': 5}", [3], {"1": 5}, False),
        ("{(1,): 5}", [3], {"1": 5}, False),
        ("{10**5000: 5}", [3], {"1": 5}, False),
    ],
)
def test_keys_that_are_numbers_are_texts_in_json(
    body: str, given: Any, expected: Any, correct: bool
) -> None:
    tests = {"inputs": [given], "outputs": [expected], "fn_name": "f"}
    assert judged(f"def f(n):\n    return {body}", tests).correct is correct


def any_even(given: str, output: str, expected: str) -> bool:
    """A task author's checker: any even number is right."""
    return output.strip().isdecimal() and int(output) % 2 == 0


def test_a_checker_decides() -> None:
    tests = {"inputs": [""], "outputs": ["any even number"]}
    checker = Code(checker=f"{__name__}:any_even")
    assert [judged(f"print({n})", tests, checker).correct for n in (4, 3)] == [True, False]


def test_cpp_is_compiled_and_run_in_the_same_jail() -> None:
    needed("g++", "sudo apt-get install g++")
    source = "#include <iostream>\nint main(){{int a, b; std::cin >> a >> b; std::cout << {};}}"
    cpp = Code(language="cpp")
    assert judged(source.format("a + b"), ADD, cpp).correct
    assert not judged(source.format("a - b"), ADD, cpp).correct
    assert judged(source.format("a + b") + "// \ud800", ADD, cpp).correct
    broken = judged(source.format("c"), ADD, cpp)
    assert broken.failure is Failure.WRONG
    assert "error" in broken.message


def test_a_language_without_a_command_and_a_compiler_that_is_missing_are_said() -> None:
    tests = {"language": "rust", "test_cases": [{"input": "", "output": ""}]}
    assert "'rust'" in judged("fn main(){}", tests).message
    absent = Code(language="x", commands={"x": ("no-such-compiler {src}", "{out}")})
    assert judged("x", ADD, absent).correct is None
    with pytest.raises(UsageError, match="language"):
        rewardkit.load_verifier("code", language="rust")


def test_a_level_that_does_not_exist_is_refused_and_no_level_is_noted() -> None:
    with pytest.raises(UsageError, match="isolation"):
        judged(READ_ADD, ADD, Code(isolation="docker"))
    assert "not confined" in judged(READ_ADD, ADD, Code(isolation="none")).message


def test_a_program_is_explained() -> None:
    explained = dict(Code().explain("```python\nx\n```", Sample(json.dumps(ADD))))
    assert explained["program"] == "x\n"
    assert explained["tests"] == "3 on stdin, python"
    assert explained["isolation"] in ("namespaces", "landlock")


def test_a_run_and_a_score_record_the_level(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = {"id": "1", "question": "?", "completion": READ_ADD, "reference": json.dumps(ADD)}
    file.write_text(json.dumps(row) + "\n")
    common = ["--verifier", "code", "--reference-field", "reference", "--quiet"]
    replay = [
        "--data",
        file,
        "--model",
        file,
        "--backend",
        "replay",
        "--question-field",
        "question",
    ]
    for name, command in (("eval", ["eval", *replay]), ("score", ["score", file])):
        assert run_command(*command, *common, "-o", tmp_path / name) == 0
        record = json.loads((tmp_path / name / "run.json").read_text())
        (task,) = record["tasks"].values()
        assert task["isolation"] in ("namespaces", "landlock")
        (sample,) = map(json.loads, (tmp_path / name / "samples.jsonl").read_text().splitlines())
        assert sample["verdict"]["correct"]
    written = tmp_path / "eval" / "run.json"
    record = json.loads(written.read_text())
    (name,) = record["tasks"]
    record["tasks"][name]["isolation"] = "as on another machine"
    written.write_text(json.dumps(record))
    assert run_command("score", tmp_path / "eval", "-o", tmp_path / "again", "--quiet") == 0
    again = json.loads((tmp_path / "again" / "run.json").read_text())
    assert again["tasks"][name]["isolation"] == choose_isolation()


@pytest.mark.parametrize(
    ("text", "reference", "correct"),
    [
        ("<answer>[1,2]</answer>", "[1, 2]", True),
        ("So it prints\n```\n1\n2\n```", "1\n2\n", True),
        (r"\boxed{'a'}", "'a'", True),
        ("<answer>(1, 2)</answer>", "[1, 2]", False),
        ("<answer>{'a': 1.0}</answer>", '{"a": 1}', True),
        ("<answer>{'a': True}</answer>", "{'a': 1}", False),
        ("<answer>{'a': [True]}</answer>", '{"a": [True]}', True),
        ("<answer>0</answer>", "False", False),
        ("1\n2", "12", False),
        ("<answer>__import__('os')</answer>", "0", False),
        ("<answer>" + "[" * 5000 + "</answer>", "[]", False),
        ("<answer>9" + "9" * 9000 + "</answer>", "9", False),
    ],
)
def test_what_a_program_prints_is_compared_and_nothing_is_run(
    text: str, reference: str, correct: bool
) -> None:
    assert CodeOutput()(text, Sample(reference)).correct is correct
