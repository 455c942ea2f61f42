from __future__ import annotations

import pytest

from rewardkit.harness.results.rates import kind_of
from tests.harness.results.making import row


@pytest.mark.parametrize(
    ("prompt", "completion", "finish_reason", "expected"),
    [
        ("p", "72", "stop", False),
        ("p", "72", "length", True),
        ("p", "<think>so", "stop", True),
        ("p", "<think>so</think> 72", "stop", False),
        ("p", "<think>so</think> <think>but", "stop", True),
        ("p", "so</think> 72", "stop", False),
        ("p<think>\n", "so", "stop", True),
        ("p<think>\n", "so</think> 72", "stop", False),
        ("say <think>, then answer", "72", "stop", False),
        (None, "", "error", False),
    ],
)
def test_truncated_is_what_hit_the_limit_or_never_ended_its_thinking(
    prompt: str | None, completion: str, finish_reason: str, expected: bool
) -> None:
    one = row("a", None, prompt=prompt, completion=completion, finish_reason=finish_reason)
    assert kind_of(one).truncated is expected
