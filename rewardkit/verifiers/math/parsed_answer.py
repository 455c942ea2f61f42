"""A reference or an answer, read once: its text, its number, its tree."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.parser import read, read_canonical
from rewardkit.verifiers.math.spelling import canonical, squeezed
from rewardkit.verifiers.math.tree import Clock, Node, Sequence, Text, UnreadableError

_LONGEST_NUMBER = 400
"""Characters of the longest text that is read as a number."""

_UNSIGNED = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)?(?:\.[0-9]*)?"
_FRACTION = re.compile(
    r"\\frac\s*(?:\{\s*(-?[0-9,]+)\s*\}|([0-9]))\s*(?:\{\s*(-?[0-9,]+)\s*\}|([0-9]))"
)
_NUMBER = re.compile(
    rf"(?P<sign>[-+\s]*)(?:(?P<currency>[{lexicon.CURRENCY_SIGNS}])\s?)?(?:"
    r"(?:(?P<whole>[0-9]+)\s+)?(?P<over>[0-9,]+)\s?/\s?(?P<under>-?[0-9,]+)"
    rf"|(?P<decimal>{_UNSIGNED})"
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,3})|\s*·\s*10\s*\^\s*"
    r"(?:\{\s*(?P<power>-?[0-9]{1,3})\s*\}|(?P<power1>[0-9])))?"
    r")\s*(?P<percent>%)?\s*(?P<degree>°)?"
)


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """A rational as it was written. `value` has percent applied; `reduced` is False for 2/4."""

    value: Fraction
    unit: str
    """"%", "°", the sign of a currency, or nothing."""
    reduced: bool


def exact_number(text: str) -> ExactNumber | None:
    r"""The number that `text` (in normal spelling) is as a whole, or None.

    Read are integers, decimals, thousands commas, `\frac` and slash fractions, mixed numbers,
    scientific notation, percent and degrees (of the same value as the bare number).
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    text = _FRACTION.sub(r" \1\2/\3\4 ", text)
    if not (match := _NUMBER.fullmatch(text)):
        return None
    read = _fraction(match) or _decimal(match)
    if read is None:
        return None
    value, reduced = read
    if match["sign"].count("-") % 2:
        value = -value
    percent = match["percent"] is not None
    unit = "%" if percent else match["degree"] or (match["currency"] or "").replace("¤", "$")
    return ExactNumber(value / 100 if percent else value, unit, reduced)


def equal(answer: ExactNumber, reference: ExactNumber) -> bool:
    """By value and, where both have one, by unit."""
    same_unit = answer.unit == reference.unit or not (answer.unit and reference.unit)
    return same_unit and answer.value == reference.value


def _fraction(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    if match["over"] is None:
        return None
    over, under = _integer(match["over"]), _integer(match["under"])
    if over is None or not under:
        return None
    value = Fraction(over, under)
    whole = match["whole"]
    if whole and not 0 <= over < under:
        return None
    reduced = math.gcd(over, under) == 1 and under > 1
    return (int(whole) + value, reduced and over < under) if whole else (value, reduced)


def _decimal(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    digits = re.sub(r"[,\s]", "", match["decimal"] or "")
    if not digits.strip("."):
        return None
    power = int(match["exponent"] or match["power"] or match["power1"] or 0)
    return Fraction(digits.rstrip(".")) * Fraction(10) ** power, True


def _integer(digits: str) -> int | None:
    if "," in digits and not re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})+", digits):
        return None
    return int(digits.replace(",", ""))


_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_LONGEST_PHRASE = 400
"""Characters of the longest text that is read as words."""

_WORDS = re.compile(r"\(?[A-Za-z][A-Za-z'’ \-]*(?:[,;][A-Za-z'’ \-]+)*[).,!;:]*")
_RUN = re.compile(r"[A-Za-z]+")
_CAPITALISED = re.compile(r"[A-Z][a-z]+")
_OPTION = re.compile(r"\(?[A-J]\)|\\text\{\s*\(?[A-J]\)?\s*\}")
_ARTICLE = re.compile(r"\A(?:an?|the) (?!and |or )(?=[a-z])")
_SENTENCE = re.compile(r"(?P<subject>[a-z' -]+?) (?:is|are) (?:(?:an?|the) )?(?P<predicate>.+)")
_SYLLABLE = re.compile(r"[^aeiou][aeiou]")
_ITEM_END = re.compile(r"\s*(?:[,;]\s*(?:and|or)\b|[,;]|\band\b|\bor\b)\s*")
_LETTER = re.compile(r"\(([a-z])\)")
_COMMON: Final = (lexicon.IN_WORDS | lexicon.MONTHS | lexicon.WEEKDAYS) | lexicon.listed(
    "red blue green black white yellow orange purple pink brown grey gray north south east"
    " west left right up down circle ellipse line point plane cone sphere cylinder square triangle"
    " increasing decreasing converges diverges convergent divergent rational irrational prime"
    " composite positive negative zero real"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in one spelling; `certain` where they can't be a product of variables as well."""

    words: str
    certain: bool

    def tree(self) -> Node:
        """The words; a list of them where commas, `and` or `or` join several."""
        whole = lexicon.words_as_answer(self.words)
        items = [item for item in _ITEM_END.split(self.words) if item]
        if len(items) < 2 or not isinstance(whole, Text):
            return whole
        joint = "or" if re.search(r"\bor\b", self.words) else "and"
        return Sequence(tuple(lexicon.words_as_answer(item) for item in items), joint=joint)


def predicate(words: str) -> str | None:
    """`even` in `the function is even`; None where the words are not such a sentence."""
    sentence = _SENTENCE.fullmatch(words)
    if sentence is None or any(map(lexicon.refuses, sentence["subject"].split())):
        return None
    return sentence["predicate"]


def phrase(text: str) -> Phrase | None:
    """The words that a canonical text consists of; None where it holds anything else."""
    if len(text) > _LONGEST_PHRASE:
        return None
    wrapped = "{" in text and _TEXT.search(text) is not None
    plain = _TEXT.sub(r"\1", text)
    plain = " ".join(plain.replace("{", " ").replace("}", " ").split())
    if not _WORDS.fullmatch(plain):
        return None
    runs = _RUN.findall(plain)
    if any(run in lexicon.FUNCTIONS for run in (*runs, *_TEXT.findall(text))):
        return None
    if all(len(run) == 1 for run in runs) and not _OPTION.fullmatch(text.strip()):
        return None
    if len(runs) == 1 and (runs[0] in lexicon.GREEK or runs[0] in lexicon.CONSTANT_WORDS):
        return None
    spelled = plain.casefold().rstrip(" .,!;:")
    letter = _LETTER.fullmatch(spelled)
    certain = _certain(runs, wrapped) or lexicon.meaning(spelled) is not None
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
        or run in lexicon.FUNCTIONS
        or run in lexicon.GREEK
        or run in lexicon.CONSTANT_WORDS
        or lexicon.ends_in_function(run) is not None
    )


_ONLY_WORDS = re.compile(r"(?:\\text\{[^{}\\]*\}|[^\\{}^_=<>])*")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_TIME = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])")
_LISTED = re.compile(r"[0-9],\s+[0-9]{3}")  # no comma that groups thousands
_TERMS = re.compile(r"[0-9.]\s*[eE]\s*[-+]\s+[0-9]|[0-9.]\s*[eE]\s+[-+]")  # 2e - 1: two terms

REMEMBERED = 256
"""Maximum length of a text whose parse is cached, so that the cache doesn't fill the memory."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """One side of a comparison.

    `number` is None unless the text as a whole is one; `tree` is None where we can't read it, for
    the `reason` given; `foreign`: another reader may know how.
    """

    text: str
    number: ExactNumber | None
    tree: Node | None = None
    reason: str = ""
    foreign: bool = False

    @property
    def readable(self) -> bool:
        """Whether the side has anything to compare."""
        return any(character.isalnum() or character in "\\∅" for character in self.text)

    words: str = ""
    """The words in one spelling, if the side has only words."""

    verbal: bool = False
    """Whether the side is words rather than mathematics."""


def read_answer(text: str) -> ParsedAnswer:
    """The text as a number, else as a tree. Bounded by the limits of the readers."""
    return _remembered(text) if len(text) <= REMEMBERED else _read_answer(text)


def parsed_tree(answer: ParsedAnswer) -> Node | None:
    """The tree of an answer; None where it cannot be read."""
    if answer.tree is not None or answer.number is None:
        return answer.tree
    return _tree(answer.text)


def _read_answer(text: str) -> ParsedAnswer:
    spelled = canonical(text)
    plain = squeezed(spelled)
    latex = plain if plain.isascii() else plain.translate(lexicon.LATEX_SIGNS).strip()
    number = None if _LISTED.search(spelled) or _TERMS.search(spelled) else exact_number(plain)
    if number is not None:
        return ParsedAnswer(latex, number)
    time = _time(_TEXT.sub(r"\1", plain).strip())
    if time is not None:
        return ParsedAnswer(latex, None, time)
    spoken = phrase(spelled)
    if spoken is not None and spoken.certain:
        return ParsedAnswer(latex, None, spoken.tree(), words=spoken.words, verbal=True)
    words = spoken.words if spoken is not None else ""
    try:
        return ParsedAnswer(latex, None, read_canonical(spelled), words=words)
    except UnreadableError as error:
        words = words or (_spoken(spelled) if _ONLY_WORDS.fullmatch(plain) else "")
        return ParsedAnswer(latex, None, None, str(error), error.foreign, words, bool(words))


def _spoken(text: str) -> str:
    """A text of words and numbers in one spelling."""
    plain = _TEXT.sub(r"\1", text).casefold().replace("{", " ").replace("}", " ")
    words = " ".join(plain.split()).rstrip(" .")
    return lexicon.date(words) or lexicon.without_ordinals(words)


def _time(text: str) -> Node | None:
    """A time of day: with am or pm, or as hours and minutes."""
    clock = _CLOCK.fullmatch(text)
    if clock:
        hour, minute, half = clock.groups()
        if int(hour) > 12:
            return None
        return Clock(int(hour) % 12 + 12 * (half.lower() == "p"), int(minute or 0))
    time = _TIME.fullmatch(text)
    return Clock(int(time[1]), int(time[2]), stated=False) if time else None


_remembered = lru_cache(maxsize=1024)(_read_answer)


@lru_cache(maxsize=1024)
def _tree(text: str) -> Node | None:
    try:
        return read(text)
    except UnreadableError:
        return None
