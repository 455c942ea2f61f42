"""The first call in a fresh process gets the same verdict as any other, also on a busy machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import rewardkit
from rewardkit import Sample, Verdict
from rewardkit.judging import close_pools

pytestmark = pytest.mark.slow

PROCESSES = int(os.environ.get("FIRST_CALLS", "100"))

SCRIPT = r"""
import sys, rewardkit
pairs = [(r"\boxed{5}", "4"), (r"\boxed{\sqrt{3}}", r"\sqrt{2}"),
         (r"\boxed{\int_1^4 3t^2\,dt}", "64"), (r"\boxed{\frac{x}{2}}", r"\frac{x}{3}")]
first = int(sys.argv[1]) % len(pairs)
for text, reference in pairs[first:] + pairs[:first]:
    verdict = rewardkit.verify("math", text, reference)
    if verdict.correct is not False or verdict.failure != "wrong":
        print(text, reference, verdict)
"""


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    close_pools()


@pytest.mark.faults
@pytest.mark.timeout(0)
def test_first_calls_in_fresh_processes_on_a_busy_machine() -> None:
    def unexpected(number: int) -> str:
        command = [sys.executable, "-c", SCRIPT, str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    with ThreadPoolExecutor(3 * (os.cpu_count() or 1)) as threads:
        assert [text for text in threads.map(unexpected, range(PROCESSES)) if text] == []


def hash_of(text: str, sample: Sample) -> Verdict:
    return Verdict.right(answer=str(hash(text)))


def test_sets_have_the_same_order_in_every_worker() -> None:
    first = rewardkit.verify(hash_of, "x", "4").answer
    close_pools()
    assert rewardkit.verify(hash_of, "x", "4").answer == first
