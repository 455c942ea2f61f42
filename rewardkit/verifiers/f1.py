"""The overlap of an answer's words with the reference's: SQuAD's F1."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.normalised_text import SQUAD, accepted_references
from rewardkit.verifiers.stated_answer import Reading, check_reading, stated_answer


@dataclass(frozen=True)
class F1(Bounded):
    """The F1 of the answer's words, in [0, 1]; correct at 1, which is any order of the same words.

    SQuAD's rule (Rajpurkar et al. 2016): lower case, without ASCII punctuation and articles; the
    words that both have, counted as often as both have them; the best of several references. The
    answer is read as `exact` reads it; `aliases` is a column with further references.

    >>> round(F1()("the quick fox", Sample("quick red fox")).score, 3)
    0.8
    """

    thinking: ClassVar = "strip"

    reading: Reading = "strict"
    aliases: str = ""

    def __post_init__(self) -> None:
        check_reading(self.reading)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        try:
            references = [one for one in accepted_references(sample, self.aliases) if one.strip()]
        except ValueError as error:
            return Verdict.unjudged(str(error))
        if not references:
            return Verdict.unjudged("the reference is blank")
        answer = stated_answer(text, self.reading)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
        return Verdict.scored(
            max(token_f1(answer, reference) for reference in references), answer=answer
        )


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of two texts' words after SQuAD's normalisation.

    Texts of nothing but articles and punctuation are compared as they are written: 1 or 0.
    """
    answer_words, reference_words = (
        Counter(SQUAD(answer).split()),
        Counter(SQUAD(reference).split()),
    )
    if not reference_words:
        return float(answer.strip() == reference.strip())
    shared = (answer_words & reference_words).total()
    return 2 * shared / (answer_words.total() + reference_words.total())
