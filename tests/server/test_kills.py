"""Kills under load: every completion keeps its own verdict."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from rewardkit.frameworks.client import remote
from rewardkit.records import Verdict
from tests.server.process import end_server, start_server
from tests.support.processes import children_of, wait_until

pytestmark = pytest.mark.slow

CASES = [(f"<answer>{'a' * 16}{'b' * (n % 3)}</answer>", f"(a+)+b{{{n % 2}}}") for n in range(30)]
"""Regular expressions that only a worker may match, and that take it milliseconds."""

RIGHT = [n % 3 == n % 2 for n in range(30)]
THREADS = 3
OPTIONS = ("--verifier", "regex", "--timeout", "20")


class Load:
    """Threads that send the cases again and again, and compare what comes back."""

    def __init__(self, address: str) -> None:
        self._verifier = remote(address, verifier="regex", timeout=20)
        self._stopped = threading.Event()
        self._batches = [0] * THREADS
        self.faults: list[list[Verdict]] = []
        self._threads = [
            threading.Thread(target=self._send, args=(number,)) for number in range(THREADS)
        ]
        for thread in self._threads:
            thread.start()

    def wait_for_a_batch_each(self) -> None:
        """Wait until no request is left that was in flight before."""
        before = list(self._batches)
        wait_until(lambda: all(now > then for now, then in zip(self._batches, before, strict=True)))

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number: int) -> None:
        completions, references = map(list, zip(*CASES, strict=True))
        while not self._stopped.is_set():
            verdicts = self._verifier.verify_batch(completions, references)
            if [verdict.correct for verdict in verdicts] != RIGHT:
                self.faults.append(verdicts)
            self._batches[number] += 1


class Target:
    """A server and the processes below it."""

    def __init__(self) -> None:
        self.address, self.process = start_server(*OPTIONS)

    def fork_servers(self) -> list[int]:
        return children_of(self.process.pid, "judging.fork_server")

    def workers(self) -> list[int]:
        return [worker for server in self.fork_servers() for worker in children_of(server)]

    def kill_the_workers(self) -> None:
        self._kill(self.workers)

    def kill_the_fork_server(self) -> None:
        self._kill(self.fork_servers)

    def kill_the_server(self) -> None:
        """Kill it, and start it again on the same port."""
        self.process.kill()
        end_server(self.process)
        port = urlsplit(self.address).port
        assert port
        _, self.process = start_server(*OPTIONS, port=port)

    def _kill(self, processes: Callable[[], list[int]]) -> None:
        wait_until(processes)
        for pid in processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    target = Target()
    yield target
    end_server(target.process)


@pytest.mark.parametrize(
    "kill", [Target.kill_the_workers, Target.kill_the_fork_server, Target.kill_the_server]
)
def test_a_kill_under_load_costs_no_verdict(target: Target, kill: Callable[[Target], None]) -> None:
    load = Load(target.address)
    try:
        for _ in range(2):
            load.wait_for_a_batch_each()
            kill(target)
        load.wait_for_a_batch_each()
    finally:
        load.stop()
    assert load.faults == []


def metric(address: str, name: str) -> float:
    lines = httpx.get(f"{address}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def test_requests_that_have_begun_are_answered_after_sigterm() -> None:
    address, process = start_server(*OPTIONS)
    hang = remote(address, verifier="regex", timeout=1)
    with ThreadPoolExecutor(1) as thread:

        def ask() -> Future[list[Verdict]]:
            return thread.submit(
                hang.verify_batch, ["<answer>" + "a" * 60 + "b</answer>"], ["(a+)+"]
            )

        asked = ask()
        while metric(address, "rewardkit_judging_completions") != 1:
            if asked.done():  # between two looks: the machine is busy
                asked = ask()
        process.send_signal(signal.SIGTERM)
        assert [str(verdict.failure) for verdict in asked.result()] == ["timeout"]
    end_server(process)
