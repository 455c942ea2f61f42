"""Whether a completion is truncated: cut off before its answer could come."""

from __future__ import annotations

from rewardkit.harness.store.sample_row import JudgedRow


def is_truncated(row: JudgedRow) -> bool:
    """Whether a completion reached the token limit or never closed its thinking block."""
    return row.finish_reason == "length" or thinking_is_open(row.prompt or "", row.completion)


def thinking_is_open(prompt: str, completion: str) -> bool:
    """Whether the last `<think>` is never closed; it may be the end of the prompt."""
    opened = completion.rfind("<think")
    closed = completion.rfind("</think")
    if opened < 0 and prompt.rstrip().endswith("<think>"):
        return closed < 0
    return opened > closed
