"""Answers in plain characters: what Unicode and habits of writing spell otherwise."""

from __future__ import annotations

import re
import unicodedata

from rewardkit.verifiers.math.syntax.words import BASES

JOINED = "\ue000"
"""Stands for a comma that groups thousands for certain."""

_CERTAIN_COMMA = re.compile(
    r"(?<=[0-9])(?:\\!\s*)?(?:\{\s*,\s*\}|,\s?\\!|\\[,! ]|~)\s*(?=[0-9]{3}(?![0-9]))"
)


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


_LETTERED_SETS = str.maketrans(
    {"\x0c": r"\f", "\x08": r"\b", "、": ",", "。": ".", "ℝ": r"\R ", "⁄": "/"}
)
_EMPTY_TEXT = re.compile(r"\\(?:text|mathrm|mbox)\s*\{\s*\}")
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z]{3})")
_OPTION = re.compile(
    r"\A\s*\\(?:text|textbf|mathrm|mathbf)\s*\{\s*\([A-H]\)\s*\}(?:\\[ ,;:]|[\s~])*(?=[^\s.$])"
)
_ORDINAL = re.compile(
    r"(?<=[0-9])\s*(?:\^\s*\{\s*\\text\s*\{\s*(?:st|nd|rd|th)\s*\}\s*\}|\^?\\text\s*\{\s*(?:st|nd|rd|th)\s*\})"
)
_KILOHM = re.compile(r"\\(?:text|mathrm)\s*\{\s*([kMGm])\s*\}\s*\\Omega(?![a-zA-Z])")
_UNSEEN = re.compile(r"\\phantom\s*\{\s*\}|\\ensuremath(?![a-zA-Z])")
_MICRO = re.compile(r"\\mu\s*\\(?:text|mathrm)\s*\{\s*")
_POINT = re.compile(r"\\ldotp(?![a-zA-Z])\s*")


_SHADOW = re.compile(r"\\[hv]?phantom\s*\{[^{}]*\}|\\(?:hspace|vspace|tag|label)\*?\s*\{[^{}]*\}")
_TRAILING = re.compile(r"(?:\\\\|\\ ?(?![a-zA-Z\\,;:!{}%$&#|])|[\s。.])*\Z")
_ELLIPSIS = re.compile(
    r"(?<![0-9.])([0-9]{0,20})\.([0-9]{0,12}?)(?:([0-9])\3{2,20}|([0-9]{2,8})\4{1,8})"
    r"\s?(?:\\(?:l|c)?dots(?![a-zA-Z])|\.\.\.|…)\s*\Z"
)
_CHOICE = re.compile(
    r"(?:\{\s*\})?\s*[_^]\s*\{?\s*([0-9]{1,4}|[a-zA-Z])\s*\}?\s*\{?\s*(?:\\mathrm\s*\{\s*C\s*\}|C)\s*\}?"
    r"\s*_\s*(?:\{\s*([0-9]{1,4}|[a-zA-Z])\s*\}|([0-9a-zA-Z]))"
)
_STATED_BASE = re.compile(
    r"(?<=[0-9A-Fa-f])\s*(?:\\text\s*\{\s*,?\s*(?:in )?base\s*\}|(?<=\s)(?:in )?base(?=\s))"
    r"\s*\{?([0-9]{1,2})\}?\s*\Z"
)
_WORDED_BASE = re.compile(r"(?<=[0-9A-Fa-f])\s*\\text\s*\{\s*(?:in )?base ([a-z0-9]+)\s*\}\s*\Z")
_LETTERED_DIGITS = re.compile(r"\\(?:text|mathrm)\s*\{\s*([0-9A-Fa-f]+)\s*\}(?=\s*_)")
_FOR_ALL = re.compile(
    r",?\s*(?:\\text\s*\{\s*,?\s*(?:for (?:all|any|every|each))[^{}<>]*\}"
    r"|\bfor (?:all|any|every|each)\b)[^<>≤≥]*\Z"
)
_BOUND = re.compile(r"\\(?:[lg]eq?|[lg]t|ne|neq)(?![a-zA-Z])")
_NOT_EQUAL = re.compile(r"(?<=[a-zA-Z)\s])\s!=(?!=)")
_VECTOR_LETTER = re.compile(r"\\([ij])math(?![a-zA-Z])")

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


def plain(text: str) -> str:
    """The text with digits, fractions, powers and thousands in plain spelling."""
    if not text.isascii() or "\x0c" in text or "\x08" in text:
        text = _SCRIPT_RUN.sub(_script, text.translate(_INVISIBLE).translate(_LETTERED_SETS))
        text = "".join(map(_ascii, text))
    if text[-1:] in "\\ ." and not text.endswith(".."):
        text = _TRAILING.sub("", text)
    if "10" in text:
        text = _LETTER_TIMES.sub(r"\\cdot ", text)
    if "\\" in text:
        text = _without_commands(text)
    if "{" in text:
        text = _BRACED_UNIT.sub(r"\1\\text{\2}", text)  # what is left of 4\text{cm}
        text = text.replace("{:}", ":")
    text = _without_habits(text)
    if ")" in text:
        text = _BRACKETED_NUMERAL.sub(r"\1", text)
    return _CERTAIN_COMMA.sub(JOINED, text) if _MAY_GROUP.search(text) else text


def _without_commands(text: str) -> str:
    """Spell out repeating decimals and lettered digits; drop commands that only take place."""
    text = _POINT.sub(".", _UNSEEN.sub("", text)).replace(r"\*", "*")
    if r"\\" in text and "begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    text = _ORDINAL.sub("", _OPTION.sub("", text))
    text = _KILOHM.sub(r"\\text{\1Ω}", _EMPTY_TEXT.sub(" ", text))
    text = _MICRO.sub(r"\\text{μ", text)
    text = _VECTOR_LETTER.sub(r"\1", _SHADOW.sub(" ", text))
    text = _REPEATING.sub(_repeating, text)
    return _LETTERED_DIGITS.sub(r"\1", _WORDED_BASE.sub(_worded_base, text))


def _without_habits(text: str) -> str:
    """Relations, bases, choices, endless decimals and `for all x` in plain spelling."""
    if "=" in text:
        text = _NOT_EQUAL.sub("≠", text)
        text = _RELATIONS.sub(lambda sign: _RELATION_SIGNS[sign.group()], text)
    if "base" in text:
        text = _STATED_BASE.sub(r"_{\1}", text)
    if "for " in text and not _BOUND.search(text):
        text = _FOR_ALL.sub("", text)
    if "C" in text and "_" in text:
        text = _CHOICE.sub(_choice, text)
    if text.endswith(("dots", "...", "…")):
        text = _ELLIPSIS.sub(_endless, text)
    return text


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


def _choice(match: re.Match[str]) -> str:
    r"""5C2 with its numbers as indices, as \\binom."""
    return rf"\binom{{{match[1]}}}{{{match[2] or match[3]}}}"


def _worded_base(match: re.Match[str]) -> str:
    word = match[1]
    base = word if word.isdigit() else BASES.get(word)
    return match.group() if base is None else f"_{{{base}}}"


def _endless(match: re.Match[str]) -> str:
    r"""0.333\\ldots as the fraction that it is."""
    whole, fixed, digit, group = match.groups()
    return _fraction(whole, fixed, digit or group)


def _repeating(match: re.Match[str]) -> str:
    r"""0.1\overline{6} as the fraction that it is."""
    return _fraction(*match.groups())


def _fraction(whole: str, fixed: str, repeated: str) -> str:
    scale = 10 ** len(fixed)
    under = scale * (10 ** len(repeated) - 1)
    over = int(f"{whole}{fixed}{repeated}") - int(f"{whole}{fixed}" or 0)
    return rf"\frac{{{over}}}{{{under}}}"
