from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rewardkit.errors import DataError, UsageError
from rewardkit.records import plain_columns
from rewardkit.text.transcripts import last_message
from rewardkit.trainers.rewards.reward_functions import check_columns, read_batch


def said(role: str, content: object) -> dict[str, object]:
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ([said("assistant", "a chat")], "a chat"),
        ([said("assistant", "calls"), said("tool", "4"), said("assistant", "says 4")], "says 4"),
        ([said("assistant", "calls"), said("tool", "4")], "calls"),
        ([said("assistant", None)], ""),
        ([said("assistant", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])], "ab"),
        ([said("assistant", [{"type": "image", "image": object()}])], ""),
        ([said("tool", "4")], ""),
        ([], ""),
        (None, ""),
    ],
)
def test_the_last_assistant_message_counts(completion: object, text: str) -> None:
    assert last_message(completion) == text


def test_a_batch_holds_the_rows_without_what_trl_adds() -> None:
    prompts = [[said("system", "s"), said("user", "1 + 1?")], "2 + 2?"]
    columns = {"answer": ["2", "4"], "trainer_state": object(), "environments": ["e", "f"]}
    batch = read_batch(["two", "four"], prompts, columns)
    assert batch.questions == ["1 + 1?", "2 + 2?"]
    assert batch.rows() == [{"answer": "2"}, {"answer": "4"}]


def test_rows_hold_plain_values_only() -> None:
    kept: dict[str, list[Any]] = {
        "text": ["a"],
        "number": [1.5],
        "none": [None],
        "list": [[1, 2]],
        "dict": [{"a": 1}],
    }
    left: dict[str, list[Any]] = {
        "image": [object()],
        "images": [[object()]],
        "nested": [{"image": object()}],
    }
    assert read_batch(["a"], None, {**kept, **left}).rows() == [
        {name: values[0] for name, values in kept.items()}
    ]


def test_arrays_of_a_row_are_lists() -> None:
    kwargs = np.array([{"keywords": np.array(["a", "b"], dtype=object), "n": np.int64(3)}])
    row = {"ids": np.array(["x", "y"]), "kwargs": kwargs, "image": np.zeros((2, 2))}
    assert plain_columns(row) == {"ids": ["x", "y"], "kwargs": [{"keywords": ["a", "b"], "n": 3}]}


def test_a_batch_is_the_same_only_while_its_objects_are() -> None:
    completions, answers = ["a"], ["1"]
    batch = read_batch(completions, None, {"answer": answers})
    assert batch.is_same(read_batch(completions, None, {"answer": answers}))
    assert not batch.is_same(read_batch(completions, None, {"answer": ["1"]}))
    assert not batch.is_same(read_batch(["a"], None, {"answer": answers}))
    assert not batch.is_same(read_batch(completions, None, {}))
    completions[0] = "b"
    assert not batch.is_same(read_batch(completions, None, {"answer": answers}))


def test_lengths_that_differ_are_an_error() -> None:
    with pytest.raises(DataError, match="'answer' has 2 values for 1 completions"):
        read_batch(["a"], None, {"answer": ["1", "2"]})
    with pytest.raises(DataError, match="1 completions, but 2 prompts"):
        read_batch(["a"], ["p", "q"], {})


def test_a_column_of_trls_own_name_is_an_error() -> None:
    check_columns(["prompt", "answer"])
    for name in ("prompts", "completions", "trainer_state", "log_extra", "environments"):
        with pytest.raises(UsageError, match=f"a column '{name}', a name that TRL"):
            check_columns(["prompt", name])
