"""Whether two expressions are equal: exact rationals or residues, then balls at sample points."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Literal

from rewardkit.verifiers.math import tree
from rewardkit.verifiers.math.numbers import balls
from rewardkit.verifiers.math.numbers.balls import NO_VALUE_ERRORS, ComplexEvaluator, RealEvaluator
from rewardkit.verifiers.math.numbers.breakpoints import SamplePoints
from rewardkit.verifiers.math.numbers.exact import (
    Point,
    load_flint,
    rational,
    same_rational_function,
)
from rewardkit.verifiers.math.tree import Node, nodes, symbols

POINTS = 3
"""Random points at which both sides must agree, where agreement on an interval is enough."""

PIECEWISE_POINTS = 6
"""Random points where formulas change, besides those between the breakpoints."""

TRIED = 16
"""Times as many points are tried, because a side may have no value at some points."""

AGREEMENT = 320
"""Bits to which values must agree, at least."""

MOST_WORK = 4_000_000
"""Bits of precision times nodes: some tens of milliseconds."""

UNDECIDED = "no step: undecided, so it counts as different"
"""The step where neither numbers nor sympy decide."""

NO_VALUE = "no value that can be worked out"
"""The step for two sides without a value, such as 1/(1 − 1)."""

_LOOK = 96  # precision in bits at which nearly all unequal pairs differ

_lock = threading.Lock()  # the precision is the library's global state


@dataclass(frozen=True, slots=True)
class MathComparison:
    """Equal or not, or None: undecided; and what decided it."""

    equal: bool | None
    step: str


def same_value(first: Node, second: Node) -> MathComparison:
    """Compare two expressions. Unequal is proven; equal is proven at random points."""
    if first == second:
        return MathComparison(True, "the same reading")
    parts = [*nodes(first), *nodes(second)]
    balls.take_steps(10 + len(parts))
    names = sorted({part.name for part in parts if isinstance(part, tree.Symbol)})
    if not names:
        values = rational(first), rational(second)
        if None not in values:
            return MathComparison(values[0] == values[1], "exact numbers")
    elif (same := same_rational_function(first, second)) is not None:
        return MathComparison(same, "an exact comparison of rational functions")
    handed_on = balls.steps_left.get() is not None  # what takes too long here goes to a worker
    try:
        with balls.StepsLimit(balls.MOST_STEPS), _lock:
            return _AtPoints(first, second, names, parts).run()
    except balls.StepsError:
        if handed_on:
            raise
        return MathComparison(None, UNDECIDED)


def compare_size(first: Node, second: Node) -> int | None:
    """-1, 0 or 1 as `first` is less, equal or greater, both real constants; None: undecided."""
    values = rational(first), rational(second)
    if values[0] is not None and values[1] is not None:
        return (values[0] > values[1]) - (values[0] < values[1])
    same = same_value(first, second)
    if same.equal is not False:
        return 0 if same.equal else None
    with precisely((first, second)) as evaluator, contextlib.suppress(*NO_VALUE_ERRORS):
        gap = evaluator({})(first) - evaluator({})(second)
        if gap.is_finite() and gap.imag.is_zero() and not gap.contains(0):
            return 1 if gap.real > 0 else -1
    return None


Evaluator = Callable[[Point], RealEvaluator]
"""What evaluates trees at a point."""


@contextlib.contextmanager
def precisely(parts: Iterable[Node]) -> Iterator[Evaluator]:
    """Work with balls of several times the bits that agreement takes."""
    inner = [part for node in parts for part in nodes(node)]
    kind = ComplexEvaluator if tree.Constant("i") in inner else RealEvaluator
    with _lock, load_flint().ctx.workprec(4 * AGREEMENT):
        yield partial(kind, natural_log=_is_natural(inner))


def agree(first: balls.Ball, second: balls.Ball) -> bool:
    """Whether two values are equal to 320 bits."""
    return bool(abs(first - second) < (1 + abs(first)) * 2.0**-AGREEMENT)


class _AtPoints:
    """Two expressions, compared by their values at points for their variables."""

    def __init__(self, first: Node, second: Node, names: list[str], parts: list[Node]) -> None:
        self.context = load_flint().ctx
        self.first, self.second = first, second
        self.names = names
        self.size = len(parts)
        self.real = tree.Constant("i") not in parts
        calls = {part.name for part in parts if isinstance(part, tree.Call)}
        self.limits = not calls.isdisjoint(_UNWORKED)
        self.natural_log = _is_natural(parts)
        self.folded = "abs" in calls and calls.isdisjoint(("log", "ln", "lg"))
        self.points = SamplePoints((first, second), names, parts, whole_numbers(first, second))
        self.wanted = (PIECEWISE_POINTS if self.points.changes else POINTS) if names else 1
        self.written = _bits(first) + _bits(second)
        self.defined = [False, False]

    def run(self) -> MathComparison:
        with self.context.workprec(_LOOK):
            found = self._over(RealEvaluator) if self.real else None
            found = found or self._over(ComplexEvaluator)
        # an integral, a limit or an infinite sum may have a value that is not worked out here
        differ = self.defined[0] != self.defined[1] and not self.limits
        return found or MathComparison(False if differ else None, NO_VALUE)

    def _over(self, evaluator: type[RealEvaluator]) -> MathComparison | None:
        """The outcome over the reals or the complex numbers; None where they have no value.

        Both sides must agree at random points, then between and beyond all breakpoints.
        """
        agreed, certain = 0, False  # at whole numbers both may agree by chance
        tried = self.points.draw(TRIED * self.wanted if self.names else 1)
        beyond = self.points.between()
        for points, where in ((tried, ""), (beyond, ", beyond a breakpoint")):
            for point in points:
                equal = self._equal_at(evaluator, point)
                if equal is None or equal is False:
                    proven = f"numbers with proven error bounds{where}"
                    return MathComparison(equal, UNDECIDED if equal is None else proven)
                agreed += equal is True
                certain |= equal is True and all(value.denominator > 1 for value in point.values())
                if not where and agreed == self.wanted:
                    break
            if not certain and agreed < self.wanted:
                return None
        where = " at sample points" if self.names else ""
        return MathComparison(True, f"{AGREEMENT} bits that agree{where}")

    def _equal_at(
        self, evaluator: type[RealEvaluator], point: Point
    ) -> bool | Literal["no value"] | None:
        self.context.prec = _LOOK
        evaluate = evaluator(point, natural_log=self.natural_log)
        try:
            first, second = (self._value(evaluate, side) for side in (self.first, self.second))
            self.defined[0] |= first is not None
            self.defined[1] |= second is not None
            if first is not None and second is not None:
                return (first - second).contains(0) and self._agree(evaluate, point)
            if first is not second and self.folded:  # √x² and |x| where x² < 0
                evaluate = ComplexEvaluator(point, natural_log=self.natural_log)
                if not (evaluate(self.first) - evaluate(self.second)).contains(0):
                    return False
            return "no value"
        except NO_VALUE_ERRORS:
            return "no value"

    def _value(self, evaluate: RealEvaluator, side: Node) -> balls.Ball | None:
        """The value of one side; None where it has none."""
        with contextlib.suppress(*NO_VALUE_ERRORS):
            value = evaluate(side)
            return value if value.is_finite() else None
        return None

    def _agree(self, evaluate: RealEvaluator, point: Point) -> bool | Literal["no value"] | None:
        """Whether both sides are equal there, at a precision that settles it.

        A value with too many digits, such as e^{e^x} at 20, counts as none where points can differ.
        """
        needed, size = AGREEMENT + 4.0 * self.written, _magnitude(evaluate(self.first))
        if not (needed + size + _LOOK) * self.size < MOST_WORK:
            return "no value" if self.names else None
        for times in (1, 4):  # the root of a ball round zero has fewer bits
            self.context.prec = times * (int(needed + size) + _LOOK)
            first, second = evaluate(self.first), evaluate(self.second)
            gap = first - second
            if not gap.contains(0):
                return False
            limit, scale = evaluate.flint.arb(2) ** -int(needed + 1), abs(first).lower()
            if abs(gap) < (limit * scale if 0 < scale < 1 else limit):
                return True
        return None


def _is_natural(parts: list[Node]) -> bool:
    """Whether log is the natural logarithm beside them."""
    calls = {part.name for part in parts if isinstance(part, tree.Call)}
    return tree.Constant("e") in parts or not calls.isdisjoint(("ln", "exp"))


def _magnitude(ball: balls.Ball) -> float:
    """log2 of how large it may be, at least 0."""
    mantissa, exponent = abs(ball).upper().man_exp()
    return max(0.0, float(min(int(exponent) + int(mantissa).bit_length(), 10**12)))


def _bits(node: Node) -> float:
    """How many bits the tree takes with its whole powers multiplied out, one for a letter."""
    match node:
        case tree.Number(value, _):
            return value.numerator.bit_length() + value.denominator.bit_length()
        case tree.Power(base, exponent):
            count = min(abs(rational(exponent) or Fraction(1)), Fraction(10**9))
            return _bits(base) * max(float(count), 1.0) + _bits(exponent)
        case tree.Symbol() | tree.Constant():
            return 1.0
    return sum(map(_bits, tree.children(node)))


_UNWORKED = ("integral", "limit", "derivative", "sum", "prod")
_WHOLE_ONLY = frozenset(("doublefactorial", "gcd", "lcm", "mod"))
_BY_GAMMA = frozenset(("factorial", "binomial"))
_COUNTERS = frozenset("jklmnpqrstKLMN")
"""Variables that stand for whole numbers by habit."""


def whole_numbers(first: Node, second: Node) -> frozenset[str]:
    """The variables that stand for whole numbers: both sides count with them, or one has to."""
    mine, theirs = ([*chain.from_iterable(map(_counting, nodes(side)))] for side in (first, second))
    both = {name for _, name in mine} & {name for _, name in theirs}
    alone = {
        name
        for way, name in (*mine, *theirs)
        if way == "whole" or (way == "sign" and name in _COUNTERS)
    }
    return frozenset(both | alone)


def _counting(node: Node) -> Iterator[tuple[str, str]]:
    """The variables under a factorial, in a bound or over a negative number, by which of them."""
    way, parts = "", list[Node]()
    match node:
        case tree.Call("sum" | "prod", (_, _, *parts)):
            way = "whole"
        case tree.Call(name, (*parts,)) if name in _WHOLE_ONLY or name in _BY_GAMMA:
            way = "whole" if name in _WHOLE_ONLY else "gamma"
        case tree.Power(base, exponent) if (rational(base) or 0) < 0:
            way, parts = "sign", [exponent]
    return ((way, name) for part in parts if way for name in symbols(part))


def _forget() -> None:
    """Free the lock in a forked child."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
