r"""One spelling of an answer, before anything reads it.

`collapsed` gives text commands, fonts, sizes, spaces, signs and digits one spelling each:
`\textsf`, `\mathrm` and `\mbox` are `\text`; `\leq` is ≤. `canonical` also rewrites habits, such as
a repeating decimal or a remark in brackets. Every other module reads what these two return.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.lexicon import ORDINAL_ENDING, SIGNS, listed, spellings

_LEFT_OUT = listed(
    r"\left. \right. \left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl"
    r" \biggr \Biggl \Biggr \bigm \limits \nolimits \! \relax \null \strut \ensuremath"
)
_SPACES = (
    *listed(
        r"\, \; \: \> \( \) \[ \] \quad \qquad \enspace \thinspace \hfill \textstyle \displaystyle"
        r" \scriptstyle \nonumber \noindent \centering \bf \rm \it \sf \normalsize \large \Large"
        r" \small \huge \Huge \LARGE \tiny \scriptsize \footnotesize \therefore"
        r" \checkmark \blacksquare $ ~ ` " + '" \u201c \u201d'
    ),
    r"\ ",
)
_OF_MANY_SPELLINGS = r"""
\text \mbox \hbox \textbf \textit \textrm \textsf \texttt \textnormal \textsc \textup \emph \bm
\text \underline \mathrm \mathbf \mathit \mathsf \mathtt \mathcal \mathfrak \mathscr \boldsymbol
\text \bold \mathop \operatorname \operatorname*; \vec \overrightarrow; \mathbb \Bbb
\mathbb{R} \R \reals \Reals; \frac \dfrac \tfrac \cfrac \sfrac \nicefrac; \binom \dbinom \tbinom
\epsilon \varepsilon; \phi \varphi; \theta \vartheta; \rho \varrho
i \imath \i; j \jmath \j; d \partial; * \*; ≤ <=; ≥ >=
"""
COMMANDS = {
    **dict.fromkeys(_LEFT_OUT, ""),
    **dict.fromkeys(_SPACES, " "),
    **SIGNS,
    **spellings(_OF_MANY_SPELLINGS),
}
"""Every command of many spellings, and its one spelling."""

_COMMAND = re.compile(
    r"\\(?:left\.|right\.|operatorname\*|[a-zA-Z]+|.)|[$~`\"\u201c\u201d]|[<>]=", re.DOTALL
)
_TEXT_OPENS = re.compile(r"\\text\s*\{(?:\s*\\text\s*\{([^{}]*)\}(?=\s*\}))?")

JOINED = "\ue000"
"""Stands for a comma that groups thousands for certain."""

_CERTAIN_COMMA = re.compile(
    r"(?<=[0-9])(?<!\b0)(?:\\!\s*)?(?:\{\s*,\s*\}|,\s?\\!|\\[,;:! ]|~)\s*(?=[0-9]{3}(?![0-9]))"
)
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
        text = "".join(map(_ascii, text))
    if text[-1:] in "\\ ." and not text.endswith(".."):
        text = _TRAILING.sub("", text)
    if _MAY_GROUP.search(text):
        text = _CERTAIN_COMMA.sub(JOINED, text)
    if "times" in text or "×" in text:
        text = _CROSS.sub(r"\1⨯", text)
        text = _LETTERS_TIMES.sub(r"\1✕", text)
    if "cdot" in text or "·" in text:
        text = _DOT.sub(r"\1⊙", text)
    text = _COMMAND.sub(_spelled, text)
    return _TEXT_OPENS.sub(r"\\text{\1", text) if r"\text" in text else text


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
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character in "∛∜":
        return f"√[{3 if character == '∛' else 4}]"
    spelled = unicodedata.normalize("NFKC", character)
    over, slash, under = spelled.partition("\u2044")
    return rf"\frac{{{over}}}{{{under}}}" if slash else spelled


_FORM = r"in (?:its )?(?:lowest|simplest|reduced|simplified|exact) (?:terms|form)"
_REMARK = re.compile(
    rf"\((?:\s|\\text\{{)*(?:(?:{_FORM}|simplified|exactly|reduced|since|because|given|where|rounded"
    r"|by(?=\s+(?:[a-z]{4}|[A-Z][a-zA-Z]|the\s))|correct to|to the nearest|i\.e\.|that is)"
    r"(?![-a-zA-Z+*/^_])"
    r"|(?:an? |the )?(?:local |global |absolute )?m(?:ax|in)imum\b|(?:double|triple) (?:root|zero)"
    r"|(?:approx(?:imately|\.)?|about|≈)(?![-a-zA-Z+*/^_])(?=[^)]*[0-9\\])).*\)[\s}.]*\Z"
    r"|(?<![a-zA-Z\\])(?:since|because)(?![a-zA-Z]).*\Z",
    re.DOTALL,
)
_ABOUT = re.compile(
    r",?\s*\\text\{[\s,]*(?:or |which is |that is )?(?:approximately|approx\.?|about|roughly)\s*\}"
)


_IN_WORDS_AND_DIGITS = re.compile(
    r"\s*(?:\\text\s*\{\s*)?([A-Za-z -]{3,60}?)\s*\}?\s*\(\s*(-?[0-9]{1,15})\s*\)\s*\}?\s*"
)


def _without_remark(text: str) -> str:
    r"""The text before a reason or a rounded value in brackets; `\text{or about}` as ≈."""
    twice = _IN_WORDS_AND_DIGITS.fullmatch(text) if ")" in text else None
    if twice and lexicon.number_in_words(twice[1].lower()) == int(twice[2]):  # forty-two (42)
        return twice[2]
    reasoned = ")" in text or "since" in text or "because" in text
    if reasoned and (remark := _REMARK.search(text)):
        before = text[: remark.start()]
        if before.strip():
            text = before + "}" * (before.count("{") - before.count("}"))
    return _ABOUT.sub("≈ ", text) if r"\text" in text and "a" in text else text


_BOUNDS = {"least": "≥", "most": "≤", "more": ">", "greater": ">", "less": "<", "fewer": "<"}
_NEGATED = {">": "≤", "<": "≥"}
_OR_EQUAL = {">": "≥", "<": "≤"}


def _bound(match: re.Match[str]) -> str:
    """`t is at least 3` as t ≥ 3, `all numbers less than 3` as < 3."""
    name, word_for_it, before, word, or_equal = match.groups()
    sign = _BOUNDS[word]
    if (before == "at") != (word in ("least", "most")):
        return match.group()
    if before in ("no", "not"):
        sign = _NEGATED[sign]
    sign = _OR_EQUAL.get(sign, sign) if or_equal else sign
    return f"{name or word_for_it or ''}{sign}{_reopened(match)}"


def _reopened(match: re.Match[str]) -> str:
    r"""The `\text{` that a match leaves open."""
    return r"\text{" * (match.group().count("{") - match.group().count("}"))


def _fraction(match: re.Match[str]) -> str:
    r"""0.1\overline{6} or 0.1666… as the fraction that it is."""
    whole, fixed, repeated = (group for group in match.groups() if group is not None)
    scale = 10 ** len(fixed)
    under = scale * (10 ** len(repeated) - 1)
    over = int(f"{whole}{fixed}{repeated}") - int(f"{whole}{fixed}" or 0)
    return rf"\frac{{{over}}}{{{under}}}"


def _chosen(match: re.Match[str]) -> str:
    r"""C_{10}^3 as \binom; C_1^2 is the square of a constant."""
    of, some = match.groups()
    return rf"\binom{{{of}}}{{{some}}}" if int(of) > int(some) else match.group()


def _taken(match: re.Match[str]) -> str:
    r"""{}_8P_3 as 8!/(8-3)!, {}_8C_3 as \binom."""
    of, sort, some = (group for group in match.groups() if group is not None)
    return rf"\binom{{{of}}}{{{some}}}" if sort == "C" else rf"\frac{{{of}!}}{{({of}-{some})!}}"


def _primes(match: re.Match[str]) -> str:
    r"""^{\prime\prime} as apostrophes."""
    letter_follows = match.string[match.end() :][:1].isalpha()
    return "'" * len(re.findall("prime|'", match.group())) + " " * letter_follows


_UNITS = r"(?:\s|·|\\text\s*\{[A-Za-z\s]+\}|\^\s*(?:[2-4]|\{\s*-?[1-4]\s*\}))+"


def _per(match: re.Match[str]) -> str:
    r"""\frac{\text{km}}{\text{h}} as km/h, with a slash before each unit below."""
    over, under = match.groups()
    return over + re.sub(r"[\s·]*\\text", r"/\\text", under)


def _counted(match: re.Match[str]) -> str:
    """23 (students) as 23 students, where the words in brackets name a unit or things."""
    in_text, inside, words, power = match.groups("")
    listed_words = words.split()
    unit = lexicon.known_unit(words) and (in_text or inside)
    if not unit and (
        not lexicon.counts_things(listed_words) or any(map(lexicon.refuses, listed_words))
    ):
        return match.group()
    return rf"\text{{ {words}}}{power}"


def _ordinal(match: re.Match[str]) -> str:
    """12th as 12; 12th row as 12 rows, which a 12th part is not."""
    digit, inside, opened, noun, closed = match.groups("")
    plural = noun if noun == "part" else f"{noun}s" * bool(noun)
    return f"{digit}{inside}{opened} {plural}{closed}"


def _part(match: re.Match[str]) -> str:
    """(a) 12 (b) 5 as values with names."""
    first = r"\s*(?:\\text\s*\{\s*)?\(?(?:a\)[\s}]*+(?!\(?b\))|b\)(?=.*[\s{,;(]a\)))"
    if not re.match(first, match.string):
        return match.group()
    return rf"{', ' * bool(match.start())}\text{{part {match[1]}: }}"


_BASES = {**lexicon.UNITS_IN_WORDS, "bin": 2, "oct": 8, "hex": 16}


def _base(match: re.Match[str]) -> str:
    digits, word = match.groups()
    base = int(word) if word.isdigit() else _BASES.get(word, 0)
    rest = match.group().removeprefix(digits)
    closing = max(0, rest.count("}") - rest.count("{"))
    return f"{digits}_{{{base}}}{'}' * closing}" if 1 < base < 100 else match.group()


def _sentence(match: re.Match[str]) -> str:
    """The slope is 5, with the words alone as text."""
    wrapped, words = match.groups("")
    return rf"\text{{{words} }}{wrapped}"


Replacement = str | Callable[[re.Match[str]], str]

_TH = rf"\s*{ORDINAL_ENDING}\s*"
_ORDINAL = (
    rf"([0-9])(?:\s*\^\s*\{{{_TH}\}}|\s*\^?\s*(?:\{{\s*\\text\{{{_TH}\}}\s*\}}|\\text\{{{_TH}\}})"
    rf"|(\s*\\text\{{)\s*{ORDINAL_ENDING}(?=\s)|{ORDINAL_ENDING}(?=[\s,]+[A-Za-z0-9\\]|\Z))"
    r"(?:\s*(\\text\s*\{)?\s*([A-Za-z]+)([\s}.]*)\Z)?"
)
_HALF = r"(?:\{[^{}]*\}|[0-9])"
_SENTENCE = (
    r"\A\s*(\\text\{(?=[^{}]*\}\s*\Z))?\s*((?:[A-Za-z']+\s+){1,8}(?:is|are))(?=\s*[-¤\\(\[0-9√π])"
)
_GAP = r"(?:[\s{}]|\\text(?![a-zA-Z])){0,12}+"  # bounded: the time is linear
_LETTER = r"(?:\\(?!text|mathbb)[a-zA-Z]+|[a-zA-Z])(?![a-zA-Z])(?:\s*_\s*\{?[0-9a-z]\}?)?"
_IS_BOUND = (
    rf"\A{_GAP}(?:({_LETTER})(?=[\s}}\\]){_GAP}(?:is(?=[\s}}]){_GAP})?|([a-zA-Z]+)\s+is\s+"
    rf"|(?:all{_GAP})?(?:the{_GAP})?(?:real{_GAP})?numbers(?=[\s}}]){_GAP})"
    rf"(?:(at|no|not){_GAP})?(least|most|more|greater|less|fewer)(?:{_GAP}than)?"
    rf"({_GAP}or\s+equal\s+to)?{_GAP}(?=[-¤\\0-9π])"
)
_EVERY = (
    rf"\A{_GAP}(?:for\s+)?(?:all|any|every)(?=[\s}}])(?:{_GAP}real)?"
    rf"(?:{_GAP}(?:numbers?|values?)(?![a-z])(?:\s+of)?)?{_GAP}(?:(?:{_LETTER}{_GAP})?"
    rf"(?:such that|with|where|for which|satisfying){_GAP}(?=[^{{}}]*[<>≤≥≠])"
    rf"|(?={_LETTER}{_GAP}(?:[<>≤≥≠]|is\b|at\b|less\b|greater\b|more\b)))"
)
_EXTREME = (
    r"\\text\s*\{[\s,]*(?:and )?(?:(?:an?|[Tt]he) )?(?:local |absolute |global )?"
    r"([Mm](?:in|ax))(?:imum|\.)?(?: value)?(?: of| is)?[\s:]*\}\s*=?"
)


def _extreme(match: re.Match[str]) -> str:
    r"""`\text{maximum }` before a value as its name."""
    before = match.string[: match.start()].rstrip()
    if before[-1:].isdigit() and "imum" not in match.group():
        return match.group()  # 3 min 20 s
    joint = "" if not before or before.endswith((",", ";")) else ", "
    return rf"{joint}\text{{{match[1].lower()}imum}}="


_NUMBER_OR_LETTER = r"([0-9]{1,4}|[a-zA-Z])"
_MAPS_TO = (
    r"\A\s*(?:([a-zA-Z])\s*:(?:[^,;↦]{0,60}→[^,;↦]{0,60}[,;])?)?\s*\(?([a-z](?:,\s*[a-z])*)\)?\s*↦"
)
_OVER_FIELD = (
    r"(?:[∈\s]|\\text\{\s*(?:in|over)\s*\}){1,8}+(?:\\mathbb\s*\{F\}|\\text\{(?:GF|F)\}|GF)"
    r"\s*[_(]?\s*\{?\s*([0-9]+)[\s})]*(?:\[[a-z]\])?\s*\Z"
)
_UNSEEN = r"\\(?:(?:text)?color(?:box)?|[hv]?phantom|[hv]space\*?|tag\*?|label)\s*\{[^{}]*\}"
_COMPOSITION = (
    r"(?<![°)] )(?<!°)(\(\s?)?\b([f-hp-wF-HP-W])\s?°\s?([f-hp-wGHP-W])\b(?!\s?°)(?(1)\s?\))"
    r"(?:\s?\(\s?([a-z]|-?[0-9]{1,9})\s?\))?"
)
_DOMAIN = (
    r"\s?(?:(\()|\\text\{\s?(?:for|if|when|where|with)\s?\})\s?([a-zA-Z]\s?[<>≤≥≠]\s?-?[0-9]+)"
    r"(?(1)\s?\))\s?\Z"
)
_GRADIENT = r"\A\s*\\nabla\s*([a-zA-Z])\s*(?:\([a-z, ]*\)\s*)?(?==)"
_DOT_TO_DOT = r"(\.[0-9]{0,20})\\dot\s*\{?([0-9])\}?([0-9]{0,18})\\dot\s*\{?([0-9])\}?"
_REPEATING = (
    r"(?<![0-9])([0-9]{0,20})\.([0-9]{0,20})\\(?:overline|bar|dot)\s*\{?\s*([0-9]{1,20})\s*\}?"
)
_QUOTIENT_OF_UNITS = rf"(?<=[0-9}})π])\s*\\frac\s*\{{({_UNITS})\}}\s*\{{({_UNITS})\}}"
_COUNTED = (
    r"(?<=[0-9})π])\s*(\\text\{)?\s*\(\s*(\\text\{)?([A-Za-z ]{1,40})(?(2)\})"
    r"(\s*\^\s*(?:[2-4]|\{[2-4]\}))?\s*\)(?(1)\s*\})\s*\Z"
)
_POWER_OF_TEN = r"(?<=[0-9])\s*\\text\s*\{\s*[eE](-?)\s*\}?\s*\{?\s*(-?[0-9]{1,3})\s*\}?"
_DERIVATIVE = r"\\(d?)dot\s*(?:\{\s*(\\?[a-zA-Z]+)\s*\}|([a-zA-Z]))"
_SETS_BY_NAME = r"\A\s*([A-Z])\s*([∩∪])\s*([A-Z])\s*=(?=\s*(?:⦃|\\\{|∅|[(\[]))"
_PARTS = r"(?:\A|[\s,;]+|(?=\\text))(?:\\text\s*\{\s*)?\(?([a-h])\)[\s}]*(?=[^\s,;}])"
_BASE = (
    r"(?<![A-Za-z0-9])([0-9][0-9A-Fa-f]*|[A-F][0-9A-F]*)(?:[\s_({,]|\\text\{)+(?:in )?base"
    r"(?:[\s{}]|\\text\{)+([a-z0-9]+)[\s)}]*\Z"
)
_NAMED_BASE = (
    r"(?<![A-Za-z0-9])([0-9][0-9A-Fa-f]*[\s)}]*)_[\s{]*(?:\\text\{)?\s*"
    r"([a-z]{3,8}|[0-9]{1,2})[\s}]*\Z"
)
_COMBINATIONS = (
    rf"(?:\{{\s*\}}\s*)?[_^]\s*+\{{?\s*+{_NUMBER_OR_LETTER}\s*+\}}?\s*+\{{?\s*+(?:\\text\{{\s*)?"
    rf"([CP])[\s}}]*_\s*(?:\{{\s*{_NUMBER_OR_LETTER}\s*\}}|([0-9a-zA-Z]))"
)
_RATIO = (
    r"(?<=[0-9π}])\s*\\text\{\s*to\s*\}\s*(?=[-0-9π\\])"
    r"|(?<=[0-9])(?:\s*\\text\{\s*(?:in|out of)\s*\}|\s+(?:to|in|out of)\s)\s*(?=[0-9])"
)
_CHOSEN = (
    r"(?<![A-Za-z\\_^}\]])C\s*_\s*\{?\s*([0-9]{1,3})\s*\}?\s*\^"
    r"\s*\{?\s*([0-9]{1,3})(?![0-9])\s*\}?"
)
_DERIVED = r"\\frac\s*\{\s*d\s*\}\s*\{\s*d\s*([a-z])\s*\}\s*([a-zA-Z])\s*\(\s*\1\s*\)"
_LINE = (
    r"\A\s*(?:\\ell(?![a-zA-Z])|[A-Zlmrst])(?:_\{?[a-zA-Z0-9]\}?)?\s*:\s*"
    r"(?=[^:x]*x[^:y]*y[^:]*=|[^:y]*y[^:x=]*=[^:x]*x)(?=[^:]*\Z)"
)
_DIGITS_IN_BRACKETS = (
    r"(?:\A|(?<=[\s=(,]))(?:\\text\s*\{|[({])\s{0,4}"
    r"([A-F]{1,40}|(?=[^\s)}]*[0-9])[0-9A-Fa-f]{1,40})\s{0,4}[)}](?=\s{0,4}_)"
)
_NAMED = "sin|cos|tan|cot|sec|csc|ln|log|lg"

_ROWS: tuple[tuple[str, str, str, Replacement], ...] = (
    (r"f(x) = x, \forall x", "forall", r"(?<=\S)[\s,;]*\\forall(?![a-zA-Z])\s*", " for all "),
    (r"x^2+\text{const}", "const", r"\\text\{\s*const(?:ant)?\.?\s*\}", "C"),
    ("x ↦ 2x", "↦", _MAPS_TO, lambda m: f"{m[1] or 'f'}({m[2]})="),
    (r"x^2 \in \mathbb{F}_2[x]", "F", _OVER_FIELD, r"\\pmod{\1}"),
    ("#S = 5", "#", r"\A\s*#\s*([A-Z])(?=\s*=)", r"|\1|"),
    (r"\color{red}, \phantom{0}", "{", _UNSEEN, " "),
    (r"\\[4pt]", r"\\", r"\\\\\s*\[\s*-?[0-9.]+\s*(?:pt|em|ex|mm|cm|in)\s*\]", r"\\\\"),
    ("14 {, }916", ", }", r"(?<=[0-9])\s*\{\s*,\s*\}\s*(?=[0-9]{3}(?![0-9]))", ""),
    ("2{,}5", "{,}", r"(?<![(\[{,0-9])([0-9]+)\{,\}(?=[0-9]+(?![0-9{,)\]]))", r"\1."),
    (r"10{:}45, \text{-}7", "}", r"(?:\\text\s*\{|\{)\s*([-:.,])\s*\}", r"\1"),
    (r"2{\frac34}", r"{\frac", rf"(?<=[0-9])\s*\{{\s*(\\frac\s*{_HALF}\s*{_HALF})\s*\}}", r"\1"),
    (r"90^\circ", "°", r"\^\s*(?:\{\s*°\s*(\\text\{\s*[CF]\s*\}|[CF])?\s*\}|°)", r"°\1"),
    (r"f^{\prime\prime}", "^", r"\^\s*(?:\{(?:\s*(?:\\prime|'))+\s*\}|(?:\\prime\s*)+)", _primes),
    (r"\text{}", "text", r"\\text\{\s*\}", " "),
    ("dy/dx", "/", r"(?<![a-zA-Z\\])d([a-z])\s*/\s*d([a-z])(?![a-zA-Z])", r"\\frac{d\1}{d\2}"),
    (r"\text{(B)} 7", ")", r"\A\s*\\text\{\s*\([A-H]\)\s*\}\s*(?=[^\s.])(?![A-J]\Z)", ""),
    (r"(C) 27, C) 27", ")", r"\A\s*(?:\([A-H]\)\s*(?=[0-9])|[A-H]\)\s*(?=\S))", ""),
    (r"\text{C. }27", "text", r"\A\s*\\text\{\s*[A-H][.:]\s*\}\s*(?=\S)", ""),
    (r"12^{th}, 21st row", "", _ORDINAL, _ordinal),
    (r"\text{in simplest form}", "in ", rf"\\text\{{[\s,]*{_FORM}\s*\}}\s*\Z", ""),
    ("0.(142857)", ".(", r"(?<![0-9.])([0-9]{1,20})\.()\(([0-9]{1,20})\)", _fraction),
    ("0.4(36)", "(", r"(?<![^\s=-])(0)\.([0-9]{1,20})\(([0-9]{1,20})\)(?=\s*\Z)", _fraction),
    ("the 23rd", "he ", r"\A\s*(\\text\s*\{\s*)?[Tt]he\s+(?=[0-9])", r"\1"),
    (r"(f \circ g)(x)", "°", _COMPOSITION, lambda m: f"{m[2]}({m[3]}({m[4] or 'x'}))"),
    ("y = 1/x (x > 0)", "=", _DOMAIN, r", \2"),
    (r"\nabla f =", r"\nabla", _GRADIENT, r"\\text{gradient of \1}"),
    (r"\text{k}\Omega", "Omega", r"\\text\{\s*([kMGm])\s*\}\s*\\Omega(?![a-zA-Z])", r"\\text{\1Ω}"),
    (r"\mu\text{m}", r"\mu", r"\\mu\s*\\text\{\s*", r"\\text{μ"),
    (r"0.\dot{1}2\dot{3}", r"\dot", _DOT_TO_DOT, r"\1\\overline{\2\3\4}"),
    (r"0.\overline{3}", ".", _REPEATING, _fraction),
    (r"\frac{\text{km}}{\text{h}}", r"\frac{\text{", _QUOTIENT_OF_UNITS, _per),
    (r"\text{(people)}", "(", _COUNTED, _counted),
    ("5 x 10^4", "10", r"(?<=[0-9])\s*(?:[xX]|\\text\{\s*[xX·]\s*\})\s*(?=10\s*\^)", "·"),
    (r"6\text{e}{-4}", "{", _POWER_OF_TEN, r"e\1\2"),
    ("0x2F", "0x", r"(?<![A-Za-z0-9])0x([0-9A-Fa-f]+)(?![A-Za-z0-9])", r"\1_{16}"),
    ("0b1011", "0b", r"(?<![A-Za-z0-9])0b([01]+)(?![A-Za-z0-9])", r"\1_{2}"),
    ("[3]_7", "]", r"\A\s*\[\s*(-?[0-9]+)\s*\]\s*_\s*\{?\s*([0-9]+)\s*\}?\s*\Z", r"\1\\pmod{\2}"),
    (r"\ddot{y}", r"dot", _DERIVATIVE, lambda m: f"{m[2] or m[3]}'{m[1] and chr(39)}"),
    ("3 (mod 7)", "mod", r"\(\s*(?:\\text\{\s*)?mod\s*\}?([^()]*)\)", r"\\pmod{\1}"),
    ("n if and only if", "ly ", r"\b(?:if and only if|(?:exactly|precisely) (?:when|if))\b", "iff"),
    (
        r"A \cap B = \{1, 2\}",
        "=",
        _SETS_BY_NAME,
        lambda m: rf"\text{{{min(m[1], m[3])}{m[2]}{max(m[1], m[3])}}}=",
    ),
    ("5 | n", "|", r"\A\s*([1-9][0-9]*)\s*\|\s*([a-z])\s*\Z", r"\2≡0\\pmod{\1}"),
    ("12 min", "min", r"(?<=[0-9])\s*min\.?(?=[\s}]*\Z)", " minutes"),
    ("π to 4, 5 out of 36", "", _RATIO, ":"),
    ("the slope is 5, the roots are 2 and 3", " ", _SENTENCE, _sentence),
    ("all real x with x > 3", "l", _EVERY, _reopened),
    ("t is at least 3", "t", _IS_BOUND, _bound),
    ("minimum value of 3", "m", rf"{_EXTREME}(?=\s*[-\\0-9])", _extreme),
    (r"\angle A = 30°", "=", r"(?:\A|(?<=,))\s*(?:m\s*)?(?:\\angle\s*|∠\s*)([A-Z])(?=\s*=)", r"\1"),
    (r"\max = 7", "\\m", r"\\(max|min)(?=\s*=)", r"\\text{\1imum}"),
    ("(a) 12 (b) 5", "b)", _PARTS, _part),
    (r"\text{US}\$5", "US", r"(?:\\text\{\s*US\s*\}|\bUS)\s*¤", "¤"),
    ("35 per cent", "cent", r"\bper\s+cent\b", "percent"),
    ("= 5, ⇒ 5", "", r"\A\s*(?:→|=(?![=<>]))", ""),
    ("!=", "!=", r"(?<=[a-zA-Z)\s])\s!=(?!=)", "≠"),
    ("4{cm}", "{", r"\A(\s*-?[0-9.,/]+)\{([a-zA-Z]+)\}", r"\1\\text{\2}"),
    ("31 (base 5)", "base", _BASE, _base),
    ("1F_{hex}", "_", _NAMED_BASE, _base),
    ("{}_9C_4, {}_9P_4", "_", _COMBINATIONS, _taken),
    ("C_9^4", "C_", _CHOSEN, _chosen),
    (r"\frac{d}{dx}f(x)", r"\frac", _DERIVED, r"\\frac{d\2}{d\1}"),
    (r"\ell: 2x+3y=5", ":", _LINE, ""),
    (
        r"{x}_1, {\log}_2",
        "}",
        r"(?:(?<![a-zA-Z\\}\])^_\s])|(?<=[-+/=,(}]\s))\{\s*(\\?[a-zA-Z]+)\s*\}\s*(?=[_^])",
        r"\1 ",
    ),
    (r"{\sin^{2}}x", "}", rf"\{{\s*(\\(?:{_NAMED})\s*[_^]\s*\{{[^{{}}]*\}})\s*\}}", r"\1 "),
    ("(1010)_2, {1F}_{16}", "_", _DIGITS_IN_BRACKETS, r"\1"),
)
"""An example, what a text must contain for the rewrite to apply, the pattern, the replacement."""

REWRITES = [(example, needle, re.compile(pattern), new) for example, needle, pattern, new in _ROWS]
_ELLIPSIS = re.compile(
    r"(?<![0-9.])([0-9]{0,20})\.([0-9]{0,12}?)(?:([0-9])\3{2,20}|([0-9]{2,8})\4{1,8})"
    r"\s?(?:\.\.\.|…)\s*\Z"
)


def canonical(text: str) -> str:
    """The text collapsed, and with every habit in its one spelling."""
    text = collapsed(text)
    for _, needle, pattern, replacement in REWRITES:
        if needle in text:
            text = pattern.sub(replacement, text)
    text = _without_remark(text)
    text = quantified(text)
    if text.endswith(("...", "…")):
        text = _ELLIPSIS.sub(_fraction, text)
    return text


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
        rf"(?:where |with |for |as |when )?(?P<letters>{_LETTERS})"
        rf" (?:is |are |being |denotes? |any |an? ){_QUANTITY}",
        rf"(?:where|with|for|when)\b (?:(?:any|some|all|every|each)\b)? (?P<letters>{_LETTERS})"
        rf" ∈ (?P<set>{_SET})",
        rf"for (?:all|any|every|each)\b (?P<letters>{_LETTERS})",
        rf"\((?P<letters>{_LETTERS}) ∈ (?P<set>{_SET}) \)",
    )
]
_RUN_THROUGH = re.compile(
    r"(?:[\s,;({:|]|\\text|\bfor\b|\bwhere\b)++([a-zA-Z])\s*=\s*(±?)\s*([01])\s*,\s*(±?)\s*[12]\s*"
    r"(?:,\s*±?\s*[23]\s*)?,\s*(?:…|\.\.\.)[\s})⦄]*\Z"
)
_SEQUENCE = re.compile(r"\s*[a-zA-Z]\s?(?:_\s?\{?|\()\s?n[\s})]{0,3}=")
_FROM_ONE = re.compile(
    rf"{_GAP}(?:[,;(]|\b(?:for|where)\b)(?:[\s{{}}(]|\\text|all|any|every|integers?){{0,12}}+"
    r"n\s?≥\s?[01][\s)}]*\Z"
)
_IN_WORDS = re.compile(
    r"(?:(?:all|the|those|any|an?|integers?|numbers?|values?|functions?|of|[nmkx]|that|which|are"
    r"|is) )*"
    r"(?:congruent to (?P<classes>[0-9]+(?:(?:,? or |,? and |, )[0-9]+)*) mod(?:ulo)?"
    r" (?P<by>[0-9]+)"
    r"|(?:multiples? of|divisible by) (?P<step>[0-9]+|[0-9]*π(?:/[0-9]+)?)"
    r"|(?P<positive>positive )?(?P<parity>even|odd) (?:integers?|numbers?|[nmkx])"
    r"|(?:(?<=\b[nmkx] )|(?<=\b[nmkx] is ))(?P<alone>even|odd)"
    r"|powers? of (?P<base>[0-9]{1,4}|two|three|five|ten)"
    r"|of the form (?P<form>[-+0-9a-zA-Z() ,=∈\\_^≥]+))",
    re.IGNORECASE,
)
_FROM_WHOLE = re.compile(
    rf"{_GAP}(?:[,;(]|\b(?:for|where|with)\b){_GAP}([jklmn])\s?≥\s?([01])[\s)}}]*\Z"
)
_HINTS = ("for ", "∈", "integer", "number", "real", "constant", "scalar", "parameter")
_SAID = ("congruent", "multiple", "divisible", "odd", "even", "of the form", "power")
_SORTS = spellings("Z^+ positive; N natural; Z_{≥0} non-negative nonnegative whole; Q rational")


def quantified(text: str) -> str:
    """The text with what its letters run through as `, k∈ℤ`."""
    if any(map(text.__contains__, _HINTS)):
        for pattern in _PATTERNS:
            text = pattern.sub(_member, text)
    if any(map(text.__contains__, _SAID)):
        words = " ".join(re.sub(r"\\text(?![a-zA-Z])|[{}]", " ", text).split()).rstrip(".")
        named = _IN_WORDS.fullmatch(words)
        text = _in_signs(named) if named else text
    if "…" in text or "..." in text:
        text = _RUN_THROUGH.sub(_run_through, text)
    if "≥" in text:
        text = _FROM_ONE.sub("", text) if _SEQUENCE.match(text) else _FROM_WHOLE.sub(_whole, text)
    return _least(text) if "∈" in text or "integer" in text else text


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


def _run_through(match: re.Match[str]) -> str:
    letter, sign, first, second_sign = match.groups()
    members = "" if sign or second_sign else "_{≥0}" if first == "0" else "^+"
    of_set = "⦄" in match.group()
    return rf"{':' if of_set else ', '}{letter}∈\mathbb{{Z}}{members}{'⦄' * of_set}"


def _whole(match: re.Match[str]) -> str:
    """k ≥ 0 behind 2^k as k ∈ ℤ_{≥0}; a function's variable stays."""
    letter, first = match.groups()
    before = match.string[: match.start()]
    if not re.search(rf"\^\s?\{{?[^{{}}]{{0,20}}{letter}", before) or re.search(
        rf"[(_]\s*{letter}", before
    ):
        return match.group()
    closed = match.group().count("}") - match.group().count("{")
    members = "_{≥0}" if first == "0" else "^+"
    return "}" * closed + rf", {letter}∈\mathbb{{Z}}{members}" + r"\text{" * -closed


_LEAST = re.compile(
    r"(?P<every>\s*\\text\s*\{\s*(?:all|any|every)\s+(?:positive\s+)?integers?\s*\}\s*)?"
    r"(?P<letter>[mn])\s?(?P<sign>[>≥])\s?(?P<bound>[0-9]{1,9})"
    r"(?:,\s?(?P=letter)\s?∈\s?(?:\\mathbb)?[\s{]{0,2}[ZN][\s}]{0,2}(?:\s?\^\s?\{?\+\}?)?)?"
)


def _least(text: str) -> str:
    """`all integers n > 3` as n ≥ 4: n stands for whole numbers where nothing else is said."""
    found = _LEAST.fullmatch(text.strip())
    if found is None or not (found["every"] or "∈" in text):
        return text
    return f"{found['letter']}≥{int(found['bound']) + (found['sign'] == '>')}"


def _in_signs(words: re.Match[str]) -> str:
    """What `congruent to 2 or 3 modulo 4`, `multiples of 6` or `odd integers` mean."""
    if words["classes"]:
        classes = re.findall("[0-9]+", words["classes"])
        return " or ".join(rf"{number}\pmod{{{words['by']}}}" for number in classes)
    if words["form"]:
        return words["form"]
    if words["base"]:
        base = lexicon.number_in_words(words["base"].lower()) or words["base"]
        return rf"{base}^k, k∈\mathbb{{Z}}_{{≥0}}"
    step, odd = words["step"] or "2", (words["parity"] or words["alone"] or "").lower() == "odd"
    members = ("_{≥0}" if odd else "^+") if words["positive"] else ""
    return rf"{step}·k{'+1' * odd}, k∈\mathbb{{Z}}{members}"


_SPACE_RUN = re.compile(r"\s+")
_SPACE_AROUND_SYMBOLS = re.compile(r"(?<=[^a-zA-Z0-9]) | (?=[^a-zA-Z0-9\\])")


def squeezed(spelled: str) -> str:
    """A canonical text without the spaces that mean nothing and without its last full stop."""
    text = _SPACE_RUN.sub(" ", spelled.replace(JOINED, ",")).strip()
    text = _SPACE_AROUND_SYMBOLS.sub("", text)
    return (text if text.endswith("..") else text.rstrip(".")).strip()
