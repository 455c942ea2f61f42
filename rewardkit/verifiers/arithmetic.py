r"""Exact arithmetic with + − × ÷ and brackets, parsed from text; nothing is run.

An expression has at most `LONGEST` characters and `MOST_TOKENS` tokens, and no powers, so that both
the time to read it and the digits of its value are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from operator import add, mul, sub, truediv

LONGEST = 600
MOST_TOKENS = 96

_SIGNS = str.maketrans("×✕✖∗·⋅÷∕−–—－＋＝（）［］：＊／，", "******//----+=()[]:*/,")
_COMMANDS = re.compile(
    r"\\(?:(?P<times>times|cdot|ast)|(?P<div>div)|(?P<frac>[dtc]?frac)|left|right|displaystyle)"
    r"(?![a-zA-Z])|\\[,;:! ]|\\(?P<bracket>[()\[\]])|\$"
)
_AS_ASCII = {"times": "*", "div": "/", "frac": r"\frac"}
_CROSS = re.compile(r"(?<=[0-9)])(\s{0,4})[xX](?=\s{0,4}[0-9(])")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?(?![0-9.]))"
    r"|(?P<other>\\frac|[-+*/()\[\]{}]))"
)
_OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv}
_CLOSES = {"(": ")", "[": "]", "{": "}"}


LONGEST_PLACED = 20_000
"""Characters of the longest text whose rewritten characters keep their places."""


class RewrittenText:
    """A text that patterns rewrite, with the place where each of its characters was at first.

    `pieces` are (place, text) pairs of the text to begin with, in order. The characters that
    replace a match are where the match was. `places` is None for a text that is too long.
    """

    def __init__(self, *pieces: tuple[int, str]) -> None:
        self.text = "".join(piece for _, piece in pieces)
        self.places: list[int] | None = None
        if len(self.text) <= LONGEST_PLACED:
            self.places = [at + i for at, piece in pieces for i in range(len(piece))]

    def sub(self, pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str]) -> None:
        """Replace all matches, as `re.sub` does."""
        if self.places is None:
            self.text = pattern.sub(new, self.text)
            return
        fixed = new if isinstance(new, str) and "\\" not in new else None
        pieces, places, end = list[str](), list[int](), 0
        for match in pattern.finditer(self.text):
            written = fixed
            if written is None:
                written = match.expand(new) if isinstance(new, str) else new(match)
            start, length = match.start(), len(written)
            kept = self.places[start : min(match.end(), start + length)]
            if length > len(kept):
                at = kept or self.places[start : start + 1] or self.places[-1:] or [0]
                kept += at[-1:] * (length - len(kept))
            pieces += self.text[end:start], written
            places += self.places[end:start] + kept
            end = match.end()
        if pieces:
            self.text = "".join([*pieces, self.text[end:]])
            self.places = places + self.places[end:]

    def as_ascii(self) -> None:
        """Write the operators as `ascii_operators` does."""
        if not self.text.isascii():
            self.text = self.text.translate(_SIGNS)
        if "\\" in self.text or "$" in self.text:
            self.sub(_COMMANDS, _command)
        self.sub(_CROSS, r"\1*")

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the characters from `start` up to `end`, at least one, were at first."""
        if self.places is None:
            return None
        places = self.places[start:end]
        return min(places), max(places) + 1


def _command(command: re.Match[str]) -> str:
    return _AS_ASCII.get(command.lastgroup or "", " ")


class NotArithmetic(ValueError):
    """The text isn't an expression that this module reads."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression's exact value (None if it divides by zero) and its numbers, in order."""

    value: Fraction | None
    numbers: tuple[Fraction, ...]


def ascii_operators(text: str) -> str:
    r"""Return the text with ×, ÷, −, `\times`, `\div`, "4 x 6" and the like as ASCII operators.

    >>> ascii_operators("4 × 6 ÷ 2")
    '4 * 6 / 2'
    """
    if not text.isascii():
        text = text.translate(_SIGNS)
    if "\\" in text or "$" in text:
        text = _COMMANDS.sub(_command, text)
    return _CROSS.sub(r"\1*", text) if "x" in text or "X" in text else text


def read_expression(text: str) -> Expression:
    r"""Return the expression that the text is, computed exactly. Raises NotArithmetic.

    It reads + - * / and round or square brackets as `ascii_operators` writes them, `\frac{…}{…}`,
    a leading sign, and a bracket right after a number or a bracket, which multiplies.

    >>> read_expression("3(7 - 1) / 4").value
    Fraction(9, 2)
    """
    tokens = _tokens(text)
    reader = _Reader(tokens)
    value = reader.sum()
    if reader.position != len(tokens):
        raise NotArithmetic(f"{tokens[reader.position]!r} is out of place")
    return Expression(value, tuple(reader.numbers))


def _tokens(text: str) -> list[str]:
    text = text.strip()
    if len(text) > LONGEST:
        raise NotArithmetic(f"{len(text):,} characters are too long")
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) == MOST_TOKENS:
            raise NotArithmetic(f"{text[position:][:20]!r} can't be read")
        tokens.append(match["number"] or match["other"])
        position = match.end()
    return tokens


@dataclass(slots=True)
class _Reader:
    """Recursive descent; its depth is bounded by the number of tokens."""

    tokens: list[str]
    position: int = 0
    numbers: list[Fraction] = field(default_factory=list)

    def sum(self) -> Fraction | None:
        negative = self.take("-")
        if not negative:
            self.take("+")
        value = self.product()
        value = -value if negative and value is not None else value
        while (operator := self.take("+", "-")) is not None:
            value = calculate(value, operator, self.product())
        return value

    def product(self) -> Fraction | None:
        value = self.factor()
        while (operator := self.take("*", "/")) or self.peek() in ("(", "["):
            value = calculate(value, operator or "*", self.factor())
        return value

    def factor(self) -> Fraction | None:
        token = self.take(*_CLOSES)
        if token is not None:
            value = self.sum()
            self.expect(_CLOSES[token])
            return value
        if self.take(r"\frac"):
            return calculate(self.group(), "/", self.group())
        return self.number()

    def group(self) -> Fraction | None:
        self.expect("{")
        value = self.sum()
        self.expect("}")
        return value

    def number(self) -> Fraction:
        token = self.peek()
        if not token[:1].isdigit():
            raise NotArithmetic(f"a number is missing before {token or 'the end'!r}")
        self.position += 1
        self.numbers.append(Fraction(token))
        return self.numbers[-1]

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, *wanted: str) -> str | None:
        token = self.peek()
        if token not in wanted:
            return None
        self.position += 1
        return token

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise NotArithmetic(f"{token!r} is missing")


def calculate(left: Fraction | None, operator: str, right: Fraction | None) -> Fraction | None:
    """Return `left operator right`, exactly; None if it or an operand divides by zero."""
    if left is None or right is None or (operator == "/" and not right):
        return None
    value: Fraction = _OPERATIONS[operator](left, right)
    return value
