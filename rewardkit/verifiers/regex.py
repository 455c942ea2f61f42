"""References that are regular expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import last_match
from rewardkit.verifiers.stated_answer import Reading, check_reading, stated_answer, unwrapped

MATCHES = ("full", "search")


@dataclass(frozen=True)
class Regex:
    """Right if the answer matches the reference, a regular expression of Python's; score 1 or 0.

    The answer is read as `exact` reads it, and the expression must match all of it; with
    `match="search"` it may match anywhere in the completion. It runs in a worker, under the
    deadline: an expression that backtracks without end is wrong (`timeout`).

    >>> Regex(reading="lenient")("The answer is grey.", Sample("gr[ae]y")).correct
    True
    """

    thinking: ClassVar = "strip"

    reading: Reading = "strict"
    match: Literal["full", "search"] = "full"
    ignore_case: bool = False

    def __post_init__(self) -> None:
        check_reading(self.reading)
        if self.match not in MATCHES:
            raise ValueError(f"match is 'full' or 'search', not {self.match!r}")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        if not sample.reference.strip():
            return Verdict.unjudged("the reference is blank")
        try:
            expression = re.compile(sample.reference, re.IGNORECASE if self.ignore_case else 0)
        except (re.error, OverflowError, RecursionError) as error:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} isn't a regular expression: {error}"
            )
        if self.match == "search":
            return self._searched(expression, text)
        answer = stated_answer(text, self.reading)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
        forms = [answer, unwrapped(answer)] if self.reading == "lenient" else [answer]
        return Verdict.judged(any(map(expression.fullmatch, forms)), answer=answer)

    def _searched(self, expression: re.Pattern[str], text: str) -> Verdict:
        last = last_match(expression, text)
        if last is None:
            failure = Failure.WRONG if text.strip() else Failure.NO_ANSWER
            return Verdict.wrong(failure, message="the expression matches nowhere")
        return Verdict.right(answer=last.group())
