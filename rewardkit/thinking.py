"""Where a completion's thinking ends and its answer begins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, cast

Thinking = Literal["strip", "keep"]

WHOLE = "whole"
"""The `thinking` that a verifier declares if it always reads the whole completion."""

_CLOSED = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPENED = re.compile(r"<think(?:ing)?>", re.IGNORECASE)


def text_to_read(text: str, thinking: Thinking) -> str:
    """The part of a completion that a verdict reads.

    "strip": what follows the last closed thinking block, up to a block that is opened and never
    closed. "keep": the same, or the thinking itself without its tags where nothing follows.

    >>> text_to_read("<think>maybe 5</think> I do not know.", "strip")
    ' I do not know.'
    """
    *before, after = _CLOSED.split(text)
    opened = _OPENED.search(after)
    answer = after[: opened.start()] if opened else after
    if thinking == "strip" or answer.strip() or not (before or opened):
        return answer
    return _OPENED.sub("", _CLOSED.sub("", text))


def thinking_of(verifier: object, given: Thinking | None = None) -> Thinking | None:
    """How `verifier` reads thinking: as it declares, or as `given` unless it reads it whole.

    None: it gets the whole completion.
    """
    declared = getattr(verifier, "thinking", None)
    if declared == WHOLE:
        return None
    if given is None and declared in ("strip", "keep"):
        return cast("Thinking", declared)
    return given


def shared_thinking(verifiers: Iterable[object]) -> str | None:
    """What all of these verifiers declare; "whole" if they differ."""
    declared = {getattr(verifier, "thinking", None) for verifier in verifiers}
    return declared.pop() if len(declared) == 1 else WHOLE


def split_thinking(text: str, prompt: str = "") -> tuple[str, str]:
    """A completion's thinking, with its tags, and the rest; `prompt` may open the block."""
    if thinking_is_open(prompt, text):
        opened = _last(_OPENED, text)
        return (text, "") if opened < 0 else (text[opened:], text[:opened])
    answer = _CLOSED.split(text)[-1]
    return text[: len(text) - len(answer)], answer


def thinking_is_open(prompt: str, completion: str) -> bool:
    """Whether the last `<think>` is never closed; it may be the end of the prompt."""
    opened, closed = _last(_OPENED, completion), _last(_CLOSED, completion)
    if opened < 0 and prompt.rstrip().endswith("<think>"):
        return closed < 0
    return opened > closed


def _last(tag: re.Pattern[str], text: str) -> int:
    """Where the last such tag starts; -1 without one."""
    return max((match.start() for match in tag.finditer(text)), default=-1)
