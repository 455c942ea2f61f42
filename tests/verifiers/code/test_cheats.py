"""Programs that want to pass without solving anything, on both levels."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

import rewardkit
from rewardkit.confinement import Isolation, choose_isolation
from rewardkit.verifiers.code.verifier import Code
from tests.confinement.hacking_programs import SOLUTIONS
from tests.confinement.levels import CONFINING, works
from tests.verifiers.code.cheats import (
    CALL_TESTS,
    CALLS,
    GUESS_TWICE,
    PRIMES,
    REMEMBER,
    STDIN,
    STDIN_TESTS,
    TEST_PROGRAM,
)

pytestmark = pytest.mark.slow  # starts processes

SOLVE_CALLED = '{"fn_name": "solve", "inputs": ["2"], "outputs": ["5"]}'


def passing(level: Isolation, programs: Mapping[str, str], reference: str) -> list[str]:
    """Return the names of the programs that aren't wrong, and what was said of them."""
    verdicts = rewardkit.verify_batch(
        Code(isolation=works(level), timeout=2.0),
        list(programs.values()),
        [reference] * len(programs),
        columns=[{"entry_point": "add"}] * len(programs),
    )
    return [
        f"{name}: {verdict.message}"
        for name, verdict in zip(programs, verdicts, strict=True)
        if verdict.correct is not False
    ]


@pytest.mark.parametrize("level", CONFINING)
def test_no_result_passes_for_another(level: Isolation) -> None:
    assert passing(level, CALLS, json.dumps(CALL_TESTS)) == []


@pytest.mark.parametrize("level", CONFINING)
def test_no_output_passes_for_another(level: Isolation) -> None:
    assert passing(level, STDIN, json.dumps(STDIN_TESTS)) == []


@pytest.mark.parametrize("level", CONFINING)
@pytest.mark.parametrize("kind", ["calls", "stdin"])
def test_no_program_has_a_second_guess(level: Isolation, kind: str) -> None:
    guess = "" if kind == "calls" else "\nprint(solve(input()))"
    programs = {name: GUESS_TWICE.format(store) + guess for name, store in REMEMBER.items()}
    quoted = [f'"{answer}"' for answer in PRIMES.values()]
    called = {"fn_name": "solve", "inputs": [*PRIMES], "outputs": quoted}
    printed = {"inputs": [*PRIMES], "outputs": [*PRIMES.values()]}
    tests = called if kind == "calls" else printed
    assert passing(level, programs, json.dumps(tests)) == []


@pytest.mark.parametrize("level", CONFINING)
def test_no_program_fools_a_test_program(level: Isolation) -> None:
    assert passing(level, CALLS, TEST_PROGRAM) == []


@pytest.mark.parametrize("reference", ['["assert solve(2) == 5"]', SOLVE_CALLED])
def test_no_program_that_a_jail_withstands_fools_the_verifier(reference: str) -> None:
    assert passing(choose_isolation(), SOLUTIONS, reference) == []


def test_the_right_programs_pass_the_same_tests() -> None:
    add, text = "add = lambda a, b: a + b", "print('SUM'); print(sum(map(int, input().split())))"
    level = choose_isolation()
    assert passing(level, {"call": add}, json.dumps(CALL_TESTS)) != []
    assert passing(level, {"program": add}, TEST_PROGRAM) != []
    assert passing(level, {"stdin": text}, json.dumps(STDIN_TESTS)) != []
