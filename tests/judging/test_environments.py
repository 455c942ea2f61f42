"""In a broken environment a right answer is right, or an error names the fault: never wrong."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rewardkit import Failure, Sample
from rewardkit.available_resources import killed_for_memory
from rewardkit.errors import JudgingError
from rewardkit.judging import judge, worker_handle

pytestmark = pytest.mark.slow

SCRIPT = """
import os, sys, rewardkit

def needs_a_worker(text, sample):
    return text == sample.reference

try:
    verdicts = rewardkit.verify_batch(needs_a_worker, ["4", "5"], ["4", "4"], workers=1)
    answer = [verdict.correct for verdict in verdicts]
except rewardkit.errors.RewardkitError as error:
    answer = error
os.write(int(sys.argv[1]), str(answer).encode())
"""

HARMLESS = {
    "few descriptors": "ulimit -n 20",
    "no files": "ulimit -f 0",
    "no core files": "ulimit -c 0",
    "one core": "taskset -pc 0 $$",
    "a low soft limit of the stack": "ulimit -Ss 512",
    "a low soft limit of data": "ulimit -Sd 100000",
    "standard input is closed": "exec <&-",
    "standard input and output are closed": "exec <&- >&-",
    "every standard stream is closed": "exec <&- >&- 2>&-",
    "ignored signals": "trap '' CHLD TERM HUP INT",
    "no home, no path": "unset HOME PATH",
}

TOO_LITTLE = {
    "virtual memory": ("ulimit -v 300000", "virtual memory (ulimit -v)"),
    "data": ("ulimit -d 100000", "data (ulimit -d)"),
    "CPU time": ("ulimit -t 3", "CPU time (ulimit -t)"),
    "stack": ("ulimit -s 1024", "stack (ulimit -s)"),
    "descriptors": ("ulimit -n 6", "Too many open files"),
}


def answer_under(setting: str, *wrapper: str) -> str:
    """What the script answers in a process that the shell's commands prepare."""
    readable, writable = os.pipe()
    with open(readable) as answer:
        shell = [*wrapper, "bash", "-c", f'{setting}; exec "$0" -c "$@"']
        process = subprocess.Popen(
            [*shell, sys.executable, SCRIPT, str(writable)],
            pass_fds=[writable],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writable)
        text = answer.read()
        process.wait()
    return text


@pytest.mark.parametrize("name", HARMLESS)
def test_a_right_answer_is_right(name: str) -> None:
    assert answer_under(HARMLESS[name]) == "[True, False]"


@pytest.mark.parametrize("name", TOO_LITTLE)
def test_too_little_is_an_error_that_names_the_limit(name: str) -> None:
    setting, named = TOO_LITTLE[name]
    assert named in answer_under(setting)


def runs(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


NAMESPACE = ("unshare", "--mount")
WITHOUT_PROC, WITHOUT_SHM = "mount -t tmpfs none /proc", "umount -l /dev/shm"


@pytest.mark.skipif(not runs(*NAMESPACE, "true"), reason="needs the right to mount")
def test_without_shared_memory_a_right_answer_is_right() -> None:
    assert answer_under(WITHOUT_SHM, *NAMESPACE) == "[True, False]"


@pytest.mark.skipif(not runs(*NAMESPACE, "true"), reason="needs the right to mount")
def test_without_proc_an_error_names_it() -> None:
    assert "/proc/self/statm" in answer_under(WITHOUT_PROC, *NAMESPACE)


class NoProcesses:
    """Its fork server can start no process."""

    def prepare(self) -> None:
        def fork() -> int:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

        os.fork = fork

    def __call__(self, text: str, sample: Sample) -> bool:
        return True


class NoDescriptors(NoProcesses):
    """Its fork server can open no further descriptor, so that the kernel passes it none."""

    def prepare(self) -> None:
        receive = socket.recv_fds

        def without(*arguments: Any) -> tuple[bytes, list[int], int, Any]:
            content, descriptors, flags, address = receive(*arguments)
            for descriptor in descriptors:
                os.close(descriptor)
            return content, [], flags, address

        socket.recv_fds = without  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("verifier", "cause"),
    [
        (NoProcesses(), "Resource temporarily unavailable"),
        (NoDescriptors(), "Too many open files"),
    ],
)
def test_a_worker_that_cannot_be_started_is_an_error_that_says_why(
    verifier: NoProcesses, cause: str
) -> None:
    with pytest.raises(JudgingError, match=f"no worker process can be started: {cause}"):
        judge(verifier, "x", Sample("x"))


def ends_its_process(text: str, sample: Sample) -> bool:
    if text == "bad":
        os._exit(1)
    return True


@pytest.mark.parametrize(("kills", "failure"), [(0, Failure.CRASHED), (1, Failure.ERROR)])
def test_no_text_is_blamed_while_the_kernel_kills_for_memory(
    kills: int, failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter(range(0, 100 * kills + 1, kills) if kills else [0] * 100)
    monkeypatch.setattr(worker_handle, "killed_for_memory", lambda: next(counts))
    verdict = judge(ends_its_process, "bad", Sample("4"))
    assert verdict.failure is failure
    assert ("resources are used up" in verdict.message) is bool(kills)


def test_the_kernel_s_count_is_read(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 5\noom_kill 3\n")
    assert killed_for_memory(vmstat) == 3
    assert killed_for_memory(tmp_path / "missing") == 0


class Names:
    """A verifier that can't be loaded, with half a surrogate in the reason."""

    def prepare(self) -> None:
        raise OSError("no file \udc80")

    def __call__(self, text: str, sample: Sample) -> bool:
        return True


def test_the_reason_for_a_failed_start_may_hold_anything() -> None:
    with pytest.raises(JudgingError, match="no file"):
        judge(Names(), "x", Sample("x"))
