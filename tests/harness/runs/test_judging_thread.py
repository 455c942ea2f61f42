from __future__ import annotations

import pytest

from rewardkit.harness.runs.judging_thread import TaskVerifiers, judge_rows, judging_item
from rewardkit.records import Completion, Sample
from rewardkit.text.thinking import Thinking
from rewardkit.verifiers.gsm8k import Gsm8k


@pytest.mark.parametrize(
    ("prompt", "completion", "failure"),
    [
        ("p", Completion("#### 5"), None),
        ("p", Completion("", message="the model refused: no"), "no_answer"),
        ("p", Completion("it is 5"), "format"),
        ("p", Completion("it is 5", "length"), "truncated"),
        ("p", Completion("<think>it may be 5"), "no_answer"),
        ("p", Completion("<think>it may be 5", "length"), "truncated"),
        ("p", Completion("<think>it may be 5</think> so 5"), "format"),
        ("p<think>\n", Completion("it may be 5"), "no_answer"),
        ("p<think>\n", Completion("#### 5", "length"), "truncated"),
        ("p<think>\n", Completion("#### 6</think> #### 5"), None),
        ("p", Completion("<think>#### 6"), "no_answer"),
        ("p", Completion("<think>#### 5"), "no_answer"),
        ("p", Completion("<think>#### 5</think> I do not know."), "no_answer"),
        ("p", Completion("#### 6", "length"), "wrong"),
        (None, Completion("it is 5"), "format"),
        ("p", Completion("", "length", thinking_tokens=9), "no_answer"),
        ("p", Completion("", "error", message="no connection"), "error"),
    ],
)
def test_why_there_is_no_answer_depends_on_how_the_completion_ended(
    prompt: str | None, completion: Completion, failure: str | None
) -> None:
    sample = Sample("5", id="a")
    judges = TaskVerifiers(Gsm8k(), None)
    (row,) = judge_rows([judging_item("t", sample, 0, completion, judges, prompt=prompt)])
    assert row.verdict.failure == failure


def equal(text: str, sample: Sample) -> bool:
    return text.strip() == sample.reference


@pytest.mark.parametrize(
    ("thinking", "text", "failure"),
    [
        (None, "<think>so</think> 5", "wrong"),  # a function that declares nothing gets it whole
        ("strip", "<think>so</think> 5", None),
        ("strip", "<think>5</think>", "wrong"),
        ("strip", "<think>5", "no_answer"),
        ("keep", "<think>5</think>", None),
        ("keep", "<think>5", None),
        ("keep", "<think>6</think> 5", None),
    ],
)
def test_the_runs_policy_holds_for_a_verifier_that_knows_no_thinking(
    thinking: Thinking | None, text: str, failure: str | None
) -> None:
    judges = TaskVerifiers(equal, None, thinking=thinking)
    (row,) = judge_rows([judging_item("t", Sample("5", id="a"), 0, Completion(text), judges)])
    assert row.verdict.failure == failure


def test_rows_are_in_the_order_of_their_completions_whichever_verifier_judges_them() -> None:
    judges = [TaskVerifiers(equal, None), TaskVerifiers(Gsm8k(), None)]
    batch = [
        judging_item("t", Sample("5", id=str(place)), 0, Completion("5"), judges[place % 2])
        for place in range(5)
    ]
    rows = judge_rows(batch)
    assert [row.id for row in rows] == list("01234")
    assert [row.verdict.correct for row in rows] == [True, False, True, False, True]
