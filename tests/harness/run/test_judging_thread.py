from __future__ import annotations

import pytest

from rewardkit.harness.run.judging_thread import Generated, TaskVerifiers, judged_rows
from rewardkit.records import Completion, Sample
from rewardkit.verifiers.gsm8k import Gsm8k


@pytest.mark.parametrize(
    ("prompt", "completion", "failure"),
    [
        ("p", Completion("#### 5"), None),
        ("p", Completion("it is 5"), "format"),
        ("p", Completion("it is 5", "length"), "truncated"),
        ("p", Completion("<think>it may be 5"), "truncated"),
        ("p", Completion("<think>it may be 5</think> so 5"), "format"),
        ("p<think>\n", Completion("it may be 5"), "truncated"),
        ("p", Completion("<think>#### 6"), "wrong"),
        ("p", Completion("<think>#### 5"), None),
        ("p", Completion("#### 6", "length"), "wrong"),
        (None, Completion("it is 5"), "format"),
        ("p", Completion("", "error", message="no connection"), "error"),
    ],
)
def test_why_there_is_no_answer_depends_on_how_the_completion_ended(
    prompt: str | None, completion: Completion, failure: str | None
) -> None:
    sample = Sample("5", id="a")
    generated = Generated(
        key="t/a/0",
        task="t",
        index=0,
        sample=sample,
        completion=completion,
        verifiers=TaskVerifiers(Gsm8k(), None),
        prompt=prompt,
    )
    (row,) = judged_rows([generated])
    assert row.verdict.failure == failure
