"""The 24-point game: four numbers, each used exactly once, and an expression that equals 24."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Span, Verdict
from rewardkit.text.thinking import text_to_read
from rewardkit.verifiers.arithmetic import (
    NotArithmetic,
    RewrittenText,
    ascii_operators,
    read_expression,
)
from rewardkit.verifiers.reading import answer_tags, boxes
from rewardkit.verifiers.rubric import Rubric

HIGHEST = 13
"""The largest number; like cards, they go from 1 to 13."""

MOST_SIDES = 8
"""Maximum number of sides of an equation."""

Ratio = tuple[int, int]
"""A number as numerator and positive denominator in lowest terms: it compares faster than a
Fraction, and a completion may hold a hundred thousand steps."""

Table = tuple[Ratio, ...]
"""The numbers that a step may use, sorted."""

UNREADABLE: Ratio = (0, 0)
"""Replaces an unreadable item in a list of numbers left; no step leaves it."""

_FOUR = re.compile(r"[\s(\[{]*([0-9]{1,2})" + r"[\s,;，、]+([0-9]{1,2})" * 3 + r"[\s)\]}]*")
_ANSWER_LINE = re.compile(r"(?:\b[Aa]nswer|ANSWER|答案)\s{0,4}\*{0,2}\s{0,4}[:：]\s{0,4}\*{0,2}")
_BOX = re.compile(r"\\f?box")
_TAGS_ONLY = re.compile(r"(?:\s{0,8}</?\w{1,20}>){1,8}\s{0,8}")
_BOLD = re.compile(r"(?<![\d)])(?<![\d)] )\*\*|\*\*(?! ?[\d(])")  # but not the power 2 ** 3
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_OPERANDS = (  # what a step may use: 8/7 is a number that is left, or a division of 8 by 7
    re.compile(rf"(?<![\w.)}}\]])-?{_NUMBER}(?:/{_NUMBER}(?![\w.]))?|{_NUMBER}"),
    re.compile(rf"(?<![\w.)}}\]])-?{_NUMBER}|{_NUMBER}"),
)
_OPERATION = re.compile(r"[*/+^√%!²³]|[^\s(]\s*-|[0-9)]\(")
_CJK = r"[\u3040-\u9fff\uac00-\ud7af]"
_REWRITES = [
    (re.compile(pattern, re.MULTILINE | re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"^\s{0,40}(?:[-*•>]\s(?!\s?\w{1,20}\s?=))?\s?(?:\(?[0-9]{1,3}[.)]\s)?", ""),  # list marks
        (r"^((?:step|move|stage|operation|round|case|option)\s?[0-9]{1,3})\s?[-–—]+\s", r"\1;"),
        (r"\\frac\s?\{\s?([0-9]{1,9})\s?\}\s?\{\s?([0-9]{1,9})\s?\}", r"(\1/\2)"),
        (r"\\?sqrt(?![a-z])", "√"),
        (r"\\approx(?![a-z])|≈|==", "="),
        (r"=>|⇒|->|\\(?:right|long)[a-z]{0,20}arrow|\\(?:to|implies)(?![a-z])", "→"),
        (r"[<>!]=|\\neq?(?![a-z])", "≠"),
        (r"&|`", ""),
        (r"\\(?!frac)(?:[a-z]{1,20}|\\)?|\.(?![0-9])|!(?!\s{0,3}[-+*/=)])", ";"),
        (r"(?<=[0-9)])\s{1,3}(?:times|multiplied by)\s{1,3}(?=[0-9(])", "*"),
        (r"(?<=[0-9)])\s{1,3}(?:divided by|over)\s{1,3}(?=[0-9(])", "/"),
        (r"(?<=[0-9)])\s{1,3}plus\s{1,3}(?=[0-9(])", "+"),
        (r"(?<=[0-9)])\s{1,3}minus\s{1,3}(?=[0-9(])", "-"),
        (
            rf"([-+*/]\s?\(?{_NUMBER}\)?)\s{{0,3}}(?:→|equals|is(?: equal to)?|gives|makes|yields)"
            rf"\s{{0,3}}(?=-?\(?-?{_NUMBER}\)?(?![0-9]|[ \t]{{0,3}}[-+*/=]"
            r"|[ \t]{1,3}(?:less|more|fewer|times|of)\b))",  # "1/4 is 1 less 3/4" is no sum
            r"\1=",
        ),
        (r"=(\s{0,3}-?[0-9]{1,3}),([0-9]{3})(?![0-9])", r"=\1\2"),
        (r"(?<=[^\W\d_]{2})[-/](?=[^\W\d_]{2})", ";"),  # left-over
        (r"\s{1,20}=", "="),  # also at the beginning of a line
        (r"(?<=\w)(?=[(\[]\s?(?:left|remaining|rest))", ";"),
        (rf"(?<={_CJK})(?=[0-9(])|(?<=[0-9)])(?={_CJK})", ";"),
        (r"(?<=[\w)\]}])[ \t]+(?=[\w(\[])", ";"),  # two terms without an operator between them
    )
]
_EVENT = re.compile(
    r"[(\[]\s?(?:left|remaining|rest);?:(?P<left>[^()\[\]\n]{0,200})[)\]]"
    r"|(?P<hand>(?<![\w.])[0-9]{1,2}(?:\s?[\s,;，、]\s?[0-9]{1,2}){3}(?![\w=+*/]))"
    r"|(?P<chain>[\w.+*/^!√%()\[\]{}\\=-]+(?:[ \t]{1,4}[\w.+*/^!√%()\[\]{}\\=-]+)*)",
    re.IGNORECASE,
)
_RESTART = re.compile(
    r"back\w*|restart\w*|again|instead|try\w*|tries|attempt\w*|start\w*|otherwise|alternative\w*"
    r"|another|other|or|reset|undo|option|approach|method|way|case|dead|fail\w*|no|not|wrong"
    r"|doesn|won|can|cannot|stuck|.{0,9}(?:重新|回到|返回|尝试|另|换|不行|失败|不对).{0,9}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SplitReply:
    """A completion's reasoning lines and the text of its final expression; None without one."""

    lines: tuple[str, ...]
    final: str | None
    working: tuple[tuple[int, str], ...]
    """All text but the final answer: its pieces with their places."""


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of arithmetic, such as `a op b = c`."""

    sides: tuple[str, ...]
    left: Table | None
    """The numbers in its list of numbers left, sorted; None without a list."""
    restarts: bool
    """Whether the text before it says that the search begins again."""
    place: tuple[int, int] | None = None
    """Where it is in the text; None in a text that is too long."""

    @property
    def operands(self) -> set[Table]:
        """The numbers that it uses, sorted; a fraction may be one number or two."""
        operation = next(side for side in self.sides if _OPERATION.search(side))
        found = (pattern.findall(operation) for pattern in _OPERANDS)
        return {_table(written) for written in found if len(written) > 1}

    @property
    def result(self) -> Ratio | None:
        """The exact value of all sides; None if they differ or can't be read."""
        try:
            values = {read_expression(side).value for side in self.sides}
        except NotArithmetic:
            return None
        value = values.pop()
        return None if values or value is None else value.as_integer_ratio()


def four_numbers(sample: Sample) -> tuple[int, ...] | None:
    """Return the sample's numbers, sorted, from its reference "4 7 8 8" or its column `numbers`.

    None unless they are four numbers from 1 to 13.
    """
    given: object = sample.reference.strip() or sample.columns.get("numbers", "")
    if isinstance(given, (list, tuple)):
        given = " ".join(map(str, given))
    match = _FOUR.fullmatch(str(given))
    values = sorted(map(int, match.groups())) if match else [0]
    return tuple(values) if values[0] >= 1 and values[-1] <= HIGHEST else None


@lru_cache(maxsize=4)  # the three parts of the rubric read the same completion
def read_reply(text: str) -> SplitReply:
    r"""Split a completion into its reasoning and its final answer.

    The final answer is the last `<answer>` block, else the last box, else the text after `Answer:`
    or `答案:` on the last such line (or the next line that isn't blank). A reasoning line isn't
    blank, doesn't consist of tags only, and doesn't hold the final answer.
    """
    tags = answer_tags(text)
    if tags:
        start = text.rfind("\n", 0, tags[0].start()) + 1
        end = text.find("\n", tags[1].end())
        rest = text[:start] + (text[end:] if end >= 0 else "")
        at, after = tags[0].start(), tags[1].end()
        working = ((0, text[:at]), (at, "\n"), (after, text[after:]))
        final = _inside(text[tags[0].end() : tags[1].start()])
        return SplitReply(_reasoning(rest.split("\n")), final, working)
    lines = text.split("\n")
    boxed = boxes(text)
    if boxed:
        at = max(index for index, line in enumerate(lines) if _BOX.search(line))
        return SplitReply(
            _reasoning(lines[:at] + lines[at + 1 :]), boxed[-1], _without_box(text, boxed)
        )
    return _by_answer_line(lines)


def read_steps(*working: tuple[int, str]) -> list[Step]:
    """Return the statements of arithmetic in the pieces of a text, in order."""
    rewritten = RewrittenText(*working)
    rewritten.sub(_BOLD, "")
    rewritten.as_ascii()
    for pattern, replacement in _REWRITES:
        rewritten.sub(pattern, replacement)
    steps: list[Step] = []
    restarts = False
    for event in _EVENT.finditer(rewritten.text) if "=" in rewritten.text else ():
        chain = event["chain"] or ""
        if "=" in chain:
            sides = _sides_of(chain)
            if any(map(_OPERATION.search, sides)):
                steps.append(Step(sides, None, restarts, rewritten.place(*event.span())))
                restarts = False
        elif event["left"] is None:
            restarts = restarts or bool(event["hand"] or _RESTART.fullmatch(chain))
        elif steps and not restarts:
            place, listed = steps[-1].place, rewritten.place(*event.span())
            place = (place[0], listed[1]) if place and listed else None
            items = re.split(r"[\s,;，、]+", event["left"].strip())
            steps[-1] = replace(steps[-1], left=_table(filter(None, items)), place=place)
    return steps


def _sides_of(chain: str) -> tuple[str, ...]:
    """Return the sides of an equation, without a name before it or brackets round all of it."""
    sides = [side.strip() for side in chain.split("=", MOST_SIDES)]
    if len(sides) > 2 and sides[0].isalpha():
        del sides[0]
    opened = sides[0].count("(") - sides[0].count(")")
    if opened > 0 and sides[0].startswith("(" * opened):
        sides[0] = sides[0][opened:]
    closed = sides[-1].count(")") - sides[-1].count("(")
    if closed > 0 and sides[-1].endswith(")" * closed):
        sides[-1] = sides[-1][:-closed]
    return tuple(sides)


def _by_answer_line(lines: list[str]) -> SplitReply:
    answer_lines = [index for index, line in enumerate(lines) if _ANSWER_LINE.search(line)]
    if not answer_lines:
        return SplitReply(_reasoning(lines), None, ((0, "\n".join(lines)),))
    start = end = answer_lines[-1]
    at = sum(len(line) + 1 for line in lines[:start])
    working, begun = [(0, "".join(f"{line}\n" for line in lines[:start]))], 0
    for answer in _ANSWER_LINE.finditer(lines[start]):
        working += [(at + begun, "\n")] if begun else []
        working.append((at + begun, lines[start][begun : answer.start()]))
        begun = answer.end()
    final = lines[start][begun:].strip()
    while not final and end + 1 < len(lines):
        end += 1
        final = lines[end].strip()
    rest = lines[end + 1 :]
    after = at + sum(len(line) + 1 for line in lines[start : end + 1])
    working += [(after - 1, "".join(f"\n{line}" for line in rest))]
    return SplitReply(_reasoning(lines[:start] + rest), final or None, tuple(working))


def _without_box(text: str, boxed: list[str]) -> tuple[tuple[int, str], ...]:
    """Cut the last box out of the text, unless it holds the result of an equation."""
    at = text.rfind(boxed[-1])
    start = [box.start() for box in _BOX.finditer(text, 0, at)][-1]
    after = at + len(boxed[-1]) + text.startswith("}", at + len(boxed[-1]))
    kept = boxed[-1] if text[:start].rstrip(" $").endswith("=") else "\n"
    return (0, text[:start]), (at, kept), (after, text[after:])


def _inside(block: str) -> str | None:
    boxed = boxes(block)
    return (boxed[-1] if boxed else _ANSWER_LINE.split(block)[-1].strip()) or None


def _reasoning(lines: list[str]) -> tuple[str, ...]:
    return tuple(
        line for line in lines if line and not line.isspace() and not _TAGS_ONLY.fullmatch(line)
    )


def _table(written: Iterable[str]) -> Table:
    return tuple(sorted(_value(number) or UNREADABLE for number in written))


@lru_cache(maxsize=4096)
def _value(written: str) -> Ratio | None:
    try:
        return Fraction(written.strip("() ")).as_integer_ratio()
    except (ValueError, ZeroDivisionError):
        return None


TARGET = 24
GIVEN_AND_WRONG = 0.35
"""The outcome's score for an expression that is wrong."""

Move = tuple[Ratio, str, Ratio, Ratio]
"""a op b = c."""

CAN = "the numbers can make 24"

_NO_SOLUTION = re.compile(
    r"(?:\\text\s?\{|[\s\"'“*])*(?:there\sis\s)?"
    r"(?:no\s(?:valid\s)?solutions?|impossible|unsolvable|无解)[\s}\"'”*.!。]*",
    re.IGNORECASE,
)


@lru_cache(maxsize=200_000)
def moves_to_target(table: Table) -> tuple[Move, ...] | None:
    """The moves `a op b = c` that lead from the sorted `table` to 24; None if none do."""
    if len(table) == 1:
        return () if table[0] == (TARGET, 1) else None
    for first, second in combinations(range(len(table)), 2):
        rest = [value for place, value in enumerate(table) if place not in (first, second)]
        for move in _results(table[first], table[second]):
            later = moves_to_target(tuple(sorted([*rest, move[3]])))
            if later is not None:
                return (move, *later)
    return None


def _results(first: Ratio, second: Ratio) -> Iterator[Move]:
    """The results of all operations on two numbers, larger differences first."""
    (a, b), (c, d) = first, second
    yield first, "+", second, _lowest(a * d + c * b, b * d)
    yield first, "*", second, _lowest(a * c, b * d)
    yield second, "-", first, _lowest(c * b - a * d, b * d)
    yield first, "-", second, _lowest(a * d - c * b, b * d)
    if a:
        yield second, "/", first, _lowest(c * b, d * a)
    if c:
        yield first, "/", second, _lowest(a * d, b * c)


def _lowest(numerator: int, denominator: int) -> Ratio:
    divisor = math.gcd(numerator, denominator)
    if denominator < 0:
        divisor = -divisor
    return numerator // divisor, denominator // divisor


@dataclass(frozen=True)
class Outcome(Bounded):
    r"""Score the final expression: 1 if it is right, 0.35 if it is wrong, 0 if there is none.

    The expression is in `<answer>`, else in `\boxed{}`, else after `Answer:` or `答案:` on the last
    such line. It is right if it uses each number exactly once and equals 24 exactly; each side of
    an equation must equal 24. A lone number or a division by zero is an expression; words,
    unfinished arithmetic and text too long for four numbers are not. "No solution" is right for
    numbers that can't make 24, and for these alone. The reference, "4 7 8 8", or else the column
    `numbers` holds the four numbers from 1 to 13.

    >>> Outcome()("Answer: (7 - 8 / 8) * 4 = 24", Sample("4 7 8 8")).score
    1.0
    """

    thinking = "strip"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        numbers = four_numbers(sample)
        if numbers is None:
            return _unreadable(sample)
        final = read_reply(text_to_read(text, "strip")).final
        if final is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="no final expression is given")
        if _NO_SOLUTION.fullmatch(final):
            moves = moves_to_target(tuple((number, 1) for number in numbers))
            return Verdict.judged(moves is None, answer=final, message="" if moves is None else CAN)
        text = ascii_operators(final).strip().strip("*`").strip().rstrip(".。")
        try:
            sides = [read_expression(side) for side in text.split("=", maxsplit=MOST_SIDES)]
        except NotArithmetic as error:
            return Verdict.wrong(Failure.FORMAT, answer=final[:200], message=str(error))
        if tuple(sorted(sides[0].numbers)) != numbers:
            fault = f"it must use each of {', '.join(map(str, numbers))} exactly once"
            return Verdict.scored(GIVEN_AND_WRONG, answer=final, message=fault)
        for value in (side.value for side in sides):
            if value != TARGET:
                fault = f"it is {'undefined' if value is None else value}, not {TARGET}"
                return Verdict.scored(GIVEN_AND_WRONG, answer=final, message=fault)
        return Verdict.right(answer=final)


@dataclass(frozen=True)
class Process(Bounded):
    """Score the share of correct steps, in [0, 1]; 0 without steps. Each step is a span.

    Every statement of arithmetic is a step, such as `a op b = c`: on every line, beside others, and
    beside the final answer. It is correct if the arithmetic is exact, its numbers are available and
    the list of numbers left, if given, is right. Available are the numbers that the steps before it
    left, or the four numbers again where the text says so ("Back to 4 7 8 8", "Try", or a list of
    the numbers left after a step that was not taken before). The whole solution may be stated
    anywhere. A statement that can't be read, such as `* c = 6`, is wrong. A step with wrong
    arithmetic or operands changes no numbers; one with only a wrong list uses its operands.
    """

    thinking = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        numbers = four_numbers(sample)
        if numbers is None:
            return _unreadable(sample)
        steps = read_steps(*read_reply(text).working)
        if not steps:
            return Verdict.wrong(Failure.NO_REASONING, message="no step is shown")
        correct = _correct_steps(steps, numbers)
        count = sum(correct)
        verdict = Verdict.scored(
            count / len(steps), message=f"{count} of {len(steps)} steps are correct"
        )
        places = zip((step.place for step in steps), correct, strict=True)
        return replace(verdict, spans=tuple(Span(*at, float(holds)) for at, holds in places if at))


@dataclass(frozen=True)
class Length(Bounded):
    """Score the number of reasoning lines l in (0, 1]: 1 if l ≤ t, else 1 / (1 + e^(k(l − t − m))).

    A reasoning line isn't blank, doesn't consist of tags only, and doesn't hold the final answer.
    The reference isn't read.
    """

    thinking = "whole"
    needs_reference = False

    t: float = 4
    m: float = 20
    k: float = 0.2

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        lines = len(read_reply(text).lines)
        if lines <= self.t:
            return Verdict.right()
        x = self.k * (lines - self.t - self.m)
        power = math.exp(-abs(x))  # e^x may be too large for a float
        return Verdict.scored(
            (power if x > 0 else 1.0) / (1.0 + power),
            failure=Failure.FORMAT,
            message=f"{lines} reasoning lines, {self.t:g} of them free",
        )


game24 = Rubric(
    parts={"outcome": Outcome(), "process": Process(), "length": Length()},
    weights={"outcome": 0.55, "process": 0.30, "length": 0.15},
    decides="outcome",
)


def _unreadable(sample: Sample) -> Verdict:
    return Verdict.unjudged(
        f"the reference {sample.reference[:80]!r} isn't four numbers from 1 to 13"
    )


def _correct_steps(steps: list[Step], numbers: tuple[int, ...]) -> list[bool]:
    """Return which steps are correct, in order.

    Where the text says that the search begins again, the step may still go on from the numbers
    left, so every possible table is kept. A table shrinks with each step, so there are few.
    """
    correct = [False] * len(steps)
    fresh: Table = tuple(sorted((number, 1) for number in numbers))
    tables, listed = {fresh}, set[tuple[str, ...]]()
    for number, step in enumerate(steps):
        operands = step.operands
        going_on = _remaining({*tables, fresh} if step.restarts else tables, operands)
        is_new = step.left is not None and step.sides not in listed
        listed.add(step.sides)
        from_hand = _remaining({fresh}, operands) if is_new else set()
        is_whole = fresh in operands
        if not (going_on or from_hand or is_whole) or (result := step.result) is None:
            continue
        after = {_with(result, rest) for rest in going_on}
        agreeing = {table for table in after if step.left in (None, table)}
        agreeing |= {_with(result, rest) for rest in from_hand} & {step.left}
        tables = agreeing or after or tables
        correct[number] = bool(agreeing) or (is_whole and result == (TARGET, 1))
    return correct


def _remaining(tables: Iterable[Table], options: Iterable[Table]) -> set[Table]:
    remaining = set()
    for table, operands in product(tables, options):
        left = Counter(table)
        left.subtract(operands)
        if min(left.values()) >= 0:
            remaining.add(tuple(left.elements()))
    return remaining


def _with(result: Ratio, rest: Table) -> Table:
    return tuple(sorted([*rest, result]))
