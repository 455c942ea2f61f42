"""The `math` verifier: reads the boxes, reads the reference, compares."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from typing import Any, Literal, TypeVar

from rewardkit.errors import Unavailable
from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.math import symbolic, tree
from rewardkit.verifiers.math.comparison import types
from rewardkit.verifiers.math.comparison.compare import compare
from rewardkit.verifiers.math.comparison.values import (
    Percent,
    Policy,
    Rounding,
    Units,
    looks_rounded,
)
from rewardkit.verifiers.math.extraction import Reading, answers, bare_reference
from rewardkit.verifiers.math.numbers import balls
from rewardkit.verifiers.math.numbers.equality import UNDECIDED, MathComparison
from rewardkit.verifiers.math.numbers.exact import load_flint, rational
from rewardkit.verifiers.math.parsed_answer import ParsedAnswer, notation, read_answer, states
from rewardkit.verifiers.math.spelling import repaired, unwrapped

Explanation = list[tuple[str, str]]
"""(label, value) pairs."""

LONGEST = 4_000
"""Maximum length in characters of an answer that is evaluated."""

MOST_BOXES = 16
"""Maximum number of different boxes to compare one by one; more are a list of guesses."""

_PLAIN = re.compile(
    r"\s*\$?\s*([-+]?[0-9]{1,18}(?:\.[0-9]{1,12})?|[-+]?[0-9]{1001,100000})\.?\s*\$?\s*"
)
_CONTENT = re.compile(r"[^\W_]|[\\∅]")
_CAPITALS = re.compile("⦃?[A-Z]{2,}(?:,[A-Z]{2,})*⦄?")
_OPTIONS = re.compile("[A-H](?:(?:,| and )?[A-H])+")
"""Letters of several options: AC, or A and C."""
_MISSING = re.compile(r"\bno ((?:real |integer |positive )+)")
_RUN = re.compile("[A-Z]+")
_SEVERAL = re.compile(r"\\pm(?![a-zA-Z])|±|(?<![a-zA-Z])(?:and|or)(?![a-zA-Z])")


MaybeVerdict = TypeVar("MaybeVerdict", bound=Verdict | None)


FLOAT_ERROR = 1e-12
"""The relative error by which a printed float may differ from the value that it stands for."""
_FLOAT = re.compile(r"\.[0-9]{12}")
_NOT_SIMPLE = "not in simplest form, which require_simplified asks for"


@dataclass(frozen=True)
class Math(Verifier):
    r"""Right when the last `\boxed{…}` is mathematically equal to the reference.

    `require_simplified` also asks for the simplest form: 2/4 is wrong against 0.5.
    `reading="flexible"` also reads a text without a box: the `<answer>` block, `####`, an announced
    answer, a conclusion at the end; "lenient" also the last formula and the last number, which is
    for evaluation only. Several boxes must all be right; with `boxes="last"` the last one counts.
    `thinking="strip"` reads nothing before the last `</think>`; "keep" reads it if nothing follows.
    `percent="unit"` treats a percent sign on one side only as a unit: 20% is right for 20 and for
    0.2; "exact" compares only values.
    `tolerance` is the relative error that a value may have; 0 allows none. None, the default,
    allows none either, except that an irrational answer matches a decimal reference that it
    rounds to (π matches 3.14).
    `rounding="reference"` also accepts an exact value that rounds to a decimal reference: 5/11 for
    0.455.
    `units="lenient"` compares units if both sides have one; "strict" requires one if the other side
    has one; "ignored" drops them.
    """

    reads = ("boxed",)
    for_evaluation = ("lenient",)

    require_simplified: bool = False
    reading: Reading = "boxed"
    boxes: Literal["all", "last"] = "all"
    tolerance: float | None = None
    units: Units = "lenient"
    percent: Percent = "unit"
    rounding: Rounding = "exact"
    thinking: Literal["strip", "keep"] = "strip"

    def __post_init__(self) -> None:
        if self.tolerance is not None and not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance is a relative error in [0, 1), not {self.tolerance}")

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict if it needs no symbolic engine and few steps, else None."""
        try:
            with balls.StepsLimit(balls.QUICK_STEPS):
                return self._judge(text, sample, self.compare_quick)
        except balls.StepsError:
            return None

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict, with the symbolic engines if nothing cheaper decides it."""
        return self._judge(text, sample, self.compare)

    def _judge(
        self, text: str, sample: Sample, compare_one: Callable[[str, str], MaybeVerdict]
    ) -> MaybeVerdict | Verdict:
        """Right if every different answer is right; else the verdict on the first wrong one."""
        read = self.read(text, sample.reference)
        if isinstance(read, Verdict):
            return read
        found, reference = read
        verdict = compare_one(found[0], reference)
        for answer in found[1:]:
            if verdict is not None and verdict.correct:
                verdict = compare_one(answer, reference)
        return verdict

    def explain(self, text: str, sample: Sample, /) -> Explanation:
        """Explain how the completion and the reference are read, in bounded time."""
        read = self.read(text, sample.reference)
        if isinstance(read, Verdict):
            return []
        answers, reference = read
        lines = [("answers", str(len(answers)))] if len(answers) > 1 else []
        for label, written in (
            *(("answer", answer) for answer in answers),
            ("reference", reference),
        ):
            lines += [(label, written), ("read as", _reading(read_answer(written)))]
        gold = read_answer(reference).tree
        if gold is None:
            return lines
        with contextlib.suppress(balls.StepsError), balls.StepsLimit(balls.QUICK_STEPS):
            lines += _typed([read_answer(answer).tree for answer in answers], gold)
        return lines

    def notes(self, sample: Sample, /) -> list[str]:
        """Remark on damaged LaTeX, and on a decimal that looks rounded while values are exact."""
        bare = bare_reference(sample.reference)
        damaged = repaired(sample.reference) != sample.reference
        found = ["the LaTeX is damaged and read as repaired"] * damaged
        node = read_answer(bare).tree
        if node is not None and self.rounding == "exact" and looks_rounded(node):
            found.append("looks rounded; rounding='reference' accepts what rounds to it")
        return found

    def prepare(self) -> None:
        """Load the engines."""
        with contextlib.suppress(Unavailable):  # most answers need no flint
            load_flint()
            Math()(r"\boxed{\int_0^1 3n^2\,dn}", Sample("2"))  # a first integral imports a lot

    def compare_quick(self, answer: str, reference: str) -> Verdict | None:
        """Compare an extracted answer with a reference in bounded time; None: undecided."""
        known = self._plain(answer, reference) or _too_much([answer], reference)
        if known is not None:
            return known
        gold = read_answer(reference)
        if not gold.readable:
            return Verdict.unjudged(f"the reference {reference!r} can't be read", answer=answer)
        mine = read_answer(answer)
        if not mine.text:
            return Verdict.wrong(Failure.NO_ANSWER, message="the box is empty")
        found = self.compare_parsed(mine, gold, answer)
        if not found.equal and not gold.meaningful:
            message = f"the reference {reference!r} can't be read: {gold.reason}"
            return Verdict.unjudged(message, answer=answer)
        if found.equal is None:
            return None
        return self._judged(found.equal, found.step + self._nearly(mine, gold), answer, mine)

    def compare(self, answer: str, reference: str) -> Verdict:
        """Compare an extracted answer with a reference; only a deadline bounds the time."""
        if (quick := self.compare_quick(answer, reference)) is not None:
            return quick
        mine, gold = read_answer(answer), read_answer(reference)
        first, second = mine.tree, gold.tree
        same = None if first is None or second is None else symbolic.equal_by_sympy(first, second)
        return self._judged(bool(same), UNDECIDED if same is None else "sympy", answer, mine)

    def compare_parsed(self, mine: ParsedAnswer, gold: ParsedAnswer, answer: str) -> MathComparison:
        """Whether the answer equals the reference, and the step that decided it."""
        if gold.option and mine.option and gold.option != mine.option:
            return MathComparison(False, "another option's letter")
        same_kind = type(mine.tree) is type(gold.tree)  # 1, 048 isn't 1{,}048
        if mine.text == gold.text and same_kind and (gold.tree is None or self.units != "strict"):
            return MathComparison(True, "the same text")
        if _same_words(mine, gold):
            return MathComparison(True, "the same words")
        missing = [_MISSING.findall(side.words) for side in (mine, gold)]
        if all(missing) and missing[0] != missing[1]:
            return MathComparison(False, "solutions of another kind")
        if _CAPITALS.fullmatch(mine.text) and _CAPITALS.fullmatch(gold.text):
            words, theirs = (sorted(_RUN.findall(side.text)) for side in (mine, gold))
            return MathComparison(words == theirs, "words of capital letters")
        if _OPTIONS.fullmatch(mine.text) and _OPTIONS.fullmatch(gold.text):
            chosen = [{*_RUN.findall(" ".join(side.text))} for side in (mine, gold)]
            if chosen[0] == chosen[1] and not mine.text.isalpha() & gold.text.isalpha():
                return MathComparison(True, "the letters of options")
        if isinstance(gold.tree, (tree.Symbol, tree.Text)) and states_letter(answer, gold.text):
            return MathComparison(True, "the option's letter")
        label = _LABEL.fullmatch(unwrapped(answer)) if gold.option else None
        if label and gold.option in label.groups() and not _ANOTHER.search(gold.text):
            return MathComparison(True, "the option's letter")
        if _in_local_spelling(answer, gold):
            return MathComparison(True, "exact numbers, in the spelling of a locale")
        first, second = mine.tree, gold.tree
        if first is None or second is None:
            return MathComparison(False, f"the text: {mine.reason or gold.reason}")
        return compare(
            first, second, Policy(self.tolerance, self.units, self.percent, self.rounding)
        )

    def read(self, text: str, reference: str) -> tuple[list[str], str] | Verdict:
        """Extract the different answers, last first, and the reference; or give a verdict."""
        gold = bare_reference(reference)
        if not _CONTENT.search(gold):
            return Verdict.unjudged(f"the reference {reference!r} can't be read")
        found = list(dict.fromkeys(answers(text, self.reading, self.thinking, gold)))
        found = found[-1:] if self.boxes == "last" else found
        if not found:
            return Verdict.wrong(Failure.NO_ANSWER, message=r"there is no complete \boxed{…}")
        if (too_much := _too_much(found, gold)) is not None or len(found) == 1:
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
        if not same and (self.rounding == "reference" or _FLOAT.search(answer + reference)):
            return None
        return Verdict.judged(same, answer=answer, message="by exact numbers")

    def _nearly(self, mine: ParsedAnswer, gold: ParsedAnswer) -> str:
        """What to set if the two differ only as a float differs from what it stands for."""
        if self.tolerance is not None or mine.tree is None or gold.tree is None:
            return ""
        if mine.text == gold.text or not _FLOAT.search(f"{mine.text} {gold.text}"):
            return ""
        policy = Policy(FLOAT_ERROR, self.units, self.percent, self.rounding)
        exact = Policy(None, self.units, self.percent, self.rounding)
        accepted = compare(mine.tree, gold.tree, policy).equal
        if not accepted or compare(mine.tree, gold.tree, exact).equal:
            return ""
        return f"; the difference is a float's, which tolerance={FLOAT_ERROR:g} accepts"

    def _judged(self, correct: bool, step: str, answer: str, mine: ParsedAnswer) -> Verdict:
        if correct and self.require_simplified and mine.tree and not simplest(mine.tree):
            return Verdict.wrong(Failure.FORMAT, answer=answer, message=_NOT_SIMPLE)
        return Verdict.judged(correct, answer=answer, message=f"by {step}")


def _in_local_spelling(answer: str, gold: ParsedAnswer) -> bool:
    """1000,99 or 1.000,99 for 1000.99, 12,34,567 for 1234567: the reference tells what is meant."""
    bare, value = answer.strip(" $"), ""
    grouped = _GROUPED.fullmatch(bare)
    if "." in gold.text and _COMMA.fullmatch(bare):
        value = bare.replace(",", ".")
    elif grouped and (
        grouped["places"] or grouped["mark"] in "'’" or bare.count(grouped["mark"]) > 1
    ):
        value = re.sub("[^-0-9]", "", grouped[1]) + f".{grouped['places'] or 0}"
    return bool(value) and gold.tree is not None and Fraction(value) == rational(gold.tree)


def _same_words(mine: ParsedAnswer, gold: ParsedAnswer) -> bool:
    meant = notation(gold.text)
    if meant is not None and meant == notation(mine.text):
        return True
    if not gold.meaningful and mine.text.casefold() == gold.text.casefold():
        return True
    if not (mine.words and gold.words and (gold.verbal or mine.verbal)):
        return False
    return mine.words == gold.words or states(mine, gold.words)


def _too_much(found: list[str], reference: str) -> Verdict | None:
    longest = max(found, key=len)
    if len(longest) > LONGEST + len(reference):
        message = f"an answer of {len(longest):,} characters is too long to evaluate"
        return Verdict.wrong(Failure.TIMEOUT, answer=longest[:200], message=message)
    if len(found) > MOST_BOXES:
        message = f"{len(found)} different answers"
        return Verdict.wrong(Failure.WRONG, answer=found[-1], message=message)
    return None


def _several(gold: str) -> bool:
    node = read_answer(gold).tree
    listed = isinstance(node, tree.Sequence) and node.opening in ("", "⦃") and len(node.items) > 1
    return listed or bool(_SEVERAL.search(gold))


_COMMA = re.compile(r"-?[0-9]{1,12},[0-9]{1,12}")
_GROUPED = re.compile(
    r"(-?[0-9]{1,3}(?P<mark>[.,'’_ \u00a0\u202f])(?:[0-9]{3}(?P=mark)|[0-9]{2}(?P=mark)(?<=,)){0,5}"
    r"[0-9]{3})(?:(?!(?P=mark))[.,](?P<places>[0-9]{1,12}))?"
)


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
    letter, plain = _LETTER.fullmatch(unwrapped(reference)), unwrapped(answer)
    label = _LABEL.match(plain)
    if letter is None or label is None or _ANOTHER.search(plain, label.end()):
        return False
    return (label[1] or label[2]) == letter[1]


def simplest(node: tree.Node) -> bool:
    """No constant that could be worked out, no fraction to reduce, no square under a root."""
    if isinstance(node, (tree.Sequence, tree.Relation, tree.Quantity)):
        return all(map(simplest, tree.children(node)))
    if rational(node) is not None:
        return _plain_number(node)
    return not any(map(_reducible, tree.nodes(node)))


def _plain_number(node: tree.Node) -> bool:
    match node:
        case tree.Number():
            return True
        case tree.Product((tree.Number(sign), inner)) if sign == -1:
            return _plain_number(inner)
        case tree.Product((tree.Number(over), tree.Power(tree.Number(under), tree.Number(minus)))):
            whole = over.denominator == under.denominator == 1
            return minus == -1 and whole and under > 1 and (over / under).denominator == under
        case tree.Sum((tree.Number(whole), tree.Number(part))):
            return whole.denominator == 1 and 0 < part < 1
    return False


def _reducible(node: tree.Node) -> bool:
    match node:
        case tree.Power(radicand, tree.Number(exponent)) if exponent.denominator > 1:
            return _power_inside(radicand, exponent.denominator)
        case tree.Sum(terms):
            return sum(rational(term) is not None for term in terms) > 1
        case tree.Product(factors):
            values = [rational(factor) for factor in factors]
            return None not in values and not _plain_number(node)
        case tree.Power(tree.Number(), exponent):
            return exponent != tree.MINUS_ONE and rational(node) is not None
    return False


def _power_inside(radicand: tree.Node, index: int) -> bool:
    value = rational(radicand)
    if value is None or value.denominator > 1 or abs(value) < 2:
        return value is not None
    return any(value % (base**index) == 0 for base in range(2, 100) if base**index <= abs(value))


def _typed(answers: list[tree.Node | None], gold: tree.Node) -> Explanation:
    wanted = types.read_type(gold)
    lines = [("type", f"the reference is {wanted}")]
    for answer in answers:
        if answer is None:
            continue
        mine, theirs = types.read_as(types.in_letters_of(answer, gold), gold)
        other = types.kind_of(mine) != types.kind_of(theirs)
        lines.append(("compared as", spelled(mine) + f", which is {types.read_type(mine)}" * other))
    return lines


def _reading(parsed: ParsedAnswer) -> str:
    if parsed.tree is None:
        return f"text, because it can't be read: {parsed.reason or 'nothing is there'}"
    number = f"the number {rational(parsed.tree)}"
    return number if _plain_number(parsed.tree) else spelled(parsed.tree)


def spelled(node: tree.Node) -> str:
    """The tree as one line; sums inside products and the like stand in brackets."""
    return _FORMS[type(node)](node)


_UNITS = {"angle": "°", "share": "%", "dollar": "$"}
_ATOMS = (tree.Symbol, tree.Constant, tree.Call, tree.Sequence, tree.Matrix)


def _tight(node: tree.Node) -> str:
    whole = isinstance(node, tree.Number) and node.value.denominator == 1 and node.value >= 0
    text = spelled(node)
    root = isinstance(node, tree.Power) and text.lstrip("0123456789").startswith("√")
    return text if whole or root or isinstance(node, _ATOMS) else f"({text})"


def _power(node: tree.Power) -> str:
    match node.exponent:
        case tree.Number(exponent) if exponent.denominator > 1 and exponent.numerator == 1:
            return f"{str(exponent.denominator).removeprefix('2')}√({spelled(node.base)})"
    return f"{_tight(node.base)}^{_tight(node.exponent)}"


def _product(node: tree.Product) -> str:
    text = ""
    for factor in node.factors:
        match factor:
            case tree.Power(base, tree.MINUS_ONE):
                text = f"{text or 1}/{_tight(base)}"
            case _:
                text += f"{'·' * bool(text)}{_tight(factor)}"
    return text.replace("(-1)·", "-")


def _quantity(node: tree.Quantity) -> str:
    units = "·".join(
        _UNITS.get(name, name) + f"^{power}" * (power != 1) for name, power in node.kind
    )
    scale = "" if node.factor == 1 or units == "%" else f" (× {node.factor})"
    return f"{_tight(node.value)} {units}{scale}"


def _listed(node: tree.Sequence) -> str:
    between = ", " if node.joint == "," else f" {node.joint} "
    inner = between.join(map(spelled, node.items))
    bracketed = f"{node.opening}{inner}{node.closing}".replace("⦃", "{").replace("⦄", "}")
    return bracketed if node.opening else f"list {inner}"


def _relation(node: tree.Relation) -> str:
    first, *others = ("…" if side is None else spelled(side) for side in node.sides)
    pairs = zip(node.operators, others, strict=True)
    return first + "".join(f" {operator} {side}" for operator, side in pairs)


_FORMS: dict[type[tree.Node], Callable[[Any], str]] = {
    tree.Number: lambda node: str(node.value),
    tree.Symbol: attrgetter("name"),
    tree.Constant: attrgetter("name"),
    tree.Sum: lambda node: " + ".join(map(spelled, node.terms)).replace("+ -", "- "),
    tree.Product: _product,
    tree.Power: _power,
    tree.Call: lambda node: f"{node.name.removesuffix('()')}({_commas(node.arguments)})",
    tree.PlusMinus: lambda node: f"{'±' if node.upper else '∓'}{_tight(node.term)}",
    tree.Sequence: _listed,
    tree.SetOperation: lambda n: f"{spelled(n.left)} {n.operator} {spelled(n.right)}",
    tree.NumberSet: attrgetter("name"),
    tree.Relation: _relation,
    tree.Matrix: lambda node: f"[{'; '.join(map(_commas, node.rows))}]",
    tree.Quantity: _quantity,
    tree.Numeral: lambda node: f"{node.digits} in base {node.base}",
    tree.Ratio: lambda node: " : ".join(map(spelled, node.terms)),
    tree.Clock: lambda node: f"{node.hour}:{node.minute:02}",
    tree.Text: lambda node: f'the words "{node.words}"',
}


def _commas(nodes: tuple[tree.Node, ...]) -> str:
    return ", ".join(map(spelled, nodes))
