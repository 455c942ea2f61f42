"""The words by which ten languages state an answer: patterns made of languages.toml."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

MASK = "\ue001"
"""Stands for a formula's characters, which are no words."""

WRAPPING = r"[\s*_`:：=,，>→]"
LATIN = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ\u0300-\u036f"
"""The letters of the Latin script and their accents, for a class: CJK words may follow B."""

_VALUE_NEXT = (
    r"(?:(?:la|le|el|il|a|o|der|die|das)\s|l['’])?[*$(]*"
    rf"(?:[0-9{MASK}]|(?-i:[A-J])(?!\w))"
)


class Language:
    """The patterns of one language."""

    def __init__(self, table: dict[str, list[str]], *, is_spaced: bool) -> None:
        """Compile a table; words of a language that is written with spaces match as wholes."""
        edges = (r"(?<![\w'’])", r"(?!\w)") if is_spaced else ("", "")

        def words(*keys: str) -> str:
            joined = "|".join(word.replace(" ", r"\s+") for key in keys for word in table[key])
            joined = joined.replace("{value}", _VALUE_NEXT)
            return f"{edges[0]}(?:{joined}){edges[1]}"

        def compiled(pattern: str) -> re.Pattern[str]:
            return re.compile(pattern, re.IGNORECASE)

        refusal = words("negation", "hedge", "bound")
        openings = words("opening", "conclusion", "sequel")
        new_clause = words("because", "contrast", "sequel")
        comma = (
            r",\s+(?=[^\W\d_](?:[^\W\d_]|['’])|i\.e\.|[A-J] (?:is|are)\b)"
            if is_spaced
            else "[,，、](?![0-9])"
        )
        self.marks = compiled(words("announcement", "praise"))
        self.announcement = compiled(words("announcement"))
        self.copula = compiled(
            rf"[\s*_]*(?:\([^()\n]{{0,40}}\)\s*)?(?:[:：=]+|-+(?=\s)|{words('copula')}"
            rf"|(?=\*\*[-−]?[0-9]|{MASK}|(?-i:[A-J])(?![{LATIN}'’])))"
        )
        self.whose = compiled(
            rf"\s+{words('of')}\s[^{MASK}0-9,.;:!?()]*?(?=\s(?:{words('copula')}))"
        )
        self.filler = compiled(rf"(?:{WRAPPING}|['\"“‘]|<(?=[A-Z]>)|{words('filler')})*")
        self.opening = compiled(rf"(?:[^\w\"“”„«»'‘>?]|\d+[.)]|{openings})*")
        self.it = compiled(rf"(?:[\s*_,.…!:;-]|{words('retraction', 'conclusion')})*{words('it')}")
        self.verb = compiled(rf"{words('verb')}|[=:：]{WRAPPING}*+|≈")
        self.conclusion = compiled(rf"[\s*_]*{words('conclusion', 'sequel')}")
        self.supposition = compiled(words("supposition"))
        self.step = compiled(words("step"))
        self.check = compiled(rf"\W*{words('check')}")
        self.closing = compiled(rf"\W*{words('closing')}")
        self.ongoing = compiled(words("ongoing"))
        self.adverb = compiled(rf",\s*{words('conclusion', 'filler')}\s*,")
        self.lead = compiled(rf"(?:[^\w\"“”„«»'‘>?(]|{words('opening', 'retraction', 'filler')})*")
        self.praise = compiled(rf"[\s*_)\]'\"$.:]*{words('praise')}")
        self.condition = compiled(words("condition"))
        self.refusal = compiled(rf"{refusal}|[~≈≠<>≤≥]")
        self.bound = compiled(rf"{words('bound')}|[~≈≠<>≤≥]")
        self.doubt = compiled(words("negation", "hedge"))
        self.negation = compiled(words("negation"))
        self.change = compiled(rf"{words('change')}|(?<![a-zA-Z])[½²³!?+*×÷^]")
        self.retraction = compiled(words("retraction"))
        self.contrast = compiled(words("contrast"))
        self.second = compiled(words("second"))
        self.reason = compiled(words("because", "reason"))
        self.yes = compiled(rf"\W*{words('yes')}")
        self.clause = compiled(
            rf"[;；]\s|\s[—–]\s|\s-\s(?=[^\W\d_]{{2}})|\s(?=\((?!\s*[-0-9{MASK}]))|{comma}"
            rf"|(?<!\ball)(?<!thing),?\s+(?={new_clause})"
            if is_spaced
            else comma
        )


@functools.cache
def _tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "languages.toml").read_text(encoding="utf-8"))


@functools.cache
def _common() -> dict[str, frozenset[str]]:
    """The plain words of each language's table."""
    return {
        code: frozenset(
            word for words in table.values() for entry in words for word in entry.split()
        )
        for code, table in _tables().items()
    }


@functools.cache
def load_language(code: str) -> Language:
    """The language with this code; its patterns are compiled once."""
    return Language(_tables()[code], is_spaced=code not in ("zh", "ja", "ko"))


_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
}


def language_of(sentence: str) -> Language | None:
    """The language of a sentence by its script, else by its common words; None: unknown."""
    if not sentence.isascii():
        for code, script in _SCRIPTS.items():
            if script.search(sentence):
                return load_language(code)
    spoken = re.findall(r"[^\W\d_]{2,}|[aeoéè](?!\w)", sentence.casefold())
    if not spoken:
        return load_language("en")
    counts = {code: sum(map(words.__contains__, spoken)) for code, words in _common().items()}
    best = max(counts, key=counts.__getitem__)
    return load_language(best) if counts[best] and best != "others" else None
