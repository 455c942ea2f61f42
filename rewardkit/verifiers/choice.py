"""Multiple choice: compare the stated option letter with the reference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.option_letters import stated_letters
from rewardkit.verifiers.option_texts import named_option
from rewardkit.verifiers.reading import answer_block, boxes

_LETTER = re.compile(r"[A-Z]")
_REFERENCE = re.compile(r"\s*[(\[]?\s*([A-Za-z])\s*[)\].:]?\s*")


@dataclass(frozen=True)
class Choice(Bounded):
    """Right if the completion states the reference's option letter; score 1 or 0.

    `strict`: the completion, stripped, or its last box is exactly one upper-case letter. `lenient`
    also reads "(B)", "B.", "The answer is B", "**B**". The last statement counts, because a
    completion may change its mind; two letters offered as one answer are wrong. If there is an
    `<answer>` block, only that block is read. The reference is "B", "(B)" or "b)". `options` is the
    column with the options' texts: `lenient` then also takes the text of one option for its letter.

    >>> Choice(reading="lenient")("The answer is A. Wait, it is (B).", Sample("B")).correct
    True
    """

    thinking: ClassVar = "strip"

    reading: Literal["strict", "lenient"] = "strict"
    options: str = ""

    def __post_init__(self) -> None:
        if self.reading not in ("strict", "lenient"):
            raise ValueError(f"reading is 'strict' or 'lenient', not {self.reading!r}")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        reference = _REFERENCE.fullmatch(sample.reference)
        if reference is None:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} isn't an option letter"
            )
        block = answer_block(text)
        answer = (text if block is None else block).strip()
        letter = _exact_letter(answer) if self.reading == "strict" else self._named(answer, sample)
        if letter and self.reading == "lenient":
            return Verdict.judged(letter == reference[1].upper(), answer=letter)
        stated = stated_letters(answer)
        if letter and len(stated) < 2:
            return Verdict.judged(letter == reference[1].upper(), answer=letter)
        return self._judge_stated(stated, reference[1].upper())

    def _named(self, answer: str, sample: Sample) -> str | None:
        return named_option(answer, sample.columns.get(self.options)) if self.options else None

    def _judge_stated(self, stated: frozenset[str], reference: str) -> Verdict:
        answer = ", ".join(sorted(stated))
        if not stated:
            return Verdict.wrong(Failure.NO_ANSWER, message="no option letter is stated")
        if self.reading == "strict":
            return Verdict.wrong(
                Failure.FORMAT, answer=answer, message="the answer is not one bare letter"
            )
        if len(stated) > 1:
            return Verdict.wrong(
                Failure.WRONG, answer=answer, message="several letters are offered"
            )
        return Verdict.judged(answer == reference, answer=answer)


def _exact_letter(answer: str) -> str | None:
    if _LETTER.fullmatch(answer):
        return answer
    boxed = boxes(answer) if "box" in answer else []
    return boxed[-1] if boxed and _LETTER.fullmatch(boxed[-1]) else None
