r"""One spelling for each command, sign and digit, before anything reads an answer.

`\textsf`, `\mathrm` and `\mbox` are `\text`; `\leq` is ≤. What takes several tokens to spell is in
`notations`.
"""

from __future__ import annotations

import html
import re
import unicodedata

from rewardkit.verifiers.math.lexicon import SIGNS, WORDS, spellings

COMMANDS = {
    **dict.fromkeys(WORDS["left_out"].split(), ""),
    **dict.fromkeys((*WORDS["spaces"].split(), r"\ "), " "),
    **SIGNS,
    **spellings(WORDS["commands"]),
}
"""Every command of many spellings, and its one spelling."""

_COMMAND = re.compile(
    r"\\(?:left\.|right\.|operatorname\*|[a-zA-Z]+|.)|[$~`\"\u201c\u201d]|[<>]=|(?<=\s)!=(?!=)",
    re.DOTALL,
)

JOINED = "\ue000"
"""Stands for a comma that groups thousands for certain."""

_CERTAIN_COMMA = re.compile(
    r"(?<=[0-9])(?<!\b0)(?:\\!\s*)?(?:\s*\{\s*,\s*\}|,\s?\\!|\\[,;:! ]|~)\s*(?=[0-9]{3}(?![0-9]))"
)
_DECIMAL_COMMA = re.compile(r"(?<![(\[{,0-9])([0-9]+)\{,\}(?=[0-9]+(?![0-9{,)\]]))")
_TIMES = r"\s*(?:\\times(?![a-zA-Z])|×)"
_CROSS = re.compile(
    r"(\\(?:vec|mathbf|boldsymbol|bm|bold|overrightarrow|hat|widehat)\s*"
    rf"(?:\{{[^{{}}]{{1,40}}\}}|[a-zA-Z])){_TIMES}"
)
_DOT = re.compile(
    r"(\\(?:vec|mathbf|boldsymbol|bm|bold|overrightarrow)\s*(?:\{[^{}]{1,40}\}|[a-zA-Z]))\s*"
    r"(?:\\cdot(?![a-zA-Z])|·)(?=\s*\\(?:vec|mathbf|boldsymbol|bm|bold|overrightarrow)(?![a-zA-Z]))"
)
_LETTERS_TIMES = re.compile(rf"(?<![a-zA-Z0-9\\}}])([a-z]){_TIMES}(?=\s*[a-z](?![a-zA-Z]))")
_MAY_GROUP = re.compile(r"[,\\~]")
_TRAILING = re.compile(r"(?:\\\\|\\ ?(?![a-zA-Z\\,;:!{}%$&#|])|[\s.])*\Z")


def collapsed(text: str) -> str:
    """The text with each command, sign and digit in one spelling."""
    text = repaired(text)
    if not text.isascii():
        text = _SCRIPT_RUN.sub(_script, text.translate(_CHARACTERS))
        text = _CIRCLED.sub(",", text)
        text = "".join(map(_ascii, text))
    if text[-1:] in "\\ ." and not text.endswith(".."):
        text = _TRAILING.sub("", text)
    if "{.}" in text:
        text = re.sub(r"(?<=[0-9])\{\.\}(?=[0-9])", ".", text)
    if _MAY_GROUP.search(text):
        text = _CERTAIN_COMMA.sub(JOINED, text)
        text = _DECIMAL_COMMA.sub(r"\1.", text)
    if "times" in text or "×" in text:
        text = _CROSS.sub(r"\1⨯", text)
        text = _LETTERS_TIMES.sub(r"\1✕", text)
    if "cdot" in text or "·" in text:
        text = _DOT.sub(r"\1⊙", text)
    return _COMMAND.sub(_spelled, text)


_GLUED = (
    r"\\(qquad|quad|cdot(?!s)|times|div|pi|pm(?!b)|ln|leq|geq|neq|le(?!q)|ge(?!q)|ne(?!q|g)|in(?!t|f))"
    r"(?=[a-zA-Z](?![a-zA-Z]))"
)
"""A command before a letter that a missing space has joined to it."""
_ESCAPES = {"\n": "n", "\t": "t", "\r": "r", "\x0c": "f", "\x08": "b", "\x07": "a", "\x0b": "v"}
_DAMAGED = re.compile(
    "[\t\r\x07\x08\x0b\x0c]|<su[pb]>|\\\\[\\\\\n]|&[a-z]{2,5};|\n[ean]|[0-9)}\\]]or[-+0-9(\\\\a-zA-Z]"
    rf"|{_GLUED}"
)
_ESCAPED = re.compile(
    r"[\x07\x08\x0b\x0c](?=[a-z])|\t(?=ext|imes|heta|[dt]?frac|an\b|au\b|riangle)"
    r"|\r(?=ight|ho\b|angle|brace|floor|ceil|vert)|\n(?=eq?\b|abla\b|otin\b)"
)
_GLUED_COMMAND = re.compile(_GLUED)
_GLUED_OR = re.compile(r"(?<=[0-9)}\]])or(?=[-+0-9(\\]|[a-zA-Z](?:\([a-z]\))?\s?[=<>])")
_TAG = re.compile(r"<su([pb])>([^<>]*)</su\1>")
_BROKEN = re.compile(r"\\\n\s*(?=circ|pi|frac|sqrt|text)")
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z]{3}|(?:pi|pm|le|ge|ne|ln)(?![a-zA-Z]))")


def repaired(text: str) -> str:
    r"""The text with its LaTeX as it was before escapes, line ends and web pages damaged it.

    Where escapes were read twice, a tab has replaced the `\t` of `\text`.
    """
    if not _DAMAGED.search(text):
        return text
    text = _ESCAPED.sub(lambda escape: "\\" + _ESCAPES[escape.group()], text)
    text = _GLUED_COMMAND.sub(r"\\\1 ", html.unescape(text))
    text = _GLUED_OR.sub(" or ", text)
    text = _TAG.sub(lambda tag: f"{'^' if tag[1] == 'p' else '_'}{{{tag[2]}}}", text)
    text = _BROKEN.sub(r"\\", text).replace(r"\textcirc", r"\circ")
    return text if "begin" in text else _DOUBLED.sub(r"\\", text)


def unwrapped(text: str) -> str:
    """The text collapsed, without text commands, braces and Markdown's stars."""
    return " ".join(re.sub(r"\\text|[{}*]", " ", collapsed(text)).split())


def _spelled(command: re.Match[str]) -> str:
    spelled = COMMANDS.get(command.group())
    if spelled is None:
        return command.group()
    return spelled or " " * command.string[command.end() : command.end() + 1].isalpha()


_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉"
_SCRIPT_DIGITS = str.maketrans(_RAISED + _LOWERED, "0123456789-+0123456789")
_SCRIPT_RUN = re.compile(f"[{_RAISED}]+|[{_LOWERED}]+")
_CIRCLED = re.compile("(?<=[①-⑳])(?=[①-⑳])")
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad✓✔✅■∎", ""),
        **{spelling: sign for spelling, sign in SIGNS.items() if len(spelling) == 1},
        **spellings(", 、; . 。; / ⁄; ' ′; '' ″"),
        **{letter: rf"\mathbb{{{name}}}" for letter, name in zip("ℝℤℕℚℂ", "RZNQC", strict=True)},
    }
)


def _script(run: re.Match[str]) -> str:
    mark = "^" if run.group()[0] in _RAISED else "_"
    return f"{mark}{{{run.group().translate(_SCRIPT_DIGITS)}}}"


def _ascii(character: str) -> str:
    """A digit of any script, a fraction sign or a wide letter in plain spelling."""
    if character.isascii() or character == "…":
        return character
    if "\ue000" <= character <= "\uf8ff":
        return "\ufffd"  # such characters are ours: they stand for tokens
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character in "∛∜":
        return f"√[{3 if character == '∛' else 4}]"
    spelled = unicodedata.normalize("NFKC", character)
    over, slash, under = spelled.partition("\u2044")
    return rf"\frac{{{over}}}{{{under}}}" if slash else spelled
