from __future__ import annotations

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from rewardkit.errors import DataError
from rewardkit.judging import JudgingOptions
from rewardkit.judging.rows import SampleReader
from rewardkit.protocols import Bounded, VerifierCallable, as_verifier
from rewardkit.records import Sample, Verdict
from rewardkit.trainers.rewards.reward_functions import BatchJudge, RewardBatch, read_batch
from rewardkit.verifiers.motion import motion


@dataclass(eq=False)
class Counting(Bounded):
    """Right where text and reference are equal; unjudged without a reference."""

    seen: list[str] = field(default_factory=list)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        self.seen.append(text)
        if not sample.reference:
            return Verdict.unjudged("no reference")
        return Verdict.judged(text == sample.reference, answer=text)


def judge(verifier: VerifierCallable) -> BatchJudge:
    options = JudgingOptions(workers=1)
    return BatchJudge(
        as_verifier(verifier), SampleReader(("answer",)), label="answers", options=options
    )


def batch(*pairs: tuple[str, str]) -> RewardBatch:
    return read_batch([text for text, _ in pairs], None, {"answer": [one for _, one in pairs]})


def test_a_batch_is_judged_once_for_all_functions() -> None:
    counting = Counting()
    judging, asked = judge(counting), batch(("a", "a"), ("b", "c"))
    for name in ("accuracy", "format", "length"):
        verdicts = judging.verdicts(asked, name)
        assert [verdict.correct for verdict in verdicts] == [True, False]
    assert counting.seen == ["a", "b"]


def test_a_second_call_of_one_function_means_a_new_batch() -> None:
    counting = Counting()
    judging, asked = judge(counting), batch(("a", "a"))
    judging.verdicts(asked, "accuracy")
    judging.verdicts(asked, "accuracy")
    assert counting.seen == ["a", "a"]


def test_train_and_eval_batches_may_take_turns() -> None:
    judging = judge(Counting())
    train, held_out = batch(("a", "a")), batch(("a", "b"))
    for _ in range(2):
        for name in ("one", "two"):
            assert judging.verdicts(train, name)[0].correct is True
        for name in ("one", "two"):
            assert judging.verdicts(held_out, name)[0].correct is False


def test_threads_that_call_at_once_share_the_judging() -> None:
    counting, barrier = Counting(), threading.Barrier(4)
    judging, asked = judge(counting), batch(*[("a", "a")] * 50)

    def ask(name: str) -> int:
        barrier.wait()
        return len(judging.verdicts(asked, name))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, "abcd")) == [50] * 4
    assert len(counting.seen) == 50


def test_nothing_judged_at_first_is_an_error_and_later_a_bad_row() -> None:
    judging = judge(Counting())
    with pytest.raises(DataError, match="'answers' can't judge any of the 2 .* no reference"):
        judging.verdicts(batch(("a", ""), ("b", "")), "answers")
    judging.verdicts(batch(("a", ""), ("b", "b")), "answers")
    assert judging.verdicts(batch(("a", "")), "answers")[0].correct is None


def test_verdicts_answers_failures_and_parts_are_logged_once() -> None:
    extra: dict[str, list[str]] = {}
    metrics: list[tuple[str, float]] = []

    def log_extra(name: str, values: list[str]) -> None:
        extra.setdefault(name, []).extend(values)

    def log_metric(name: str, value: float) -> None:
        metrics.append((name, value))

    targets = "(6.0), (7.0), (8.0), (9.0), (10.0)"
    asked = batch((f"[Analysis] [ANSWER] {targets} [End]", targets), ("", targets), ("x", "?"))
    judging = judge(motion)
    judging.verdicts(asked, "accuracy", log_extra, log_metric)
    judging.verdicts(asked, "format", log_extra, log_metric)
    messages = extra.pop("answers/message")
    assert extra == {
        "answers/verdict": ["right", "wrong", "unjudged"],
        "answers/answer": [targets, "", ""],
        "answers/failure": ["", "no_answer", "error"],
        "answers/score": [pytest.approx(0.95), 0.0, None],
        "answers/columns": [json.dumps({"answer": one}) for one in (targets, targets, "?")],
    }
    assert all(map(isinstance, messages, [str] * 3))
    assert dict(metrics) == pytest.approx(
        {
            "answers/unjudged": 1 / 3,
            "answers/timeout": 0.0,
            "answers/correct": 0.5,
            "answers/accuracy": 0.5,
            "answers/format": 0.35,
        }
    )
    assert len(metrics) == 5


def test_a_judge_survives_pickling_with_a_closure_inside() -> None:
    wanted = "a"
    copy = pickle.loads(pickle.dumps(judge(lambda text, sample: text == wanted)))
    verdicts = copy.verdicts(batch(("a", "1"), ("b", "1")), "answers")
    assert [verdict.correct for verdict in verdicts] == [True, False]


def test_an_empty_batch_has_no_verdicts() -> None:
    assert judge(Counting()).verdicts(batch(), "answers") == []
