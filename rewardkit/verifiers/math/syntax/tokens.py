"""Answer LaTeX and plain text cut into tokens; linear in the text's length."""

from __future__ import annotations

import re
from typing import NamedTuple

from rewardkit.verifiers.math.syntax import words
from rewardkit.verifiers.math.syntax.plain_text import JOINED, plain

MOST_TOKENS = 1_200
"""Tokens of the longest answer that is read into a tree."""


class UnreadableError(Exception):
    """The text is not mathematics that we read. `foreign`: another reader may know it."""

    def __init__(self, reason: str, *, foreign: bool = False) -> None:
        super().__init__(reason)
        self.foreign = foreign


class Token(NamedTuple):
    """`kind` is number, symbol, word (a function's), text, command, begin, end or mark."""

    kind: str
    text: str
    spaced: bool = False


_TOKEN = re.compile(
    r"(?P<space>[\s~]+)"
    rf"|(?P<number>(?:[0-9]{{1,3}}(?:{JOINED}\s?[0-9]{{3}})+(?![0-9])"
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
    r"|\.[0-9]+)(?P<exponent>[eE][-+]?[0-9]{1,4}(?![0-9a-zA-Z]))?"
    r"|(?P<command>\\(?:[a-zA-Z]+|.))"
    r"|(?P<letters>[a-zA-Z]+(?:'[a-z]+)?)|(?P<other>.)",
    re.DOTALL,
)
_ENVIRONMENT = re.compile(
    r"\s*\{\s*([a-z]*(?:matrix|array|aligned|cases|align))\*?\s*\}"
    r"(?:\s*\{[lcr| ]*\})?"
)
_BRACKETS = {"(": 1, "[": 1, "⦃": 1, ")": -1, "]": -1, "⦄": -1}
_WORD_LENGTH = 4  # shorter runs of letters are products of variables


def tokens(text: str) -> list[Token]:
    """The tokens of `text`, spacing and decoration dropped."""
    return _Lexer(plain(text), 0).run()


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
            if match is None:  # pragma: no cover - the pattern takes any character
                raise UnreadableError("a character that is no text")
            self.at = match.end()
            self._take(match)
            if len(self.found) > MOST_TOKENS:
                raise UnreadableError("too long to be one answer")
        return self.found

    def _take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup
        if kind == "space":
            self.spaced = True
            return
        if match["number"]:
            self._number(match)
        elif kind == "command":
            self._command(match["command"])
        elif kind == "letters":
            self._letters(match["letters"])
        else:
            self._mark(match["other"])
        self.spaced = False

    def _add(self, kind: str, text: str) -> None:
        self.found.append(Token(kind, text, self.spaced))

    def _number(self, match: re.Match[str]) -> None:
        written, exponent = match["number"], match["exponent"] or ""
        groups = written.split(",")
        if len(groups) > 1 and self.depth and not any(g.startswith("0") for g in groups[1:]):
            for index, group in enumerate(groups):
                if index:
                    self._add("mark", ",")
                self._add("number", group + (exponent if index == len(groups) - 1 else ""))
            return
        for filler in (",", JOINED, " "):
            written = written.replace(filler, "")
        self._add("number", written + exponent)

    def _mark(self, mark: str) -> None:
        mark = words.MARKS.get(mark, mark)
        self.depth += _BRACKETS.get(mark, 0)
        if mark in words.GREEK_LETTERS:
            self._add("symbol", words.GREEK_LETTERS[mark])
        elif mark != "$":
            self._add("mark", mark)

    def _command(self, command: str) -> None:
        name = command[1:]
        if command in words.MARKS:
            self._mark(words.MARKS[command])
        elif command in words.DROPPED:
            self.spaced = self.spaced or command != "\\!"
            if name in ("left", "right") and self.text[self.at : self.at + 1] == ".":
                self.at += 1
        elif command in words.TEXT_COMMANDS:
            self._words(self._argument())
        elif name in ("begin", "end"):
            self._environment(name)
        elif command in words.COLOURS:
            self._argument()
        else:
            self._named(name)

    def _named(self, name: str) -> None:
        if name in words.GREEK:
            self._add("symbol", name)
        elif name in words.FUNCTIONS:
            self._add("word", words.FUNCTIONS[name])
        else:
            self._add("command", f"\\{name}")

    def _environment(self, name: str) -> None:
        match = _ENVIRONMENT.match(self.text, self.at)
        if match is None:
            raise UnreadableError("an environment that isn't read", foreign=True)
        self.at = match.end()
        self._add(name, match[1])

    def _letters(self, run: str) -> None:
        known = words.CONSTANT_WORDS.get(run)
        if run in words.FUNCTIONS:
            self._add("word", words.FUNCTIONS[run])
        elif known and len(run) > 1:
            self._add("mark", known)
        elif len(run) >= _WORD_LENGTH or run in _SHORT_WORDS:
            if not self.found and self.text.startswith("(", self.at):
                raise UnreadableError(f"a call of {run!r}")
            self._add("text", run)
        else:
            for letter in run:
                self._add("symbol", letter)
                self.spaced = False

    def _argument(self) -> str:
        """The braced argument that follows, without its braces; else one character."""
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
        if stripped in _UNITS_TO_TELL and self._after_value():
            self._add("text", stripped)
        elif stripped in ("R", "Z", "N", "Q", "C") and "mathbb" in self.text:
            self._add("set", stripped)
        elif len(stripped) == 1 and stripped.isalpha():
            self._add("symbol", stripped)
        elif stripped in words.FUNCTIONS or stripped in words.CONSTANT_WORDS:
            self._letters(stripped)
        elif any(c.isdigit() or c in "\\$^{}=+<>()" for c in stripped):
            self.found.extend(_Lexer(stripped, self.level + 1).run())
        elif stripped:
            self._add("text", stripped)

    def _after_value(self) -> bool:
        last = self.found[-1] if self.found else None
        return last is not None and (last.kind in ("number", "text") or last.text in ("}", "/"))


_UNITS_TO_TELL = words.listed("m g h s l L C F min sec")  # variables or functions elsewhere
_SHORT_WORDS = words.listed(
    "cm mm km kg mg ml mi ft lb lbs oz mph cents am pm hr hrs min sec all not no is are odd one two"
    " yes for any per sq the of in gal"
)
