r"""The arithmetic of a reply's steps: `48 / 2 = 24`, `<<48/2=24>>24`, `20% of 50 = 10`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from operator import truediv

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Span, Verdict
from rewardkit.text.thinking import text_to_read
from rewardkit.verifiers.arithmetic import LONGEST, NotArithmetic, RewrittenText, read_expression
from rewardkit.verifiers.gsm8k import Gsm8k, Reading

MOST_CHARACTERS, MOST_EQUATIONS = 200_000, 1000
"""Characters and equals signs of a completion that are read: the first ones."""

MOST_UNIT_WORDS = 6
"""Words between a number and the operator after it, as in "3 red apples + 4"."""

FEW = 3
"""Words that still belong to a number, as in "1/4 of the 20"; after more, a clause begins."""

_UNREAD = "¤"
"""Replaces what isn't read, such as a power; no statement has it."""

_REWRITES = [
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"[€£]", " "),
        (r"</?[a-zA-Z]{1,20}>", ";"),
        (r"(?<!=)(?<!= )(?<!=  )<<", ";"),  # a mark that isn't the right side of an equation
        (r">>(?=\s{0,2}-?\.?[0-9])", "="),
        (r"<<|>>(?=\s?=)", " "),
        (r">>", ";"),
        (r"\\%|(?<=[0-9]) percent\b", "%"),
        (r"\*\*(?=[^\d(\n]|$)|(?<![\d) ])\*\*|(?<![\d)] )\*\*", " "),  # bold, not a power
        (r"\\frac\s?\{([^{}]{1,80})\}\s?\{([^{}]{1,80})\}", r"((\1)/(\2))"),
        (r"\\\\(?:\[\w{1,9}\])?", "\n"),
        (r"\\(?:text|math(?:rm|bf)|boxed|q?quad)(?![a-zA-Z])|[{}&~]|\\[,;:! ()]", " "),
        (r"≈|\\approx(?![a-zA-Z])|\bequals(?=\s)", "="),
        (r"[<>≤≥≠]=?|!=|(?<=[\d)])!|\\[a-zA-Z]+|[½⅓⅔¼¾²³√^°_]|\b\d{1,2}:\d{2}\b", _UNREAD),
        (r"\b(?:times|multiplied by|[xX])(?= {1,2}\.?[0-9(])", "*"),
        (r"\bdivided by(?= {1,2}[0-9(])", "/"),
        (r"\bplus(?= {1,2}[0-9(])", "+"),
        (r"\bminus(?= {1,2}[0-9(])|[-–—−]", "-"),
        (r"^\s{0,9}[-*+•]\s|\s-{1,3}\s(?=[a-zA-Z]{2})", ";"),  # a list's mark, a dash
        (r"(?<=\w)-(?=[a-zA-Z])|/(?=\s?[a-wA-W])", " "),  # 5-pound, miles/hour
        (r"(?<=/ )([0-9]{1,4})/([0-9]{1,4})(?![\d/])", r"(\1/\2)"),  # 7 / 1/2
        (r"(?<![\d./])([0-9]{1,3}) ([0-9]{1,2})/([0-9]{1,3})(?![\d/])", r"(\1+\2/\3)"),
    )
]
_BREAK = re.compile(r"[;|\"…:#?!]|,(?![0-9]{3}(?![0-9]))|\.(?![0-9])|\n(?!\s{0,9}=)")
_TOKEN = re.compile(
    r"(?P<number>(?:(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)(?:\s?%)?)"
    r"|(?P<word>[^\W\d_](?:[^\W\d_]|['’])*)|(?P<operator>[-+*/])|(?P<opening>\()|(?P<closing>\))|(?P<other>\S)"
)
_OPERATORS = frozenset("+-*/")
_QUANTITY = re.compile(
    r"dozens?|hundred|thousand|[mbtr]illion|half|halves|thirds?|quarters?|twice|double|triple",
    re.IGNORECASE,
)
_COMPOUND = re.compile(  # 7 hours 55 minutes, 350 000
    r"[0-9]{3}|(?:(?:dollar|gallon|pound|meter|year|month|week|day|hour|minute)s?|feet|foot|lbs)"
    r" (?:and )?[0-9.]+"
)
_CONJUNCTIONS = frozenset(("and", "or", "is", "are", "so", "then", "because", "since", "which"))
_PART_OF = re.compile(rf"\b(?:{_QUANTITY.pattern})(?: (?:of|the|that))?\Z", re.IGNORECASE)


@dataclass(slots=True)
class _Side:
    """One side of an equation: an expression as it is written, with percent signs."""

    parts: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """The words after the last number, or before the first."""
    starts: bool = True
    """Whether nothing comes before it on its side of the equals sign."""
    span: tuple[int, int] = (0, 0)
    """Where its parts are in the text."""

    @property
    def ends_with_operand(self) -> bool:
        return bool(self.parts) and self.parts[-1] not in {"(", *_OPERATORS}

    @property
    def has_operator(self) -> bool:
        """Whether it is more than a number or a fraction."""
        return not _OPERATORS.isdisjoint(self.parts[1:]) and self.parts[1::2] != ["/"]

    @property
    def is_share(self) -> bool:
        """Whether the last number is a percentage or a fraction's denominator."""
        return "%" in self.parts[-1] or self.parts[-2:-1] == ["/"]

    @property
    def is_number(self) -> bool:
        return len(self.parts) == 1 or (len(self.parts) == 2 and self.parts[0] == "-")

    @property
    def unit(self) -> Fraction:
        """One unit of the last digit of a side that is one number; 0 for others."""
        return _unit(self.parts[-1]) if self.is_number else Fraction(0)

    @property
    def roughness(self) -> Fraction:
        """The largest relative change that one unit makes to a number with two or more decimals."""
        rounded = [part for part in self.parts if _unit(part) <= Fraction(1, 100)]
        exact = [Fraction(part.rstrip("% ").replace(",", "")) or 1 for part in rounded]
        return max(map(truediv, map(_unit, rounded), exact), default=Fraction(0))

    def __str__(self) -> str:
        return " ".join(self.parts)

    def values(self) -> Iterator[Fraction]:
        """Yield the exact value; with percent signs, first as hundredths, then as plain numbers."""
        text = str(self).replace(",", "")
        forms = [re.sub(r"([0-9.]+)\s?%", r"(\1/100)", text), text.replace("%", "")]
        for form in dict.fromkeys(forms):
            value = read_expression(re.sub(r"(?<![0-9])\.", "0.", form)).value
            if value is not None:
                yield value


@dataclass(frozen=True, slots=True)
class Statement:
    """An equation `left = right` of a reply, and whether it holds."""

    left: str
    right: str
    holds: bool
    place: tuple[int, int] | None = None
    """Where it is in the reply; None in a reply that is too long."""

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


@lru_cache(maxsize=4)
def read_statements(text: str) -> tuple[Statement, ...]:
    """Return the equations between numbers that a reply states, in order.

    >>> [str(one) for one in read_statements("He pays 3 * $5 = $15 + $2 = 17 dollars.")]
    ['3 * 5 = 15 + 2', '15 + 2 = 17']
    """
    rewritten = RewrittenText((0, text[:MOST_CHARACTERS]))
    rewritten.as_ascii()
    for pattern, replacement in _REWRITES:
        rewritten.sub(pattern, replacement)
    text = "=".join(rewritten.text.split("=", MOST_EQUATIONS + 1)[: MOST_EQUATIONS + 1])
    breaks = [(0, 0), *(match.span() for match in _BREAK.finditer(text)), (len(text), len(text))]
    parts = [(end, text[end:start]) for (_, end), (start, _) in pairwise(breaks)]
    return tuple(
        statement
        for at, part in parts
        if "=" in part
        for statement in _statements(part.split("="), at, rewritten)
    )


def _statements(chain: list[str], at: int, rewritten: RewrittenText) -> Iterator[Statement]:
    """The statements of a chain of equations, which begins at a place of the text."""
    for number, (before, after) in enumerate(pairwise(chain)):
        start, at = at + max(0, len(before) - LONGEST), at + len(before) + 1
        left, right = _sides(before[-LONGEST:])[-1], _sides(after[:LONGEST])[0]
        if not right.starts or not left.parts or not right.parts or str(left) == str(right):
            continue
        if left.is_number and (left.words or (number == 0 and not left.starts)):
            continue  # "on day 3 = 2 + 4", "2 hours = 120"
        try:
            holds = _equal(left, right)
        except NotArithmetic:
            continue
        if not (left.is_number and right.is_number and (holds or number == 0)):
            place = rewritten.place(start + left.span[0], at + right.span[1])
            yield Statement(str(left), str(right), holds, place)


def _equal(left: _Side, right: _Side) -> bool:
    """Whether two sides are equal, but for what rounding and cutting off decimals can change."""
    pairs = list(product(left.values(), right.values()))
    allowed = max(left.unit, right.unit)
    if not allowed and pairs and "/" in left.parts + right.parts:  # 60 * 1/3 = 60 * 0.33
        allowed = abs(pairs[0][0]) * max(left.roughness, right.roughness)
    return any(value == other or abs(value - other) < allowed for value, other in pairs)


def _unit(number: str) -> Fraction:
    decimals = number.rstrip("% ").partition(".")[2]
    return Fraction(1, 10 ** len(decimals))


def _sides(text: str) -> list[_Side]:
    """Return the expressions on one side of an equals sign, in order; unknown ones are empty."""
    reader = _SideReader()
    for token in _TOKEN.finditer(text):
        reader.take(token)
    reader.finish()
    return reader.sides


class _SideReader:
    def __init__(self) -> None:
        self.sides: list[_Side] = []
        self.side = _Side()
        self.is_known = True
        self.end = 0

    def take(self, token: re.Match[str]) -> None:
        getattr(self, f"_{token.lastgroup}")(token)
        self.end = token.end()
        side = self.side
        if side.parts and side.parts[-1] == token.group():
            side.span = (side.span[0] if len(side.parts) > 1 else token.start(), token.end())

    def _number(self, token: re.Match[str]) -> None:
        side = self.side
        if not side.ends_with_operand:
            if not side.parts and _PART_OF.search(" ".join(side.words[-2:])):
                self.is_known = False
        elif side.is_share and side.words[:1] == ["of"] and len(side.words) <= FEW:
            side.parts.append("*")
        else:
            self._next_number(token.group(), side.words)
        self.side.parts.append(token.group())
        self.side.words.clear()

    def _next_number(self, number: str, words: list[str]) -> None:
        """Begin another expression at a number that no operator joins to the one before it."""
        is_clause = not _CONJUNCTIONS.isdisjoint(words)
        if _COMPOUND.fullmatch(" ".join([*words[:FEW], number])):
            self.is_known = is_clause = False
        unclear = words[1:] == ["of"] or (self.side.has_operator and len(words) < FEW)
        self.begin(is_known=is_clause or (self.is_known and not unclear))

    def _word(self, token: re.Match[str]) -> None:
        word, side = token.group(), self.side
        side.words.append(word)
        if not side.ends_with_operand:
            self.is_known &= not side.parts  # 3 * the number of eggs
            side.starts = False
        elif len(side.words) == 1 and len(word) == 1:
            self.is_known &= word == "a" and token.start() > self.end  # 2x, and 3 a day
        elif len(side.words) <= FEW and _QUANTITY.fullmatch(word):
            self.is_known = False

    def _operator(self, token: re.Match[str]) -> None:
        side = self.side
        joins = len(side.words) <= MOST_UNIT_WORDS and _CONJUNCTIONS.isdisjoint(side.words)
        if side.ends_with_operand and joins:
            side.parts.append(token.group())
            side.words.clear()
        elif token.group() == "-" and side.parts[-1:] in ([], ["("]) and side.starts:
            side.parts.append("-")
        else:
            self.is_known = False  # x + 5, 30 and shoes * 2
            side.words.clear()

    def _opening(self, token: re.Match[str]) -> None:
        if self.side.ends_with_operand and (self.side.words or token.start() > self.end):
            self.begin(is_known=not self.side.has_operator)  # a remark
        self.side.parts.append("(")

    def _closing(self, token: re.Match[str]) -> None:
        parts = self.side.parts
        if self.side.ends_with_operand and parts.count("(") > parts.count(")"):
            self.side.parts.append(")")
        else:
            self.begin(is_known=True)

    def _other(self, token: re.Match[str]) -> None:
        if token.group() == _UNREAD:
            self.is_known = False
        else:
            self.begin(is_known=self.is_known)

    def begin(self, *, is_known: bool) -> None:
        self.finish()
        self.side, self.is_known = _Side(starts=False), is_known

    def finish(self) -> None:
        parts = self.side.parts
        if not self.is_known:
            parts.clear()
        unclosed = parts.count("(") - parts.count(")")
        if unclosed and parts[:unclosed] == ["("] * unclosed:  # (3 + 4 = 7)
            del parts[:unclosed]
            self.side.starts = False
        self.sides.append(self.side)


@dataclass(frozen=True)
class Steps(Bounded):
    """Right if the answer is right and every step of its arithmetic holds.

    The score is the share of the statements `a op b = c` that hold, 0 without statements; each
    statement is a span with score 1 or 0. `steps` reads and compares the answer as `gsm8k` does. A
    wrong answer is `arithmetic` if a step is wrong, `reasoning` if all steps hold. A right answer
    after a wrong step is `wrong_steps`. Without a reference, the steps alone decide.

    >>> verdict = Steps()("He pays 3 * $5 = $15, then 15 + 2 = 18. #### 18", Sample("17"))
    >>> verdict.score, verdict.failure.value
    (0.5, 'arithmetic')
    """

    thinking = "whole"
    reads = Gsm8k.reads
    for_evaluation = ("lenient",)
    needs_reference = False

    reading: Reading = "hash"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        statements = read_statements(text)
        wrong = [statement for statement in statements if not statement.holds]
        answer = None
        if sample.reference.strip():
            answer = Gsm8k(reading=self.reading)(text_to_read(text, "strip"), sample)
            if answer.correct is None:
                return replace(
                    answer, message=f"{answer.message}; leave it blank to judge the steps alone"
                )
        failure = _failure(answer, statements, wrong)
        return Verdict(
            failure is None,
            1 - len(wrong) / len(statements) if statements else 0.0,
            answer=answer.answer if answer else None,
            failure=failure,
            message=_message(answer, statements, wrong),
            spans=tuple(Span(*step.place, float(step.holds)) for step in statements if step.place),
        )


def _failure(
    answer: Verdict | None, statements: Sequence[Statement], wrong: Sequence[Statement]
) -> Failure | None:
    if answer is None or answer.correct:
        if not statements:
            return Failure.NO_REASONING
        return (Failure.WRONG_STEPS if answer else Failure.ARITHMETIC) if wrong else None
    if answer.failure is Failure.WRONG and statements:
        return Failure.ARITHMETIC if wrong else Failure.REASONING
    return answer.failure


def _message(
    answer: Verdict | None, statements: Sequence[Statement], wrong: Sequence[Statement]
) -> str:
    steps = f"{len(statements) - len(wrong)} of {len(statements)} steps hold"
    if not statements:
        steps = "no step such as 2 * 3 = 6 is stated"
    first = f"; wrong: {wrong[0]}" if wrong else ""
    stated = f"{answer.message}; " if answer and answer.message else ""
    return f"{stated}{steps}{first}"
