"""Where the lenient reading finds an answer."""

from __future__ import annotations

import pytest

from rewardkit.verifiers.math.extraction import lenient_answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("She had 12 and gave away 5, so 42 remain", "42"),
        ("Not many: in the end 42 remain", "42"),
        ("So it is $42$", "42"),
        ("The answer is not 42.", None),
        ("It is definitely not $42$", None),
        ("The result can't possibly be 42.", None),
        ("Die Antwort ist nicht 42.", None),
        ("答案不是42。", None),
    ],
)
def test_the_lenient_reading_takes_no_value_that_is_denied(reply: str, answer: str | None) -> None:
    assert lenient_answer(reply) == answer
