"""Answer LaTeX and plain text cut into tokens; linear in the text's length."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from rewardkit.verifiers.math import lexicon
from rewardkit.verifiers.math.spelling import JOINED
from rewardkit.verifiers.math.tree import Number, UnreadableError

MOST_TOKENS = 1_200
"""Tokens of the longest answer that is read into a tree."""


class Token(NamedTuple):
    """`kind` is number, numeral, symbol, word (a function), text, command, begin, end, mark."""

    kind: str
    text: str
    spaced: bool = False


_TOKEN = re.compile(
    r"(?P<space>[\s~]+)"
    r"|(?P<numeral>(?:[0-9]+[A-Fa-f][0-9A-Fa-f]*|[A-F]+[0-9A-F]+|[a-f]+[0-9][0-9a-f]*)"
    r"(?=\s?_\s?\{?\s?(?:1[1-9]|2[0-9]|3[0-6])(?![0-9])))"
    rf"|(?P<number>(?:[0-9]{{1,3}}(?:{JOINED}\s?[0-9]{{3}})+(?![0-9])"
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
    rf"(?:\.[0-9]+(?:{JOINED}[0-9]{{3}})*|\.(?=/))?"
    r"|\.[0-9]+)(?P<exponent>[eE][-+]?[0-9]{1,4}(?![0-9a-zA-Z]))?"
    r"|(?P<command>\\(?:[a-zA-Z]+|.))"
    r"|(?P<letters>[a-zA-Z]+(?:'[a-z]+)?)|(?P<other>.)",
    re.DOTALL,
)
_ENVIRONMENT = re.compile(
    r"\s*\{\s*([a-zA-Z]*(?:matrix|array|aligned|cases|align|gathered|gather|split))\*?\s*\}"
    r"(?:\s*\{[lcr| ]*\})?"
)
_BRACKETS = {"(": 1, "[": 1, "⦃": 1, ")": -1, "]": -1, "⦄": -1}
_SYMBOLS_OF_UNITS = frozenset("msgLNJWV")
"""Units of one letter, which stand at the end after a number and a space: 26 m."""
_VALUE_ENDS = frozenset(")}]|!°%π⦄⟩/")
_CLAUSE_STARTS = frozenset((",", ";", "and", "or", "\\\\", "⦃", "&"))


def tokenize(text: str) -> Tokens:
    """The tokens of a text in canonical spelling."""
    return Tokens(_Lexer(text, 0).run())


class _Lexer:
    def __init__(self, text: str, level: int) -> None:
        if level > 3:
            raise UnreadableError("text inside text inside text")
        self.text = text
        self.level = level
        self.at = 0
        self.depth = 0
        self.found: list[Token] = []
        self.spaced = False

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            match = _TOKEN.match(self.text, self.at)
            assert match is not None  # the pattern takes any character
            self.at = match.end()
            self._take(match)
            if len(self.found) > MOST_TOKENS:
                raise UnreadableError("too long to be one answer")
        return self.found

    def _take(self, match: re.Match[str]) -> None:
        kind, before = match.lastgroup, len(self.found)
        if kind == "space":
            self.spaced = True
            return
        if match["number"]:
            self._number(match)
        elif kind == "numeral":
            self._add("numeral", match["numeral"])
        elif kind == "command":
            self._command(match["command"])
        elif kind == "letters":
            self._letters(match["letters"])
        else:
            self._mark(match["other"])
        if len(self.found) > before:
            self.spaced = False

    def _add(self, kind: str, text: str) -> None:
        self.found.append(Token(kind, text, self.spaced))

    def _number(self, match: re.Match[str]) -> None:
        written, exponent = match["number"], match["exponent"] or ""
        if self.depth and "," in written and ",0" not in written:
            *items, written = written.split(",")
            for item in items:
                self._add("number", item)
                self._add("mark", ",")
        for filler in (",", JOINED, " "):
            written = written.replace(filler, "")
        self._add("number", written + exponent)

    def _mark(self, mark: str) -> None:
        self.depth += _BRACKETS.get(mark, 0)
        if mark in lexicon.GREEK_LETTERS:
            self._add("symbol", lexicon.GREEK_LETTERS[mark])
        else:
            self._add("mark", lexicon.CONNECTIVES.get(mark, mark))

    def _command(self, command: str) -> None:
        name = command[1:]
        if command == r"\text":
            self._words(self._argument())
        elif command == r"\mathbb":
            letter = self._argument().strip()
            self._add("set" if letter in ("R", "Z", "N", "Q", "C") else "symbol", letter)
        elif name in ("begin", "end"):
            self._environment(name)
        elif command == "\\\\":
            self._mark(command)
        else:
            self._named(name)

    def _named(self, name: str) -> None:
        number = bool(self.found) and self.found[-1].kind == "number"
        if name == "Omega" and (number or self.spaced) and self._after_value():
            self._add("text", "Ω")
        elif name in lexicon.GREEK:
            self._add("symbol", name)
        elif name in lexicon.FUNCTIONS and name != "mod":
            self._add("word", lexicon.FUNCTIONS[name])
        else:
            self._add("command", f"\\{name}")

    def _environment(self, name: str) -> None:
        match = _ENVIRONMENT.match(self.text, self.at)
        if match is None:
            raise UnreadableError("an environment that isn't read")
        self.at = match.end()
        self._add(name, match[1])

    def _letters(self, run: str) -> None:
        known = lexicon.CONSTANT_WORDS.get(run)
        if run == "mod" and self._after_value():
            self._add("command", r"\mod")
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
        ends = self.spaced and run in _SYMBOLS_OF_UNITS and not self.text[self.at :].strip(" .")
        if ends and self.found and self.found[-1].kind == "number":
            return True
        if self._is_differential(run):
            return False
        segment = len(run) > 1 and run.isupper()  # NO
        apart = self.spaced or not self._after_value()
        if not segment and apart and run.casefold() in lexicon.IN_WORDS:
            return True
        if self.spaced and self._after_value():
            last = self.found[-1]
            letter = self.found[-2] if last.text == ")" and len(self.found) > 1 else last
            after_letter = letter.kind == "symbol" or last.text == "π"
            return lexicon.is_word_after_value(run, last.kind == "text", after_letter)
        if not self.found and run in lexicon.CODES:
            return True
        starts = not self.found or self.found[-1].text in _CLAUSE_STARTS
        named = starts and lexicon.NAMED.match(self.text, self.at)
        return bool(named) and lexicon.is_name(run)

    def _argument(self) -> str:
        text, start = self.text, self.at
        while start < len(text) and text[start].isspace():
            start += 1
        if text[start : start + 1] != "{":
            self.at = start + 1
            return text[start : start + 1]
        depth = 0
        for end in range(start, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                self.at = end + 1
                return text[start + 1 : end]
        raise UnreadableError("an open brace")

    def _words(self, content: str) -> None:
        stripped = content.strip()
        following = self.text[self.at : self.at + 8].lstrip()[:1]  # units have no subscript
        joint = lexicon.CONNECTIVES.get(stripped.strip(",; ").lower())
        if joint and (len(stripped) > 1 or content != stripped or not stripped.isascii()):
            if "," in content or ";" in content:
                self._add("mark", ",")
            self._add("mark", joint)
        elif self._after_value() and following != "_" and lexicon.known_unit(stripped):
            self._add("text", stripped)
        elif len(stripped) == 1 and stripped.isalpha():
            self._add("symbol", stripped)
        elif stripped in lexicon.FUNCTIONS or lexicon.CONSTANT_WORDS.get(stripped, "∪") != "∪":
            self._letters(stripped)
        else:
            self._text(stripped)

    def _text(self, content: str) -> None:
        if any(c.isdigit() or c in "\\$^{}=+<>()" for c in content):
            self.found.extend(_Lexer(content, self.level + 1).run())
        elif content:
            self._add("text", content)

    def _after_value(self) -> bool:
        if not self.found:
            return False
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

    def mark(self, marks: str) -> str | None:
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
        if len(written) < 20 and written.isdecimal():
            return Number(Fraction(int(written)))
        mantissa, _, exponent = written.replace("E", "e").partition("e")
        if len(mantissa) > LONGEST_NUMBER or abs(int(exponent or 0)) > HIGHEST_EXPONENT:
            raise UnreadableError("a number too long")
        whole, point, places = mantissa.partition(".")
        value = Fraction(int(whole + places or 0), 10 ** len(places))
        value *= Fraction(10) ** int(exponent or 0)
        return Number(value, len(places) if point and not exponent else None)

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
