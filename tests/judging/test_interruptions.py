"""What the caller's signal handlers raise reaches the caller, and no verdict is invented."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator

import pytest

import rewardkit
from rewardkit import Bounded, Sample, Verdict
from rewardkit.judging import close_pools, judge_many
from rewardkit.judging.threaded_call import may_be_interrupted

pytestmark = pytest.mark.slow

ERRORS: list[type[BaseException]] = [TimeoutError, ValueError, RuntimeError, SystemExit, OSError]


@pytest.fixture(autouse=True)
def _alarms() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before[0])
    signal.setitimer(signal.ITIMER_REAL, *before[1])
    close_pools()


def ring(error: type[BaseException], seconds: float) -> None:
    def handler(number: int, frame: object) -> None:
        raise error("the caller's")

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)


class Quick(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        try:
            for _ in range(1000):
                pass
        except Exception:  # as a verifier does that takes any error for an unreadable answer
            return Verdict.right()
        return Verdict.judged(text == sample.reference, answer=text)


def slow(text: str, sample: Sample) -> bool:
    time.sleep(0.05)
    return True


@pytest.mark.parametrize("verifier", [Quick(), slow])
@pytest.mark.parametrize("error", ERRORS)
def test_a_handler_s_exception_reaches_the_caller(
    verifier: Callable[..., object], error: type[BaseException]
) -> None:
    ring(error, 0.1)
    with pytest.raises(error, match="the caller's"):
        judge_for_ever(verifier)


def judge_for_ever(verifier: Callable[..., object]) -> None:
    while True:
        if signal.getitimer(signal.ITIMER_REAL)[0] == 0:  # what a destructor raises is dropped
            signal.setitimer(signal.ITIMER_REAL, 0.1)
        verdicts = judge_many(verifier, [("4", Sample("4"))] * 100)  # type: ignore[arg-type]
        assert all(verdict.correct for verdict in verdicts)


def test_the_next_call_works_after_an_interruption() -> None:
    ring(TimeoutError, 0.2)
    with pytest.raises(TimeoutError):
        judge_for_ever(slow)
    assert rewardkit.verify(slow, "4", "4").correct is True


def test_only_a_handler_that_may_raise_takes_another_thread() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not may_be_interrupted()
    ring(TimeoutError, 600)
    assert may_be_interrupted()
