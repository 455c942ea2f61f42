r"""Where a completion's answer stands: boxes, the answer block, the last formula or number."""

from __future__ import annotations

import re
from functools import lru_cache

from rewardkit.verifiers.reading import answer_block, boxes, last_number

_PLACEHOLDER = re.compile(r"(?:\\[hv]?phantom\s*\{[^{}]*\}|\\(?:square|Box|quad|_)|[_?\s.])*")
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def answers(text: str, reading: str) -> list[str]:
    """All that the completion gives as its answer, in order; one that is no box stands alone."""
    block = answer_block(text)
    found = _boxed(text) if block is None else _filled(boxes(block))
    if found or reading == "boxed":
        return found
    if block is not None:
        return [block]
    formula = max(_last_between(text, "$", "$"), _last_between(text, r"\(", r"\)"))
    if formula[1].strip():
        return [formula[1]]
    number = last_number(text)
    return [number[0]] if number else []


def _boxed(text: str) -> list[str]:
    """The boxes after the thinking where there are any, else all."""
    if "box" not in text:
        return []
    if "</think" in text or "</THINK" in text:
        *_, last = _THOUGHT.split(text)
        after = _filled(boxes(last)) if "box" in last else []
        if after:
            return after
    return _filled(boxes(text[_first_box(text) :]))


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


def _last_between(text: str, opening: str, closing: str) -> tuple[int, str]:
    """Where the last such formula starts and what it holds; (-1, "") without one."""
    end = text.rfind(closing)
    start = text.rfind(opening, 0, max(end, 0))
    return (start, text[start + len(opening) : end]) if start >= 0 else (-1, "")
