"""Compare the stated answer with the reference, text with text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.normalised_text import Normalisation, accepted_references
from rewardkit.verifiers.reading import last_match
from rewardkit.verifiers.stated_answer import Reading, check_reading, stated_answer, unwrapped


@dataclass(frozen=True)
class Exact:
    """Right if the completion's answer is the reference, letter by letter; score 1 or 0.

    The answer is the last `<answer>` block, else the last box, else the whole completion. `lenient`
    reads what is announced ("The answer is …", "Answer:", `####`), else the last line, and drops
    quotes, stars and a final full stop. `pattern`, a regular expression, finds the answer instead:
    its last match, or that match's first group. Each `ignore_` parameter drops a difference.
    `aliases` is a column with further accepted answers; dots reach inside it.

    >>> Exact(ignore_case=True, ignore_articles=True)("The Nile", Sample("nile")).correct
    True
    """

    thinking: ClassVar = "strip"

    reading: Reading = "strict"
    ignore_case: bool = False
    ignore_articles: bool = False
    ignore_punctuation: bool = False
    ignore_white_space: bool = True
    aliases: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
        check_reading(self.reading)
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(
                f"pattern {self.pattern!r} isn't a regular expression: {error}"
            ) from None

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict, or None with a `pattern`: its search may take long."""
        return None if self.pattern else self(text, sample)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        try:
            references = [one for one in accepted_references(sample, self.aliases) if one.strip()]
        except ValueError as error:
            return Verdict.unjudged(str(error))
        if not references:
            return Verdict.unjudged("the reference is blank")
        answer = self._answer(text)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
        equal = any(self._equal(answer, reference) for reference in references)
        return Verdict.judged(equal, answer=answer)

    def _answer(self, text: str) -> str:
        if not self.pattern:
            return stated_answer(text, self.reading)
        last = last_match(re.compile(self.pattern), text)
        if last is None:
            return ""
        return next((group for group in last.groups() if group is not None), last.group()).strip()

    def _equal(self, answer: str, reference: str) -> bool:
        normalised = Normalisation(
            self.ignore_case, self.ignore_articles, self.ignore_punctuation, self.ignore_white_space
        )
        if normalised.equal(answer, reference):
            return True
        return self.reading == "lenient" and normalised.equal(
            unwrapped(answer), unwrapped(reference) or reference
        )
