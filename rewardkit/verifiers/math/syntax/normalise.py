"""One spelling for answers: `normal` keeps it LaTeX, `plain` is what the lexer reads."""

from __future__ import annotations

import re
import unicodedata

from rewardkit.verifiers.math.syntax.rewrites import rewritten

JOINED = "\ue000"
"""Stands for a comma that groups thousands for certain."""

_SPELLINGS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[−–]", "-"),
        (r",\s?\\!\s*|\{\s*,\s*\}", ","),
        (r"(?:\\(?:text|mathrm|mbox))?\s*\{\s*:\s*\}", ":"),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits)(?![a-zA-Z])", ""),
        (r"\\(?:quad|qquad|enspace|thinspace)(?![a-zA-Z])|\\[,;:! ]|~", " "),
        (r"\\[()\[\]]|(?<!\\)\$", " "),
        (r"\\leq?(?![a-zA-Z])|≤", r"\\le "),
        (r"\\geq?(?![a-zA-Z])|≥", r"\\ge "),
        (r"\\neq?(?![a-zA-Z])|≠", r"\\ne "),
        (r"\\lbrace(?![a-zA-Z])", r"\\{"),
        (r"\\rbrace(?![a-zA-Z])", r"\\}"),
        (r"π", r"\\pi "),
        (r"∞", r"\\infty "),
        (r"·|⋅|\\cdot(?![a-zA-Z])", r"\\cdot "),
        (r"×|\\times(?![a-zA-Z])", r"\\times "),
        (r"√", r"\\sqrt "),
        (r"\\(?:degree|text\{\s*degrees?\s*\})|\^\s*\{?\s*\\circ\s*\}?|°", "°"),
        (r"\\(?:mathrm|mathbf|mathit|textbf|textit|textrm|mbox|textnormal)(?=\s*\{)", r"\\text"),
    )
]
_SPELLED = re.compile(r"[^ !-#%-\[\]_-z|]|\{,")  # what no pattern above is about: most plain text
_SPACES = re.compile(r"\s+")
_SPACE_AROUND_SYMBOLS = re.compile(r"(?<=[^a-zA-Z0-9]) | (?=[^a-zA-Z0-9\\])")


def normal(latex: str) -> str:
    """The same answer in one spelling: fractions, spacing, brackets, dashes, degrees."""
    if _SPELLED.search(latex):
        for pattern, replacement in _SPELLINGS:
            latex = pattern.sub(replacement, latex)
    latex = _SPACES.sub(" ", latex).strip()
    latex = _SPACE_AROUND_SYMBOLS.sub("", latex)
    return (latex if latex.endswith("..") else latex.rstrip(".")).strip()


_CERTAIN_COMMA = re.compile(
    r"(?<=[0-9])(?:\\!\s*)?(?:\{\s*,\s*\}|,\s?\\!|\\[,;:! ]|~)\s*(?=[0-9]{3}(?![0-9]))"
)
_MAY_GROUP = re.compile(r"[,\\~]")
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉"
_SCRIPT_DIGITS = str.maketrans(_RAISED + _LOWERED, "0123456789-+0123456789")
_SCRIPT_RUN = re.compile(f"[{_RAISED}]+|[{_LOWERED}]+")
_LETTERED_SETS = str.maketrans(
    {"\x0c": r"\f", "\x08": r"\b", "、": ",", "。": ".", "ℝ": r"\R ", "⁄": "/"}
)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad✓✔✅■∎"))


_COUNTED = re.compile(r"(?<=[0-9}\s])[个個名人只本张次种条颗棵件辆位块支元](?=[\s}]*\Z)")
"""What a number counts, in Chinese."""


def plain(text: str) -> str:
    """The text with digits, fractions, powers, thousands and habits in plain spelling."""
    if not text.isascii() or "\x0c" in text or "\x08" in text:
        text = _SCRIPT_RUN.sub(_script, text.translate(_INVISIBLE).translate(_LETTERED_SETS))
        text = _COUNTED.sub("", "".join(map(_ascii, text)))
    text = rewritten(text)
    return _CERTAIN_COMMA.sub(JOINED, text) if _MAY_GROUP.search(text) else text


def _script(run: re.Match[str]) -> str:
    """Raised or lowered digits as a power or a subscript."""
    mark = "^" if run.group()[0] in _RAISED else "_"
    return f"{mark}{{{run.group().translate(_SCRIPT_DIGITS)}}}"


_DIGIT_AT_END = re.compile(r"[23]\Z")


def _ascii(character: str) -> str:
    """A digit of any script, a fraction sign or a wide letter in plain spelling."""
    if character.isascii():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character in "∛∜":
        return rf"\sqrt[{3 if character == '∛' else 4}]"
    spelled = unicodedata.normalize("NFKC", character)
    if "\u3380" <= character <= "\u33df":  # ㎝, ㎡
        raised = _DIGIT_AT_END.sub(r"^\g<0>", spelled)
        return rf"\text{{{raised}}}"
    over, slash, under = spelled.partition("\u2044")
    return rf"\frac{{{over}}}{{{under}}}" if slash else spelled
