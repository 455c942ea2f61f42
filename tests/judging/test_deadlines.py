"""A deadline counts the verifier's time, not the machine's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit import Failure, Sample, Verdict
from rewardkit.available_resources import available_cores
from rewardkit.judging import (
    JudgingOptions,
    LimitCounts,
    judge_many,
    take_limit_counts,
)
from rewardkit.judging.deadline import Deadline, LimitPassed, ProcessTime, process_time

pytestmark = pytest.mark.slow

TIMEOUT = 1.0


@pytest.fixture(params=[0, 3], ids=["idle", "three busy loops a core"])
def load(request: pytest.FixtureRequest) -> Iterator[int]:
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(request.param * available_cores())
    ]
    yield request.param
    for loop in loops:
        loop.kill()
        loop.wait()


def compute(seconds: float) -> None:
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass


def does_what_the_text_says(text: str, sample: Sample) -> bool:
    if text == "compute":
        compute(0.35)
    elif text == "compute and rest in turns":
        for _ in range(10):
            compute(0.03)
            time.sleep(0.002)
    elif text == "spin":
        compute(600)
    elif text == "sleep":
        time.sleep(600)
    return True


CASES = {
    "at once": None,
    "compute": None,
    "compute and rest in turns": None,
    "spin": Failure.TIMEOUT,
    "sleep": Failure.TIMEOUT,
}


def test_verdicts_do_not_depend_on_how_busy_the_machine_is(load: int) -> None:
    # a wide backstop: how much of the processor this test gets is nobody's promise
    options = JudgingOptions(timeout=TIMEOUT, max_wall=60.0, workers=2)
    items = [(text, Sample("")) for text in CASES]
    verdicts = judge_many(does_what_the_text_says, items, options)
    assert [verdict.failure for verdict in verdicts] == [*CASES.values()]


def test_the_backstop_ends_what_never_gets_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    take_limit_counts()
    always_waits = ProcessTime(waited=1e9)
    monkeypatch.setattr("rewardkit.judging.deadline.process_time", lambda _: always_waits)
    options = JudgingOptions(timeout=0.2, max_wall=0.6)
    (verdict,) = judge_many(does_what_the_text_says, [("spin", Sample(""))], options)
    assert verdict.failure is Failure.TIMEOUT
    assert "the machine was too busy" in verdict.message
    assert take_limit_counts() == LimitCounts(extended=1, stopped=1)
    assert take_limit_counts() == LimitCounts()


@pytest.mark.parametrize(("text", "said"), [("spin", "CPU time"), ("sleep", "asleep")])
def test_the_message_says_which_limit_it_was(text: str, said: str) -> None:
    options = JudgingOptions(timeout=0.3, max_wall=60.0)  # a busy machine must not end it first
    (verdict,) = judge_many(does_what_the_text_says, [(text, Sample(""))], options)
    assert verdict.failure is Failure.TIMEOUT
    assert re.search(said, verdict.message)


class EndlessStages:
    """Yields verdicts without end."""

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        while True:
            yield Verdict.wrong(Failure.WRONG, message="so far")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.right()


def test_stages_without_end_are_ended() -> None:
    (verdict,) = judge_many(EndlessStages(), [("", Sample(""))], JudgingOptions(timeout=0.3))
    assert (verdict.correct, verdict.message) == (False, "so far")


def test_a_process_that_is_gone_has_no_time_left() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    deadline = Deadline(gone.pid, ProcessTime(), allowed=0.0, backstop=60.0)
    with pytest.raises(LimitPassed, match="have passed"):
        deadline.wait()


def test_the_time_of_a_process_is_its_own_not_that_of_its_children(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    (folder / "task" / "7").mkdir(parents=True)
    user, system, of_children = 200, 300, 70_000
    fields = ["R", *["0"] * 10, user, system, of_children, of_children, *["0"] * 40]
    for place in (folder, folder / "task" / "7"):
        (place / "stat").write_text(f"7 (a name) {' '.join(map(str, fields))}\n")
    found = process_time(7, tmp_path)
    assert found is not None
    assert found.computed == pytest.approx(500 / os.sysconf("SC_CLK_TCK"))
