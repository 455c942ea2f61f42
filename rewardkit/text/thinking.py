"""Where a completion's thinking ends and its answer begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, cast

Thinking = Literal["strip", "keep"]
ThinkingTags = tuple[str, str]
"""What opens and what closes a thinking block."""

WHOLE = "whole"
"""The `thinking` that a verifier declares if it always reads the whole completion."""

THINK: ThinkingTags = ("<think>", "</think>")

NEVER = "(?!)"
"""A pattern that matches nothing."""


class Tags(NamedTuple):
    """How models open and close a thinking block, as patterns. `closes` includes what opens the
    answer."""

    models: str
    opens: str
    closes: str
    closes_alone: bool = True
    """Whether `closes` ends a block that nothing has opened: the prompt may have opened it."""


TAGS = (
    Tags("Qwen, DeepSeek, GLM, most others", "<think(?:ing)?>", "</think(?:ing)?>"),
    Tags("Mistral's Magistral", r"\[THINK\]", r"\[/THINK\]"),
    Tags("Seed-OSS", "<seed:think>", "</seed:think>"),
    Tags("Kimi", "◁think▷", "◁/think▷"),
    Tags(
        "Command",
        r"<\|START_THINKING\|>",
        r"<\|END_THINKING\|>(?:\s*<\|START_(?:RESPONSE|TEXT)\|>)?",
    ),
    Tags(
        "OpenThinker, Sky-T1",
        r"<\|begin_of_thought\|>",
        r"<\|end_of_thought\|>(?:\s*<\|begin_of_solution\|>)?",
    ),
    Tags("Gemini, EXAONE", "<thought>", "</thought>"),
    Tags(
        "gpt-oss before its final message, also decoded without special tokens",
        NEVER,
        r"(?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*final\s*<\|message\|>"
        "|assistantfinal",
    ),
    Tags(
        "gpt-oss",
        r"<\|channel\|>\s*analysis(?:(?!\bto=functions)[^<]){0,80}<\|message\|>",
        r"<\|end\|>",
        closes_alone=False,
    ),
    Tags("Gemma 4", r"<\|channel>thought\s", r"<channel\|>"),
)
"""A row for each way to mark thinking."""

_TAG = re.compile(
    "|".join(f"(?P<open{i}>{row.opens})|(?P<close{i}>{row.closes})" for i, row in enumerate(TAGS)),
    re.IGNORECASE,
)
_TAG_STARTS = {
    sign: re.compile(re.escape(sign) + rest)
    for sign, rest in {"<": "[/|tTsScC]", "[": "[/tT]", "◁": "[/tT]", "assistantfinal": ""}.items()
}
"""How tags start: `re` finds a fixed first character many times as fast as the tags."""
_OPENING_AT_END = re.compile(rf"(?:{'|'.join(row.opens for row in TAGS)})\s*\Z", re.IGNORECASE)
_LONGEST_TAG = 200


def text_to_read(text: str, thinking: Thinking) -> str:
    """Return the part of a completion that a verifier reads.

    "strip": the text after the last closed thinking block, up to a block that is never closed.
    "keep": the same text, or if there is none, the thinking without its tags.

    >>> text_to_read("<think>maybe 5</think> I do not know.", "strip")
    ' I do not know.'
    """
    return placed_text_to_read(text, thinking)[0]


def placed_text_to_read(text: str, thinking: Thinking) -> tuple[str, int]:
    """Return `text_to_read` with its place in the text, which is -1 if tags were removed."""
    start, opened = _answer_span(text)
    answer = text[start:] if opened < 0 else text[start:opened]
    if thinking == "strip" or answer.strip() or not (start or opened >= 0):
        return answer, start
    return _TAG.sub("", text), -1


def thinking_of(verifier: object, given: Thinking | None = None) -> Thinking | None:
    """Return how `verifier` reads thinking: as `given`, or as the verifier declares.

    None means that the verifier gets the whole completion, as a verifier may declare in any case.
    """
    declared = getattr(verifier, "thinking", None)
    if declared == WHOLE:
        return None
    if given is None and declared in ("strip", "keep"):
        return cast("Thinking", declared)
    return given


def shared_thinking(verifiers: Iterable[object]) -> str | None:
    """Return what all of these verifiers declare, or "whole" if they differ."""
    declared = {getattr(verifier, "thinking", None) for verifier in verifiers}
    return declared.pop() if len(declared) == 1 else WHOLE


def split_thinking(text: str, prompt: str = "") -> tuple[str, str]:
    """Return a completion's thinking, with tags, and the rest. `prompt` may open the block."""
    start, opened = _answer_span(text)
    if thinking_is_open(prompt, text):
        return (text, "") if opened < 0 else (text[opened:], text[:opened])
    return text[:start], text[start:]


def thinking_is_open(prompt: str, completion: str) -> bool:
    """Return whether the last thinking block is never closed. The prompt may open the block."""
    start, opened = _answer_span(completion)
    if opened >= 0 or start:
        return opened >= 0
    return _OPENING_AT_END.search(prompt[-_LONGEST_TAG:]) is not None


def in_think_tags(text: str, tags: ThinkingTags | None) -> str:
    """Return the text with `<think>` and `</think>` in place of `tags`."""
    for tag, common in zip(tags or (), THINK, strict=False):
        text = text.replace(tag, common)
    return text


def place_in_own_tags(text: str, tags: ThinkingTags, place: int) -> int:
    """Return the place in `text` of a place in `in_think_tags(text, tags)`.

    >>> place_in_own_tags("[T]a[/T]b", ("[T]", "[/T]"), len("<think>a</think>"))
    8
    """
    shift = 0
    for tag in re.finditer("|".join(map(re.escape, tags)), text):
        if tag.start() + shift >= place:
            break
        shift += len(THINK[tags.index(tag[0])]) - len(tag[0])
    return place - shift


def _answer_span(text: str) -> tuple[int, int]:
    """Where the last closed thinking block ends, or 0; where an unclosed block starts, or -1."""
    start, opened, inside = 0, -1, -1
    places: list[int] = []
    for sign, tag_start in _TAG_STARTS.items():
        if sign in text:
            places += [found.start() for found in tag_start.finditer(text)]
    for place in sorted(places):
        tag = _TAG.match(text, place)
        if tag is None or tag.end() <= start:
            continue
        kind = tag.lastgroup or ""
        row = int(kind.removeprefix("open").removeprefix("close"))
        if kind.startswith("open"):
            if opened < 0:
                opened, inside = tag.start(), row
        elif TAGS[row].closes_alone or row == inside:
            start, opened, inside = tag.end(), -1, -1
    return start, opened


class StopTexts:
    """Finds stop texts in a growing completion. Stop texts inside its thinking don't count."""

    def __init__(
        self, stops: Sequence[str], prompt: str = "", tags: ThinkingTags | None = None
    ) -> None:
        self._stops = [stop for stop in stops if stop]
        self._prompt, self._tags = in_think_tags(prompt, tags), tags
        self._read = 0
        self._open_until = -1
        """The last place that was found to be inside a thinking block; -1 without one."""

    def __bool__(self) -> bool:
        return bool(self._stops)

    def cut(self, text: str) -> str | None:
        """Return the text before the first complete stop text; None without a stop text.

        `text` starts with the text of the previous call.
        """
        ends = []
        for stop in self._stops:
            start = text.find(stop, max(0, self._read - len(stop) + 1))
            while start >= 0 and self._is_thinking(text, start):
                tag = self._next_tag(text, start)
                start = text.find(stop, tag) if tag >= 0 else -1
            if start >= 0:
                ends.append((start + len(stop), start))
        self._read = len(text)
        return text[: min(ends)[1]] if ends else None

    def _is_thinking(self, text: str, end: int) -> bool:
        if 0 <= self._open_until <= end:
            tag = self._next_tag(text, max(0, self._open_until - _LONGEST_TAG))
            if tag < 0 or tag >= end:
                self._open_until = end
                return True
        is_open = thinking_is_open(self._prompt, in_think_tags(text[:end], self._tags))
        self._open_until = end if is_open else -1
        return is_open

    def _next_tag(self, text: str, start: int) -> int:
        """Where the next possible tag after a place starts; -1 without one."""
        found = [tag_start.search(text, start + 1) for tag_start in _TAG_STARTS.values()]
        places = [text.find(tag, start + 1) for tag in self._tags or ()]
        places += [match.start() for match in found if match]
        return min((place for place in places if place >= 0), default=-1)
