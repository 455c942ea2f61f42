"""Judge programs by tests that they never see."""

from __future__ import annotations

import ast
import math
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rewardkit.available_resources import available_cores
from rewardkit.confinement import TOOLCHAIN, Allowance, Budget, Jail, Opaque, choose_isolation
from rewardkit.errors import ConfinementError, UnknownName, UsageError
from rewardkit.protocols import Bounded, Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.code.comparison import OutputComparison, equal_outputs, load_checker
from rewardkit.verifiers.code.formats import Suite, SuiteFormat, read_tests
from rewardkit.verifiers.code.runner import (
    Fault,
    Rules,
    Runner,
    build_program,
    defines_class,
    imports,
    last_block,
    program_in,
    python_runner,
)
from rewardkit.verifiers.code.scripts import imported_modules
from rewardkit.verifiers.reading import answer_block, fenced_blocks
from rewardkit.verifiers.stated import Reading, stated_answer

SLEEP = 3
"""The time of a test by the clock, as a multiple of its processor time."""

LONGEST_LITERAL = 10_000
"""Characters of an answer that is read as a Python literal."""

TESTS_COLUMNS = (
    *("tests", "test", "test_list", "test_cases", "input_output", "verification_info"),
    *("private_test_cases",),
)
"""Columns of published sets that hold tests."""

COMMANDS: Mapping[str, Sequence[str]] = {"cpp": ("g++ -O2 -std=c++17 -o {out} {src}", "{out}")}
"""For each language besides Python: the commands that build and run a program."""


@dataclass(frozen=True)
class Code(Verifier):
    """Right if the program in the completion passes all tests; no other text counts.

    The program is the last fenced block in `language`, else the whole text. The reference holds the
    tests: JSON, or a test program; `tests` names the format where the shape is not enough. The
    tests stay in this process: a program gets one input at a time, in a jail (`isolation`), and
    this process compares the output. Test programs run in a second jail and call the program.

    `compare` is `lines` (stripped), `exact`, `tokens`, `float` (within `tolerance`, absolute or
    relative, 1e-6 unless given), `unordered`, or by `checker`, a "module:function" of (input,
    output, expected). The first three compare results of functions by value. Test programs compare
    by themselves. `rules="livecodebench"` reads and compares as LiveCodeBench does, exactly unless
    you give `tolerance`. `score="share"` is the share of passed tests; otherwise the first failed
    test ends the judging. `max_tests` limits the tests. A test has `timeout` seconds of processor
    time, three times `timeout` by the clock, and `memory_mb`. `in_process` runs test programs in
    the program's process, where the program can fool the tests: the verdict says weak_isolation.
    """

    thinking = "strip"
    reads = ("code",)
    reads_list = True
    reference_columns = TESTS_COLUMNS
    set_by_caller = ("isolation", "commands", "checker")

    tests: SuiteFormat = ""
    language: str = "python"
    compare: OutputComparison = "lines"
    tolerance: float | None = None
    checker: str = ""
    rules: Literal["", "livecodebench"] = ""
    score: Literal["all", "share"] = "all"
    max_tests: int = 0
    timeout: float = 6.0
    memory_mb: int = 1024
    isolation: str = "auto"
    in_process: bool = False
    packages: Sequence[str] = ("numpy",)
    workers: int = 0
    commands: Mapping[str, Sequence[str]] = field(default_factory=lambda: COMMANDS)

    def __post_init__(self) -> None:
        if self.language != "python" and self.language not in self.commands:
            raise UnknownName.among("language in `commands`", self.language, self.commands)
        own_way = "compares in its own way"
        for given, parameter, reason in (
            (self.rules and self.compare != "lines", "compare", f"rules={self.rules!r} {own_way}"),
            (self.rules and self.checker, "checker", f"rules={self.rules!r} {own_way}"),
            (self.checker and self.compare != "lines", "compare", "a checker compares alone"),
            (
                self.tolerance is not None and not self.rules and self.compare != "float",
                "tolerance",
                f"compare={self.compare!r} has none; compare='float' and rules='livecodebench' do",
            ),
            (self.in_process and self.language != "python", "in_process", "it is for Python"),
        ):
            if given:
                value = getattr(self, parameter)
                raise UsageError(f"{parameter}={value!r} would have no effect: {reason}")
        for name, least in (("timeout", 0.001), ("memory_mb", 1), ("max_tests", 0), ("workers", 0)):
            if not least <= getattr(self, name) < math.inf:
                raise UsageError(f"{name} is {getattr(self, name)!r}; it must be at least {least}")
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise UsageError(f"tolerance is {self.tolerance!r}; it must be a number from 0 on")

    def prepare(self) -> None:
        """Refuse a machine that can't confine programs, and a checker that doesn't exist."""
        self.isolation_level()
        if self.checker:
            load_checker(self.checker)

    def isolation_level(self) -> str:
        """Return the level of isolation that programs get. UsageError if there is none."""
        try:
            self._budget().check()
            return choose_isolation(self.isolation)
        except ConfinementError as error:
            raise UsageError(str(error)) from error

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return self.judge_batch([(text, sample)])[0]

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts; the same program is judged once by the same tests.

        UsageError if this machine can't confine programs.
        """
        seconds = [math.inf] * len(items)
        judged = self.judge_within(items, seconds, max_wall=math.inf, workers=None)
        errors = (item for item in judged if isinstance(item, Exception))
        for error in errors:
            raise error
        return [item for item in judged if not isinstance(item, Exception)]

    def judge_within(
        self,
        items: Sequence[tuple[str, Sample]],
        seconds: Sequence[float],
        *,
        max_wall: float,
        workers: int | None,
    ) -> list[Verdict | Exception]:
        """Judge as `judge_batch` does, with all tests of a program within its seconds.

        They count processor time; SLEEP times as many by the clock, and at most `max_wall`.
        """
        self.prepare()
        problems = [(sample.reference, sample.question, id(sample.columns)) for _, sample in items]
        samples = {key: sample for key, (_, sample) in zip(problems, items, strict=True)}
        tests = {key: self._tests(sample) for key, sample in samples.items()}
        keys = [
            (self._program(text, tests[problem]), problem, allowed)
            for problem, (text, _), allowed in zip(problems, items, seconds, strict=True)
        ]

        def judge(key: tuple[str, Any, float]) -> Verdict | Exception:
            program, problem, allowed = key
            wall = min(SLEEP * allowed, max_wall)
            try:
                return self._judge(program, tests[problem], allowed, wall)
            except Exception as error:  # a checker of the task's author may raise anything
                return error

        distinct = list(dict.fromkeys(keys))
        with ThreadPoolExecutor(self.workers or workers or available_cores()) as threads:
            by_key = dict(zip(distinct, threads.map(judge, distinct), strict=True))
        return [by_key[key] for key in keys]

    def explain(self, text: str, sample: Sample, /) -> Sequence[tuple[str, str]]:
        """Return the program, what tests it, and the level of isolation."""
        tests = self._tests(sample)
        stated = tests.message if isinstance(tests, Verdict) else tests.describe()
        return [
            ("program", self._program(text, tests)),
            ("tests", stated),
            ("isolation", self.isolation_level()),
        ]

    def _tests(self, sample: Sample) -> Suite | Verdict:
        try:
            tests = read_tests(sample, self.tests)
        except ValueError as error:
            return Verdict.unjudged(str(error))
        tests = replace(tests, language=tests.language or self.language)
        if self.checker and tests.kind != "stdin":
            return Verdict.unjudged(
                "a checker is for tests on stdin; these are " + tests.describe()
            )
        if (self.compare != "lines" or self.tolerance is not None) and tests.kind == "script":
            return Verdict.unjudged(
                f"compare={self.compare!r} and tolerance={self.tolerance!r} have no effect on "
                "tests that are programs; leave them out"
            )
        if tests.one_process and not self.in_process:
            return Verdict.unjudged(
                f"the tests use {tests.one_process}, which only works in the program's process; "
                "in_process=true runs them there, with weak isolation"
            )
        if tests.kind == "script" and self.in_process:
            known = {*sys.stdlib_module_names, *self.packages, "pytest", "solution"}
            if missing := imported_modules(tests.cases[0].given) - known:
                return Verdict.unjudged(
                    f"the tests import {', '.join(sorted(missing))}, which `packages` doesn't name"
                )
        if tests.language == "python":
            return tests
        if tests.language not in self.commands or tests.kind != "stdin":
            return Verdict.unjudged(
                f"programs in {tests.language!r} are tested on stdin, by a command in `commands`"
            )
        compiler = shlex.split(self.commands[tests.language][0])[0]
        if shutil.which(compiler) is None:
            return Verdict.unjudged(f"{compiler!r} isn't installed, which {tests.language} needs")
        return tests

    def _program(self, text: str, tests: Suite | Verdict) -> str:
        if self.rules == "livecodebench":
            return last_block(text)
        return program_in(text, "python" if isinstance(tests, Verdict) else tests.language)

    def _budget(self) -> Budget:
        return Budget(
            cpu_seconds=self.timeout,
            wall_seconds=SLEEP * self.timeout,
            memory=self.memory_mb * 2**20,
        )

    def _judge(
        self, program: str, tests: Suite | Verdict, seconds: float, wall_seconds: float
    ) -> Verdict:
        if isinstance(tests, Verdict):
            return replace(tests, answer=program)
        if not program.strip():
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no program")
        scripts = [case.given for case in tests.cases] if tests.kind == "script" else []
        texts = "\n".join([program, *scripts])
        try:
            with Jail(
                isolation=self.isolation,
                budget=self._budget(),
                time=Allowance(seconds, wall_seconds),
                readable=() if tests.language == "python" else TOOLCHAIN,
                packages=self.packages if imports(texts, self.packages) else (),
                prelude=bool(self.rules) or tests.kind == "call" or defines_class(program, tests),
            ) as jail:
                return self._verdict(program, tests, self._findings(jail, program, tests), jail)
        except Opaque as error:
            return Verdict.unjudged(f"a test's arguments can't be passed: {error}", answer=program)

    def _findings(self, jail: Jail, program: str, tests: Suite) -> list[Fault | None]:
        comparison = "livecodebench" if self.rules else self.compare
        usual = 0.0 if self.rules else 1e-6
        tolerance = usual if self.tolerance is None else self.tolerance
        rules = Rules(comparison, tolerance, self.checker)
        if tests.language != "python":
            build, execute = (shlex.split(line) for line in self.commands[tests.language])
            runner: Runner | Fault = build_program(jail, program, build, execute, rules)
        else:
            runner = python_runner(jail, program, tests, rules, self.in_process)
        if isinstance(runner, Fault):
            return [runner]
        findings: list[Fault | None] = []
        for case in tests.cases[: self.max_tests or None]:
            finding = runner(case)
            findings.append(finding)
            if finding and (self.score == "all" or finding.failure is None):
                break
        return findings

    def _verdict(
        self, program: str, tests: Suite, findings: Sequence[Fault | None], jail: Jail
    ) -> Verdict:
        count = len(tests.cases[: self.max_tests or None])
        level = "not confined" if jail.isolation == "none" else jail.isolation
        if self.in_process and tests.kind == "script":
            level += ", weak_isolation: the tests run in the program's process"
        number, worst = next(
            ((n, fault) for n, fault in enumerate(findings, 1) if fault), (0, None)
        )
        if worst is None:
            return Verdict.right(answer=program, message=f"{count} of {count} tests pass ({level})")
        message = f"test {number} of {count}: {worst.reason} ({level}){worst.shown()}"
        if worst.failure is None:
            return Verdict.unjudged(message, answer=program)
        passed = findings.count(None) if self.score == "share" else 0
        return Verdict.scored(
            passed / count, answer=program, failure=worst.failure, message=message
        )


@dataclass(frozen=True)
class CodeOutput(Bounded):
    """Right if the completion says what a program prints or returns; nothing is run.

    The answer is the last `<answer>` block, else the last fenced block, the last box or the whole
    text; `lenient` also reads "The answer is …". Answer and reference are compared line by line,
    without outer white space. Two Python literals are compared by value: `[1, 2]` is `[1,2]`, and
    `1.0` is `1`, but `True` isn't `1`.

    >>> CodeOutput()("<answer>{'a': 1.0}</answer>", Sample('{"a": 1}')).correct
    True
    """

    thinking = "strip"
    reads = ("xml",)

    reading: Reading = "strict"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if not sample.reference.strip():
            return Verdict.unjudged("the reference is blank")
        blocks = [block for _, block in fenced_blocks(text)] if answer_block(text) is None else []
        answer = blocks[-1].strip() if blocks else stated_answer(text, self.reading)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
        same = equal_outputs(answer, sample.reference, "lines", 0.0)
        return Verdict.judged(same or _equal_literals(answer, sample.reference), answer=answer)


def _equal_literals(answer: str, reference: str) -> bool:
    if max(len(answer), len(reference)) > LONGEST_LITERAL:
        return False
    try:
        return bool(_literal(answer) == _literal(reference))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _literal(text: str) -> Any:
    """A literal's value, with texts for True and False, which are equal to 1 and 0."""
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            node.value = f"\0{node.value}"
    return ast.literal_eval(tree)
