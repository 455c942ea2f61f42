"""Every hacking program fails, in time, on every level, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.confinement import Budget, Jail
from rewardkit.confinement.jail import _interpreters
from tests.confinement.hacking_programs import REPOSITORY, SCRIPTS, SOLUTIONS
from tests.confinement.levels import CONFINING, FIRST_LANDLOCK, opened
from tests.support.processes import descendants_of, wait_until

pytestmark = pytest.mark.slow  # starts processes; some programs use up their time

BUDGET = Budget(
    cpu_seconds=1, wall_seconds=0.5, memory=2**28, threads=16, file_bytes=2**20, output_bytes=2**16
)
USUAL = Budget(memory=2**28)
MOST_SECONDS = 30  # a busy machine may need some; a program that isn't stopped takes longer


def traces() -> set[str]:
    """Files where a program could have left some, and shared memory."""
    folders = [Path("/tmp"), Path("/dev/shm"), Path.home(), Path("/"), REPOSITORY, Path.cwd()]
    names = {str(path) for folder in folders for path in folder.glob("*") if is_trace(path)}
    return names | {*Path("/proc/sysvipc/shm").read_text().splitlines()}


def is_trace(path: Path) -> bool:
    if path.name.startswith("rewardkit-jail"):
        return not is_in_use(path)
    return path.name.startswith(("won", "x"))


def is_in_use(folder: Path) -> bool:
    """Whether it belongs to a keeper, perhaps of another run of the tests: keepers work there."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if os.readlink(process / "cwd").startswith(str(folder)):
                return True
    return False


@pytest.fixture(params=[*CONFINING, FIRST_LANDLOCK], scope="module")
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    others = descendants_of(os.getpid())  # what earlier tests left
    with opened(request.param, budget=USUAL) as jail:
        jail.run("")  # starts the interpreter
    wait_until(lambda: len(descendants_of(os.getpid()) - others) <= len(_interpreters))
    files, started = traces(), descendants_of(os.getpid())
    with opened(request.param, budget=USUAL) as jail:
        yield jail
    wait_until(lambda: descendants_of(os.getpid()) <= started)
    wait_until(lambda: traces() <= files)  # another run may just have made a folder


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_reaches_out_of_its_jail(name: str, jail: Jail) -> None:
    jail.budget = BUDGET
    outcome = jail.run(SCRIPTS[name])
    jail.budget = USUAL
    assert b"won" not in outcome.stdout, outcome.stderr.decode()
    assert outcome.ended != "killed"
    assert outcome.seconds < MOST_SECONDS
    assert len(outcome.stdout) <= BUDGET.output_bytes
    assert jail.run("print(input())", b"still here\n").stdout == b"still here\n"


@pytest.mark.parametrize("name", SOLUTIONS)
def test_no_solution_passes_without_solving(name: str, jail: Jail) -> None:
    jail.budget = BUDGET
    outcome = jail.check("assert solve(solve(2)) == 5", SOLUTIONS[name], ["solve"])
    jail.budget = USUAL
    assert outcome.ended not in (
        "completed",
        "opaque",
        "missing",
    )  # unjudged would be an escape, too
    assert outcome.seconds < MOST_SECONDS
    right = jail.check("assert solve(2) == 5", "def solve(x): return 5", ["solve"])
    assert right.ended == "completed", right.stderr.decode()


def test_there_are_enough_programs() -> None:
    assert len(SCRIPTS) + len(SOLUTIONS) >= 60
