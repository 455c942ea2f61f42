"""Answers in words, without the commands around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rewardkit.verifiers.math.syntax.letters import IN_WORDS, ends_in_function
from rewardkit.verifiers.math.syntax.nouns import refuses
from rewardkit.verifiers.math.syntax.synonyms import meaning, words_as_answer
from rewardkit.verifiers.math.syntax.tree import Node, Sequence, Text
from rewardkit.verifiers.math.syntax.words import CONSTANT_WORDS, FUNCTIONS, GREEK, listed

LONGEST = 400
"""Characters of the longest text that is read as words."""

_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal|sc|up)?|mbox|hbox|mathrm|mathbf|mathit|mathsf|boldsymbol"
    r"|bm|emph|underline)\*?\s*\{([^{}]*)\}"
)
_SPACING = re.compile(
    r"\\(?:[,;:! ]|quad(?![a-zA-Z])|qquad(?![a-zA-Z])|(?:left|right)(?=[()\[\]]))|~|\$"
)
_WORDS = re.compile(r"\(?[A-Za-z][A-Za-z'’ \-]*(?:[,;][A-Za-z'’ \-]+)*[).,!;:]*")
_RUN = re.compile(r"[A-Za-z]+")
_CAPITALISED = re.compile(r"[A-Z][a-z]+")
_OPTION = re.compile(r"\(?[A-J]\)|\$?\\text(?:bf|it|rm)?\s*\{\s*\(?[A-J]\)?\s*\}\$?")
_ARTICLE = re.compile(r"\A(?:an?|the) (?!and |or )(?=[a-z])")
_SENTENCE = re.compile(r"(?P<subject>[a-z' -]+?) (?:is|are) (?:(?:an?|the) )?(?P<predicate>.+)")
_SYLLABLE = re.compile(r"[^aeiou][aeiou]")
_ITEM_END = re.compile(r"\s*(?:[,;]\s*(?:and|or)\b|[,;]|\band\b|\bor\b)\s*")
_LETTER = re.compile(r"\(([a-z])\)")
_COMMON: Final = IN_WORDS | listed(
    "red blue green black white yellow orange purple pink brown grey gray north south east"
    " west left right up down monday tuesday wednesday thursday friday saturday sunday january"
    " february march april may june july august september october november december circle"
    " ellipse line point plane cone sphere cylinder square triangle increasing decreasing"
    " converges diverges convergent divergent rational irrational prime composite positive"
    " negative zero real"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in one spelling; `certain` where they can't be a product of variables as well."""

    words: str
    certain: bool

    def tree(self) -> Node:
        """The words; a list of them where commas, `and` or `or` join several."""
        whole = words_as_answer(self.words)
        items = [item for item in _ITEM_END.split(self.words) if item]
        if len(items) < 2 or not isinstance(whole, Text):
            return whole
        joint = "or" if re.search(r"\bor\b", self.words) else "and"
        return Sequence(tuple(words_as_answer(item) for item in items), joint=joint)


def predicate(words: str) -> str | None:
    """`even` in `the function is even`; None where the words are no such sentence."""
    sentence = _SENTENCE.fullmatch(words)
    if sentence is None or any(map(refuses, sentence["subject"].split())):
        return None
    return sentence["predicate"]


def phrase(text: str) -> Phrase | None:
    """The words that a text consists of; None where it holds anything else."""
    if len(text) > LONGEST:
        return None
    wrapped = "{" in text and _WRAPPER.search(text) is not None
    plain = _SPACING.sub(" ", _WRAPPER.sub(r"\1", text))
    plain = " ".join(plain.replace("{", " ").replace("}", " ").split())
    if not _WORDS.fullmatch(plain):
        return None
    runs = _RUN.findall(plain)
    if any(run in FUNCTIONS for run in runs):
        return None
    if all(len(run) == 1 for run in runs) and not _OPTION.fullmatch(text.strip()):
        return None
    if len(runs) == 1 and (runs[0] in FUNCTIONS or runs[0] in GREEK or runs[0] in CONSTANT_WORDS):
        return None
    spelled = plain.casefold().rstrip(" .,!;:")
    letter = _LETTER.fullmatch(spelled)
    certain = _certain(runs, wrapped) or meaning(spelled) is not None
    return Phrase(letter[1] if letter else _ARTICLE.sub("", spelled), certain)


def _certain(runs: list[str], wrapped: bool) -> bool:
    """Whether the runs are words: wrapped, common, capitalised, or longer than products are."""
    if wrapped:
        return True
    if all(_calculates(run) for run in runs):
        return False
    if any(run.casefold() in _COMMON or len(run) > 7 for run in runs):
        return True
    if len(runs) > 1:
        return sum(len(run) > 2 for run in runs) > 1
    run = runs[0]
    repeats = len(run) > 3 and len(set(run.casefold())) < len(run)
    spoken = len(run) > 4 and len(_SYLLABLE.findall(run.casefold())) > 1
    return _CAPITALISED.fullmatch(run) is not None or repeats or spoken


def _calculates(run: str) -> bool:
    """Whether a run of letters is mathematics: a letter, a function, a Greek one."""
    return (
        len(run) == 1
        or run in FUNCTIONS
        or run in GREEK
        or run in CONSTANT_WORDS
        or ends_in_function(run) is not None
    )
