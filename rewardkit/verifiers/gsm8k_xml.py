r"""The five XML rewards for `<reasoning>\n…\n</reasoning>\n<answer>\n…\n</answer>`.

Each is a verifier with a score in [0, 1]; `gsm8k_xml` weights them 2.0, 0.5, 0.5, 0.5, 0.5. In the
source, `.` doesn't match newlines, so that its format rewards never accept reasoning of several
lines, and its penalty for trailing text counts twice. The rules here have neither bug.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import Gsm8k, last_stated_number, reference_text
from rewardkit.verifiers.reading import answer_block
from rewardkit.verifiers.rubric import Rubric

_OPENING = "<reasoning>\n"
_MIDDLE = "\n</reasoning>\n<answer>\n"
_CLOSING = "\n</answer>"
_COUNTED = ("<reasoning>\n", "\n</reasoning>\n", "\n<answer>\n", "\n</answer>")
_TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")
_JUNCTION = re.compile(r"</reasoning>\s*<answer>")

PER_TAG = 0.125
PER_TRAILING_CHARACTER = 0.001
MOST = 0.5
"""The largest `xmlcount`; the score is a share of it."""

_BY_VALUE = Gsm8k(reading="xml")


@dataclass(frozen=True)
class Correctness(Bounded):
    """Right if the last `<answer>` block equals the reference; score 1 or 0.

    `by="string"` is the source's rule: the same characters after stripping. `by="value"` compares
    numbers as `Gsm8k` does. The reference is the text after the last `####`, else all of it,
    without commas and currency signs.
    """

    thinking: ClassVar = "strip"

    by: Literal["string", "value"] = "string"

    def __post_init__(self) -> None:
        if self.by not in ("string", "value"):
            raise ValueError(f"by is 'string' or 'value', not {self.by!r}")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        if self.by == "value":
            return _BY_VALUE(text, sample)
        reference = reference_text(sample.reference)
        if not reference:
            return Verdict.unjudged("the reference is empty")
        answer = _answer(text)
        if not answer:
            return _without_answer(text)
        return Verdict.judged(answer == reference, answer=answer)


@dataclass(frozen=True)
class Int(Bounded):
    """Right if the last `<answer>` block is all digits 0–9; score 1 or 0."""

    thinking: ClassVar = "strip"
    needs_reference: ClassVar[bool] = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        answer = _answer(text)
        if not answer:
            return _without_answer(text)
        if answer.isascii() and answer.isdigit():
            return Verdict.right(answer=answer)
        return Verdict.wrong(Failure.FORMAT, answer=answer, message="the answer is not all digits")


@dataclass(frozen=True)
class StrictFormat(Bounded):
    r"""Right if the completion is `<reasoning>\n…\n</reasoning>\n<answer>\n…\n</answer>` alone.

    One trailing newline is allowed. Both contents may have many lines, neither may be blank,
    and each tag occurs once: a second block breaks the form. Score 1 or 0.
    """

    thinking: ClassVar = "whole"
    needs_reference: ClassVar[bool] = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        body = text.removesuffix("\n")
        once = all(body.count(tag) == 1 for tag in _TAGS)
        if once and body.startswith(_OPENING) and body.endswith(_CLOSING):
            inside = body[len(_OPENING) : -len(_CLOSING)]
            reasoning, middle, answer = inside.partition(_MIDDLE)
            if middle and reasoning.strip() and answer.strip():
                return Verdict.right(answer=answer.strip())
        return _malformed(text)


@dataclass(frozen=True)
class SoftFormat(Bounded):
    """Right if a reasoning block is followed by an answer block, with white space between.

    Other text may come before and after them. Their contents may have many lines and must not be
    blank. Score 1 or 0.
    """

    thinking: ClassVar = "whole"
    needs_reference: ClassVar[bool] = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        start = closing = 0
        for junction in _JUNCTION.finditer(text):
            if closing < junction.end():
                closing = text.find("</answer>", junction.end())
            if closing < 0:
                break
            opening = text.rfind("<reasoning>", start, junction.start())
            start = junction.end()
            if opening >= 0 and text[opening + len("<reasoning>") : junction.start()].strip():
                answer = text[start:closing].strip()
                if answer:
                    return Verdict.right(answer=answer)
        return _malformed(text)


@dataclass(frozen=True)
class XmlCount(Bounded):
    r"""Score the tags one by one; a share of 0.5, in [0, 1], in steps of 0.001 / 0.5.

    0.125 for each of `<reasoning>\n`, `\n</reasoning>\n`, `\n<answer>\n` and `\n</answer>` that
    occurs exactly once, minus 0.001 for each character after the last `\n</answer>` (a single
    final newline is free), never below 0.
    """

    thinking: ClassVar = "whole"
    needs_reference: ClassVar[bool] = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        earned = PER_TAG * sum(text.count(tag) == 1 for tag in _COUNTED)
        _, closed, trailing = text.rpartition(_CLOSING)
        if closed:
            earned -= PER_TRAILING_CHARACTER * len(trailing.removesuffix("\n"))
        failure = _malformed(text).failure or Failure.FORMAT
        return Verdict.scored(max(0.0, earned) / MOST, answer=_answer(text), failure=failure)


gsm8k_xml = Rubric(
    parts={
        "correctness": Correctness(),
        "int": Int(),
        "strict_format": StrictFormat(),
        "soft_format": SoftFormat(),
        "xmlcount": XmlCount(),
    },
    weights={
        "correctness": 2.0,
        "int": 0.5,
        "strict_format": 0.5,
        "soft_format": 0.5,
        "xmlcount": 0.5,
    },
    decides="correctness",
)


def _answer(text: str) -> str | None:
    block = answer_block(text)
    return block.strip() if block is not None else None


def _without_answer(text: str) -> Verdict:
    stated = last_stated_number(text) if answer_block(text) is None else None
    if stated is None:
        return Verdict.wrong(Failure.NO_ANSWER, message="no answer is given")
    return Verdict.wrong(Failure.FORMAT, answer=stated, message="no <answer> block")


def _malformed(text: str) -> Verdict:
    """Return why the form is wrong: no answer, no reasoning before it, or another fault."""
    answer = _answer(text)
    if not answer:
        return _without_answer(text)
    _, opened, rest = text.partition("<reasoning>")
    if not opened or not rest.partition("</reasoning>")[0].strip():
        return Verdict.wrong(
            Failure.NO_REASONING, answer=answer, message="the reasoning block is missing or empty"
        )
    return Verdict.wrong(
        Failure.FORMAT, answer=answer, message="the blocks don't have the required form"
    )
