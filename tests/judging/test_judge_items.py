"""Deadlines and limits hold wherever the caller is, and other verdicts stand."""

from __future__ import annotations

import asyncio
import operator
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rewardkit
from rewardkit import Bounded, Failure, Sample, Verdict
from rewardkit.errors import JudgingError, UsageError
from rewardkit.judging import (
    JudgingOptions,
    close_pools,
    judge,
    judge_many,
    pool,
    worker_handle,
)
from rewardkit.judging.pool import Pool, PoolKey
from rewardkit.verifiers.judge import use
from rewardkit.verifiers.rubric import Rubric
from tests.judging.misbehaviour import misbehaving
from tests.support.processes import children_of, is_running, the_fork_server, wait_until

pytestmark = pytest.mark.slow

DEADLINE = 0.5
OPTIONS = JudgingOptions(timeout=DEADLINE)
SPINS, DIES = "computes for ever", "a segmentation fault"


def hang() -> Verdict:
    return judge(misbehaving, "holds the interpreter's lock", Sample("x"), OPTIONS)


def in_main_thread() -> Verdict:
    return hang()


def in_a_thread() -> Verdict:
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(hang).result()


def in_asyncio() -> Verdict:
    async def main() -> Verdict:
        return hang()

    return asyncio.run(main())


@pytest.mark.parametrize("place", [in_main_thread, in_a_thread, in_asyncio])
def test_the_deadline_holds(place: Callable[[], Verdict]) -> None:
    """The verdict would not come in a lifetime: that there is one shows the deadline."""
    assert place().failure is Failure.TIMEOUT


def test_the_other_texts_keep_their_verdicts() -> None:
    texts = [f"{i}" for i in range(60)]
    texts[7], texts[20], texts[33] = SPINS, DIES, "out of memory"
    items = [(text, Sample("5" if i % 2 else text)) for i, text in enumerate(texts)]
    verdicts = judge_many(misbehaving, items, JudgingOptions(timeout=DEADLINE, workers=2))
    for i, (text, verdict) in enumerate(zip(texts, verdicts, strict=True)):
        if text.isdigit():
            assert verdict.correct is (not i % 2 or text == "5"), text
        else:
            assert verdict.failure is (Failure.TIMEOUT if text == SPINS else Failure.CRASHED)


def short(text: str, sample: Sample) -> float:
    return 0.5


@pytest.mark.parametrize(
    "text",
    [SPINS, DIES, "out of memory", "recursion without end", "an IndexError", "not a number"],
)
def test_a_rubric_s_parts_that_were_decided_keep_their_scores(text: str) -> None:
    weights = {"answer": 3.0, "short": 1.0}
    judges = Rubric({"answer": misbehaving, "short": short}, weights, decides="answer")
    verdicts = judge_many(judges, [(text, Sample("x")), ("x", Sample("x"))], OPTIONS)
    assert [dict(verdict.parts) for verdict in verdicts] == [
        {"answer": 0.0, "short": 0.5},
        {"answer": 1.0, "short": 0.5},
    ]
    failure = Failure.TIMEOUT if text == SPINS else Failure.CRASHED
    assert (verdicts[0].correct, verdicts[0].failure) == (False, failure)
    assert verdicts[0].score == 0.125


def test_the_pools_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def costs(least: int) -> Callable[[str, Sample], bool]:
        return lambda text, sample: len(text) >= least

    close_pools()
    monkeypatch.setattr(pool, "KEPT", 2)
    first, second, third = map(costs, range(3))
    for verifier in (first, second):
        assert judge(verifier, "a" * 99, Sample("x")).correct
    kept, closed = pool._pools
    for verifier in (first, third, first):
        assert judge(verifier, "a" * 99, Sample("x")).correct
    assert [kept in pool._pools, closed in pool._pools, len(pool._pools)] == [True, False, 2]


def test_many_batches_leave_nothing_behind() -> None:
    def resources() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    options = JudgingOptions(timeout=DEADLINE, workers=1)
    texts = ["x", "y", DIES]
    items = [(text, Sample("x")) for text in texts]
    judge_many(misbehaving, items, options)
    before = resources()
    for number in range(300):
        some = items if number % 50 == 0 else items[:2]
        assert judge_many(misbehaving, some, options)[0].correct
    wait_until(lambda: all(map(operator.le, resources(), before)))  # a thread may end a bit later


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_verdicts_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    items = [(str(i), Sample(str(i % 3))) for i in range(50)]
    verdicts = judge_many(misbehaving, items, JudgingOptions(workers=workers))
    assert [verdict.correct for verdict in verdicts] == [i == i % 3 for i in range(50)]


def test_many_threads_share_the_workers() -> None:
    def one(i: int) -> bool | None:
        return judge(misbehaving, str(i), Sample("4")).correct

    with ThreadPoolExecutor(16) as executor:
        assert list(executor.map(one, range(64))) == [i == 4 for i in range(64)]


def test_a_lambda_can_be_a_verifier() -> None:
    wanted = 3
    verdicts = rewardkit.verify_batch(lambda text, sample: len(text) == wanted, ["abc", "a"], "xy")
    assert [verdict.correct for verdict in verdicts] == [True, False]


def test_a_verifier_that_cannot_be_pickled_is_an_error_that_says_so() -> None:
    lock = threading.Lock()

    def locked(text: str, sample: Sample) -> bool:
        with lock:
            return True

    with pytest.raises(JudgingError, match=r"can't be sent.*locks"):
        judge(locked, "x", Sample("x"))


class Unprepared:
    def prepare(self) -> None:
        raise ImportError("no module named nothing")

    def __call__(self, text: str, sample: Sample) -> bool:
        return True


def test_a_verifier_that_does_not_load_is_an_error() -> None:
    with pytest.raises(JudgingError, match="no module named nothing"):
        judge(Unprepared(), "x", Sample("x"))


class Here(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.judged(text == str(os.getpid()), answer=text)


def test_a_bounded_verifier_stays_in_this_process() -> None:
    assert judge(Here(), str(os.getpid()), Sample("")).correct


def output_of(folder: Path, source: str) -> str:
    """What a script prints."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source))
    command = [sys.executable, str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


SCRIPT = """
    import rewardkit

    def mine(text, sample):
        while text == "hang":
            pass
        return text == sample.reference

    print([v.correct for v in rewardkit.verify_batch(mine, ["a", "hang", "b"], "abb", timeout=0.5)])
    print(rewardkit.verify("math", r"\\boxed{2^{1/2}}", r"\\sqrt{2}").correct)
"""


def test_an_unguarded_script_works(tmp_path: Path) -> None:
    assert output_of(tmp_path, SCRIPT) == "[True, False, True]\nTrue\n"


SPAWNING_SCRIPT = """
    import multiprocessing
    import rewardkit

    def mine(text, sample):
        return text == sample.reference

    def judge(text):
        return rewardkit.verify(mine, text, "a").correct

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(judge, ["a", "b"]))
"""


def test_a_spawned_child_judges_with_a_verifier_of_the_script(tmp_path: Path) -> None:
    assert output_of(tmp_path, SPAWNING_SCRIPT) == "[True, False]\n"


def test_no_worker_outlives_a_killed_caller(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import os, rewardkit

            def hang(text, sample):
                open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
                while True:
                    pass

            rewardkit.verify(hang, "x", "x", timeout=600)
            """
        )
    )
    process = subprocess.Popen([sys.executable, script])
    pid_file = tmp_path / "pid"
    wait_until(lambda: pid_file.exists() and bool(pid_file.read_text()))
    process.kill()
    process.wait()
    worker = int(pid_file.read_text())
    wait_until(lambda: not is_running(worker))


def test_a_fork_server_that_is_killed_amid_a_batch_is_replaced(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")

    def kill_the_fork_server_once(text: str, sample: Sample) -> bool:
        if not os.path.exists(flag):
            Path(flag).touch()
            os.kill(os.getppid(), signal.SIGKILL)
            os._exit(1)
        return True

    items = [("x", Sample("x"))] * 40
    verdicts = judge_many(kill_the_fork_server_once, items, JudgingOptions(workers=1))
    assert [verdict.correct for verdict in verdicts] == [True] * 40


def test_a_fork_server_that_is_killed_between_batches_is_replaced() -> None:
    close_pools()
    assert judge(misbehaving, "x", Sample("x")).correct is True
    server = the_fork_server()
    for pid in children_of(server):
        os.kill(pid, signal.SIGKILL)
    os.kill(server, signal.SIGKILL)
    assert judge(misbehaving, "x", Sample("x")).correct is True


def test_threads_that_wait_for_a_worker_go_on_when_the_fork_server_is_killed() -> None:
    close_pools()
    items, options = [("x", Sample("x"))] * 8, JudgingOptions(workers=1)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(3):
            batches = [threads.submit(judge_many, wait, items, options) for _ in range(4)]
            wait_until(lambda: children_of(os.getpid(), "judging.fork_server"))
            for server in children_of(os.getpid(), "judging.fork_server"):
                os.kill(server, signal.SIGKILL)
            assert all(verdict.correct for batch in batches for verdict in batch.result())


def test_workers_that_are_killed_while_idle_cost_no_text_its_verdict() -> None:
    close_pools()
    options = JudgingOptions(workers=3)
    assert all(verdict.correct for verdict in judge_many(wait, [("x", Sample("x"))] * 6, options))
    server = the_fork_server()
    workers = children_of(server)
    assert len(workers) == 3
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    assert judge(wait, "x", Sample("x"), options).correct is True


def test_a_worker_that_an_earlier_text_has_stopped_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_handle, "SECONDS_TO_TAKE", 0.5)
    close_pools()
    options = JudgingOptions(workers=1)
    assert judge(wait, "x", Sample("x"), options).correct is True
    server = the_fork_server()
    (worker,) = children_of(server)
    os.kill(worker, signal.SIGSTOP)
    text = "x" * 10**6  # more than a socket holds
    assert judge(wait, text, Sample(text), options).correct is True
    assert children_of(server) != [worker]


def wait(text: str, sample: Sample) -> bool:
    time.sleep(0.05)
    return text == sample.reference


def test_a_request_to_fork_that_the_fork_server_does_not_answer_is_sent_to_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    close_pools()
    silent: list[socket.socket] = []
    fork = Pool._request

    def killed_before_it_answers(pool: Pool, request: bytes, *descriptors: int) -> socket.socket:
        if len(silent) == 2:
            return fork(pool, request, *descriptors)
        ours, theirs = socket.socketpair()
        theirs.close()
        silent.append(ours)
        return ours

    monkeypatch.setattr(Pool, "_request", killed_before_it_answers)
    assert judge(misbehaving, "x", Sample("x")).correct is True
    for connection in silent:
        connection.close()


def test_a_forked_child_judges_with_workers_of_its_own() -> None:
    judge(misbehaving, "x", Sample("x"))
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        verdict = judge(misbehaving, "y", Sample("y"))
        os.write(write, b"right" if verdict.correct else b"wrong")
        close_pools()
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 5) == b"right"
    assert judge(misbehaving, "z", Sample("z")).correct


def test_a_child_that_is_forked_while_a_thread_counts_can_count() -> None:
    with use._lock:  # as another thread may hold it
        pid = os.fork()
        if pid == 0:
            use.take_judge_uses()
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def test_an_interrupt_of_a_thread_that_waits_for_a_worker_wakes_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may come as this thread, and no other, was told that a worker is free."""
    workers = Pool(PoolKey(b"", 1))
    workers._count = 1  # it judges for another thread
    woken: list[None] = []

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workers._lock, "wait", interrupted)
    monkeypatch.setattr(workers._lock, "notify_all", lambda: woken.append(None))
    with pytest.raises(KeyboardInterrupt), workers.borrow(1):
        pass
    assert woken


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"completions": ["a"], "references": []}, "1 completions, 0 references"),
        ({"completions": ["a"], "references": ["a"], "workers": 0}, "workers is 0"),
        ({"completions": ["a"], "references": ["a"], "timeout": 0}, "timeout is 0"),
        ({"completions": ["a", "b"], "references": ["a", 4]}, "reference 1 is 4, of type int"),
        ({"completions": [None], "references": ["a"]}, "the completion is None, of type NoneType"),
        ({"completions": [[{"content": "a"}]], "references": ["a"]}, "of type list; pass text"),
    ],
)
def test_bad_arguments_are_errors(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rewardkit.verify_batch("math", **arguments)  # type: ignore[arg-type]


def test_a_verifier_that_is_neither_name_nor_callable_is_an_error() -> None:
    with pytest.raises(UsageError, match="3 is neither a verifier's name nor a callable"):
        rewardkit.verify(3, "a", "a")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the reference is 4, of type int; pass text"):
        rewardkit.verify("math", "a", 4)  # type: ignore[arg-type]


def test_a_text_is_not_wrong_while_a_reference_could_not_be_judged() -> None:
    sample = Sample("4", references=("unreadable",))
    right, other = judge_many(reads_digits, [("4", sample), ("5", sample)])
    assert right.correct
    assert other.score is None
    assert "unreadable" in other.message


def reads_digits(completion: str, sample: Sample) -> Verdict:
    if not sample.reference.isdigit():
        return Verdict.unjudged(f"the reference {sample.reference!r} is unreadable")
    return Verdict.of(completion == sample.reference)
