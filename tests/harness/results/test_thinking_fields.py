from __future__ import annotations

import pytest

from rewardkit.errors import RunMismatch
from rewardkit.harness.results.completion_row import CompletionRow
from tests.harness.results.making import row


def test_thinking_and_the_ends_of_a_prompt_are_stored_and_read_again() -> None:
    fields = {"reasoning": "2 + 3", "thinking_tokens": 4, "prompt_ends": [[1, 1], [7]]}
    stored = row("a", None, **fields)
    assert stored.prompt_ends == ((1, 1), (7,))
    assert stored.others == {}
    assert CompletionRow.from_json(stored.as_json(), "a row") == stored
    assert not fields.keys() & row("a", None).as_json().keys()
    with pytest.raises(RunMismatch, match=r"at `\$\.prompt_ends"):
        row("a", None, prompt_ends=[1])
