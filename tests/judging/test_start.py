"""Loading a verifier has its own limit, and hinders nobody else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from rewardkit import Sample
from rewardkit.errors import JudgingError
from rewardkit.judging import close_pools, judge, pool
from rewardkit.judging.frames import FrameChannel
from rewardkit.judging.worker_environment import worker_environment

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class SlowToLoad:
    seconds: float

    def prepare(self) -> None:
        time.sleep(self.seconds)

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return True


def equal(text: str, sample: Sample) -> bool:
    return text == sample.reference


def test_a_verifier_that_never_loads_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "START_SECONDS", 1)
    with pytest.raises(
        JudgingError, match=r"took more than 1 s to load, its `prepare\(\)` included"
    ):
        judge(SlowToLoad(600), "x", Sample("x"))


class NeverLoads:
    def __init__(self, flag: str) -> None:
        self.flag = flag

    def prepare(self) -> None:
        with open(self.flag, "a") as flag:
            flag.write("started\n")
        time.sleep(0.5)
        raise ImportError("no module named nothing")

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return True


def test_threads_that_wait_for_a_failing_start_fail_with_it(tmp_path: Path) -> None:
    flag = tmp_path / "starts"
    verifier = NeverLoads(str(flag))

    def load(_: int) -> str:
        with pytest.raises(JudgingError) as caught:
            judge(verifier, "x", Sample("x"))
        return str(caught.value)

    with ThreadPoolExecutor(4) as executor:
        messages = set(executor.map(load, range(4)))
    assert all("no module named nothing" in message for message in messages)
    assert len(messages) == 1


def test_other_verifiers_judge_while_one_loads() -> None:
    errors: list[BaseException] = []

    def load() -> None:
        try:
            judge(SlowToLoad(600), "x", Sample("x"))
        except JudgingError as error:
            errors.append(error)

    loading = threading.Thread(target=load)
    loading.start()
    assert judge(equal, "x", Sample("x")).correct
    assert loading.is_alive()
    close_pools()  # ends the one that loads
    loading.join(timeout=600)
    assert [str(error) for error in errors] == ["the worker processes were closed as one started"]


def test_a_socket_stays_open_while_a_thread_reads_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread's new socket would have its number, and its bytes would go to the first."""
    waiting, sockets = threading.Event(), []
    wait = FrameChannel._wait

    def watched(channel: FrameChannel, end: float | None, event: int) -> None:
        sockets.append(os.fstat(channel._descriptor).st_ino)
        waiting.set()
        wait(channel, end, event)
        sockets.append(os.fstat(channel._descriptor).st_ino)

    def load() -> None:
        with pytest.raises(JudgingError, match="were closed as one started"):
            judge(SlowToLoad(600), "x", Sample("x"))

    monkeypatch.setattr(FrameChannel, "_wait", watched)
    with ThreadPoolExecutor(1) as executor:
        loading = executor.submit(load)
        waiting.wait()
        close_pools()
        loading.result()
    assert len(sockets) == 2
    assert sockets[0] == sockets[1]


def test_what_is_closed_before_its_process_starts_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def closed_meanwhile(passed: Iterable[str]) -> dict[str, str]:
        (starting,) = pool._pools.values()
        closing.start()
        while not starting._closed:
            time.sleep(0.01)
        return worker_environment(passed)

    close_pools()
    closing = threading.Thread(target=close_pools)
    monkeypatch.setattr(pool, "worker_environment", closed_meanwhile)
    with pytest.raises(JudgingError, match="were closed as one started"):
        judge(SlowToLoad(600), "x", Sample("x"))
    closing.join()


def test_threads_that_need_the_same_verifier_wait_for_one_start() -> None:
    verdicts: list[bool | None] = []
    threads = [
        threading.Thread(
            target=lambda: verdicts.append(judge(SlowToLoad(0.3), "x", Sample("x")).correct)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 4
