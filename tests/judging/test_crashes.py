"""A completion that makes a verifier crash is wrong; a verifier that always crashes is to blame."""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import rewardkit
from rewardkit import Failure, Sample, Verdict
from rewardkit.harness.results.completion_row import read_samples
from rewardkit.harness.results.data_files import open_source
from rewardkit.harness.runs.judging_thread import TaskVerifiers, generated, judged_rows
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.judging import close_pools, judge, judge_many, pool
from rewardkit.protocols import VerifierCallable
from rewardkit.records import Completion
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.rubric import Rubric
from tests.judging.crashing import (
    PERFECT,
    CrashesOn,
    NeedsMemory,
    OnceOnly,
    Quickly,
    QuicklyUnreachable,
    after_thinking,
    length,
    needs_the_perfect_reply,
    unreachable,
    unreadable,
    whole_number,
)

pytestmark = pytest.mark.slow

REFERENCE = "4"


@pytest.fixture(scope="module", autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    close_pools()


IN_PROCESS = [
    "raises",
    "raises a class of its own",
    "recursion",
    "exits",
    "not a number",
    "over 1",
    "text",
]
FORMS = [
    *IN_PROCESS,
    "out of memory",
    "is killed",
    "ends at once",
    "huge reply",
    "unpicklable reply",
    "garbage on its channel",
    "nothing",
]


def verdict_of(verifier: VerifierCallable, text: str = "bad") -> Verdict:
    return judge(verifier, text, Sample(REFERENCE))


@pytest.mark.parametrize("form", FORMS)
def test_the_text_is_to_blame_where_a_control_does_not_crash(form: str) -> None:
    verdict = verdict_of(CrashesOn(form))
    assert (verdict.correct, verdict.score, verdict.failure) == (False, 0.0, Failure.CRASHED)
    assert verdict.message


@pytest.mark.parametrize("form", FORMS)
def test_the_verifier_is_to_blame_where_every_control_crashes(form: str) -> None:
    verdict = verdict_of(CrashesOn(form, always=True))
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)
    assert verdict.message


@pytest.mark.parametrize("form", IN_PROCESS)
def test_the_quick_path_decides_alike(form: str) -> None:
    assert verdict_of(Quickly(form)).failure is Failure.CRASHED
    assert verdict_of(Quickly(form, always=True)).correct is None
    assert verdict_of(Quickly(form), REFERENCE).correct is True


def test_the_message_names_the_exception() -> None:
    message = verdict_of(CrashesOn("raises")).message
    assert message == "the verifier raised IndexError: list index out of range"


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
    assert verdict_of(unreadable).correct is None


def test_a_text_is_judged_once_more_before_it_is_blamed(tmp_path: Path) -> None:
    assert verdict_of(OnceOnly(str(tmp_path / "flag")), REFERENCE).correct is True


@pytest.mark.parametrize("verifier", [unreachable, QuicklyUnreachable()])
def test_what_is_unavailable_is_no_text_s_fault(verifier: VerifierCallable) -> None:
    verdict = verdict_of(verifier)
    assert verdict.correct is None
    assert "no connection to the judge" in verdict.message


def perfect(sample: Sample) -> str:
    return PERFECT


def broken(sample: Sample) -> str:
    raise KeyError("solution")


def test_a_task_s_perfect_reply_is_its_control() -> None:
    sample = Sample(REFERENCE)
    assert judge(needs_the_perfect_reply, "bad", sample).correct is None
    verdict = judge(needs_the_perfect_reply, "bad", sample, control=perfect)
    assert verdict.failure is Failure.CRASHED
    by_reference = judge(CrashesOn("raises"), "bad", sample, control=broken)
    assert by_reference.failure is Failure.CRASHED


@pytest.mark.parametrize("form", ["raises", "not a number", "ends at once"])
def test_a_rubric_s_other_parts_keep_their_scores(form: str) -> None:
    parts: dict[str, VerifierCallable] = {"answer": CrashesOn(form), "length": length}
    verdict = verdict_of(Rubric(parts, {"answer": 3.0, "length": 1.0}, decides="answer"))
    assert (verdict.correct, verdict.failure) == (False, Failure.CRASHED)
    assert dict(verdict.parts) == {"answer": 0.0, "length": 0.5}


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
    return [
        rewardkit.verify(CrashesOn("raises"), text, REFERENCE).score for text in ("bad", REFERENCE)
    ]


def by_verify_batch() -> list[float | None]:
    verdicts = rewardkit.verify_batch(CrashesOn("raises"), ["bad", REFERENCE], [REFERENCE] * 2)
    return [verdict.score for verdict in verdicts]


def by_reward_func() -> list[float | None]:
    return reward_func(CrashesOn("raises"))(["bad", REFERENCE], reference=[REFERENCE] * 2)


def by_reward_funcs() -> list[float | None]:
    functions, _ = reward_funcs(CrashTask())
    return functions[0](["bad", PERFECT], reference=[REFERENCE] * 2)


def by_evaluation() -> list[float | None]:
    task = CrashTask()
    judges = TaskVerifiers(task.verifier(), task.flexible(), task.perfect)
    texts = [Completion("bad"), Completion(PERFECT)]
    sample = Sample(REFERENCE)
    rows = judged_rows([generated("t", sample, 0, text, judges) for text in texts])
    assert [row.flexible and row.flexible.correct for row in rows] == [False, True]
    return [row.verdict.score for row in rows]


def by_score() -> list[float | None]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "completions.jsonl"
        rows = [{"completion": text, "reference": REFERENCE} for text in ("bad", REFERENCE)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        verifiers = TaskVerifiers(CrashesOn("raises"), None)
        job = FileJob(source=open_source(file), name="t", verifiers=verifiers)
        score(ScorePlan(job, {}, Path(folder) / "out"), Reporter())
        return [row.verdict.score for row in read_samples(Path(folder) / "out")]


class CrashPlugin:
    @staticmethod
    @rewardkit.hookimpl
    def rewardkit_verifiers() -> dict[str, VerifierCallable]:
        return {"crashing": CrashesOn("raises")}


def by_a_plugin() -> list[float | None]:
    verifier = rewardkit.Registry(CrashPlugin).verifier("crashing")
    return [rewardkit.verify(verifier, text, REFERENCE).score for text in ("bad", REFERENCE)]


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


# a broken place: the control is judged where the text crashed


@dataclass(frozen=True)
class BrokenInWorkers:
    """Decides references quickly; what needs a worker crashes there, whatever the text."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        return Verdict.right() if sample.reference in text else None

    def __call__(self, text: str, sample: Sample, /) -> bool:
        raise ImportError("libfortran.so.9: cannot open shared object file")


@dataclass(frozen=True)
class BrokenHere:
    """Works in workers alone: in the caller's process every text crashes."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        raise KeyError(text)

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return text == sample.reference


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
