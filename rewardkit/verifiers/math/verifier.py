"""The `math` verifier: reads the boxes, reads the reference, compares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.math import engine
from rewardkit.verifiers.math.exact import equal, exact
from rewardkit.verifiers.math.normal import normal
from rewardkit.verifiers.reading import answer_block, boxes, last_number

LONGEST = 4_000
"""Characters of the longest answer that is evaluated; a longer one can't be meant as one."""

MOST_BOXES = 16
"""Different boxes that are compared one by one; more are a list of guesses."""

_WORDS = re.compile(r"\\text\s*\{[^{}]*\}")
_HEDGE = re.compile(r"(?<![a-zA-Z])or(?![a-zA-Z])", re.IGNORECASE)
_SEVERAL = re.compile(r"\\pm(?![a-zA-Z])|±|(?<![a-zA-Z])(?:and|or)(?![a-zA-Z])")
_VALUE = re.compile(r"[a-zA-Z]\s*=\s*(?=[^=]+$)")


@dataclass(frozen=True)
class Math:
    r"""Right when the last `\boxed{…}` is mathematically equal to the reference.

    `require_simplified` also asks for the simplest form: 2/4 is wrong against 0.5.
    `reading="flexible"` reads, where there is no box, the `<answer>` block, the last formula or
    the last number.
    """

    require_simplified: bool = False
    reading: Literal["boxed", "flexible"] = "boxed"

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """The verdict where text and exact numbers decide it; else None."""
        read = self._read(text, sample.reference)
        if isinstance(read, Verdict):
            return read
        answers, reference = read
        verdict = None
        for answer in answers:
            verdict = self.compare_quick(answer, reference)
            if verdict is None or not verdict.correct:
                break
        return verdict

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict, by math-verify where text and exact numbers don't decide it."""
        read = self._read(text, sample.reference)
        if isinstance(read, Verdict):
            return read
        answers, reference = read
        verdict = self.compare(answers[0], reference)
        for answer in answers[1:]:
            if verdict.correct:
                verdict = self.compare(answer, reference)
        return verdict

    def prepare(self) -> None:
        """Load the symbolic engine."""
        engine.prepare()

    def compare_quick(self, answer: str, reference: str) -> Verdict | None:
        """Compare an answer already read with a reference, in bounded time; None: undecided."""
        too_much = _too_much([answer], reference)
        if too_much is not None:
            return too_much
        read, gold = normal(_essence(answer)), normal(_essence(reference))
        if not _readable(gold):
            return Verdict.unjudged(f"the reference {reference!r} can't be read", answer=answer)
        if not read:
            return Verdict.wrong(Failure.NO_ANSWER, message="the box is empty")
        number, value = exact(_bare(read, gold)), exact(_bare(gold, gold))
        if number and value:
            return self._judged(equal(number, value), answer, number.reduced)
        if read == gold:
            return Verdict.right(answer=answer)
        return None

    def compare(self, answer: str, reference: str) -> Verdict:
        """Compare an answer already read with a reference; only a deadline bounds the time."""
        quick = self.compare_quick(answer, reference)
        if quick is not None:
            return quick
        read, gold = normal(_essence(answer)), normal(_essence(reference))
        if _HEDGE.search(read) and not _HEDGE.search(gold):
            return Verdict.wrong(Failure.WRONG, answer=answer, message="several candidates")
        read, gold = (_bare(side, gold).replace(r"\$", "") for side in (read, gold))
        if read.casefold() == gold.casefold():
            return Verdict.right(answer=answer)
        if not engine.readable(gold):
            # names and other words are compared as text, which just failed
            return Verdict.judged(False, answer=answer)
        return self._judged(engine.equivalent(read, gold), answer, exact(gold) is None)

    def _read(self, text: str, reference: str) -> tuple[list[str], str] | Verdict:
        """The different answers, last first, and the reference; or the verdict already."""
        gold = _unboxed(reference)
        if not _readable(normal(gold)):
            return Verdict.unjudged(f"the reference {reference!r} can't be read")
        found = list(dict.fromkeys(_found(text, self.reading)))
        if not found:
            return Verdict.wrong(Failure.NO_ANSWER, message=r"there is no whole \boxed{…}")
        too_much = _too_much(found, gold)
        if too_much is not None:
            return too_much
        different = list({normal(answer): answer for answer in reversed(found)}.values())
        if len(different) > 1 and _several(gold):
            return [", ".join(reversed(different))], gold
        return different, gold

    def _judged(self, correct: bool, answer: str, simplified: bool) -> Verdict:
        if correct and self.require_simplified and not simplified:
            return Verdict.wrong(Failure.FORMAT, answer=answer, message="not in simplest form")
        return Verdict.judged(correct, answer=answer)


def _found(text: str, reading: str) -> list[str]:
    block = answer_block(text)
    found = boxes(text if block is None else block)
    if found or reading == "boxed":
        return found
    if block is not None:
        return [block]
    formula = max(_last_between(text, "$", "$"), _last_between(text, r"\(", r"\)"))
    if formula[1].strip():
        return [formula[1]]
    number = last_number(text)
    return [number[0]] if number else []


def _last_between(text: str, opening: str, closing: str) -> tuple[int, str]:
    """Where the last such formula starts and what it holds; (-1, "") without one."""
    end = text.rfind(closing)
    start = text.rfind(opening, 0, max(end, 0))
    return (start, text[start + len(opening) : end]) if start >= 0 else (-1, "")


def _too_much(answers: Sequence[str], reference: str) -> Verdict | None:
    """The verdict on answers too long or too many to be meant, before anything is done to them."""
    longest = max(answers, key=len)
    if len(longest) > LONGEST + len(reference):
        message = f"an answer of {len(longest):,} characters is too long to evaluate"
        return Verdict.wrong(Failure.TIMEOUT, answer=longest[:200], message=message)
    if len(answers) > MOST_BOXES:
        message = f"{len(answers)} different answers"
        return Verdict.wrong(Failure.WRONG, answer=answers[-1], message=message)
    return None


def _unboxed(reference: str) -> str:
    found = boxes(reference)
    return found[-1] if found else reference


def _readable(gold: str) -> bool:
    """Whether a reference in normal spelling holds anything to compare with."""
    return any(character.isalnum() or character in "\\∅" for character in gold)


def _several(gold: str) -> bool:
    return engine.elements(normal(gold)) > 1 or bool(_SEVERAL.search(gold))


def _essence(latex: str) -> str:
    return latex.strip().strip("$").strip()


def _bare(latex: str, gold: str) -> str:
    """Without units or words where the reference has none, and without `x=` before a value."""
    if not _WORDS.search(gold):
        without = _WORDS.sub("", latex).strip()
        latex = normal(without) or latex
    if "=" not in gold and _VALUE.match(latex):
        latex = _VALUE.sub("", latex, count=1)
    return latex
