"""What letters run through, said in words: `, where k is any integer` becomes `, k∈ℤ`."""

from __future__ import annotations

import re

_GAP = r"(?:[\s{}]|\\text(?![a-zA-Z])){0,12}+"  # bounded: the time is linear
_LETTER = r"(?:\\(?!text|mathbb)[a-zA-Z]+|[a-zA-Z])(?![a-zA-Z])(?:\s*_\s*\{?[0-9a-z]\}?)?"
_LETTERS = rf"{_LETTER}(?:{_GAP}(?:,|and){_GAP}{_LETTER}){{0,5}}+"
_SORT = "positive|non-?negative|natural|real|rational|whole"
_KIND = "integers?|numbers?|reals|constants?|scalars?|parameters?"
_QUANTITY = (
    rf"(?:(?:(?:an?|any|some|all|every|each|the|arbitrary|fixed)(?![a-zA-Z])){_GAP}){{0,4}}+"
    rf"(?={_SORT}|{_KIND})(?P<sort>{_SORT})?(?:{_GAP}(?P<kind>{_KIND}))?(?![a-zA-Z])"
)
_SET = (
    r"(?:\\mathbb\s*\{?\s*[A-Z]\s*\}?|\\text\s*\{\s*[A-Z]\s*\}|[RZNQC](?![a-zA-Z]))"
    r"(?:\s*[\^_]\s*(?:\{[^{}]{0,9}\}|[^\s{}])){0,2}"
)
_START = rf"(?:[\s,;{{]|\\text(?![a-zA-Z])){{0,12}}+(?:\({_GAP})?(?<![a-zA-Z\\])"
_END = rf"{_GAP}\)?{_GAP}\.?{_GAP}(?=\Z|,|;|(?:and|or|where|with|for)\b)"
_PATTERNS = [
    re.compile(_START + pattern.replace(" ", _GAP) + _END)
    for pattern in (
        rf"(?:where|with|for|when)\b (?:let )?{_QUANTITY} (?P<letters>{_LETTERS})",
        rf"(?:where |with |for |as |when )?(?P<letters>{_LETTERS}) (?:is |are |being |denotes? )"
        rf"{_QUANTITY}",
        rf"(?:where |with |for )?(?P<letters>{_LETTERS}) (?:any |an? (?:arbitrary )?){_QUANTITY}",
        rf"(?:where|with|for|when)\b (?:(?:any|some|all|every|each)\b)? (?P<letters>{_LETTERS})"
        rf" ∈ (?P<set>{_SET})",
        rf"for (?:all|any|every|each)\b (?P<letters>{_LETTERS})",
        rf"\((?P<letters>{_LETTERS}) ∈ (?P<set>{_SET}) \)",
    )
]
_COUNTED = re.compile(
    r"(?:[\s,;({]|\\text|\bfor\b|\bwhere\b)++([a-zA-Z])\s*=\s*(±?)\s*([01])\s*,\s*(±?)\s*[12]\s*"
    r"(?:,\s*±?\s*[23]\s*)?,\s*(?:…|\.\.\.)[\s})]*\Z"
)
_IN_WORDS = re.compile(
    r"(?:(?:all|the|those|any|integers?|integer|numbers?|values?|of|[nmx]|that|which|are|is) )*"
    r"(?:congruent to (?P<classes>[0-9]+(?:(?:,? or |,? and |, )[0-9]+)*) mod(?:ulo)?"
    r" (?P<by>[0-9]+)"
    r"|(?:multiples of|divisible by) (?P<step>[0-9]+|[0-9]*π(?:/[0-9]+)?)"
    r"|(?P<parity>even|odd) (?:integers|numbers)|of the form (?P<form>[-+0-9a-zA-Z() ,∈\\_^≥]+))"
)
_NUMBERS_THAT = re.compile(
    r"\A\s*\\text\s*\{\s*(?:all|the) (?:integers|numbers)(?: such that| with| where)?\s*\}(?=.*≡)"
)
_FOR_ALL = re.compile(
    r",?\s*(?:\\text\{\s*,?\s*(?:for (?:all|any|every|each))[^{}<>]*\}"
    r"|\bfor (?:all|any|every|each)\b)[^<>≤≥≠=]*\Z"
)
_HINTS = ("for ", "∈", "integer", "number", "real", "constant", "scalar", "parameter")
_SAID = ("congruent", "multiples", "divisible", "odd ", "even ", "of the form")
_SORTS = {
    "positive": "Z^+",
    "natural": "N",
    "non-negative": "Z_{≥0}",
    "nonnegative": "Z_{≥0}",
    "whole": "Z_{≥0}",
    "rational": "Q",
}


def quantified(text: str) -> str:
    """The text with what its letters run through as `, k∈ℤ`; other words after `for all` go."""
    if any(map(text.__contains__, _HINTS)):
        for pattern in _PATTERNS:
            text = pattern.sub(_member, text)
    if any(map(text.__contains__, _SAID)):
        words = " ".join(re.sub(r"\\text(?![a-zA-Z])|[{}]", " ", text).split()).rstrip(".")
        named = _IN_WORDS.fullmatch(words)
        text = _in_signs(named) if named else text
    text = _NUMBERS_THAT.sub("", text)
    if "…" in text or "..." in text:
        text = _COUNTED.sub(_counted, text)
    return _FOR_ALL.sub("", text) if "for " in text else text


def _member(match: re.Match[str]) -> str:
    found = match.groupdict()
    whole = (found.get("kind") or "").startswith("integer")
    sort = found.get("sort") or ""
    if sort in ("positive", "non-negative", "nonnegative") and not whole:
        return match.group()
    name = _SORTS.get(sort, "Z" if whole else "R")
    members = found.get("set") or rf"\mathbb{{{name[0]}}}{name[1:]}"
    letters = re.split(r",|and", re.sub(r"[\s{}]|\\text", " ", found["letters"]))
    closed = match.group().count("}") - match.group().count("{")
    if not (found.get("set") or sort or found.get("kind")):
        letters = []  # for all x
    stated = "".join(f", {letter.strip()}∈{members}" for letter in letters)
    return "}" * closed + stated + r"\text{" * -closed


def _counted(match: re.Match[str]) -> str:
    letter, sign, first, second_sign = match.groups()
    members = "" if sign or second_sign else "_{≥0}" if first == "0" else "^+"
    return rf", {letter}∈\mathbb{{Z}}{members}"


def _in_signs(words: re.Match[str]) -> str:
    """What `congruent to 2 or 3 modulo 4`, `multiples of 6` or `odd integers` mean."""
    if words["classes"]:
        classes = re.findall("[0-9]+", words["classes"])
        return " or ".join(rf"{number}\pmod{{{words['by']}}}" for number in classes)
    if words["form"]:
        return words["form"]
    step = words["step"] or "2"
    return rf"{step}·k{'+1' if words['parity'] == 'odd' else ''}, k∈\mathbb{{Z}}"
