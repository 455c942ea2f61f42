"""A reference or an answer, read once: its text, its words, its tree."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.notations import codes, pattern, rewritten
from rewardkit.verifiers.math.parser import meaning, read_tokens, words_as_answer
from rewardkit.verifiers.math.spelling import collapsed
from rewardkit.verifiers.math.tokens import Token, said, scan, spelled
from rewardkit.verifiers.math.tree import Node, Sequence, UnreadableError

_MOST_WORDS = 80
"""Words of the longest text that is read as words."""

_PHRASE = pattern(
    r"\(?(?:WORD|LETTER)(?:WORD|LETTER|['’-])*(?:[,;](?:WORD|LETTER|['’-])+)*[).,!;:]*"
)
_OPTION_LABEL = pattern(r"\(?([A-H])\)\.*(?=[^.}=<>+*/^_-])")
"""An option's letter before its text."""
_ARTICLE = re.compile(r"\A(?:an?|the|all)(?: the)? (?!and |or )(?=[a-z])")
_WINS = re.compile(
    r"(?<=[a-z]) (?:(?:can |will |always )*wins?|has (?:a|the) winning strategy)(?: the game)?\Z"
)
_LINK = re.compile(
    r"(?:[a-z' -]+ )?(?:is|are|was|were|be|becomes?|remains?|falls|fell|on|in|called|named|forms"
    r"|describes|represents)(?: (?:an?|the|on|in))* "
)
"""What stands before the predicate of a sentence."""
_SAYS = re.compile(r"(?:[a-z' -]+ (?:is|are) )?(?:exactly |precisely )?")
_VERB = re.compile(
    "is|was|has|had|will|can|must|won|paid|took|got|ran|came|(?!loses|fails)[a-z]+(?:s|ed)"
)
_SUPERLATIVE = re.compile(r"\bthe (?:most|least|fewest|first|only one)\b")
_NAME = re.compile("[A-Z][a-z]+")
_CONVERGES = re.compile("(con|di)verge(?:s|nt)")
_JOINED = frozenset(("yes", "no", "but", "however", "and", "or", "only", "if", "unless", "doubt"))
_CONDITIONS = frozenset(("for", "case", "cases", "second", "last", "lost", "loser"))
_CLASSES: Final = lexicon.listed(lexicon.WORDS["classes"])
_BRACKETED = r"(?:\([^()]*\)|\[[^\[\]]*\]|\{(?:[^{}]|\{[^{}]*\})*\})"
_NAMED_VALUE = pattern(
    rf"(?:START|(?<=[,;]))(?:COMMAND|WORD|[|‖#]|{_BRACKETED}|(?:m|π(?=_)|LETTER(?=[_(\[]))(?![=≅]))"
    rf"(?:{_BRACKETED}|[^=≠<>≤≥≈≡≅∈+,;()\[\]{{}}±-])*(?=[=≅])"
)
"""A term before an equals sign: what names a value even if nobody can work it out."""
_BRACKETS = frozenset("(){}[]")
_SYLLABLE = re.compile(r"[^aeiou][aeiou]")
_ITEM_END = re.compile(r"\s*(?:[,;]\s*(?:and|or)\b|[,;]|\band\b|\bor\b)\s*")
_COMMON: Final = lexicon.listed(
    " ".join(lexicon.WORDS[table] for table in ("common", "in_words", "months", "weekdays"))
)


def _spoken(words: str) -> Node:
    """What words mean; a list of them where commas, `and` or `or` join several."""
    said_so = _SAYS.match(words)
    if said_so and not any(map(lexicon.refuses, said_so.group().split())):
        number = lexicon.number_in_words(words[said_so.end() :])
        words = words[said_so.end() :] if number is not None else words
    items = [item for item in _ITEM_END.split(words) if item]
    if len(items) < 2 or meaning(words) is not None:
        return words_as_answer(words)
    joint = "or" if re.search(r"\bor\b", words) else "and"
    return Sequence(tuple(words_as_answer(item) for item in items), joint=joint)


def states(answer: ParsedAnswer, wanted: str) -> bool:
    """Whether the words of an answer say the `wanted` words and no others: `it falls on a Friday`.

    The wanted words are the predicate, a name before a verb, or stand beside their class's noun.
    """
    words = answer.words
    *adjective, noun = wanted.split()
    if (
        adjective
        and lexicon.singular(noun) in _CLASSES
        and not any(map(lexicon.refuses, adjective))
    ):
        wanted = " ".join(adjective)  # acute, for an acute triangle
    if wanted in ("yes", "no"):
        first, _, rest = words.partition(", ")
        plain = first == wanted and _JOINED.isdisjoint(rest.split())
        return plain and lexicon.takes_back(rest) == (wanted == "no")
    if _CONVERGES.search(wanted):
        return _kind_of_series(words) == _kind_of_series(wanted)
    before, *after = re.split(rf"(?<![\w'-]){re.escape(wanted)}(?![\w'-])", words)
    following = after[0].split() if after else []
    classed = len(following) == 1 and lexicon.singular(following[0]) in _CLASSES
    others = _SUPERLATIVE.sub("", before if classed else f"{before} {' '.join(after)}")
    unclear = lexicon.takes_back(others) or any(map(lexicon.refuses, others.split()))
    if len(after) != 1 or unclear or not _CONDITIONS.isdisjoint(others.split()):
        return False
    if classed or not following:
        return not before or _LINK.fullmatch(before) is not None
    names = _NAME.findall(answer.text)
    named = bool(names) and all(name.casefold() in wanted for name in names)
    return not before and named and _VERB.fullmatch(following[0]) is not None


def _kind_of_series(words: str) -> frozenset[str]:
    plain = _CONVERGES.sub(r"\1verges", words)
    return frozenset(plain.split()) - {"series", "sequence", "integral", "the", "this", "it", "is"}


def _phrase(written: list[Token]) -> tuple[str, bool]:
    """The words that an answer consists of; none where it holds anything else.

    And whether they are certain, because they can't be a product of variables as well.
    """
    tokens = [token for token in written if token.text not in ("{", "}")]
    seen = codes(tokens)
    if not _PHRASE.fullmatch(seen):
        return "", False
    runs = [token.text for token in tokens if token.kind == "letters"]
    wrapped = any(token.wrapped for token in tokens)
    if len(runs) > _MOST_WORDS or any(run in lexicon.FUNCTIONS for run in runs):
        return "", False
    lone = len(runs) == 1
    if all(len(run) == 1 for run in runs) and not (lone and (wrapped or seen[-1] == ")")):
        return "", False
    if lone and (runs[0] in lexicon.GREEK or runs[0] in lexicon.CONSTANT_WORDS):
        return "", False
    said_plain = said(tokens).casefold().rstrip(" .,!;:")
    certain = _certain(runs, wrapped) or meaning(said_plain) is not None
    return _WINS.sub("", _ARTICLE.sub("", said_plain)), certain


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


_NOT_WORDS = frozenset("{}^_=<>")
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
        return self.tree is not None or any(map(str.isalnum, self.text))

    @property
    def meaningful(self) -> bool:
        """Whether it is mathematics, words or a notation that can be compared with others."""
        return self.tree is not None or self.verbal or notation(self.text) is not None


def read_answer(text: str) -> ParsedAnswer:
    """The text as a time, as words, else as a tree. Bounded by the limits of the readers."""
    return _remembered(text) if len(text) <= REMEMBERED else _read_answer(text)


def _read_answer(text: str) -> ParsedAnswer:
    try:
        cut = scan(collapsed(text))
    except UnreadableError as error:
        return ParsedAnswer(collapsed(text), None, str(error))
    label = _OPTION_LABEL.match(codes(cut))
    option = label[1] if label else ""
    tokens = rewritten(cut)
    plain = spelled(tokens)
    words, certain = _phrase(tokens)
    if certain:
        return ParsedAnswer(plain, _spoken(words), words=words, verbal=True)
    try:
        return ParsedAnswer(plain, _tree(tokens), words=words, option=option)
    except UnreadableError as error:
        if not words and _only_words(tokens):
            stated = said(tokens).casefold().rstrip(" .")
            words = lexicon.date(stated) or lexicon.ORDINAL.sub("", stated)
        return ParsedAnswer(plain, None, str(error), words, bool(words))


def _tree(tokens: list[Token]) -> Node:
    """The tree; what can't be read before an equals sign is a name, as in `\\dim\\ker T = 1`."""
    try:
        return read_tokens(tokens)
    except UnreadableError:
        renamed, done = [], 0
        for named in _NAMED_VALUE.finditer(codes(tokens)):
            head, *rest = tokens[named.start() : named.end()]
            words = said([head, *rest])
            if lexicon.takes_back(words) or any(map(lexicon.refuses, words.split())):
                raise
            inside = "".join(part.text for part in rest if part.text not in _BRACKETS)
            of = [Token("mark", "("), Token("text", inside), Token("mark", ")")] if inside else []
            equals = Token("mark", "=")
            renamed += [*tokens[done : named.start()], Token("text", head.text.lstrip("\\")), *of]
            renamed, done = [*renamed, equals], named.end() + 1
        if not done:
            raise
        return read_tokens([*renamed, *tokens[done:]])


def _only_words(tokens: list[Token]) -> bool:
    """Whether a word is there, and nothing that calculates."""
    kinds = {token.kind for token in tokens if token.text not in _NOT_WORDS}
    said_so = any(
        token.text.isalpha() and (len(token.text) > 1 or token.wrapped or not token.text.isascii())
        for token in tokens
    )
    plain = _NOT_WORDS.isdisjoint(token.text for token in tokens)
    return said_so and plain and kinds <= {"letters", "number", "mark", "symbol"}


_remembered = lru_cache(maxsize=1024)(_read_answer)


_LONGEST_NOTATION = 200
"""Characters of the longest text in a notation of its own: cycles, compounds, electrons."""

_NAME_OF_IT = re.compile(r"\A\\?[a-zA-Z]{1,8}=")
_LIKE_ONE = re.compile(r"\(\s?[0-9]+[\s,)]|\[|\\(?:text|ce)\{|[1-7][spdf]|[0-9]*[A-Z]")
_CYCLES = re.compile(r"(?:\(\s*[0-9]+(?:[\s,]+[0-9]+)*\s*\)\s*)+")
_ELEMENTS = lexicon.listed(lexicon.WORDS["elements"])
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
    text = _NAME_OF_IT.sub("", text)
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
