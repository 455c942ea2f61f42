from __future__ import annotations

import numpy as np
import pytest

from rewardkit import Failure, Verdict
from rewardkit.records import plain_columns


def test_a_verdict_is_right_wrong_or_unjudged() -> None:
    assert Verdict.right(answer="1").score == 1.0
    assert Verdict.wrong(Failure.FORMAT).failure is Failure.FORMAT
    unjudged = Verdict.unjudged("the reference is empty")
    assert (unjudged.correct, unjudged.score, unjudged.failure) == (None, None, Failure.ERROR)


@pytest.mark.parametrize(
    ("judged", "correct", "score"),
    [
        (True, True, 1.0),
        (False, False, 0.0),
        (0.5, False, 0.5),
        (1, True, 1.0),
    ],
)
def test_what_a_plain_function_gives_becomes_a_verdict(
    judged: bool | float, correct: bool, score: float
) -> None:
    verdict = Verdict.of(judged)
    assert (verdict.correct, verdict.score) == (correct, score)


@pytest.mark.parametrize("judged", [1.5, -0.1, float("nan"), float("inf"), "yes", None])
def test_what_is_no_verdict_is_refused(judged: object) -> None:
    with pytest.raises(ValueError, match="neither a Verdict, a bool nor a score"):
        Verdict.of(judged)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("correct", "score", "failure"),
    [
        (None, 0.0, Failure.ERROR),
        (True, None, None),
        (True, 1.0, Failure.WRONG),
        (False, 0.0, None),
        (False, 2.0, Failure.WRONG),
        (False, float("nan"), Failure.WRONG),
    ],
)
def test_a_verdict_that_contradicts_itself_is_refused(
    correct: bool | None, score: float | None, failure: Failure | None
) -> None:
    with pytest.raises(ValueError, match="verdict|score"):
        Verdict(correct, score, failure=failure)


def test_columns_keep_plain_values_only_and_arrays_as_lists() -> None:
    kwargs = np.array([{"keywords": np.array(["a", "b"], dtype=object), "n": np.int64(3)}])
    plain = {"text": "a", "number": 1.5, "none": None, "list": [1, 2], "dict": {"a": 1}}
    row = {"ids": np.array(["x", "y"]), "kwargs": kwargs, **plain}
    others = {"image": object(), "images": [object()], "nested": {"image": object()}}
    assert plain_columns({**row, **others, "grid": np.zeros((2, 2))}) == {
        "ids": ["x", "y"],
        "kwargs": [{"keywords": ["a", "b"], "n": 3}],
        **plain,
    }
