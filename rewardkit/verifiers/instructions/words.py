"""Sentences, words, syllables and the language of a text."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Annotated, Any

from msgspec import Meta


@lru_cache(maxsize=1)
def lists() -> dict[str, frozenset[str]]:
    """Return the lists of words that published checkers depend on, by name."""
    text = files(__package__).joinpath("lists.toml").read_text("utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


# --- sentences

_AFTER = r"""[)";}\]*:@'({\[?!]"""
"""A mark that ends a word, even where no space follows."""

_MARK = re.compile(rf"(?<!\S)(\S*[.?!])(?:(?=({_AFTER}))|(?=\s+(\S+)))")
_TOKEN = re.compile(
    rf"\.\.+|--+|[^(\"`{{\[:;&#*@)}}\]\-,](?:(?!{_AFTER}|\.\.|--|,(?:$|{_AFTER}))\S)*|\S"
)
_CLOSING = re.compile(r"""["')\]}]+(?:\s+|(?=--)|$)""", re.MULTILINE)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")


def published_sentences(text: str, more: frozenset[str] = frozenset()) -> list[str]:
    """Return the sentences of English prose, as Punkt's model for English divides it.

    `more`: further abbreviations.

    >>> published_sentences("Dr. Who? He is 3.5 years old... or so. 1. Yes!")
    ['Dr. Who?', 'He is 3.5 years old... or so.', '1.', 'Yes!']
    """
    ends = [0]
    for mark in _MARK.finditer(text):
        if mark[1][-1] != "." or _ends(mark[1], mark[2] or mark[3], more):
            end = mark.end() if mark[2] else mark.start(3)
            closing = _CLOSING.match(text, end)
            ends.append(closing.end() if closing else end)
    parts = (text[start:end].strip() for start, end in pairwise([*ends, len(text)]))
    return [part for part in parts if part]


def _ends(text: str, following: str, more: frozenset[str]) -> bool:
    tokens = [*_TOKEN.findall(text), _TOKEN.findall(following)[0]]
    return any(_ends_between(token, after, more) for token, after in pairwise(tokens))


def _ends_between(token: str, after: str, more: frozenset[str]) -> bool:
    if not token.endswith(".") or token == ".":
        return token in ("?", "!", ".")
    word = token.rstrip(".").lower()
    known = lists()["abbreviations"] | more
    abbreviated = not word or word in known or word.rpartition("-")[2] in known
    if _NUMBER.fullmatch(word):
        return not after[0].islower() and after.lower() not in lists()["after_numbers"]
    initial = len(word) == 1
    if not after[0].isupper() or (initial and abbreviated):
        return not abbreviated and not (initial and after[0].islower())
    starts = len(after) > 1 and after.lower() in lists()["starters"]
    return starts or not (abbreviated or initial)


_STARTER = (
    r"(?= (?:Mr|Ms|Dr|Prof|Capt|Cpt|Lt|Wherever"
    r"|(?:He|She|It|They|Their|Our|We|But|However|That|This)\s))"
)


def _kept(stops: re.Match[str]) -> str:
    return "\0" * len(stops[0]) + "\1"


_RULES: list[tuple[str, Any]] = [
    (r"(Mrs?|St|Ms|Dr)\.", "\\1\0"),
    (r"\.(?=com|net|org|io|gov|edu|me)", "\0"),
    (r"([0-9])\.([0-9])", "\\1\0\\2"),
    (r"\.\.+", _kept),
    (r"(\s[A-Za-z])\.(?= )", "\\1\0"),
    (rf"((?:[A-Z]\.){{2}}){_STARTER}", "\\1\1"),
    (r"([A-Za-z])\.([A-Za-z])\.([A-Za-z])\.", "\\1\0\\2\0\\3\0"),
    (r"([A-Za-z])\.([A-Za-z])\.", "\\1\0\\2\0"),
    (rf"( (?:Inc|Ltd|Jr|Sr|Co))\.{_STARTER}", "\\1\1"),
    (r"( (?:Inc|Ltd|Jr|Sr|Co|[A-Za-z]))\.", "\\1\0"),
    (r"\.”", "”."),
    (r'\."', '".'),
    (r'!"', '"!'),
    (r'\?"', '"?'),
    (r"[.?!]", "\\g<0>\1"),
]
"""Where a stop ends no sentence (NUL), and where sentences end (SOH), in this order."""


def ruled_sentences(text: str) -> list[str]:
    """Return the sentences by the rules that IFBench and IF-RLVR have in place of a model.

    >>> ruled_sentences("Dr. Who? He is 3.5 years old... or so. The U.S. army")
    ['Dr. Who?', 'He is 3.5 years old...', 'or so.', 'The U.S. army']
    """
    text = f" {text}  ".replace("\n", " ")
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    parts = [part.strip() for part in text.replace("\0", ".").split("\1")]
    return parts if parts[-1] else parts[:-1]


def sentences(text: str) -> list[str]:
    """Return the sentences as published, but `e.g.` and the like end none, nor a list's number."""
    unnumbered = re.sub(r"^[ \t]*\d+[.)][ \t]+", "", text, flags=re.MULTILINE)
    return published_sentences(unnumbered, lists()["more_abbreviations"])


# --- words

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def runs(text: str) -> list[str]:
    r"""Return the runs of `\w`: an apostrophe divides a word."""
    return re.findall(r"\w+", text)


def words(text: str) -> list[str]:
    """Return the words of a text; an apostrophe divides none."""
    return _WORD.findall(text)


def small_words(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return words(text.lower())


_OPENING_QUOTE = re.compile(r"""(?:^|(?<=[ (\[{<]))(?:"|'')""")
_LAST_STOP = re.compile(r"""(?<=[^.])\.(?=[\])}>"'»”’ ]*$)""")
_MARKS = str.maketrans({'"': " '' "} | {mark: f" {mark} " for mark in ";@#$%&?!*[](){}<>«»“”‘’„"})
_APART = re.compile(r"\.\.+|--|''|``|`|[:,](?!\d)|'(?!re|ve|ll|[mtsdnMTSDN])(?=\w\b)")
_JOINED = re.compile(
    r"(.*[^'])('(?:[smd]|ll|re|ve)?|n't)|(can)(not)|(d)('ye)|(gim|lem)(me)|(gon|wan)(na)|(got)(ta)"
    r"|('t)(is|was)",
    re.IGNORECASE,
)


def penn_words(text: str) -> list[str]:
    """Return the words and marks of a text, divided as by the Penn Treebank: `can't` is two.

    >>> penn_words("Mr. Ho can't, he said.")
    ['Mr.', 'Ho', 'ca', "n't", ',', 'he', 'said', '.']
    """
    ended = "\n".join(
        _LAST_STOP.sub(" . ", _OPENING_QUOTE.sub("``", part)) for part in published_sentences(text)
    )
    found: list[str] = []
    for word in _APART.sub(r" \g<0> ", ended.translate(_MARKS)).split():
        joined = ("'" in word or word.lower() in _TWO_WORDS) and _JOINED.fullmatch(word)
        found += filter(None, joined.groups()) if joined else (word,)
    return found


_TWO_WORDS = frozenset(("cannot", "gimme", "lemme", "gonna", "wanna", "gotta"))


# --- syllables, verbs and emoji


def syllables(word: str) -> int:
    """Return how many syllables a word in small letters has; for known words odd or even is sure.

    >>> [syllables(word) for word in ("table", "create", "24")]
    [2, 2, 0]
    """
    if not word or re.search(r"\d", word):
        return 0
    count = len(re.findall("[aeiouy]+", word)) - word.endswith("e")
    count += len(word) > 2 and word.endswith("le") and word[-3] not in "aeiouy"
    return max(count, 1) + (word in lists()["other_syllables"])


def is_verb(word: str) -> bool:
    """Return whether a word is a verb where it begins a text."""
    word = word.lower()
    return word in lists()["verbs"] or (
        word.endswith(("ing", "ed")) and word not in lists()["no_verbs"]
    )


@lru_cache(maxsize=1)
def emoji() -> frozenset[str]:
    """Return the characters that are an emoji by themselves."""
    ends = ([int(end, 16) for end in part.split("-")] for part in lists()["emoji"])
    return frozenset(chr(code) for part in ends for code in range(part[0], part[-1] + 1))


# --- languages

_LANGUAGES = (
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr "
    "ne nl no pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh"
)

SHORTEST = 20
"""Letters from which a text has a language, whatever the probability."""

SURE = 0.9
"""The least probability of the language of a shorter text."""

PLAUSIBLE = 0.2
"""The least probability with which a shorter text may be in a language that is asked for."""

LanguageCode = Annotated[str, Meta(pattern=rf"^({_LANGUAGES.replace(' ', '|')})(-\w+)?$")]
"""An ISO 639-1 code of a language that can be told, with a region or script or without."""


@lru_cache(maxsize=256)
def language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language; None if there are too few letters to tell."""
    text = text.lower()
    letters = sum(map(str.isalpha, text))
    if not letters:
        return None
    code, probability = _identifier().classify(text)
    return str(code) if letters >= SHORTEST or probability > SURE else None


def is_in_language(text: str, code: str) -> bool:
    """Return whether a text is in a language; a shorter one, if that is likely enough."""
    text, code = text.lower(), code.partition("-")[0]
    letters = sum(map(str.isalpha, text))
    if letters >= SHORTEST:
        return bool(_identifier().classify(text)[0] == code)
    return letters > 0 and dict(_identifier().rank(text))[code] >= PLAUSIBLE


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES.split())
    return identifier


@lru_cache(maxsize=256)
def published_language(text: str) -> str | None:
    """Return what the published checkers' detector says, with a seed; None without letters."""
    import langdetect

    langdetect.DetectorFactory.seed = 0
    try:
        return str(langdetect.detect(text))
    except langdetect.LangDetectException:
        return None
