"""Requests are handed out in chunks that shrink, and come back when an engine dies."""

from __future__ import annotations

import pytest

from rewardkit.errors import BackendError
from rewardkit.harness.engines.ray_backend import MOST_DEATHS, RequestQueue
from rewardkit.protocols import Prompt, Request


def requests(*lengths: int) -> list[Request]:
    return [
        Request(f"t/{number}/0", Prompt("", tuple(range(length))), number)
        for number, length in enumerate(lengths)
    ]


def keys(chunk: list[Request]) -> list[str]:
    return [request.key for request in chunk]


def test_chunks_shrink_to_one_batch_and_hold_every_request_once() -> None:
    queue = RequestQueue(requests(*[3] * 100), batch=4)
    sizes, seen = [], []
    while queue:
        chunk = queue.take(engines=2)
        sizes.append(len(chunk))
        seen += keys(chunk)
    assert sorted(seen) == sorted(keys(requests(*[3] * 100)))
    assert sizes[0] == 24
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 4


def test_the_longest_prompts_come_first_and_chunks_are_the_batches_of_one_machine() -> None:
    queue = RequestQueue(requests(1, 5, 3, 5, 2), batch=2)
    assert keys(queue.take(engines=9)) == ["t/1/0", "t/3/0"]
    assert keys(queue.take(engines=9)) == ["t/2/0", "t/4/0"]
    assert keys(queue.take(engines=9)) == ["t/0/0"]
    assert not queue


def test_what_a_dead_engine_left_comes_first() -> None:
    queue = RequestQueue(requests(1, 1, 1, 1), batch=2)
    left = queue.take(engines=4)
    queue.give_back(left, "died", answered=False)
    assert keys(queue.take(engines=4)) == keys(left)


def test_a_request_over_which_engines_die_again_and_again_ends_the_run() -> None:
    queue = RequestQueue(requests(1), batch=1)
    for _ in range(MOST_DEATHS - 1):
        queue.give_back(queue.take(engines=1), "died", answered=False)
    with pytest.raises(BackendError, match="engines died over t/0/0 .*; the last died"):
        queue.give_back(queue.take(engines=1), "died", answered=False)


def test_deaths_of_engines_that_answered_some_requests_do_not_count() -> None:
    queue = RequestQueue(requests(1), batch=1)
    for _ in range(MOST_DEATHS + 1):
        queue.give_back(queue.take(engines=1), "died", answered=True)
    assert len(queue) == 1
