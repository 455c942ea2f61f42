r"""Where a completion's answer stands: boxes, the answer block, the last formula or number."""

from __future__ import annotations

import re
from functools import lru_cache

from rewardkit.verifiers.math.syntax.flexible import flexible_answer
from rewardkit.verifiers.reading import answer_block, boxes

_PLACEHOLDER = re.compile(r"(?:\\[hv]?phantom\s*\{[^{}]*\}|\\(?:square|Box|quad|_)|[_?\s.])*")
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def answers(text: str, reading: str) -> list[str]:
    """List the completion's answers in order: its boxes, or the one answer outside of a box.

    Nothing before the end of the thinking is read.
    """
    text = after_thinking(text)
    block = answer_block(text)
    boxed = _boxed(text) if block is None else _filled(boxes(block))
    if boxed or reading == "boxed":
        return boxed
    if block is not None:
        return [block]
    answer = flexible_answer(text)
    return [] if answer is None else [answer]


def after_thinking(text: str) -> str:
    """Return what follows the last closing tag of the thinking; the whole text without one."""
    *_, last = _THOUGHT.split(text)
    return last


def _boxed(text: str) -> list[str]:
    return _filled(boxes(text[_first_box(text) :])) if "box" in text else []


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
    filled = [box for box in found if not _PLACEHOLDER.fullmatch(box)]
    return filled or found


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
