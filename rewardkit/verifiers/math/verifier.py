"""The `math` verifier: reads the boxes, reads the reference, compares."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from rewardkit.errors import Unavailable
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.math import fallback, tree
from rewardkit.verifiers.math.comparison.compare import compare
from rewardkit.verifiers.math.comparison.values import Percent, Policy, Units, same_percent
from rewardkit.verifiers.math.extraction import answers, bare_reference
from rewardkit.verifiers.math.numbers.balls import load_flint
from rewardkit.verifiers.math.numbers.equality import UNDECIDED, Comparison
from rewardkit.verifiers.math.numbers.exact import rational
from rewardkit.verifiers.math.parsed_answer import (
    ExactNumber,
    ParsedAnswer,
    equal,
    parsed_tree,
    predicate,
    read_answer,
)
from rewardkit.verifiers.math.spelling import unwrapped
from rewardkit.verifiers.math.tree import (
    MINUS_ONE,
    Call,
    Clock,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
    Numeral,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Root,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Text,
    children,
    nodes,
)

Explanation = list[tuple[str, str]]
"""(label, value) pairs."""


def explained(answers: list[str], reference: str) -> Explanation:
    """Explain the answers and the reference, and how each was read."""
    lines = [("answers", str(len(answers)))] if len(answers) > 1 else []
    for answer in answers:
        lines += [("answer", answer), ("read as", _reading(read_answer(answer)))]
    return [*lines, ("reference", reference), ("read as", _reading(read_answer(reference)))]


def _reading(parsed: ParsedAnswer) -> str:
    if parsed.number is not None:
        exact = f"the number {parsed.number.value}"
        return f"{exact} {parsed.number.unit}".rstrip()
    node = parsed_tree(parsed)
    if node is not None:
        return spelled(node)
    return f"text, for we can't read it: {parsed.reason or 'nothing is there'}"


_KINDS = {"angle": "°", "share": "%", "money": "$"}


def spelled(node: Node) -> str:
    """The tree as one line; sums inside products and the like stand in brackets."""
    match node:
        case Sum(terms):
            return " + ".join(map(spelled, terms)).replace("+ -", "- ")
        case Product(factors):
            return _product(factors)
        case Power(base, exponent):
            return f"{_tight(base)}^{_tight(exponent)}"
        case Root(radicand, index):
            return f"{'√' if index == 2 else f'root{index}'}({spelled(radicand)})"
        case Call(name, arguments):
            return f"{name.removesuffix('()')}({', '.join(map(spelled, arguments))})"
        case Sequence() | SetOperation() | Relation() | Matrix() | Ratio():
            return _structure(node)
        case Quantity(value, kind, factor):
            return f"{_tight(value)} {_unit(kind, factor)}"
    return _leaf(node)


def _leaf(node: Node) -> str:
    match node:
        case Number(value, places):
            return str(value) if places is None else f"{float(value):.{min(places, 30)}f}"
        case Symbol(name) | Constant(name) | NumberSet(name):
            return name
        case PlusMinus(term, upper):
            return f"{'±' if upper else '∓'}{_tight(term)}"
        case Numeral(digits, base):
            return f"{digits} in base {base}"
        case Clock(hour, minute, _):
            return f"{hour}:{minute:02}"
        case Text(words):
            return f'the words "{words}"'
    return str(node)


def _product(factors: tuple[Node, ...]) -> str:
    over: list[str] = []
    under: list[str] = []
    sign = ""
    for factor in factors:
        match factor:
            case Number(value, None) if value == -1:
                sign = "" if sign else "-"
            case Power(base, Number(value, _)) if value == -1:
                under.append(_tight(base))
            case _:
                over.append(_tight(factor))
    below = "".join(f"/{part}" for part in under)
    return f"{sign}{'·'.join(over) or '1'}{below}"


def _tight(node: Node) -> str:
    whole = isinstance(node, Number) and node.value.denominator == 1 and node.value >= 0
    simple = isinstance(node, (Symbol, Constant, Call, Root, Sequence, Matrix)) or whole
    return spelled(node) if simple else f"({spelled(node)})"


def _structure(node: Sequence | SetOperation | Relation | Matrix | Ratio) -> str:
    match node:
        case Sequence(items, opening, closing, joint):
            between = f" {joint} " if joint != "," else ", "
            inner = between.join(map(spelled, items))
            brackets = {"⦃": "{", "⦄": "}"}
            listed = inner if opening else f"list {inner}"
            return f"{brackets.get(opening, opening)}{listed}{brackets.get(closing, closing)}"
        case SetOperation(operator, left, right):
            return f"{spelled(left)} {operator} {spelled(right)}"
        case Relation(sides, operators):
            parts = ["…" if side is None else spelled(side) for side in sides]
            pairs = zip((*operators, ""), parts[1:], strict=False)
            return parts[0] + "".join(f" {operator} {part}" for operator, part in pairs)
        case Matrix(rows):
            return "[" + "; ".join(", ".join(map(spelled, row)) for row in rows) + "]"
        case Ratio(terms):
            return " : ".join(map(spelled, terms))


def _unit(kind: tuple[tuple[str, int], ...], factor: Fraction) -> str:
    names = [f"{_KINDS.get(name, name)}{'' if count == 1 else f'^{count}'}" for name, count in kind]
    scale = "" if factor == 1 or "%" in names else f" (× {factor})"
    return "·".join(names) + scale


def simplest(node: Node) -> bool:
    """No constant that could be worked out, no fraction to reduce, no square under a root."""
    if isinstance(node, (Sequence, Relation, Quantity)):
        return all(map(simplest, children(node)))
    if rational(node) is not None:
        return _plain_number(node)
    return not any(map(_reducible, nodes(node)))


def _plain_number(node: Node) -> bool:
    """A whole number, a decimal or a reduced fraction, with a sign."""
    match node:
        case Number():
            return True
        case Product((Number(sign), inner)) if sign == -1:
            return _plain_number(inner)
        case Product((Number(over), Power(Number(under), Number(minus)))):
            whole = over.denominator == under.denominator == 1
            return minus == -1 and whole and under > 1 and (over / under).denominator == under
        case Sum((Number(whole), Number(part))):
            return whole.denominator == 1 and 0 < part < 1
    return False


def _reducible(node: Node) -> bool:
    match node:
        case Root(radicand, index):
            return _power_inside(radicand, index)
        case Sum(terms):
            return sum(rational(term) is not None for term in terms) > 1
        case Product(factors):
            values = [rational(factor) for factor in factors]
            return None not in values and not _plain_number(node)
        case Power(Number(), exponent):
            return exponent != MINUS_ONE and rational(node) is not None
    return False


def _power_inside(radicand: Node, index: int) -> bool:
    value = rational(radicand)
    if value is None:
        return False
    if value.denominator > 1 or abs(value) < 2:
        return True
    return any(value % (base**index) == 0 for base in range(2, 100) if base**index <= abs(value))


_COMMA = re.compile(r"-?[0-9]{1,12},[0-9]{1,12}")
_GROUPED = re.compile(
    r"-?[0-9]{1,3}(?:(?:\.[0-9]{3}){2,6}(?:,[0-9]{1,12})?|(?:\.[0-9]{3}){1,6},[0-9]{1,12}"
    r"|(?:['’][0-9]{3}){1,6}(?:[.,][0-9]{1,12})?|(?:_[0-9]{3}){2,6}"
    r"|(?:[ \u00a0\u202f][0-9]{3}){1,6},[0-9]{1,12}"
    r"|(?:,[0-9]{2}){1,6},[0-9]{3}(?:\.[0-9]{1,12})?)"
)
_POINT = re.compile(r"[.,]([0-9]+)\Z")


def local_value(answer: str, *, pointed: bool) -> Fraction | None:
    """The value of `1.234.567,8`, `1'234'567` or `12,34,567`; None where it isn't certain.

    `pointed`: the reference has a decimal point, so that a comma alone may be one too.
    """
    bare = answer.strip(" $")
    if pointed and _COMMA.fullmatch(bare):
        return Fraction(bare.replace(",", "."))
    if not _GROUPED.fullmatch(bare):
        return None
    separators = [character for character in bare if not character.isdigit() and character != "-"]
    last = _POINT.search(bare)
    places = last[1] if last and separators.count(separators[-1]) == 1 else ""
    whole = bare[: len(bare) - len(places) - 1] if places else bare
    return Fraction(re.sub(r"[^-0-9]", "", whole) + (f".{places}" if places else ""))


_LETTER = re.compile(r"\(?([A-J])\)?\.?")
_LABEL = re.compile(
    r"(?:(?:the )?(?:correct )?(?:answer|option|choice)(?: is)?:? )?"
    r"(?:\(([A-J])\)|([A-J])(?:[).:]|\Z))(?!\s*[+*/^=<>])",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\([A-J]\)|(?<![A-Za-z])[A-J][).:]|\bor [A-J]\b"
    r"|\bis (?:not|wrong|incorrect|false)\b|\bisn't\b"
)


def states_letter(answer: str, reference: str) -> bool:
    """Whether the answer is the option with the reference's letter, and with its text."""
    letter = _LETTER.fullmatch(unwrapped(reference))
    if letter is None:
        return False
    plain = unwrapped(answer)
    label = _LABEL.match(plain)
    if label is None or _ANOTHER.search(plain, label.end()):
        return False
    return (label[1] or label[2]) == letter[1]


LONGEST = 4_000
"""Maximum length in characters of an answer that is evaluated."""

MOST_BOXES = 16
"""Maximum number of different boxes to compare one by one; more are a list of guesses."""

_PLAIN = re.compile(r"\s*\$?\s*([-+]?[0-9]{1,18}(?:\.[0-9]{1,12})?)\.?\s*\$?\s*")
_GROUPING = re.compile(r"[0-9][.'’_][0-9]")
_SEVERAL = re.compile(r"\\pm(?![a-zA-Z])|±|(?<![a-zA-Z])(?:and|or)(?![a-zA-Z])")


@dataclass(frozen=True)
class Math:
    r"""Right when the last `\boxed{…}` is mathematically equal to the reference.

    `require_simplified` also asks for the simplest form: 2/4 is wrong against 0.5.
    `reading="flexible"` reads a text without a box too: the `<answer>` block, what is announced,
    the last formula, the last number. `thinking="strip"` reads nothing before the last `</think>`;
    "keep" reads it where nothing follows.
    `percent="unit"` takes a sign on one side only as a unit: 20% is right for 20 and for 0.2;
    "exact" compares values alone.
    `tolerance` is the relative error that a value may have; 0: none; None, the default: none but
    that an irrational answer meets a decimal reference that it rounds to (π meets 3.14).
    `units="lenient"` compares units where both sides have one; "strict" asks for one where the
    other has one; "ignored" drops them.
    """

    require_simplified: bool = False
    reading: Literal["boxed", "flexible"] = "boxed"
    tolerance: float | None = None
    units: Units = "lenient"
    percent: Percent = "unit"
    thinking: Literal["strip", "keep"] = "strip"

    def __post_init__(self) -> None:
        if self.tolerance is not None and not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance is a relative error in [0, 1), not {self.tolerance}")
        if self.units not in ("lenient", "strict", "ignored"):
            raise ValueError(f"units is lenient, strict or ignored, not {self.units!r}")
        if self.percent not in ("unit", "exact"):
            raise ValueError(f"percent is unit or exact, not {self.percent!r}")
        if self.thinking not in ("strip", "keep"):
            raise ValueError(f"thinking is strip or keep, not {self.thinking!r}")

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict if it needs no symbolic engine, else None."""
        read = self.read(text, sample.reference)
        if isinstance(read, Verdict):
            return read
        found, reference = read
        verdict = None
        for answer in found:
            verdict = self.compare_quick(answer, reference)
            if verdict is None or not verdict.correct:
                break
        return verdict

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict, with the symbolic engines if nothing cheaper decides it."""
        read = self.read(text, sample.reference)
        if isinstance(read, Verdict):
            return read
        found, reference = read
        verdict = self.compare(found[0], reference)
        for answer in found[1:]:
            if verdict.correct:
                verdict = self.compare(answer, reference)
        return verdict

    def explain(self, text: str, sample: Sample, /) -> Explanation:
        """Explain how the completion and the reference are read, in bounded time."""
        read = self.read(text, sample.reference)
        return [] if isinstance(read, Verdict) else explained(*read)

    def prepare(self) -> None:
        """Load the engines."""
        with contextlib.suppress(Unavailable):  # most answers need no flint
            load_flint()
        fallback.prepare_sympy()
        fallback.prepare_math_verify()

    def compare_quick(self, answer: str, reference: str) -> Verdict | None:
        """Compare an extracted answer with a reference in bounded time; None: undecided."""
        plain = self._plain(answer, reference)
        if plain is not None:
            return plain
        too_much = _too_much([answer], reference)
        if too_much is not None:
            return too_much
        gold = read_answer(reference)
        if not gold.readable:
            return Verdict.unjudged(f"the reference {reference!r} can't be read", answer=answer)
        mine = read_answer(answer)
        if not mine.text:
            return Verdict.wrong(Failure.NO_ANSWER, message="the box is empty")
        outcome = self.outcome(mine, gold, answer)
        if outcome.equal is None:
            return None
        return self._judged(outcome.equal, outcome.step, answer, mine)

    def compare(self, answer: str, reference: str) -> Verdict:
        """Compare an extracted answer with a reference; only a deadline bounds the time."""
        quick = self.compare_quick(answer, reference)
        if quick is not None:
            return quick
        mine, gold = read_answer(answer), read_answer(reference)
        one, other = parsed_tree(mine), parsed_tree(gold)
        if one is not None and other is not None:
            equal = fallback.equal_by_sympy(one, other)
            outcome = Comparison(equal, "sympy" if equal is not None else UNDECIDED)
        elif lacking := fallback.missing_math_verify():
            message = f"this LaTeX needs another reader: {lacking}"
            return Verdict.unjudged(message, answer=answer)
        elif fallback.readable(gold.text):
            outcome = Comparison(fallback.equal_by_math_verify(mine.text, gold.text), "math-verify")
        elif other is None:
            return Verdict.unjudged(f"the reference {reference!r} can't be read", answer=answer)
        else:
            outcome = Comparison(False, f"the text: {mine.reason}")
        return self._judged(bool(outcome.equal), outcome.step, answer, mine)

    def outcome(self, mine: ParsedAnswer, gold: ParsedAnswer, answer: str = "") -> Comparison:
        """Whether the sides are equal, and the step that decided it."""
        exact = self._numbers(mine, gold)
        if exact is not None:
            return exact
        if mine.text == gold.text and (gold.tree is None or self.units != "strict"):
            return Comparison(True, "the same text")
        if _same_words(mine, gold):
            return Comparison(True, "the same words")
        if isinstance(gold.tree, (tree.Symbol, tree.Text)) and states_letter(answer, gold.text):
            return Comparison(True, "the option's letter")
        if _in_local_spelling(answer, gold):
            return Comparison(True, "exact numbers, in the spelling of a locale")
        one, other = parsed_tree(mine), parsed_tree(gold)
        if one is None or other is None:
            return _unread(mine, gold, other)
        return compare(one, other, Policy(self.tolerance, self.units, self.percent))

    def read(self, text: str, reference: str) -> tuple[list[str], str] | Verdict:
        """Extract the different answers, last first, and the reference; or give a verdict."""
        gold = bare_reference(reference)
        if not any(character.isalnum() or character in "\\∅" for character in gold):
            return Verdict.unjudged(f"the reference {reference!r} can't be read")
        found = list(dict.fromkeys(answers(text, self.reading, self.thinking)))
        if not found:
            return Verdict.wrong(Failure.NO_ANSWER, message=r"there is no whole \boxed{…}")
        too_much = _too_much(found, gold)
        if too_much is not None or len(found) == 1:
            return too_much or (found, gold)
        different = list({read_answer(answer).text: answer for answer in reversed(found)}.values())
        if len(different) > 1 and _several(gold):
            return [", ".join(reversed(different))], gold
        return different, gold

    def _plain(self, answer: str, reference: str) -> Verdict | None:
        """Compare whole numbers and decimals, which are most answers, without parsing."""
        mine, gold = _PLAIN.fullmatch(answer), _PLAIN.fullmatch(reference)
        if mine is None or gold is None or self.tolerance:
            return None
        same = mine[1] == gold[1] or Decimal(mine[1]) == Decimal(gold[1])
        return Verdict.judged(same, answer=answer, message="by exact numbers")

    def _numbers(self, mine: ParsedAnswer, gold: ParsedAnswer) -> Comparison | None:
        if mine.number is None or gold.number is None or self.tolerance:
            return None
        if self.units != "lenient" and mine.number.unit != gold.number.unit:
            return None
        if {mine.number.unit, gold.number.unit} == {"%", ""}:
            return self._percent(mine.number, gold.number)
        return Comparison(equal(mine.number, gold.number), "exact numbers")

    def _percent(self, answer: ExactNumber, reference: ExactNumber) -> Comparison:
        in_reference = reference.unit == "%"
        share, bare = (reference, answer) if in_reference else (answer, reference)
        return Comparison(
            same_percent(share.value, bare.value, in_reference, self.percent), "exact numbers"
        )

    def _judged(self, correct: bool, step: str, answer: str, mine: ParsedAnswer) -> Verdict:
        if correct and self.require_simplified and not _in_simplest_form(mine):
            return Verdict.wrong(Failure.FORMAT, answer=answer, message="not in simplest form")
        return Verdict.judged(correct, answer=answer, message=f"by {step}")


def _in_local_spelling(answer: str, gold: ParsedAnswer) -> bool:
    """1000,99 or 1.000,99 for 1000.99, where the reference says which number is meant."""
    if gold.number is None or ("," not in answer and not _GROUPING.search(answer)):
        return False
    return local_value(answer, pointed="." in gold.text) == gold.number.value


def _same_words(mine: ParsedAnswer, gold: ParsedAnswer) -> bool:
    """The same words, or a sentence whose subject they have."""
    if not (mine.words and gold.words and (gold.verbal or mine.verbal)):
        return False
    return mine.words == gold.words or predicate(mine.words) == gold.words


def _unread(mine: ParsedAnswer, gold: ParsedAnswer, other: tree.Node | None) -> Comparison:
    """The outcome for a side that the parser refuses."""
    if mine.foreign or (other is None and gold.foreign):
        return Comparison(None, "another reader is needed")
    if other is None and "\\" in gold.text and not gold.verbal:
        return Comparison(None, "the reference is not understood")
    return Comparison(False, f"the text: {mine.reason or gold.reason}")


def _in_simplest_form(mine: ParsedAnswer) -> bool:
    if mine.number is not None:
        return mine.number.reduced
    return mine.tree is None or simplest(mine.tree)


def _too_much(found: list[str], reference: str) -> Verdict | None:
    """The verdict on answers that are too long or too many, before any parsing."""
    longest = max(found, key=len)
    if len(longest) > LONGEST + len(reference):
        message = f"an answer of {len(longest):,} characters is too long to evaluate"
        return Verdict.wrong(Failure.TIMEOUT, answer=longest[:200], message=message)
    if len(found) > MOST_BOXES:
        message = f"{len(found)} different answers"
        return Verdict.wrong(Failure.WRONG, answer=found[-1], message=message)
    return None


def _several(gold: str) -> bool:
    return fallback.listed(read_answer(gold).text) or bool(_SEVERAL.search(gold))
