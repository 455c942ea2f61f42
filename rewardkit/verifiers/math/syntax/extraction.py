r"""Find the answer in a completion or a reference: boxes, the answer block, the text."""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache

from rewardkit.thinking import Thinking, text_to_read
from rewardkit.verifiers.math.syntax.flexible import flexible_answer
from rewardkit.verifiers.reading import answer_block, boxes

_PLACEHOLDER = re.compile(r"(?:\\[hv]?phantom\s*\{[^{}]*\}|\\(?:square|Box|quad|_)|[_?\s.])*")
_BOX = re.compile(r"\\f?box(?:ed)?(?![a-zA-Z])\s*\{")


def answers(text: str, reading: str, thinking: Thinking = "strip") -> list[str]:
    """Return every answer that the completion gives, in order.

    A box that is opened after the last whole box and never closed leaves no answer. Without a box,
    the flexible reading gives at most one.
    """
    text = text_to_read(text, thinking)
    block = answer_block(text)
    source = text if block is None else block
    found = _boxed(source)
    if reading == "boxed" or found:
        return found
    if block is not None:
        return [block]
    answer = flexible_answer(source)
    return [] if answer is None else [answer]


def _boxed(text: str) -> list[str]:
    """The boxes with content; none if the last box is never closed."""
    if "box" not in text:
        return []
    text = text[_first_box(text) :]
    found = boxes(text)
    opened = deque(_BOX.finditer(text), maxlen=1)
    return _filled(found) if not opened or _closes(text, opened[0].end(), found) else []


def _closes(text: str, start: int, found: list[str]) -> bool:
    """Whether the last box, whose content starts at `start`, is the last of the whole ones."""
    if not found or "box" in found[-1]:
        return bool(found)
    place = start + len(text[start : start + 80]) - len(text[start : start + 80].lstrip())
    end = place + len(found[-1])
    return text[place:end] == found[-1] and text[end : end + 80].lstrip().startswith("}")


def _first_box(text: str) -> int:
    """Where the command that may be the first box starts; braces before it close none."""
    start = text.find("box") - 1
    while start > 0 and text[start] != "\\" and text[start].isalpha():
        start -= 1
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return max(start, 0)


def _filled(found: list[str]) -> list[str]:
    r"""Without the places left open for an answer, such as \boxed{\phantom{0}}, beside others."""
    if found and not found[-1].strip():
        return found[-1:]
    filled = [box for box in found if not _PLACEHOLDER.fullmatch(box)] or found
    return [_plain(box) for box in filled] if "**" in "".join(filled) else filled


def _plain(box: str) -> str:
    """The content of a box without Markdown's stars round it."""
    return box[2:-2] if box[:2] == box[-2:] == "**" and len(box) > 4 else box


@lru_cache(maxsize=4096)
def bare_reference(reference: str) -> str:
    """The reference without its box, dollars and what is said round it."""
    found = boxes(reference) if "box" in reference else []
    bare = (found[-1] if found else reference).strip()
    inside = bare.strip("$").strip()
    if "$" not in inside.replace(r"\$", ""):
        return inside
    around, _, rest = bare.partition("$")
    formula, closed, after = rest.strip("$").partition("$")
    words = f"{around} {after}"
    plain = closed and not re.search(r"[0-9\\$=]", words) and len(words.split()) > 1
    return formula.strip() if plain else bare
