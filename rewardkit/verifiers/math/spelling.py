"""One spelling for answers: `normal` keeps it LaTeX, `plain` is what the lexer reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from rewardkit.verifiers.math.lexicon import BASES

_REMARK = re.compile(
    r"\((?:\s|\\text\s*\{|\\[,;])*(?:since|because|given|where|rounded|correct to|to the nearest"
    r"|approx(?:imately|\.)?|about|≈|\\approx|i\.e\.|that is)(?![-a-zA-Z+*/^_]).*\)[\s}$.]*\Z",
    re.DOTALL,
)
_OPENED = re.compile(r"(?:\\(?:left|text(?:bf|it|rm)?\s*\{|q?quad|[,;:! ])|[\s~,])+\Z")
_ABOUT = re.compile(
    r",?\s*\\text\s*\{[\s,]*(?:or |which is |that is )?(?:approximately|approx\.?|about|roughly)"
    r"\s*\}"
)


def without_remark(text: str) -> str:
    r"""The text before a reason or a rounded value in brackets; `\text{or about}` as \approx."""
    if ")" in text and (remark := _REMARK.search(text)):
        before = _OPENED.sub("", text[: remark.start()])
        if before.strip():
            text = before + "}" * (before.count("{") - before.count("}"))
    return _ABOUT.sub(r"\\approx ", text) if r"\text" in text and "a" in text else text


_TEXT = r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{\s*"
_SENTENCE = r"\A\s*((?:[A-Za-z']+\s+){1,8}(?:is|are))(?=\s*[-$\\(\[0-9])"
_NUMBER_OR_LETTER = r"([0-9]{1,4}|[a-zA-Z])"


def _fraction(whole: str, fixed: str, repeated: str) -> str:
    scale = 10 ** len(fixed)
    under = scale * (10 ** len(repeated) - 1)
    over = int(f"{whole}{fixed}{repeated}") - int(f"{whole}{fixed}" or 0)
    return rf"\frac{{{over}}}{{{under}}}"


def _repeating(match: re.Match[str]) -> str:
    r"""0.1\overline{6} as the fraction that it is."""
    return _fraction(*match.groups())


def _endless(match: re.Match[str]) -> str:
    r"""0.333\ldots as the fraction that it is."""
    whole, fixed, digit, group = match.groups()
    return _fraction(whole, fixed, digit or group)


def _choice(match: re.Match[str]) -> str:
    r"""5C2 with its numbers as indices, as \binom."""
    return rf"\binom{{{match[1]}}}{{{match[2] or match[3]}}}"


def _chosen(match: re.Match[str]) -> str:
    r"""C_{10}^3 as \binom; C_1^2 is the square of a constant."""
    of, some = match.groups()
    return rf"\binom{{{of}}}{{{some}}}" if int(of) > int(some) else match.group()


def _primes(match: re.Match[str]) -> str:
    r"""^{\prime\prime} as apostrophes."""
    letter_follows = match.string[match.end() :][:1].isalpha()
    return "'" * match.group().count("prime") + " " * letter_follows


def _worded_base(match: re.Match[str]) -> str:
    word = match[1]
    base = word if word.isdigit() else BASES.get(word)
    return match.group() if base is None else f"_{{{base}}}"


Replacement = str | Callable[[re.Match[str]], str]

_COMMANDS: tuple[tuple[str, str, Replacement], ...] = (
    ("ldotp", r"\\ldotp(?![a-zA-Z])\s*", "."),
    (
        "frac{d",
        r"\A\s*\\[dt]?frac\s*\{\s*d\s*([a-zA-Z])\s*\}\s*\{\s*d\s*[a-zA-Z]\s*\}(?=\s*=)",
        r"\1'",
    ),
    ("therefore", r"\\therefore(?![a-zA-Z])", ""),
    ("checkmark", r"\\checkmark(?![a-zA-Z])", ""),
    ("blacksquare", r"\\blacksquare(?![a-zA-Z])", ""),
    ("Rightarrow", r"\A\s*\\Rightarrow(?![a-zA-Z])", ""),
    ("ensuremath", r"\\ensuremath(?![a-zA-Z])", ""),
    ("phantom{}", r"\\phantom\s*\{\s*\}", ""),
    (r"\*", r"\\\*", "*"),
    ("{:}", r"(?:\\(?:text|mathrm|mbox))?\{:\}", ":"),
    (r"\\[", r"\\\\\s*\[\s*-?[0-9.]+\s*(?:pt|em|ex|mm|cm|in)\s*\]", r"\\\\"),  # a row's height
    # an option's letter before the answer, an ordinal's ending after it
    ("(", rf"\A\s*{_TEXT}\([A-H]\)\s*\}}(?:\\[ ,;:]|[\s~])*(?=[^\s.$])(?![A-J]\Z)", ""),
    (
        "text",
        r"(?<=[0-9])\s*(?:\^\s*\{\s*\\text\s*\{\s*(?:st|nd|rd|th)\s*\}\s*\}"
        r"|\^?\\text\s*\{\s*(?:st|nd|rd|th)\s*\})",
        "",
    ),
    ("{}", rf"{_TEXT}\}}", " "),
    ("Omega", rf"{_TEXT}([kMGm])\s*\}}\s*\\Omega(?![a-zA-Z])", r"\\text{\1Ω}"),
    (r"\mu", rf"\\mu\s*{_TEXT}", r"\\text{μ"),
    ("phantom", r"\\[hv]?phantom\s*\{[^{}]*\}", " "),
    ("space{", r"\\[hv]space\*?\s*\{[^{}]*\}", " "),
    ("tag", r"\\tag\*?\s*\{[^{}]*\}", " "),
    ("label", r"\\label\s*\{[^{}]*\}", " "),
    ("math", r"\\([ij])math(?![a-zA-Z])", r"\1"),
    ("prime", r"\^\s*(?:\{((?:\s*\\prime)+)\s*\}|((?:\s*\\prime)+))", _primes),
    (
        ".",
        r"(?<![0-9])([0-9]{0,20})\.([0-9]{0,20})\\(?:overline|bar|dot)\s*\{?\s*([0-9]{1,20})\s*\}?",
        _repeating,
    ),
    ("base", rf"(?<=[0-9A-Fa-f])\s*{_TEXT}(?:in )?base ([a-z0-9]+)\s*\}}\s*\Z", _worded_base),
    ("_", rf"{_TEXT}([0-9A-Fa-f]+)\s*\}}(?=\s*_)", r"\1"),
)
"""What tells that a rewrite may apply to a text with commands, the pattern, the replacement."""

_HABITS: tuple[tuple[str, str, Replacement], ...] = (
    (
        "10",
        r"(?<=[0-9])\s*(?:[xX]|\\(?:text|mathrm)\s*\{\s*[xX×]\s*\})\s*(?=10\s*\^)",
        r"\\cdot ",
    ),
    ("mod", r"\(\s*(?:\\(?:text|mathrm|operatorname)\s*\{\s*)?mod\s*\}?([^()]*)\)", r"\\pmod{\1}"),
    (
        "C_",
        r"(?<![A-Za-z\\_^}\]])C\s*_\s*\{?\s*([0-9]{1,3})\s*\}?\s*\^\s*\{?\s*([0-9]{1,3})(?![0-9])\s*\}?",
        _chosen,
    ),
    (" is ", _SENTENCE, r"\\text{\1 }"),
    (" are ", _SENTENCE, r"\\text{\1 }"),
    ("cent", r"\bper\s+cent\b", "percent"),
    ("=", r"\A\s*=(?![=<>])", ""),
    ("!=", r"(?<=[a-zA-Z)\s])\s!=(?!=)", "≠"),
    ("<=", "<=", "≤"),
    ("=<", "=<", "≤"),
    (">=", ">=", "≥"),
    ("{", r"\A(\s*-?[0-9.,/]+)\{([a-zA-Z]+)\}", r"\1\\text{\2}"),  # what is left of 4\text{cm}
    (
        "base",
        r"(?<=[0-9A-Fa-f])\s*(?:\\text\s*\{\s*,?\s*(?:in )?base\s*\}|(?<=\s)(?:in )?base(?=\s))"
        r"\s*\{?([0-9]{1,2})\}?\s*\Z",
        r"_{\1}",
    ),
    (
        "C",
        rf"(?:\{{\s*\}})?\s*[_^]\s*\{{?\s*{_NUMBER_OR_LETTER}\s*\}}?\s*\{{?\s*"
        rf"(?:\\mathrm\s*\{{\s*C\s*\}}|C)\s*\}}?\s*_\s*"
        rf"(?:\{{\s*{_NUMBER_OR_LETTER}\s*\}}|([0-9a-zA-Z]))",
        _choice,
    ),
    (")", r"\(\s{0,4}([0-9]{1,40})\s{0,4}\)(?=\s{0,4}_)", r"\1"),  # (1010)_2
)
"""The same for any text."""

_ELLIPSIS = re.compile(
    r"(?<![0-9.])([0-9]{0,20})\.([0-9]{0,12}?)(?:([0-9])\3{2,20}|([0-9]{2,8})\4{1,8})"
    r"\s?(?:\\(?:l|c)?dots(?![a-zA-Z])|\.\.\.|…)\s*\Z"
)
_TRAILING = re.compile(r"(?:\\\\|\\ ?(?![a-zA-Z\\,;:!{}%$&#|])|[\s.])*\Z")
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z]{3})")
_FOR_ALL = re.compile(
    r",?\s*(?:\\text\s*\{\s*,?\s*(?:for (?:all|any|every|each))[^{}<>]*\}"
    r"|\bfor (?:all|any|every|each)\b)[^<>≤≥]*\Z"
)
_BOUND = re.compile(r"\\(?:[lg]eq?|[lg]t|ne|neq)(?![a-zA-Z])")


def _compiled(
    rows: tuple[tuple[str, str, Replacement], ...],
) -> list[tuple[str, re.Pattern[str], Replacement]]:
    return [(needle, re.compile(pattern), replacement) for needle, pattern, replacement in rows]


_COMMAND_REWRITES, _HABIT_REWRITES = _compiled(_COMMANDS), _compiled(_HABITS)


def rewritten(text: str) -> str:
    """The text with every habit in its one spelling."""
    if text[-1:] in "\\ ." and not text.endswith(".."):
        text = _TRAILING.sub("", text)
    if "\\" in text:
        if r"\\" in text and "begin" not in text:
            text = _DOUBLED.sub(r"\\", text)
        text = _applied(_COMMAND_REWRITES, text)
    text = _applied(_HABIT_REWRITES, without_remark(text))
    if "for " in text and not _BOUND.search(text):
        text = _FOR_ALL.sub("", text)
    if text.endswith(("dots", "...", "…")):
        text = _ELLIPSIS.sub(_endless, text)
    return text


def _applied(rewrites: list[tuple[str, re.Pattern[str], Replacement]], text: str) -> str:
    for needle, pattern, replacement in rewrites:
        if needle in text:
            text = pattern.sub(replacement, text)
    return text


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
