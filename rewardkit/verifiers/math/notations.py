r"""Notations with another spelling: one table of patterns over tokens.

A pattern is a regular expression in which a word, a letter, a sign or a command stands for that
token, `words?` for one in the singular or the plural, and capitals for a class of tokens: `INT` is
any whole number. Spaces mean nothing. What takes the place of a match is written as text, with
`\1` for the tokens of group 1. Text commands and braces that only wrap went before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations
from pathlib import Path

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.lexicon import spellings
from rewardkit.verifiers.math.tokens import Token, said, scan

_CODES: dict[str, str] = {}
"""The words and commands that patterns name, and the character that stands for each."""
_KINDS = {"numeral": "\ue003", "symbol": "\ue004", "set": "\ue005"}
_CLASSES = {
    "START": r"(?<!.)",
    "END": r"(?!.)",
    "INT": "[0-9\ue001\ue00b]",
    "TEN": "\ue00b",
    "DEC": "\ue002",
    "NUM": "[0-9\ue001\ue002\ue00b]",
    "GREEK": "\ue004",
    "SET": "\ue005",
    "DIFF": "\ue006",
    "BREAK": "\ue007",
    "LETTER": "[a-zA-Z]",
    "WORD": "[\ue006\ue009\ue100-\ue7ff]",
    "COMMAND": "[\ue004\ue00a\ue800-\uefff]",
    "VALUE": "[-+±¤√π(\\[0-9\ue001\ue002\ue00b\ue004\ue00a\ue800-\uefff]",
    "AFTER": "(?<=[0-9\ue001\ue002\ue00b)}π])",
    "DIGITS": "[0-9\ue001\ue00b\ue003A-F][0-9\ue001\ue00b\ue003\ue006\ue009a-fA-F]*",
    "FREE": "(?<![\\^_√}\\]\ue00a\ue800-\uefff])",
}
_ELEMENT = re.compile(
    r"\(\?(?:P?<[a-z]+>|P=[a-z]+\)|<?[=!:])|(?P<either>[a-z]{3,})s\?|\\[a-zA-Z]+|[A-Z]{2,}|[a-z]{2,}"
    r"|\s+|\\?.",
    re.DOTALL,
)


def _coded(pattern: str) -> str:
    """A pattern as a regular expression over one character for each token."""

    def coded(element: re.Match[str]) -> str:
        written = element.group()
        if element["either"]:
            return f"[{_code(element['either'])}{_code(element['either'] + 's')}]"
        if written in _CLASSES:
            return _coded(_CLASSES[written])
        named = len(written) > 1 and written[-1].isalpha() and not written.startswith("(?")
        return _code(written) if named else written.strip()

    return _ELEMENT.sub(coded, pattern)


def _code(word: str) -> str:
    return _CODES.setdefault(word, chr((0xE800 if word[0] == "\\" else 0xE100) + len(_CODES)))


def codes(tokens: list[Token]) -> str:
    """One character for each token, which is what patterns see."""
    return "".join(map(_code_of, tokens))


def _code_of(token: Token) -> str:
    kind, text = token.kind, token.text
    if kind == "mark":
        return text if len(text) == 1 else "\ue007"
    if kind == "number":
        if len(text) < 2:
            return text
        return "\ue00b" if text == "10" else "\ue001" if text.isdecimal() else "\ue002"
    if kind == "letters":
        if len(text) == 1:
            return text
        differential = "\ue006" if len(text) == 2 and text[0] == "d" else "\ue009"
        return _CODES.get(text.casefold(), differential)
    if kind == "command":
        return _CODES.get(text) or ("\ue004" if text[1:] in lexicon.GREEK else "\ue00a")
    return _KINDS.get(kind, "\ue00a")


class Found:
    """A match of a pattern: what its groups hold, as text."""

    def __init__(self, match: re.Match[str], tokens: list[Token]) -> None:
        self.match = match
        self.tokens = tokens
        self.start, self.end = match.span()

    def __getitem__(self, group: int | str) -> str:
        return said(self.part(group))

    def part(self, group: int | str) -> list[Token]:
        """The tokens of a group."""
        start, end = self.match.span(group)
        return self.tokens[start:end]

    def beside(self, place: int) -> Token:
        """The token at a place; one without text outside of the tokens."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _NOTHING


_NOTHING = Token("end of text", "")
New = str | Callable[[Found], str | None]
"""A template, or a function that returns one; None where nothing changes."""


def _repeating(found: Found) -> str | None:
    r"""0.1\overline{6} or 0.(142857) as the fraction that it is; 0.4(36) only as a whole."""
    number, repeated = (
        found[1],
        re.sub("[^0-9]", "", said(found.tokens[found.match.end(1) : found.end])),
    )
    before, bracketed = found.beside(found.start - 1), found[0].endswith(")")
    apart = found.beside(found.start).spaced or before.text in ("", "=", "-")
    whole = number.startswith("0.") and not found.beside(found.end).text and apart
    loose = any(token.spaced for token in found.part(0)[1:])
    if len(number + repeated) > 40 or (
        bracketed and (loose or before.kind == "number" or not (number.endswith(".") or whole))
    ):
        return None
    return _fraction(number, repeated)


def _fraction(number: str, repeated: str) -> str:
    whole, _, fixed = number.partition(".")
    scale = 10 ** len(fixed)
    over = int(f"{whole}{fixed}{repeated}") - int(f"{whole}{fixed}" or 0)
    return rf"\frac{{{over}}}{{{scale * (10 ** len(repeated) - 1)}}}"


_PERIOD = re.compile(r"([0-9]{0,20}\.[0-9]{0,12}?)(?:([0-9])\2{2,20}|([0-9]{2,8})\3{1,8})")


def _going_on(found: Found) -> str | None:
    """0.1666… as the fraction that it is."""
    period = _PERIOD.fullmatch(found[1])
    return _fraction(period[1], period[2] or period[3]) if period else None


def _ordinal(found: Found) -> str | None:
    """12th as 12; 12th row as 12 rows, which a 12th part is not."""
    ending = found.part(2)
    if len(ending) == 1 and ending[0].spaced and not ending[0].wrapped:
        return None
    noun = found[3] and found[3] + "s" * (found[3] != "part")
    return rf"\1\text{{ {noun}}}" if noun and found.part(3)[0].wrapped else rf"\1 {noun}"


def _per(found: Found) -> str | None:
    r"""\frac{\text{km}}{\text{h}} as km/h, with a slash before each unit below."""
    units = [token for token in (*found.part(1), *found.part(2)) if token.kind == "letters"]
    if not all(token.wrapped for token in units):
        return None
    under = (
        rf"/\text{{{token.text}}}" if token.kind == "letters" else token.text
        for token in found.part(2)
        if token.text != "·"
    )
    return rf"\1{''.join(under)}"


def _counted(found: Found) -> str | None:
    """23 (students) as 23 students, where the words in brackets name a unit or things."""
    words = found[1]
    listed = words.split()
    unit = lexicon.known_unit(words) and found.part(1)[0].wrapped
    counts = lexicon.counts_things(listed) and not any(map(lexicon.refuses, listed))
    return rf"\text{{ {words}}}\2" if unit or counts else None


def _extreme(found: Found) -> str | None:
    r"""`\text{maximum }` before a value as its name."""
    word, before = found[1].lower().strip("\\"), found.beside(found.start - 1)
    if before.kind == "number" and "imum" not in word:
        return None  # 3 min 20 s
    joint = ", " if before.text and before.text not in (",", ";") else ""
    return rf"{joint}\text{{{word[:3]}imum}}="


_FIRST_PART = re.compile(r"\(?(?:a\)(?!\(?b\))|b\)(?=.*a\)))")


def _part(found: Found) -> str | None:
    """(a) 12 (b) 5 as values with names."""
    first = found.tokens[found.start]
    apart = found.start == 0 or first.text in (",", ";") or first.spaced or first.wrapped
    if not apart or not _FIRST_PART.match(found.match.string):
        return None
    return rf"{', ' * bool(found.start)}\text{{part \1: }}"


_BASES = {**lexicon.UNITS_IN_WORDS, "bin": 2, "oct": 8, "hex": 16}


def _base(found: Found) -> str | None:
    r"""31 (base 5), 1F_{hex}, (1010)_2 and \text{1F}_{16} as digits with a base."""
    digits, word, opened = found[2].replace(" ", ""), found[3].lower(), found.part(1)
    base = int(word) if word.isdecimal() else _BASES.get(word, 0)
    if not 1 < base < 100 or not re.fullmatch("[0-9]+[0-9A-Fa-f]*|[A-F]+[0-9A-F]*", digits):
        return None
    before = found.beside(found.start - 1).text
    alone = before in ("", "=", "(", ",") or (bool(opened) and opened[0].spaced)
    apart = alone and (bool(opened) or found.part(2)[0].wrapped > 0)
    named = "base" in found[0] or (not word.isdecimal() and digits[0].isdecimal())
    return f"{digits}_{{{base}}}" if apart or named else None


def _chosen(found: Found) -> str | None:
    r"""C_{10}^3 as \binom; C_1^2 is the square of a constant."""
    of, size = found[1], found[2]
    whole = of.isdecimal(), size.isdecimal()
    if not of or not size or (any(whole) and not all(whole)):
        return None
    return r"\binom{\1}{\2}" if not all(whole) or int(of) > int(size) else None


def _taken(found: Found) -> str | None:
    r"""{}_8P_3 as 8!/(8-3)!, {}_8C_3 as \binom."""
    of, sort, glued = found[1], found[2], found[3]
    if glued:
        of, sort = glued[:-1], glued[-1]
    if (len(of) > 1 and not of.isdecimal()) or sort not in "CP":
        return None
    return rf"\binom{{{of}}}{{\4}}" if sort == "C" else rf"\frac{{{of}!}}{{({of}-\4)!}}"


def _derived(found: Found) -> str | None:
    return r"\frac{d\2}{\1}" if found[1] == f"d{found[3]}" else None


_SORTS = spellings("Z^+ positive; N natural; Z_{≥0} nonnegative whole; Q rational")


def _member(found: Found) -> str | None:
    """`where k is an integer` as `, k∈ℤ`; nothing for `for all x`."""
    groups = found.match.re.groupindex
    sort, kind, of_set = (
        found[name].lower() if name in groups else "" for name in ("sort", "kind", "set")
    )
    sort, whole = sort.replace("-", "").replace(" ", ""), kind.startswith("integer")
    if sort in ("positive", "nonnegative") and not whole:
        return None
    if not (of_set or sort or kind) and "sort" in groups:
        return None
    name = _SORTS.get(sort, "Z" if whole else "R")
    members = rf"\{groups['set']}" if of_set else rf"\mathbb{{{name[0]}}}{name[1:]}"
    letters = re.split(",|and", found["letters"]) if of_set or sort or kind else []
    return "".join(f", {letter}∈{members}" for letter in letters)


def _run_through(found: Found) -> str | None:
    """`k = 0, ±1, ±2, …` as k ∈ ℤ, `k = 1, 2, …` as k ∈ ℤ⁺."""
    members = "" if found[2] or found[4] else "_{≥0}" if found[3] == "0" else "^+"
    of_set = found[0].endswith("⦄")
    return rf"{':' if of_set else ','} \1∈\mathbb{{Z}}{members}{'⦄' * of_set}"


def _whole(found: Found) -> str | None:
    """k ≥ 0 behind 2^k as k ∈ ℤ_{≥0}; a function's variable stays."""
    letter, before = found[1], found.match.string[: found.start]
    raised = re.search(rf"\^\{{?[^{{}}]{{0,20}}{letter}", before)
    if not raised or re.search(rf"[(_]{letter}", before):
        return None
    return rf", \1∈\mathbb{{Z}}{'_{≥0}' if found[2] == '0' else '^+'}"


def _least(found: Found) -> str | None:
    """`all integers n > 3` as n ≥ 4: n stands for whole numbers where nothing else is said."""
    if not (found[1] or "∈" in found[0]):
        return None
    return rf"\2≥{int(found[4]) + (found[3] == '>')}"


def _classes(found: Found) -> str:
    return " or ".join(rf"{number}\pmod{{{found[2]}}}" for number in re.findall("[0-9]+", found[1]))


def _powers(found: Found) -> str | None:
    base = found[1] if found[1].isdecimal() else lexicon.number_in_words(found[1].lower())
    return rf"{base}^k, k∈\mathbb{{Z}}_{{≥0}}" if base is not None else None


def _twice(found: Found) -> str | None:
    """42 for `forty-two (42)`."""
    spoken, digits = (found[1], found[2]) if found[1] else (found[4], found[3])
    words = lexicon.number_in_words(spoken.lower())
    return digits if words is not None and words == int(digits) else None


def _cyclic(found: Found) -> str | None:
    """The group ℤ/6ℤ as a letter, of which products are written."""
    if found[2] != "Z" or found[4] not in ("", "Z"):
        return None
    return rf"{'·' * bool(found[1])}Z_{{{found[3] or found[5]}}}"


def _all_of(found: Found) -> str | None:
    """A union over all whole numbers as its members."""
    of_set = [token.text for token in found.part(0) if token.kind == "set"][:1]
    if found["letter"] and of_set != ["Z"]:
        return None
    return rf"\3, {found['letter'] or found['from']}∈\mathbb{{Z}}"


def _struck(found: Found) -> str:
    r"""What is cancelled in a fraction stays, because both halves lose it; elsewhere it goes."""
    before = found.match.string[: found.start]
    return r"\1" if before.count("{") > before.count("}") else ""


def _clock(found: Found) -> str | None:
    hour, minute, half = int(found[1]), found[2] or "00", found[3].lower().replace(" ", "")
    if len(minute) != 2 or int(minute) > 59 or hour > (12 if half else 24):
        return None
    hour = hour % 12 + (0 if half.startswith(("a", "inthemorning")) else 12) if half else hour
    return rf"\{'clock' if half else 'time'}{{{hour}}}{{{minute}}}"


_RELATING = frozenset(("in", "on", "at", "for", "to", "by", "from"))


def _labelled(found: Found) -> str | None:
    """`center (2,-1), radius 4` as named values, where no word relates them."""
    words = f"{found[1]} {found[3]}".lower().split()
    if lexicon.takes_back(" ".join(words)) or not _RELATING.isdisjoint(words):
        return None
    numbers = any(lexicon.scale(word) or lexicon.refuses(word) for word in words)
    plain = all(token.wrapped for token in (*found.part(1), *found.part(3)))
    return r"\text{\1}=\2, \text{\3}=\4" if plain and not numbers else None


_MOST_PERMUTED = 4


def _permuted(found: Found) -> str | None:
    """All orders of the items of a tuple, or those that turn it in a circle."""
    items = found[1].split(",")
    if not 1 < len(items) <= _MOST_PERMUTED:
        return None
    turns = (items[place:] + items[:place] for place in range(len(items)))
    orders = turns if "cyclic" in found[0] else permutations(items)
    return ", ".join(f"({','.join(order)})" for order in dict.fromkeys(map(tuple, orders)))


def _derivative(found: Found) -> str:
    return r"\1" + "'" * int(found[2])


def _sets_by_name(found: Found) -> str:
    """B ∩ A as a name, A∩B."""
    return rf"\text{{{min(found[1], found[3])}\2{max(found[1], found[3])}}}="


def pattern(written: str) -> re.Pattern[str]:
    """The pattern compiled; it is for what `codes` returns."""
    return re.compile(_coded(written), re.DOTALL)


_ROW = re.compile(r"(?m)^([^#\s].*) :: (.*)\n((?: .*\n)*? .*)⟹ *(.*?) *(if text)?$")


def _table() -> tuple[list[str], list[tuple[re.Pattern[str], New, bool]], dict[str, list[int]]]:
    """The examples, the patterns with what takes their place, and the rows that a token is for."""
    examples, rows = [], []
    needed: dict[str, list[int]] = {}
    text = Path(__file__).with_name("notations.txt").read_text(encoding="utf-8")
    _CLASSES.update(re.findall(r"(?m)^([A-Z]+) = (.+)$", text))
    for place, row in enumerate(_ROW.findall(text)):
        example, needs, matching, new, in_text = row
        examples.append(example)
        function = globals()[f"_{new[:-2]}"] if new.endswith("()") else None
        rows.append((pattern(matching), function or new, bool(in_text)))
        for need in needs.split():
            code = "\ue007" if need == r"\\" else need if len(need) == 1 else _CODES[need]
            needed.setdefault(code, []).append(place)
    return examples, rows, needed


EXAMPLES, PATTERNS, _NEEDED = _table()


def rewritten(tokens: list[Token]) -> list[Token]:
    """The tokens with each notation of the table in its other spelling."""
    seen = codes(tokens)
    due = _due(seen, 0)
    while due:
        place = due.pop(0)
        found = _applied(tokens, seen, *PATTERNS[place])
        if found is not None:
            tokens, seen = found, codes(found)
            due = _due(seen, place + 1)
    return tokens


def _due(seen: str, first: int) -> list[int]:
    """The rows from `first` on that the tokens can need."""
    found = {place for code in {*seen} if code in _NEEDED for place in _NEEDED[code]}
    return sorted(place for place in found if place >= first)


def _applied(
    tokens: list[Token], seen: str, matching: re.Pattern[str], new: New, in_text: bool
) -> list[Token] | None:
    parts: list[Token] = []
    end = 0
    for match in matching.finditer(seen):
        if in_text and not tokens[match.start(1)].wrapped:
            continue
        template = new if isinstance(new, str) else new(Found(match, tokens))
        if template is None:
            continue
        parts += tokens[end : match.start()]
        inserted = _filled(template, match, tokens)
        end = match.end()
        if inserted and match.start() < end and tokens[match.start()].spaced:
            inserted[0] = inserted[0]._replace(spaced=True)
        parts += inserted
        if r"\text" in template and end < len(tokens) and tokens[end].wrapped == 2:
            tokens = [*tokens[:end], tokens[end]._replace(wrapped=1), *tokens[end + 1 :]]
    return [*parts, *tokens[end:]] if end or parts else None


_scanned = lru_cache(maxsize=256)(scan)


def _filled(template: str, match: re.Match[str], tokens: list[Token]) -> list[Token]:
    """The tokens of a template, with those of a group in place of its number."""
    filled: list[Token] = []
    for token in _scanned(template):
        if token.kind != "command" or not token.text[1].isdecimal():
            filled.append(token)
            continue
        start, end = match.span(int(token.text[1]))
        for place in range(start, end):
            part, wrapped = tokens[place], token.wrapped
            spaced = part.spaced if place > start else token.spaced
            wrapped = wrapped and (wrapped if place == start else 2)
            filled.append(part._replace(spaced=spaced, wrapped=wrapped or part.wrapped))
    return filled
