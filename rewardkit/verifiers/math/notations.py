"""Answers in notations of their own, each in one form: cycles, formulas of chemistry, electrons."""

from __future__ import annotations

import re
from collections import Counter

from rewardkit.verifiers.math.lexicon import listed

LONGEST = 200
"""Characters of the longest text that is read as one of them."""

_LIKE_ONE = re.compile(r"\(\s?[0-9]+[\s,)]|\[|\\(?:text|ce)\{|[1-7][spdf]|[0-9]*[A-Z]")
_CYCLES = re.compile(r"(?:\(\s*[0-9]+(?:[\s,]+[0-9]+)*\s*\)\s*)+")
_ELEMENTS = listed(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br"
    " Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Nd W Pt Au Hg Pb Bi Ra U"
)
_FORMULA = re.compile(r"(?:[A-Z][a-z]?|[0-9]|[()\[\]])+(?:\^?[0-9]*[-+])?")
_TYPE = re.compile(r"\\(?:text|ce)(?![a-zA-Z])|[{}_\s]")
_SHELL = re.compile(
    r"\s*([1-7][spdf])\s*(?:\^\s*\{\s*([0-9]{1,2})\s*\}|\^?([0-9]{1,2})(?=\s|\Z)|\^?([0-9]))"
)
_CORE = re.compile(r"\s*\[\s*(?:\\text\s*\{)?\s*(He|Ne|Ar|Kr|Xe)\s*\}?\s*\]")
_FILLED = ("1s2", "2s2", "2p6", "3s2", "3p6", "4s2", "3d10", "4p6", "5s2", "4d10", "5p6")
_SHELLS_OF_CORE = {"He": 1, "Ne": 3, "Ar": 5, "Kr": 8, "Xe": 11}


def notation(text: str) -> object:
    """What a text in a notation of its own means, to be compared; None for any other text."""
    if len(text) > LONGEST or not _LIKE_ONE.match(text):
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
    if not _FORMULA.fullmatch(plain) or not {*re.findall("[A-Z][a-z]?", plain)} <= _ELEMENTS:
        return None
    return plain.replace("^", "") if re.search("[A-Za-z)][0-9]|[-+]$", plain) else None
