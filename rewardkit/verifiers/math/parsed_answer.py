"""A reference or an answer, read once: its text, its words, its tree."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.parser import read_canonical
from rewardkit.verifiers.math.spelling import canonical, squeezed
from rewardkit.verifiers.math.tree import Clock, Node, Sequence, UnreadableError

_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_LONGEST_PHRASE = 400
"""Characters of the longest text that is read as words."""

_WORDS = re.compile(r"\(?[A-Za-z][A-Za-z'’ \-]*(?:[,;][A-Za-z'’ \-]+)*[).,!;:]*")
_RUN = re.compile(r"[A-Za-z]+")
_OPTION = re.compile(r"\(?[A-J]\)|\\text\{\s*\(?[A-J]\)?\s*\}")
_ARTICLE = re.compile(r"\A(?:an?|the|all)(?: the)? (?!and |or )(?=[a-z])")
_WINS = re.compile(
    r"(?<=[a-z]) (?:(?:can |will |always )*wins?|has (?:a|the) winning strategy)(?: the game)?\Z"
)
_SENTENCE = re.compile(r"(?P<subject>[a-z' -]+?) (?:is|are) (?:(?:an?|the) )?(?P<predicate>.+)")
_SYLLABLE = re.compile(r"[^aeiou][aeiou]")
_ITEM_END = re.compile(r"\s*(?:[,;]\s*(?:and|or)\b|[,;]|\band\b|\bor\b)\s*")
_COMMON: Final = (lexicon.IN_WORDS | lexicon.MONTHS | lexicon.WEEKDAYS) | lexicon.listed(
    "red blue green black white yellow orange purple pink brown grey gray north south east"
    " west left right up down circle ellipse line point plane cone sphere cylinder square triangle"
    " increasing decreasing converges diverges convergent divergent rational irrational prime"
    " composite positive negative zero real"
)


def _spoken(words: str) -> Node:
    """What words mean; a list of them where commas, `and` or `or` join several."""
    items = [item for item in _ITEM_END.split(words) if item]
    if len(items) < 2 or lexicon.meaning(words) is not None:
        return lexicon.words_as_answer(words)
    joint = "or" if re.search(r"\bor\b", words) else "and"
    return Sequence(tuple(lexicon.words_as_answer(item) for item in items), joint=joint)


def predicate(words: str) -> str | None:
    """`even` in `the function is even`; None where the words are not such a sentence."""
    sentence = _SENTENCE.fullmatch(words)
    if sentence is None or any(map(lexicon.refuses, sentence["subject"].split())):
        return None
    return sentence["predicate"]


def _phrase(text: str) -> tuple[str, bool]:
    """The words that a canonical text consists of; none where it holds anything else.

    And whether they are certain, because they can't be a product of variables as well.
    """
    if len(text) > _LONGEST_PHRASE:
        return "", False
    wrapped = "{" in text and _TEXT.search(text) is not None
    plain = _TEXT.sub(r"\1", text)
    plain = " ".join(plain.replace("{", " ").replace("}", " ").split())
    if not _WORDS.fullmatch(plain):
        return "", False
    runs = _RUN.findall(plain)
    if any(run in lexicon.FUNCTIONS for run in (*runs, *_TEXT.findall(text))):
        return "", False
    if all(len(run) == 1 for run in runs) and not _OPTION.fullmatch(text.strip()):
        return "", False
    if len(runs) == 1 and (runs[0] in lexicon.GREEK or runs[0] in lexicon.CONSTANT_WORDS):
        return "", False
    spelled = plain.casefold().rstrip(" .,!;:")
    certain = _certain(runs, wrapped) or lexicon.meaning(spelled) is not None
    return _WINS.sub("", _ARTICLE.sub("", spelled)), certain


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
    return repeats or spoken


def _calculates(run: str) -> bool:
    named = run in lexicon.GREEK or run in lexicon.CONSTANT_WORDS or run in lexicon.FUNCTIONS
    return len(run) == 1 or named or lexicon.ends_in_function(run) is not None


_WORD = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_ONLY_WORDS = re.compile(r"(?:\\text\{[^{}\\]*\}|[^\\{}^_=<>])*")
_OPTION_LABEL = re.compile(
    r"\s*(?:\\(?:text|math)[a-z]*\s*\{\s*)*\(?([A-H])\)[\s}.]*(?:\\ )?(?=[^\s.}=<>+*/^_-])"
)
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?\s*(?:(?P<noon>[ap])\.?\s?m\.?"
    r"|in the (?:(?P<morning>morning)|afternoon|evening))",
    re.IGNORECASE,
)
_TIME = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])")

REMEMBERED = 256
"""Maximum length of a text whose parse is cached, so that the cache doesn't fill the memory."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """One side of a comparison.

    `tree` is None where we can't read it, for the `reason` given. `words` are in one spelling if
    the side has only words; it is `verbal` where they can't be mathematics. `option` is the
    letter in brackets before the text.
    """

    text: str
    tree: Node | None = None
    reason: str = ""
    words: str = ""
    verbal: bool = False
    option: str = ""

    @property
    def readable(self) -> bool:
        """Whether the side has anything to compare."""
        return any(character.isalnum() or character in "\\∅" for character in self.text)

    @property
    def meaningful(self) -> bool:
        """Whether it is mathematics, words or a notation that can be compared with others."""
        return self.tree is not None or self.verbal or notation(self.text) is not None


def read_answer(text: str) -> ParsedAnswer:
    """The text as a time, as words, else as a tree. Bounded by the limits of the readers."""
    return _remembered(text) if len(text) <= REMEMBERED else _read_answer(text)


def _read_answer(text: str) -> ParsedAnswer:
    spelled = canonical(text)
    plain = squeezed(spelled)
    latex = plain if plain.isascii() else plain.translate(lexicon.LATEX_SIGNS).strip()
    time = _time(_TEXT.sub(r"\1", plain).strip())
    if time is not None:
        return ParsedAnswer(latex, time)
    words, certain = _phrase(spelled)
    if certain:
        return ParsedAnswer(latex, _spoken(words), words=words, verbal=True)
    try:
        label = _OPTION_LABEL.match(text) if ")" in text else None
        option = label[1] if label else ""
        return ParsedAnswer(latex, read_canonical(spelled), words=words, option=option)
    except UnreadableError as error:
        if not words and _ONLY_WORDS.fullmatch(plain) and _WORD.search(plain):
            said = " ".join(re.sub("[{}]", " ", _TEXT.sub(r"\1", spelled).casefold()).split())
            words = lexicon.date(said.rstrip(" .")) or lexicon.ORDINAL.sub("", said.rstrip(" ."))
        return ParsedAnswer(latex, None, str(error), words, bool(words))


def _time(text: str) -> Node | None:
    clock = _CLOCK.fullmatch(text)
    if clock:
        hour, before_noon = int(clock["hour"]), clock["morning"] or clock["noon"] in ("a", "A")
        if hour > 12:
            return None
        return Clock(hour % 12 + (0 if before_noon else 12), int(clock["minute"] or 0))
    time = _TIME.fullmatch(text)
    return Clock(int(time[1]), int(time[2]), stated=False) if time else None


_remembered = lru_cache(maxsize=1024)(_read_answer)


_LONGEST_NOTATION = 200
"""Characters of the longest text in a notation of its own: cycles, compounds, electrons."""

_LIKE_ONE = re.compile(r"\(\s?[0-9]+[\s,)]|\[|\\(?:text|ce)\{|[1-7][spdf]|[0-9]*[A-Z]")
_CYCLES = re.compile(r"(?:\(\s*[0-9]+(?:[\s,]+[0-9]+)*\s*\)\s*)+")
_ELEMENTS = lexicon.listed(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br"
    " Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Nd W Pt Au Hg Pb Bi Ra U"
)
_COMPOUND = re.compile(r"(?:[A-Z][a-z]?|[0-9]|[()\[\]])+(?:\^?[0-9]*[-+])?")
_TYPE = re.compile(r"\\(?:text|ce)(?![a-zA-Z])|[{}_\s]")
_SHELL = re.compile(
    r"\s*([1-7][spdf])\s*(?:\^\s*\{\s*([0-9]{1,2})\s*\}|\^?([0-9]{1,2})(?=\s|\Z)|\^?([0-9]))"
)
_CORE = re.compile(r"\s*\[\s*(?:\\text\s*\{)?\s*(He|Ne|Ar|Kr|Xe)\s*\}?\s*\]")
_FILLED = ("1s2", "2s2", "2p6", "3s2", "3p6", "4s2", "3d10", "4p6", "5s2", "4d10", "5p6")
_SHELLS_OF_CORE = {"He": 1, "Ne": 3, "Ar": 5, "Kr": 8, "Xe": 11}


def notation(text: str) -> object:
    """What a text in a notation of its own means, to be compared; None for any other text."""
    if len(text) > _LONGEST_NOTATION or not _LIKE_ONE.match(text):
        return None
    return _cycles(text) or _electrons(text) or _formula(text)


def _cycles(text: str) -> object:
    """The cycles of a permutation, each from its least member on; (12)(3) has digits as members."""
    if not _CYCLES.fullmatch(text):
        return None
    cycles = [re.findall("[0-9]+", part) for part in text.split(")") if part.strip()]
    if len(cycles) == 1 and ("," in text or len(cycles[0]) == 1):
        return None  # a tuple, or a number in brackets
    members = [list(cycle[0]) if len(cycle) == 1 else cycle for cycle in cycles]
    if len({member for cycle in members for member in cycle}) < sum(map(len, members)):
        return None
    turned = (cycle[(at := cycle.index(min(cycle))) :] + cycle[:at] for cycle in members)
    return frozenset(tuple(cycle) for cycle in turned if len(cycle) > 1)


def _electrons(text: str) -> object:
    """How many electrons each subshell has, a noble gas in brackets written out."""
    found: Counter[str] = Counter()
    at = 0
    if core := _CORE.match(text):
        at = core.end()
        found.update({shell[:2]: int(shell[2:]) for shell in _FILLED[: _SHELLS_OF_CORE[core[1]]]})
    while shell := _SHELL.match(text, at):
        found[shell[1]] += int(shell[2] or shell[3] or shell[4])
        at = shell.end()
    return found if found and not text[at:].strip() else None


def _formula(text: str) -> object:
    """The formula of a compound without its LaTeX, such as H2SO4."""
    plain = _TYPE.sub("", text)
    if not _COMPOUND.fullmatch(plain) or not {*re.findall("[A-Z][a-z]?", plain)} <= _ELEMENTS:
        return None
    return plain.replace("^", "") if re.search("[A-Za-z)][0-9]|[-+]$", plain) else None
