r"""Answer LaTeX and plain text cut into tokens, in time linear in the text's length.

`scan` cuts a text: a run of letters is one token. `sort` says what the letters are: a function, a
unit, a word, or factors. Between the two, `notations` rewrites what has a spelling of its own.
"""

from __future__ import annotations

import re
from collections.abc import Container
from fractions import Fraction
from typing import NamedTuple

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.spelling import JOINED
from rewardkit.verifiers.math.tree import Number, UnreadableError

MOST_TOKENS = 1_200
"""Tokens of the longest answer that is read into a tree."""


class Token(NamedTuple):
    r"""`kind` is number, numeral, set, clock, symbol, command, begin, end or mark; before `sort`
    also letters, after it word (a function) or text.

    `wrapped` is 1 for the first token of a `\text{…}` and 2 for its others; 0 after `sort`.
    """

    kind: str
    text: str
    spaced: bool = False
    wrapped: int = 0


_NAME = r"\s*\{\s*[a-zA-Z]*(?:matrix|array|aligned|cases|align|gathered|gather|split)\*?\s*\}"
_SCAN = re.compile(
    r"(?P<mark>[^\s\w.\\]|_)|(?P<space>\s+)"
    r"|(?P<prefixed>(?<![A-Za-z0-9])0(?:x[0-9A-Fa-f]+|b[01]+)(?![A-Za-z0-9]))"
    r"|(?P<numeral>(?:[0-9]+[A-Fa-f][0-9A-Fa-f]*|[A-F]+[0-9A-F]+|[a-f]+[0-9][0-9a-f]*)"
    r"(?=\s?_\s?\{?\s?(?:1[1-9]|2[0-9]|3[0-6])(?![0-9])))"
    rf"|(?P<number>(?:[0-9]{{1,3}}(?:{JOINED}\s?[0-9]{{3}})+(?![0-9])"
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
    rf"(?:\.[0-9]+(?:{JOINED}[0-9]{{3}})*|\.(?=/))?"
    r"|\.[0-9]+)(?P<exponent>[eE][-+]?[0-9]{1,4}(?![0-9a-zA-Z]))?"
    r"|(?P<set>\\mathbb\s*(?:\{\s*[RZNQC]\s*\}|[RZNQC]))"
    rf"|(?P<begin>\\begin{_NAME}(?:\s*\{{[lcr| ]*\}})?)|(?P<end>\\end{_NAME})"
    r"|(?P<command>\\(?:[a-zA-Z]+|[^\\]))|(?P<letters>[a-zA-Z]{2,}'[a-z]+|[a-zA-Z]+)"
    rf"|(?P<symbol>[{''.join(lexicon.GREEK_LETTERS)}])|(?P<other>\\\\|.)",
    re.DOTALL,
)
_BRACKETS = {"(": 1, "[": 1, "⦃": 1, ")": -1, "]": -1, "⦄": -1}
_GROUPING = str.maketrans("", "", f",{JOINED} ")


def scan(text: str) -> list[Token]:
    r"""The tokens of a collapsed text, without `\text` and its braces."""
    found: list[Token] = []
    opened: list[bool] = []  # for each open brace, whether a text command opened it
    depth, spaced, text_follows, wrapped = 0, False, False, 0
    for match in _SCAN.finditer(text):
        kind, written = match.lastgroup or "", match.group()
        if kind == "space":
            spaced = True
            continue
        if written in (r"\text", r"\mathbb"):
            text_follows = True
            continue
        if written == "{":
            opened.append(text_follows)
            if text_follows:
                text_follows, wrapped = False, 1
                continue
        elif written == "}" and opened and opened.pop():
            spaced = spaced or wrapped == 1  # \text{} separates
            wrapped = 2 * any(opened)
            continue
        depth += _BRACKETS.get(written, 0)
        if kind in _CUT and not written.isdecimal():
            found += [Token(*part, spaced, wrapped) for part in _parts(match, kind, depth)]
        else:
            found.append(Token("mark" if kind == "other" else kind, written, spaced, wrapped))
        spaced = text_follows = False
        wrapped = wrapped and 2
    if any(opened):
        raise UnreadableError("an open brace")
    if len(found) > MOST_TOKENS:
        raise UnreadableError("too long to be one answer")
    return found


_CUT = frozenset(("number", "exponent", "prefixed", "set", "begin", "end"))


def _parts(match: re.Match[str], kind: str, depth: int) -> list[tuple[str, str]]:
    """Each kind and text of tokens that are written in several ways."""
    written = match.group()
    if kind == "prefixed":  # 0x2F
        base = "16" if written[1] == "x" else "2"
        return [("numeral", written[2:]), ("mark", "_"), ("number", base)]
    if kind == "set":
        return [("set", written.rstrip("} \n")[-1])]
    if kind in ("begin", "end"):
        return [(kind, written.partition("{")[2].partition("}")[0].strip("* \n"))]
    number, items = match["number"], []
    if depth and "," in number and ",0" not in number:  # (1,234) holds two numbers
        *items, number = number.split(",")
    listed = [part for item in items for part in (("number", item), ("mark", ","))]
    return [*listed, ("number", number.translate(_GROUPING) + (match["exponent"] or ""))]


def spelled(tokens: list[Token]) -> str:
    """The tokens as a text, with spaces only where they mean something."""
    parts: list[str] = []
    after = ""  # the letter or the digit before
    for _, text, spaced, _ in tokens:
        if spaced and after and (text[0].isalpha() if after.isalpha() else text[0].isdigit()):
            parts.append(" ")
        parts.append(text)
        after = text[-1] if text[-1].isalnum() else ""
    return "".join(parts)


def said(tokens: list[Token]) -> str:
    """The tokens as a text, with a space wherever there was one."""
    return "".join([" " * token.spaced + token.text for token in tokens]).strip()


_SYMBOLS_OF_UNITS = frozenset("msgLNJWV")
"""Units of one letter, which stand at the end after a number and a space: 26 m."""
_VALUE_ENDS = frozenset(")}]|!°%π⦄⟩/")
_CLAUSE_STARTS = frozenset(("", ",", ";", "and", "or", "\\\\", "⦃", "&"))
_MATHEMATICAL = frozenset("\\$^{}=+<>()")


def sort(tokens: list[Token]) -> Tokens:
    """The tokens with letters as functions, units, words or factors."""
    return Tokens(_Sorter(tokens).run())


class _Sorter:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.found = [_END, _END]  # what stands before the first token
        self.spaced = False

    def run(self) -> list[Token]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            self.spaced = token.spaced
            if token.wrapped:
                self._words(token)
            else:
                self._take(token)
        if len(self.found) > MOST_TOKENS:
            raise UnreadableError("too long to be one answer")
        return self.found[2:]

    def _take(self, token: Token) -> None:
        kind, text = token.kind, token.text
        if kind == "letters":
            self._letters(text)
        elif kind == "mark":
            self._add("mark", lexicon.CONNECTIVES.get(text, text))
        elif kind == "command":
            name = text[1:]
            if name in lexicon.GREEK:
                self._add("symbol", name)
            elif name in lexicon.FUNCTIONS and name != "mod":
                self._add("word", lexicon.FUNCTIONS[name])
            else:
                self._add("command", text)
        elif kind == "symbol":
            self._add("symbol", lexicon.GREEK_LETTERS[text])
        else:
            self.found.append(token)

    def _add(self, kind: str, text: str) -> None:
        self.found.append(Token(kind, text, self.spaced))

    def _letters(self, run: str) -> None:
        known = lexicon.CONSTANT_WORDS.get(run)
        if len(run) == 1 and not (self.spaced and run in _SYMBOLS_OF_UNITS):
            self._add("symbol", run)
        elif run in lexicon.FUNCTIONS:
            self._add("word", lexicon.FUNCTIONS[run])
        elif known and len(run) > 1:
            self._add("mark", known)
        elif self._is_word(run):
            self._add("text", run)
        elif (run in lexicon.GREEK and len(run) > 2) or self._is_differential(run):
            self._add("symbol", run)
        elif (length := lexicon.ends_in_function(run)) is not None:
            self._add("word", lexicon.FUNCTIONS[run[:length]])
            self.spaced = False
            self._letters(run[length:])
        else:
            self._factors(run)

    def _is_differential(self, run: str) -> bool:
        """Whether it is dx after a value and a space; ds after a number is a unit."""
        if run[0] != "d" or len(run) != 2 or not (self.spaced and self._after_value()):
            return False
        number = self.found[-1].kind in ("number", "text") or self.found[-1].text == "π"
        return not (number and lexicon.known(run))

    def _factors(self, run: str) -> None:
        differential = run[-2:] if run[-2:-1] == "d" and run[-1] in run[:-2] else ""  # xdx
        for letter in run.removesuffix(differential):
            self._add("symbol", letter)
            self.spaced = False
        if differential:
            self._add("symbol", differential)

    def _is_word(self, run: str) -> bool:
        rest = self.tokens[self.at :]
        number = self.spaced and self.found[-1].kind == "number"
        if number and run in _SYMBOLS_OF_UNITS and not said(rest).strip(" ."):
            return True
        if self._is_differential(run):
            return False
        segment = len(run) > 1 and run.isupper()  # NO
        apart = self.spaced or not self._after_value()
        if not segment and apart and run.casefold() in lexicon.IN_WORDS:
            return True
        if self.spaced and self._after_value():
            last = self.found[-1]
            letter = self.found[-2] if last.text == ")" else last
            after_letter = letter.kind == "symbol" or last.text == "π"
            return lexicon.is_word_after_value(run, last.kind == "text", after_letter)
        if (self.found[-2].kind, self.found[-1].text) == ("text", "/"):
            return lexicon.known(run) is not None  # miles/hour
        if self.found[-1] is _END and run in lexicon.CODES:
            return True
        starts = self.found[-1].text in _CLAUSE_STARTS
        words = next((place for place, token in enumerate(rest[:5]) if token.kind != "letters"), 5)
        names = words < 5 and len(rest) > words and rest[words].text in ("=", "≈", ":")
        return starts and names and lexicon.is_name(run)

    def _words(self, first: Token) -> None:
        r"""What the tokens of a `\text{…}` are: a connective, a unit, a name, words, or values."""
        group, tokens = [first], self.tokens
        while self.at < len(tokens) and tokens[self.at].wrapped == 2:
            group.append(tokens[self.at])
            self.at += 1
        following = tokens[self.at] if self.at < len(tokens) else _END
        content = said(group)
        joint = lexicon.CONNECTIVES.get(content.strip(",; ").lower())
        apart = first.spaced and following.spaced
        if joint and (len(content) > 1 or apart or not content.isascii()):
            self._add("mark", joint)
        elif self._after_value() and following.text != "_" and lexicon.known_unit(content):
            self._add("text", content)
        elif len(content) == 1 and content.isalpha():
            self._add("symbol", content)
        elif content in lexicon.FUNCTIONS or lexicon.CONSTANT_WORDS.get(content, "∪") != "∪":
            self._letters(content)
        elif content == first.text and first.kind == "mark":
            self._take(first)
        elif any(c.isdigit() or c in _MATHEMATICAL for c in content):
            self.at -= len(group)
            for token in group:
                self.at += 1
                self.spaced = token.spaced
                if token.kind == "letters" and lexicon.is_plain_word(token.text):
                    self._add("text", token.text)
                else:
                    self._take(token)
        else:
            self._add("text", content)

    def _after_value(self) -> bool:
        last = self.found[-1]
        ends = last.kind == "mark" and last.text in _VALUE_ENDS
        return ends or last.kind in ("number", "symbol", "text")


LONGEST_NUMBER = 1_000
"""Digits of the longest number that is read."""

HIGHEST_EXPONENT = 2_000
"""Largest power of ten in scientific notation."""

DEEPEST_NESTING = 60
"""Levels of brackets, powers and functions inside each other."""

_END = Token("end of text", "")
_AT_END = (".", ",", ";", "\\\\")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class Tokens:
    """Tokens and the place where the parser reads, with the brackets that are open there."""

    def __init__(self, tokens: list[Token], level: int = 0) -> None:
        self.all = tokens
        self.at = 0
        self.level = level
        self.open_brackets = ""
        self.inside_bars = 0

    @property
    def next(self) -> Token:
        """The next token."""
        try:
            return self.all[self.at]
        except IndexError:
            return _END

    @property
    def ended(self) -> bool:
        """Whether all tokens are taken."""
        return self.at >= len(self.all)

    def ahead(self, count: int) -> Token:
        """The token `count` places after the next one."""
        place = self.at + count
        return self.all[place] if 0 <= place < len(self.all) else _END

    def take(self) -> Token:
        """Return the next token and pass it."""
        token = self.next
        self.at += 1
        return token

    def mark(self, marks: Container[str]) -> str | None:
        """Take the next token where it is one of the signs `marks`, and return the sign."""
        token = self.next
        if token.kind == "mark" and token.text in marks:
            self.at += 1
            return token.text
        return None

    def expect(self, marks: str) -> str:
        """Take one of `marks`; raise UnreadableError where another token comes next."""
        found = self.mark(marks)
        if found is None:
            raise UnreadableError(f"{self.next.text or 'the end'!r} in place of {marks!r}")
        return found

    def texts(self) -> str:
        """Take the words that come next."""
        found = []
        while self.next.kind == "text":
            found.append(self.take().text)
        return " ".join(found)

    def subscript(self) -> str:
        """Take a subscript, in braces or of one token; return it as written."""
        if not self.mark("{"):
            return self.take().text
        letters = []
        while self.next.text not in ("}", ""):
            letters.append(self.take().text)
        self.expect("}")
        return "".join(letters)

    def closing(self, start: int) -> int:
        """Where the bracket at `start` closes; -1 where it does not."""
        depth = 0
        for place in range(start, len(self.all)):
            depth += _DEPTH.get(self.all[place].text, 0)
            if depth == 0:
                return place
        return -1

    def drop_end(self) -> None:
        """Drop a full stop, a comma or an empty line at the end, but no ellipsis."""
        while len(self.all) > 1 and self.all[-1].text in _AT_END:
            if self.all[-2].text == self.all[-1].text == ".":
                return
            self.all.pop()

    def number(self) -> Number:
        """Take the next token as a number."""
        written = self.take().text
        if written.isdecimal() and len(written) <= LONGEST_NUMBER:
            return Number(Fraction(int(written)))
        mantissa, _, exponent = written.lower().partition("e")
        if len(mantissa) > LONGEST_NUMBER or abs(int(exponent or 0)) > HIGHEST_EXPONENT:
            raise UnreadableError("a number too long")
        _, point, places = mantissa.partition(".")
        return Number(Fraction(written), len(places) if point and not exponent else None)

    def digit(self) -> Number:
        r"""Take the first digit of the next token and leave the others: \frac12 is a half."""
        token = self.take()
        if not token.text[0].isdigit():
            raise UnreadableError("a decimal point without a digit")
        if len(token.text) > 1:
            self.at -= 1
            self.all[self.at] = Token("number", token.text[1:])
        return Number(Fraction(token.text[0]))

    def __enter__(self) -> None:
        """Go one level down, for the length of a `with` block."""
        self.level += 1
        if self.level > DEEPEST_NESTING:
            raise UnreadableError("too deep to be an answer")

    def __exit__(self, *_: object) -> None:
        self.level -= 1
