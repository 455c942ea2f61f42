"""A position in a list of tokens, and the current nesting level."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax.tokens import Token
from rewardkit.verifiers.math.syntax.tree import Number
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

DEEPEST = 60
"""Levels of brackets, powers and functions inside each other."""

LONGEST_NUMBER = 1_000
"""Digits of the longest number that is read."""

HIGHEST_EXPONENT = 2_000
"""Largest power of ten in scientific notation."""

_END = Token("end of text", "")


class Cursor:
    """Peeks at tokens and takes them."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.level = 0

    @property
    def peek(self) -> Token:
        """The next token."""
        try:
            return self.tokens[self.at]
        except IndexError:
            return _END

    def ahead(self, count: int) -> Token:
        """The token so many places after the next one."""
        place = self.at + count
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def take(self) -> Token:
        """The next token, passed."""
        token = self.peek
        self.at += 1
        return token

    def mark(self, marks: str) -> str | None:
        """The next token's sign, passed, where it is one of `marks`."""
        token = self.peek
        if token.kind == "mark" and token.text in marks:
            self.at += 1
            return token.text
        return None

    def named(self, *names: str) -> bool:
        """Whether the next token is a sign of one of these names; it is passed then."""
        if self.peek.kind == "mark" and self.peek.text in names:
            self.at += 1
            return True
        return False

    def expect(self, marks: str) -> str:
        """One of `marks`, passed."""
        found = self.mark(marks)
        if found is None:
            raise UnreadableError(f"{self.peek.text or 'the end'!r} where {marks!r} should stand")
        return found

    def number(self) -> Number:
        """The next token as a number."""
        written = self.take().text
        if len(written) < 20 and written.isdecimal():
            return Number(Fraction(int(written)))
        mantissa, _, exponent = written.replace("E", "e").partition("e")
        if len(mantissa) > LONGEST_NUMBER or abs(int(exponent or 0)) > HIGHEST_EXPONENT:
            raise UnreadableError("a number too long")
        whole, point, places = mantissa.partition(".")
        value = Fraction(int(whole + places or 0), 10 ** len(places)) * Fraction(10) ** int(
            exponent or 0
        )
        return Number(value, len(places) if point and not exponent else None)

    def digit(self) -> Number:
        r"""The first digit of the next token, the others left: \frac12 is a half."""
        token = self.take()
        if not token.text[0].isdigit():
            raise UnreadableError("a decimal point without a digit")
        if len(token.text) > 1:
            self.at -= 1
            self.tokens[self.at] = Token("number", token.text[1:])
        return Number(Fraction(token.text[0]))

    def deeper(self) -> Cursor:
        """One level down, for the length of a `with` block."""
        return self

    def __enter__(self) -> None:
        self.level += 1
        if self.level > DEEPEST:
            raise UnreadableError("too deep to be an answer")

    def __exit__(self, *_: object) -> None:
        self.level -= 1
