"""The limits of a call, and what is nobody's fault: the machine's memory, an interpreter's end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from rewardkit.confinement import Isolation, Outcome, jail, jobs
from rewardkit.errors import ConfinementError
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.code.verifier import Code
from rewardkit.verifiers.rubric import Rubric
from tests.confinement.levels import CONFINING, works
from tests.support.programs import needed

pytestmark = pytest.mark.slow  # starts processes

ADD = {"inputs": ["1 2\n", "3 4\n", "0 0\n", "5 5\n"], "outputs": ["3\n", "7\n", "0\n", "10\n"]}
READ_ADD = "print(sum(map(int, input().split())))"
CALLS = {"inputs": ["1", "2", "3", "4"], "outputs": ["1", "2", "3", "4"], "fn_name": "f"}
ASSERTS = [f"assert f({n}) == {n}" for n in range(4)]
SLEEPS = "import time\ntime.sleep(0.9)\n"
COMPUTES = "import time\nwhile time.process_time() < 0.9: pass\n"
FUNCTION = "def f(n):\n    {}\n    return n"
CPP = """
#include <iostream>
#include <unistd.h>
int main() { int a, b; std::cin >> a >> b; usleep(900000); std::cout << a + b; }
"""


def judged(
    programs: list[str], tests: Any, verifier: Code | None = None, **options: Any
) -> list[Verdict]:
    items = [(program, Sample(json.dumps(tests))) for program in programs]
    return judge_many(verifier or Code(), items, JudgingOptions(**options))


@pytest.mark.parametrize("level", CONFINING)
@pytest.mark.parametrize(
    ("program", "tests", "parameters"),
    [
        (SLEEPS + READ_ADD, ADD, {}),
        (COMPUTES + READ_ADD, ADD, {}),
        (SLEEPS + READ_ADD, ADD, {"score": "share"}),
        (FUNCTION.format("import time; time.sleep(0.9)"), CALLS, {}),
        (FUNCTION.format("import time; time.sleep(0.9)"), ASSERTS, {}),
        (COMPUTES + FUNCTION.format(""), ASSERTS, {}),
        (COMPUTES + FUNCTION.format(""), ASSERTS, {"in_process": True}),
        (CPP, ADD, {"language": "cpp"}),
    ],
)
@pytest.mark.parametrize("options", [{"timeout": 0.5}, {"max_wall": 1.5}], ids=str)
def test_all_tests_of_a_program_end_at_the_call_s_deadline(
    level: Isolation,
    program: str,
    tests: Any,
    parameters: dict[str, Any],
    options: dict[str, Any],
) -> None:
    if parameters.get("language") == "cpp":
        needed("g++", "sudo apt-get install g++")
    verifier = Code(isolation=works(level), **parameters)
    (verdict,) = judged([program], tests, verifier, **options)
    assert (verdict.correct, verdict.failure) == (False, Failure.TIMEOUT), verdict.message
    assert "ran out of time" in verdict.message


def test_without_a_deadline_of_the_caller_s_each_test_has_its_own() -> None:
    (verdict,) = judged([SLEEPS + READ_ADD], ADD)
    assert verdict.correct, verdict.message
    (verdict,) = judged([SLEEPS + READ_ADD], ADD, timeout=60)
    assert verdict.correct, verdict.message


def test_a_composite_s_deadline_counts_too() -> None:
    rubric = Rubric({"code": Code()}, {"code": 1}, "code")
    sample = Sample(json.dumps(ADD))
    (verdict,) = judge_many(rubric, [(SLEEPS + READ_ADD, sample)], JudgingOptions(timeout=0.5))
    assert verdict.correct is False
    (verdict,) = judge_many(rubric, [(SLEEPS + READ_ADD, sample)])
    assert verdict.correct


KILLS_ITSELF = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("kills", [0, 1])
@pytest.mark.parametrize("tests", [ADD, CALLS, ASSERTS], ids=["stdin", "calls", "asserts"])
def test_no_program_is_blamed_while_the_kernel_kills_for_memory(
    kills: int, tests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter(range(0, 1000 * kills + 1, kills) if kills else [0] * 1000)
    monkeypatch.setattr(jail, "killed_for_memory", lambda: next(counts))
    programs = [f"{READ_ADD}\ndef f(n):\n    return n" if tests is ADD else FUNCTION.format("")]
    ended, right = judged([KILLS_ITSELF, *programs], tests)
    assert ended.correct is (None if kills else False)
    assert ("resources are used up" in ended.message) is bool(kills)
    assert right.correct, right.message


def test_a_program_that_was_killed_for_memory_once_is_judged_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = iter([0, 1])
    monkeypatch.setattr(jail, "killed_for_memory", lambda: next(counts, 1))
    run = jobs.Job.outcome
    killed = iter([True])

    def outcome(job: jobs.Job) -> Outcome:
        return Outcome("signal", status=signal.SIGKILL) if next(killed, False) else run(job)

    monkeypatch.setattr(jobs.Job, "outcome", outcome)
    (verdict,) = judged([READ_ADD], ADD)
    assert verdict.correct, verdict.message


def failing(monkeypatch: pytest.MonkeyPatch, fails: Callable[[str], bool]) -> None:
    """Make the machinery fail as it runs a program that `fails` says."""
    run = jail.Jail.run

    def failing_run(self: jail.Jail, source: str, stdin: bytes = b"") -> Outcome:
        if fails(source):
            raise ConfinementError("its keeper ended by itself")
        return run(self, source, stdin)

    monkeypatch.setattr(jail.Jail, "run", failing_run)


def test_what_fails_once_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    once = iter([True, True])
    failing(monkeypatch, lambda _: next(once, False))
    verdicts = judged([READ_ADD, f"{READ_ADD}  # 2", "print(4)"], ADD)
    assert [verdict.correct for verdict in verdicts] == [True, True, False]


@pytest.mark.parametrize(("times", "correct"), [(1, True), (2, None)])
def test_no_program_is_blamed_for_a_process_that_cannot_start(
    times: int, correct: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = jobs.KeeperSocket.reply
    refused = iter([True] * times)

    def replying(self: jobs.KeeperSocket) -> dict[str, Any] | None:
        said = reply(self)
        starved = {"failed": "Resource temporarily unavailable", "used_up": True}
        return starved if said and next(refused, False) else said

    monkeypatch.setattr(jobs.KeeperSocket, "reply", replying)
    (verdict,) = judged([READ_ADD], ADD)
    assert verdict.correct is correct, verdict.message


def test_a_program_that_always_ends_its_keeper_is_wrong_and_its_neighbours_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing(monkeypatch, lambda source: "ends" in source)
    programs = [f"{READ_ADD}  # {n}" for n in range(4)]
    *rights, bad = judged([*programs, "ends = 1"], ADD)
    assert all(verdict.correct for verdict in rights)
    assert (bad.correct, bad.failure) == (False, Failure.CRASHED)


def test_a_machine_where_no_program_runs_leaves_all_unjudged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Code().prepare()
    failing(monkeypatch, lambda _: True)
    verdicts = judged([READ_ADD, "print(4)"], ADD)
    assert [verdict.correct for verdict in verdicts] == [None, None]
    assert "keeper" in verdicts[0].message


@pytest.mark.parametrize("level", CONFINING)
def test_an_interpreter_that_ends_is_replaced(
    level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = Code(isolation=works(level))
    assert judged([READ_ADD], ADD, verifier)[0].correct
    run, count = jail.Jail.run, iter(range(10**6))

    def ending_run(self: jail.Jail, source: str, stdin: bytes = b"") -> Outcome:
        if next(count) == 40:
            for interpreter in [*jail._interpreters.values()]:
                os.kill(interpreter.process.pid, signal.SIGKILL)
        return run(self, source, stdin)

    monkeypatch.setattr(jail.Jail, "run", ending_run)
    verdicts = judged([f"{READ_ADD}  # {n}" for n in range(50)], ADD, verifier)
    assert [one.message for one in verdicts if not one.correct] == []


@pytest.mark.parametrize("level", CONFINING)
@pytest.mark.parametrize("reported", ["returned 1", "completed x\n" * 9, "missing x", "opaque x\n"])
def test_what_a_program_reports_too_much_is_its_own_matter(level: Isolation, reported: str) -> None:
    verifier = Code(isolation=works(level))
    surplus = f"import os\ndef f(n):\n    os.write(3, {reported.encode()!r})\n    return {{}}\n"
    right = FUNCTION.format("")
    for tests in (CALLS, ASSERTS):
        verdicts = judged([surplus.format(7), right, "print(1)"], tests, verifier)
        assert [verdict.correct for verdict in verdicts] == [False, True, False]
        assert not any("raised" in verdict.message for verdict in verdicts)


LIMITED = """
import json, resource, sys, rewardkit
from rewardkit.errors import UsageError
kind, soft, hard = sys.argv[1], *map(int, sys.argv[2:])
resource.setrlimit(getattr(resource, kind), (soft, hard))
try:
    verdict = rewardkit.verify("code", "x = bytearray(300 * 2**20); print(1)", json.dumps(
        {"inputs": [""], "outputs": ["1"]}))
    print(verdict.correct, verdict.message)
except UsageError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize(
    ("kind", "soft", "hard", "said"),
    [
        ("RLIMIT_DATA", 2**28, 2**28, "ulimit -d"),
        ("RLIMIT_DATA", 2**30 - 1, 2**30 - 1, "ulimit -d"),
        ("RLIMIT_STACK", 2**23, 2**23, "ulimit -s"),
        ("RLIMIT_AS", 2**30 - 2**20, 2**30 - 2**20, "ulimit -v"),
        ("RLIMIT_CPU", 5, 5, "ulimit -t"),
        ("RLIMIT_NOFILE", 60, 60, "ulimit -n"),
        ("RLIMIT_FSIZE", 2**20, 2**20, "ulimit -f"),
        ("RLIMIT_DATA", 2**28, 2**31, "True"),
        ("RLIMIT_FSIZE", 2**20, 2**31, "True"),
        ("RLIMIT_DATA", 2**30, 2**30, "True"),
    ],
)
def test_a_limit_that_leaves_programs_too_little_is_named(
    kind: str, soft: int, hard: int, said: str
) -> None:
    command = [sys.executable, "-c", LIMITED, kind, str(soft), str(hard)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert said in done.stdout, done.stdout + done.stderr
    assert said == "True" or done.stdout.startswith("refused:")
