"""Find the answer that a completion states in words. Linear in its length."""

from __future__ import annotations

import re
from typing import Literal

from rewardkit.verifiers.reading import answer_block, boxes, last_match

Reading = Literal["strict", "lenient"]

IN_CHINESE = "答案(?:是|为|為|應為|应为)?[:：]?"
ANNOUNCEMENT = re.compile(
    r"####|\banswers?\b[*_\s]{0,4}(?:(?:is|are|was|will be|would be|equals)\b|[:：=])"
    r"(?:\*\*)?\s?[:：]?"
    rf"|{IN_CHINESE}",
    re.IGNORECASE,
)
"""What announces an answer: `the answer is`, `**Answer:**`, `####`."""

_WRAPPERS = " \t\r\n*_`\"'“”‘’$"


def stated_answer(text: str, reading: Reading = "strict") -> str:
    """Return the answer that `text` states, stripped; empty without one.

    `strict`: the last `<answer>` block, else the last box, else the whole text. `lenient`: instead
    of the whole text, what follows the last "answer is", "Answer:" or `####`, else the last line.

    >>> stated_answer("It is far north. The answer is Oslo.", "lenient")
    'Oslo.'
    """
    block = answer_block(text)
    content = text if block is None else block
    boxed = boxes(content) if "box" in content else []
    if boxed:
        return boxed[-1].strip()
    if reading == "strict" or block is not None:
        return content.strip()
    return _announced(content)


def unwrapped(answer: str) -> str:
    """Return an answer without the quotes, stars and final full stop around it.

    >>> unwrapped("**Oslo**.")
    'Oslo'
    """
    return answer.strip(_WRAPPERS).rstrip(".").strip(_WRAPPERS)


def _announced(text: str) -> str:
    cue = last_match(ANNOUNCEMENT, text)
    if cue is not None:
        return text[cue.end() :].strip().partition("\n")[0].strip()
    return text.strip().rpartition("\n")[2].strip()
