r"""The form `<THINK>…</THINK> <ANSWER>\boxed{…}</ANSWER>`; tags in any case."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import last_stated_number
from rewardkit.verifiers.reading import answer_tags, boxes

_CLOSE_THINKING = re.compile(r"</think>", re.IGNORECASE | re.ASCII)
_OPEN_THINKING = re.compile(r"\s*<think>", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class ThinkBoxedFormat(Bounded):
    """Right if a thinking block that isn't blank precedes an answer block with a box; 1 or 0.

    The opening `<THINK>` may be missing: if the prompt ends with it, the completion starts inside.
    A missing or blank thinking block is `no_reasoning`, a missing block or box `format`.
    """

    thinking: ClassVar = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        tags = answer_tags(text)
        stated = boxes(text[tags[0].end() : tags[1].start()]) if tags else []
        if tags is None or not stated:
            return _without_boxed_answer(text)
        closing = _CLOSE_THINKING.search(text, 0, tags[0].start())
        thinking = text[: closing.start()] if closing else ""
        opening = _OPEN_THINKING.match(thinking)
        if not thinking[opening.end() if opening else 0 :].strip():
            return Verdict.wrong(
                Failure.NO_REASONING,
                answer=stated[-1],
                message="the thinking block is missing or empty",
            )
        return Verdict.right(answer=stated[-1])


def _without_boxed_answer(text: str) -> Verdict:
    boxed = boxes(text) if "box" in text else []
    answer = boxed[-1] if boxed else last_stated_number(text)
    if answer is None:
        return Verdict.wrong(Failure.NO_ANSWER, message="there is no box in an <ANSWER> block")
    return Verdict.wrong(
        Failure.FORMAT, answer=answer, message="the answer isn't a box in an <ANSWER> block"
    )
