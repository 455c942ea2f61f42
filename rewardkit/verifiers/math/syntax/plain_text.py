"""Answers in plain characters: what Unicode and habits of writing spell otherwise."""

from __future__ import annotations

import re
import unicodedata

JOINED = "\ue000"
"""Stands for a comma that groups thousands for certain."""

_CERTAIN_COMMA = re.compile(r"(?<=[0-9])(?:\{\s*,\s*\}|,\s?\\!|\\[,! ]|~)\s*(?=[0-9]{3}(?![0-9]))")


_MAY_GROUP = re.compile(r"[,\\~]")


_REPEATING = re.compile(
    r"(?<![0-9])([0-9]{0,20})\.([0-9]{0,20})\\(?:overline|bar|dot)\s*\{?\s*([0-9]{1,20})\s*\}?"
)


_LETTER_TIMES = re.compile(r"(?<=[0-9])\s*[xX]\s*(?=10\s*\^)")  # 3 x 10^5


_BRACED_UNIT = re.compile(r"^(\s*-?[0-9.,/]+)\{([a-zA-Z]+)\}")


_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉"
_SCRIPT_DIGITS = str.maketrans(_RAISED + _LOWERED, "0123456789-+0123456789")
_SCRIPT_RUN = re.compile(f"[{_RAISED}]+|[{_LOWERED}]+")


_RELATIONS = re.compile(r"<=|>=|=<")
_RELATION_SIGNS = {"<=": "≤", "=<": "≤", ">=": "≥"}


_BRACKETED_NUMERAL = re.compile(r"\(\s{0,4}([0-9]{1,40})\s{0,4}\)(?=\s{0,4}_)")  # (1010)_2


_LETTERED_SETS = str.maketrans({"ℝ": r"\R ", "⁄": "/"})
_UNSEEN = re.compile(r"\\phantom\s*\{\s*\}|\\ensuremath(?![a-zA-Z])")
_POINT = re.compile(r"\\ldotp(?![a-zA-Z])\s*")


_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


def plain(text: str) -> str:
    """The text with digits, fractions, powers and thousands in plain spelling."""
    if not text.isascii():
        text = _SCRIPT_RUN.sub(_script, text.translate(_INVISIBLE).translate(_LETTERED_SETS))
        text = "".join(map(_ascii, text))
    if "10" in text:
        text = _LETTER_TIMES.sub(r"\\cdot ", text)
    if "\\" in text:
        text = _POINT.sub(".", _UNSEEN.sub("", text))
        text = _REPEATING.sub(_repeating, text)
    if "{" in text:
        text = _BRACED_UNIT.sub(r"\1\\text{\2}", text)  # what is left of 4\text{cm}
    if "=" in text:
        text = _RELATIONS.sub(lambda sign: _RELATION_SIGNS[sign.group()], text)
    if ")" in text:
        text = _BRACKETED_NUMERAL.sub(r"\1", text)
    return _CERTAIN_COMMA.sub(JOINED, text) if _MAY_GROUP.search(text) else text


def _script(run: re.Match[str]) -> str:
    """Raised or lowered digits as a power or a subscript."""
    mark = "^" if run.group()[0] in _RAISED else "_"
    return f"{mark}{{{run.group().translate(_SCRIPT_DIGITS)}}}"


def _ascii(character: str) -> str:
    """A digit of any script, a fraction sign or a wide letter in plain spelling."""
    if character.isascii():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character in "∛∜":
        return rf"\sqrt[{3 if character == '∛' else 4}]"
    spelled = unicodedata.normalize("NFKC", character)
    over, slash, under = spelled.partition("\u2044")
    return rf"\frac{{{over}}}{{{under}}}" if slash else spelled


def _repeating(match: re.Match[str]) -> str:
    r"""0.1\overline{6} as the fraction that it is."""
    whole, fixed, repeated = match.groups()
    scale = 10 ** len(fixed)
    under = scale * (10 ** len(repeated) - 1)
    over = int(f"{whole}{fixed}{repeated}") - int(f"{whole}{fixed}" or 0)
    return rf"\frac{{{over}}}{{{under}}}"
