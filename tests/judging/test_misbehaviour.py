"""Whatever a verifier does on one text, the other texts keep their verdicts."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from rewardkit import Sample
from rewardkit.judging import JudgingOptions, close_pools, judge_many
from rewardkit.judging.frames import FrameChannel
from rewardkit.protocols import VerifierCallable
from tests.judging.misbehaviour import (
    MISBEHAVIOUR,
    REFERENCE,
    RIGHT,
    Quickly,
    misbehaving,
    outcome,
)
from tests.support.namespaces import in_namespace
from tests.support.processes import children_of, the_fork_server, wait_until

pytestmark = pytest.mark.slow

OPTIONS = JudgingOptions(timeout=0.6, max_wall=3.0, workers=2)
IN_PROCESS = [*list(MISBEHAVIOUR)[: list(MISBEHAVIOUR).index("a message of 100 MB")]]


def outcomes(verifier: VerifierCallable, name: str) -> list[str]:
    texts = [REFERENCE] * 3 + [name] + [REFERENCE] * 4
    items = [(text, Sample(REFERENCE)) for text in texts]
    verdicts = judge_many(verifier, items, OPTIONS)
    found = [outcome(verdict) for verdict in verdicts]
    assert all(verdict.message and not verdict.score for verdict in verdicts if not verdict.correct)
    return found


@pytest.mark.parametrize("name", MISBEHAVIOUR)
def test_one_text_costs_no_other_its_verdict(name: str) -> None:
    found = outcomes(misbehaving, name)
    assert found.pop(3) == MISBEHAVIOUR[name][1]
    assert found == [RIGHT] * 7
    assert "UNPICKLED" not in os.environ


@pytest.mark.parametrize("name", [name for name in IN_PROCESS if name != "a KeyboardInterrupt"])
def test_the_same_in_the_caller_s_process(name: str) -> None:
    found = outcomes(Quickly(), name)
    assert found.pop(3) == MISBEHAVIOUR[name][1]
    assert found == [RIGHT] * 7


def kills_its_group(rounds: int) -> None:
    items = [(REFERENCE, Sample(REFERENCE))] * 15
    for number in range(rounds):
        texts = [*items[: number % 16], ("kills its process group", Sample(REFERENCE))]
        texts += items[number % 16 :]
        found = [outcome(verdict) for verdict in judge_many(misbehaving, texts, OPTIONS)]
        assert found.pop(number % 16) == "crashed"
        assert found == [RIGHT] * 15


def test_a_verifier_that_kills_its_group_costs_no_other_text_its_verdict() -> None:
    kills_its_group(rounds=5)


@pytest.mark.faults
def test_two_hundred_batches_with_a_killed_group() -> None:
    kills_its_group(rounds=200)


KILLS_ALL = """
import os, signal, sys, time
from pathlib import Path
from rewardkit import Sample
from rewardkit.judging import JudgingOptions, close_pools, judge_many
from tests.judging.misbehaviour import start_a_daemon
from tests.support.processes import children_of, wait_until

OUTSIDE = sys.argv[1]
KINDS = ("kills all", "starts a daemon")

def verifier(text, sample):
    if text == KINDS[0]:
        assert os.readlink("/proc/self/ns/pid") != OUTSIDE  # else it would end the tests, too
        os.kill(-1, signal.SIGKILL)
        time.sleep(60)  # the kernel ends the fork server, and then this worker, a bit later
    if text == KINDS[1]:
        start_a_daemon()
    return True

def running():
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat")]
    return [stat for stat in stats if stat.rpartition(")")[2].split()[0] != "Z"]

assert os.getpid() == 1
options = JudgingOptions(timeout=0.6, max_wall=3.0, workers=2)
servers = set()
for number in range(int(sys.argv[2])):
    place = number % 16
    texts = ["x"] * 15
    texts.insert(place, KINDS[number % 2])
    verdicts = judge_many(verifier, [(text, Sample("")) for text in texts], options)
    assert all(verdicts[i].correct for i in range(16) if i != place), (number, verdicts)
    servers.update(children_of(1, "judging.fork_server"))
close_pools()
wait_until(lambda: len(running()) == 1)
print(len(servers), "fork servers")
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(200, marks=pytest.mark.faults)])
def test_batches_in_which_a_text_kills_all_processes_or_starts_a_daemon(rounds: int) -> None:
    outside = os.readlink("/proc/self/ns/pid")
    # as process 1, as in a container: `kill -1` reaches no other namespace, and process 1 survives
    ended = in_namespace(sys.executable, "-c", KILLS_ALL, outside, str(rounds))
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout.split()[0]) >= rounds // 2  # each kill ended one


def forges(text: str, sample: Sample) -> bool:
    """Right for "right"; "forges ID" also sends a right verdict with this id for the next text."""
    if text.startswith("forges"):
        send, given = FrameChannel.send, json.loads(text.removeprefix("forges"))

        def sends_twice(self: FrameChannel, content: bytes, *more: Any) -> None:
            send(self, content, *more)
            fields = json.loads(content)
            verdict = {**fields["verdict"], "correct": True, "score": 1.0, "failure": None}
            item = fields.get("item") if given == "the same" else given
            send(self, json.dumps({**fields, "item": item, "verdict": verdict}).encode(), *more)

        FrameChannel.send = sends_twice  # type: ignore[method-assign, assignment]
    return text == "right"


@pytest.mark.parametrize("item", ['"the same"', "0", "1", "null", '"x"', "-1", "[]"])
def test_a_reply_in_the_name_of_another_text_is_not_its_verdict(item: str) -> None:
    texts = ["right", f"forges {item}", "wrong", "right"]
    options = replace(OPTIONS, workers=1)
    verdicts = judge_many(forges, [(text, Sample("")) for text in texts], options)
    assert [verdict.correct for verdict in verdicts] == [True, False, False, True]


def dies_with_a_child(text: str, sample: Sample) -> bool:
    if text == "dies" and os.fork():
        os._exit(1)
    if text == "dies":
        time.sleep(600)
    return True


def test_a_worker_s_end_is_noticed_while_its_child_keeps_its_channel() -> None:
    (verdict,) = judge_many(dies_with_a_child, [("dies", Sample(REFERENCE))], OPTIONS)
    assert outcome(verdict) == "crashed"
    assert "ended the worker process (exit status 1)" in verdict.message


@pytest.mark.parametrize("busy", [0, 7])
def test_a_daemon_ends_with_its_worker(busy: float) -> None:
    close_pools()
    assert set(outcomes(misbehaving, "leaves a daemon behind")) == {RIGHT}
    server = the_fork_server()
    daemons = [pid for worker in children_of(server) for pid in children_of(worker)]
    assert len(daemons) == 1
    if busy:  # the machine lets it run only after so many seconds
        os.kill(server, signal.SIGSTOP)
        threading.Timer(busy, os.kill, (server, signal.SIGCONT)).start()
    close_pools()
    wait_until(lambda: not os.path.exists(f"/proc/{daemons[0]}"))
