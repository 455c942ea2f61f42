"""Compare the stated answer with the reference, text with text."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rewardkit.protocols import Bounded, Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import last_match
from rewardkit.verifiers.stated import Reading, stated_answer

_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


_WRAPPERS = " \t\r\n*_`\"'“”‘’$"


def unwrap(answer: str) -> str:
    """Return an answer without the quotes, stars and final full stop around it.

    >>> unwrap("**Oslo**.")
    'Oslo'
    """
    return answer.strip(_WRAPPERS).rstrip(".").strip(_WRAPPERS)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Which differences between two texts count for nothing."""

    case: bool = False
    articles: bool = False
    punctuation: bool = False
    white_space: bool = False

    def __call__(self, text: str) -> str:
        if self.case:
            text = text.lower()
        if self.punctuation:
            text = text.translate(_PUNCTUATION)
        if self.articles:
            text = _ARTICLES.sub(" ", text)
        return " ".join(text.split()) if self.white_space else text.strip()

    def equal(self, answer: str, reference: str) -> bool:
        """Return whether two texts are equal; a reference of punctuation alone is compared as
        written."""
        normalised = self(reference)
        return self(answer) == normalised if normalised else answer.strip() == reference.strip()


SQUAD = Normalisation(case=True, articles=True, punctuation=True, white_space=True)
"""The normalisation of SQuAD's evaluation (Rajpurkar et al. 2016)."""


def accepted_references(sample: Sample, aliases: str) -> list[str]:
    """Return the reference and what the column `aliases` holds, a text or a list of texts.

    Dots reach inside the column: `answers.text`. Raises ValueError if the row lacks it.

    >>> accepted_references(Sample("NYC", columns={"also": ["New York"]}), "also")
    ['NYC', 'New York']
    """
    if not aliases:
        return [sample.reference]
    value: object = sample.columns
    for part in aliases.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(f"the row has no column {aliases!r}")
        value = value[part]
    more = value if isinstance(value, list | tuple) else [value]
    return [sample.reference, *(str(text) for text in more if text is not None)]


def _best_verdict(
    answer: str, sample: Sample, aliases: str, score: Callable[[str, str], float]
) -> Verdict:
    try:
        references = [text for text in accepted_references(sample, aliases) if text.strip()]
    except ValueError as error:
        return Verdict.unjudged(str(error))
    if not references:
        return Verdict.unjudged("the reference is blank")
    if not answer:
        return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
    return Verdict.scored(max(score(answer, text) for text in references), answer=answer)


@dataclass(frozen=True)
class Exact(Verifier):
    """Right if the completion's answer is the reference, letter by letter; score 1 or 0.

    The answer is the last `<answer>` block, else the last box, else the whole completion. `lenient`
    reads what is announced ("The answer is …", "Answer:", `####`), else the last line, and drops
    quotes, stars and a final full stop. `pattern`, a regular expression, finds the answer instead:
    its last match, or that match's first group. Each `ignore_` parameter drops a difference.
    `aliases` is a column with further accepted answers; dots reach inside it.

    >>> Exact(ignore_case=True, ignore_articles=True)("The Nile", Sample("nile")).correct
    True
    """

    thinking = "strip"
    reads = ("xml",)

    reading: Reading = "strict"
    ignore_case: bool = False
    ignore_articles: bool = False
    ignore_punctuation: bool = False
    ignore_white_space: bool = True
    aliases: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
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
        return _best_verdict(self._answer(text), sample, self.aliases, self._equal)

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
            unwrap(answer), unwrap(reference) or reference
        )


@dataclass(frozen=True)
class F1(Bounded):
    """The F1 of the answer's words, in [0, 1]; correct at 1: the same words in any order.

    SQuAD's rule (Rajpurkar et al. 2016): lower case, without ASCII punctuation and articles; shared
    words count as often as both texts have the word. The best of several references counts. `f1`
    reads the answer as `exact` does; `aliases` is a column with further references.

    >>> round(F1()("the quick fox", Sample("quick red fox")).score, 3)
    0.8
    """

    thinking = "strip"
    reads = ("xml",)

    reading: Reading = "strict"
    aliases: str = ""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return _best_verdict(stated_answer(text, self.reading), sample, self.aliases, token_f1)


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of two texts' words after SQuAD's normalisation.

    Texts of articles and punctuation alone are compared as written: 1 or 0.
    """
    answer_words = Counter(SQUAD(answer).split())
    reference_words = Counter(SQUAD(reference).split())
    if not reference_words:
        return float(answer.strip() == reference.strip())
    shared = (answer_words & reference_words).total()
    return 2 * shared / (answer_words.total() + reference_words.total())


@dataclass(frozen=True)
class Regex(Verifier):
    """Right if the answer matches the reference, a regular expression of Python's; score 1 or 0.

    `regex` reads the answer as `exact` does, and the expression must match the whole answer; with
    `match="search"` the expression may match anywhere in the completion. The expression runs in a
    worker, under the deadline: one that backtracks without end is wrong (`timeout`).

    >>> Regex(reading="lenient")("The answer is grey.", Sample("gr[ae]y")).correct
    True
    """

    thinking = "strip"
    reads = ("xml",)

    reading: Reading = "strict"
    match: Literal["full", "search"] = "full"
    ignore_case: bool = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if not sample.reference.strip():
            return Verdict.unjudged("the reference is blank")
        try:
            expression = re.compile(sample.reference, re.IGNORECASE if self.ignore_case else 0)
        except (re.error, OverflowError, RecursionError) as error:
            return Verdict.unjudged(
                f"the reference {sample.reference[:80]!r} isn't a regular expression: {error}"
            )
        if self.match == "search":
            if last := last_match(expression, text):
                return Verdict.right(answer=last.group())
            failure = Failure.WRONG if text.strip() else Failure.NO_ANSWER
            return Verdict.wrong(failure, message="the expression matches nowhere")
        answer = stated_answer(text, self.reading)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="no answer is stated")
        forms = [answer, unwrap(answer)] if self.reading == "lenient" else [answer]
        return Verdict.judged(any(map(expression.fullmatch, forms)), answer=answer)
