"""A completion that makes a verifier crash is wrong; a verifier that always crashes is to blame."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import rewardkit
from rewardkit import Failure, Sample, Verdict
from rewardkit.harness.results.completion_row import read_samples
from rewardkit.harness.results.data_files import open_source
from rewardkit.harness.runs.judging_thread import TaskVerifiers, judge_rows, judging_item
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.judging import close_pools, judge, judge_many, pool
from rewardkit.protocols import VerifierCallable
from rewardkit.records import Completion
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.verifiers.math import Math
from tests.judging.misbehaviour import (
    PERFECT,
    REFERENCE,
    Always,
    AlwaysQuickly,
    BrokenHere,
    BrokenInWorkers,
    NeedsMemory,
    OnceOnly,
    after_thinking,
    misbehaving,
    needs_the_perfect_reply,
    unreadable,
    whole_number,
)
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

BAD = "an IndexError"
IN_PROCESS = [
    *(BAD, "an exception whose text raises", "a SystemExit", "recursion without end"),
    *("not a number", "more than 1", "text"),
]
IN_WORKERS = [
    *("None", "out of memory", "kills itself", "exit status 0", "a message of 100 MB"),
    *("a function as message", "garbage as a reply"),
]


def verdict_of(verifier: VerifierCallable, text: str = BAD) -> Verdict:
    return judge(verifier, text, Sample(REFERENCE))


@pytest.mark.parametrize(
    "verifier", [*map(Always, IN_PROCESS + IN_WORKERS), *map(AlwaysQuickly, IN_PROCESS)], ids=str
)
def test_the_verifier_is_to_blame_where_every_control_crashes(verifier: VerifierCallable) -> None:
    verdict = verdict_of(verifier)
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)
    assert verdict.message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (BAD, "the verifier raised IndexError: list index out of range"),
        ("Unavailable", "the verifier is unavailable: Unavailable: no connection"),
    ],
)
def test_the_message_names_the_exception(name: str, message: str) -> None:
    assert verdict_of(misbehaving, name).message == message


@pytest.mark.parametrize(
    ("text", "correct", "failure"),
    [
        ("<think>2 + 2</think> 4", True, None),
        ("<think>2 + 2</think> 5", False, Failure.WRONG),
        ("no thinking at all", False, Failure.CRASHED),
        ("", False, Failure.CRASHED),
    ],
)
def test_leaving_out_the_form_is_no_escape(
    text: str, correct: bool, failure: Failure | None
) -> None:
    verdict = verdict_of(after_thinking, text)
    assert (verdict.correct, verdict.failure) == (correct, failure)


def test_a_reference_that_crashes_the_verifier_leaves_every_text_unjudged() -> None:
    verdicts = judge_many(whole_number, [("4", Sample("four")), ("", Sample("four"))])
    assert [verdict.correct for verdict in verdicts] == [None, None]


def test_a_control_that_is_unjudged_blames_nobody() -> None:
    assert verdict_of(unreadable, "bad").correct is None


def test_a_text_is_judged_once_more_before_it_is_blamed(tmp_path: Path) -> None:
    assert verdict_of(OnceOnly(str(tmp_path / "flag")), REFERENCE).correct is True


def perfect(sample: Sample) -> str:
    return PERFECT


def broken(sample: Sample) -> str:
    raise KeyError("solution")


def test_a_task_s_perfect_reply_is_its_control() -> None:
    sample = Sample(REFERENCE)
    assert judge(needs_the_perfect_reply, "bad", sample).correct is None
    verdict = judge(needs_the_perfect_reply, "bad", sample, control=perfect)
    assert verdict.failure is Failure.CRASHED
    by_reference = judge(misbehaving, BAD, sample, control=broken)
    assert by_reference.failure is Failure.CRASHED


# through every door


class CrashTask:
    """A task whose verifier crashes on what isn't its perfect reply."""

    name = "crashing"
    prompt = "direct"
    max_tokens = 16
    group_by: tuple[str, ...] = ()

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        return [Sample(REFERENCE)]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        return Sample(str(row["reference"]), id=str(index))

    def verifier(self, reading: str | None = None) -> VerifierCallable:
        return needs_the_perfect_reply

    def flexible(self) -> VerifierCallable | None:
        return needs_the_perfect_reply

    def perfect(self, sample: Sample) -> str:
        return PERFECT


def by_verify() -> list[float | None]:
    return [rewardkit.verify(misbehaving, text, REFERENCE).score for text in (BAD, REFERENCE)]


def by_verify_batch() -> list[float | None]:
    verdicts = rewardkit.verify_batch(misbehaving, [BAD, REFERENCE], [REFERENCE] * 2)
    return [verdict.score for verdict in verdicts]


def by_reward_func() -> list[float | None]:
    return reward_func(misbehaving)([BAD, REFERENCE], reference=[REFERENCE] * 2)


def by_reward_funcs() -> list[float | None]:
    functions, _ = reward_funcs(CrashTask())
    return functions[0]([BAD, PERFECT], reference=[REFERENCE] * 2)


def by_evaluation() -> list[float | None]:
    task = CrashTask()
    judges = TaskVerifiers(task.verifier(), task.flexible(), task.perfect)
    texts = [Completion(BAD), Completion(PERFECT)]
    sample = Sample(REFERENCE)
    rows = judge_rows([judging_item("t", sample, 0, text, judges) for text in texts])
    assert [row.flexible and row.flexible.correct for row in rows] == [False, True]
    return [row.verdict.score for row in rows]


def by_score() -> list[float | None]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "completions.jsonl"
        rows = [{"completion": text, "reference": REFERENCE} for text in (BAD, REFERENCE)]
        write_rows(file, rows)
        verifiers = TaskVerifiers(misbehaving, None)
        job = FileJob(source=open_source(file), name="t", verifiers=verifiers)
        score(ScorePlan(job, {}, Path(folder) / "out"), Reporter())
        return [row.verdict.score for row in read_samples(Path(folder) / "out")]


class CrashPlugin:
    @staticmethod
    @rewardkit.hookimpl
    def rewardkit_verifiers() -> dict[str, VerifierCallable]:
        return {"crashing": misbehaving}


def by_a_plugin() -> list[float | None]:
    verifier = rewardkit.Registry(CrashPlugin).verifier("crashing")
    return [rewardkit.verify(verifier, text, REFERENCE).score for text in (BAD, REFERENCE)]


@pytest.mark.parametrize(
    "door",
    [
        by_verify,
        by_verify_batch,
        by_reward_func,
        by_reward_funcs,
        by_evaluation,
        by_score,
        by_a_plugin,
    ],
)
def test_every_door_blames_the_text(door: Callable[[], list[float | None]]) -> None:
    assert door() == [0.0, 1.0]


@pytest.mark.parametrize("verifier", [BrokenInWorkers(), BrokenHere()])
def test_a_control_that_works_elsewhere_does_not_blame_the_text(verifier: VerifierCallable) -> None:
    verdict = verdict_of(verifier)
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)


def test_a_worker_with_too_little_memory_for_any_text_leaves_texts_unjudged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert verdict_of(NeedsMemory()).correct is True
    monkeypatch.setattr(pool, "MEMORY", 2**24)
    close_pools()
    verdict = verdict_of(NeedsMemory())
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)
    assert "MemoryError" in verdict.message
    close_pools()


def at_depth(frames_left: int, call: Callable[[], Verdict]) -> Verdict:
    """Call with so many frames left of the interpreter's recursion limit."""

    def deeper(levels: int) -> Verdict:
        return deeper(levels - 1) if levels else call()

    return deeper(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)


@pytest.mark.parametrize("frames_left", [25, 30, 40, 60, 120, 500])
def test_a_caller_near_the_recursion_limit_costs_no_text_its_verdict(frames_left: int) -> None:
    def right(number: int) -> Verdict:
        text = rf"\boxed{{1+\frac{{1}}{{1+\frac{{{number}}}{{x}}}}}}"
        return rewardkit.verify(Math(), text, rf"\frac{{2x+{number}}}{{x+{number}}}")

    assert right(7).correct is True  # the modules are loaded
    needs_a_worker = rewardkit.verify(Math(), r"\boxed{\int_1^4 3t^2\,dt}", "63")
    assert needs_a_worker.correct is True  # the worker is there
    assert at_depth(frames_left, lambda: right(frames_left)).correct is True


def test_without_flint_in_the_worker_what_needs_it_is_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flint.py").write_text("raise ImportError('libflint.so: no such file')")
    monkeypatch.syspath_prepend(tmp_path)  # workers search the same path
    close_pools()
    needs_a_worker = rewardkit.verify("math", r"\boxed{\int_1^4 3t^2\,dt}", "63")
    assert (needs_a_worker.correct, needs_a_worker.failure) == (None, Failure.ERROR)
    assert "libflint.so: no such file" in needs_a_worker.message
    assert "pip install python-flint" in needs_a_worker.message
    close_pools()


def test_without_flint_in_the_caller_what_needs_it_is_unjudged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    verdict = rewardkit.verify("math", r"\boxed{\sqrt{8}}", r"2\sqrt{2}")
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)
    assert "pip install python-flint" in verdict.message
    assert rewardkit.verify("math", r"\boxed{8}", "8").correct is True
