"""Whether two expressions are equal: exact rationals, then balls at random points."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from rewardkit.verifiers.math.numbers.balls import Ball, RealEvaluator, UndefinedError
from rewardkit.verifiers.math.numbers.bounds import SeparationBound, TranscendentalError
from rewardkit.verifiers.math.numbers.complex_balls import ComplexEvaluator
from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    Power,
    Root,
    nodes,
    symbols,
)

POINTS = 3
"""Random points at which both sides must agree, where agreement on an interval is enough."""

PIECEWISE_POINTS = 24
"""Points where they need not: |x − 3| and 3 − x agree on half the line."""

TRIED = 4
"""Times as many points are tried, since one side or both may have no value at some."""

AGREEMENT = 320
"""Bits to which values that are no algebraic numbers must agree, at least."""

MOST_WORK = 4_000_000
"""Bits of precision times nodes: some tens of milliseconds."""

NO_VALUE = "no value that can be worked out"
"""The step that found neither side to have one, such as 1/(1 − 1)."""

_LOOK = 96  # bits at which nearly all unequal pairs part
_NO_VALUE = (UndefinedError, ArithmeticError, ValueError, LookupError, AttributeError)
"""What evaluation raises where there is no value; acb lacks some of arb's functions."""

_lock = threading.Lock()  # the precision is the library's global state


@dataclass(frozen=True, slots=True)
class Outcome:
    """Equal or not, or None: undecided; and what decided it."""

    equal: bool | None
    step: str


def same_value(one: Node, other: Node) -> Outcome:
    """Compare two expressions. Unequal is proven; equal is proven at random points."""
    if one == other:
        return Outcome(True, "the same reading")
    names = sorted(symbols(one) | symbols(other))
    if not names:
        values = rational(one), rational(other)
        if None not in values:
            return Outcome(values[0] == values[1], "exact arithmetic")
    size = sum(1 for tree in (one, other) for _ in nodes(tree))
    with _lock:
        return _Comparison(one, other, names, size).run()


def compare_size(one: Node, other: Node) -> int | None:
    """-1, 0 or 1: `one` against `other`, both real and without symbols; None: undecided."""
    same = same_value(one, other)
    if same.equal is not False:
        return 0 if same.equal else None
    with _lock:
        import flint

        before = flint.ctx.prec
        for flint.ctx.prec in (_LOOK, 16 * _LOOK):
            with contextlib.suppress(*_NO_VALUE):
                evaluate = RealEvaluator({}, natural_log=False)
                gap = evaluate(one) - evaluate(other)
                if gap.is_finite() and not gap.contains(0):
                    flint.ctx.prec = before
                    return 1 if gap > 0 else -1
        flint.ctx.prec = before
    return None


class _Comparison:
    def __init__(self, one: Node, other: Node, names: list[str], size: int) -> None:
        import flint

        self.context = flint.ctx
        self.one, self.other = one, other
        self.names = names
        self.size = size
        parts = [*nodes(one), *nodes(other)]
        self.real = Constant("i") not in parts
        self.whole = any(map(_needs_whole_numbers, parts))
        self.natural_log = Constant("e") in parts or any(
            isinstance(part, Call) and part.name in ("ln", "exp") for part in parts
        )
        self.wanted = PIECEWISE_POINTS if any(map(_piecewise, parts)) else POINTS
        self.written = sum(map(_bits, parts))
        self.algebraic = True

    def run(self) -> Outcome:
        before = self.context.prec
        try:
            outcome = self._over(RealEvaluator) if self.real else None
            if outcome is None:
                outcome = self._over(ComplexEvaluator)
            return outcome or self._without_value()
        finally:
            self.context.prec = before

    def _without_value(self) -> Outcome:
        """Where one side alone can be worked out, the other is something else."""
        defined = [self._defined(side) for side in (self.one, self.other)]
        return Outcome(None if defined[0] == defined[1] else False, NO_VALUE)

    def _defined(self, side: Node) -> bool:
        self.context.prec = _LOOK
        for point in self._points():
            for evaluator in (RealEvaluator, ComplexEvaluator):
                with contextlib.suppress(*_NO_VALUE):
                    if evaluator(point, natural_log=self.natural_log)(side).is_finite():
                        return True
        return False

    def _over(self, evaluator: type[RealEvaluator]) -> Outcome | None:
        """The outcome over the reals or the complex numbers; None where they have no value."""
        agreed = 0
        for point in self._points():
            try:
                equal = self._at(evaluator, point)
            except _NO_VALUE:
                continue
            if equal is not True:
                step = "numbers with proven error bounds"
                return Outcome(equal, step if equal is False else "undecided by numbers")
            agreed += 1
            if agreed == (self.wanted if self.names else 1):
                how = "an exact zero test" if self.algebraic else f"{AGREEMENT} bits that agree"
                where = " at random points" if self.names else ""
                return Outcome(True, how + where)
        return None

    def _at(self, evaluator: type[RealEvaluator], point: Mapping[str, Fraction]) -> bool | None:
        self.context.prec = _LOOK
        evaluate = evaluator(point, natural_log=self.natural_log)
        one, other = evaluate(self.one), evaluate(self.other)
        if not (one.is_finite() and other.is_finite()):
            raise UndefinedError("not finite")
        if not (one - other).contains(0):
            return False
        return self._agree(evaluate, point)

    def _agree(self, evaluate: RealEvaluator, point: Mapping[str, Fraction]) -> bool | None:
        """Whether both sides are equal there, at a precision that settles it."""
        try:
            needed, size = SeparationBound(point).bits(self.one, self.other)
        except TranscendentalError:
            self.algebraic = False
            needed, size = AGREEMENT + 4.0 * self.written, _magnitude(evaluate(self.one))
        if not (needed + size + _LOOK) * self.size < MOST_WORK:
            return None
        self.context.prec = int(needed + size) + _LOOK
        one, other = evaluate(self.one), evaluate(self.other)
        gap = one - other
        if not gap.contains(0):
            return False
        limit = evaluate.flint.arb(2) ** -int(needed + 1)
        if not self.algebraic:
            scale = abs(one).lower()
            limit = limit * scale if 0 < scale < 1 else limit
        return True if abs(gap) < limit else self._wider(evaluate, limit)

    def _wider(self, evaluate: RealEvaluator, limit: object) -> bool | None:
        """Once more at twice the precision: cancellation had eaten it."""
        self.context.prec = 2 * self.context.prec + 512
        if self.context.prec * self.size > 2 * MOST_WORK:
            return None
        gap = evaluate(self.one) - evaluate(self.other)
        if not gap.contains(0):
            return False
        return True if abs(gap) < limit else None

    def _points(self) -> Iterator[Mapping[str, Fraction]]:
        if not self.names:
            yield {}
            return
        seed = repr(sorted(map(repr, (self.one, self.other))))
        digest = hashlib.blake2b(seed.encode(errors="replace")).digest()
        for index in range(TRIED * self.wanted):
            yield {name: self._drawn(digest, name, index) for name in self.names}

    def _drawn(self, seed: bytes, name: str, index: int) -> Fraction:
        """In (1, 2), in (-2, -1), in (-1, 1) or beyond, by turns; or a small whole number.

        Where functions have pieces each symbol takes its own turns, so that all orders occur,
        whole numbers, where floors jump, and far ones too.
        """
        data = hashlib.blake2b(seed + f"{name} {index}".encode(errors="replace")).digest()
        drawn = int.from_bytes(data[:4])
        if self.whole:
            return Fraction(2 + drawn % 29)
        unit = Fraction(drawn | 1, 2**32)
        if self.wanted == PIECEWISE_POINTS:
            whole = Fraction(drawn % 41 - 20)
            return (whole, unit - Fraction(1, 2), 20 * unit - 10, 200 * unit - 100)[data[4] % 4]
        return (unit + 1, -unit - 1, 2 * unit - 1, unit, 20 * unit - 10)[index % 5]


_OVER_WHOLE_NUMBERS = (
    "factorial",
    "doublefactorial",
    "binomial",
    "gcd",
    "lcm",
    "mod",
    "sum",
    "prod",
)


_PIECEWISE = (
    "abs",
    "floor",
    "ceil",
    "min",
    "max",
    "sgn",
    "mod",
    "arg",
    "Re",
    "Im",
    "arcsin",
    "arccos",
    "arctan",
    "arccot",
    "arcsec",
    "arccsc",
    "gcd",
    "lcm",
    "factorial",
    "binomial",
)


def _piecewise(node: Node) -> bool:
    """Whether a function of symbols is analytic in pieces only, real roots included."""
    match node:
        case Call(name, _):
            return name in _PIECEWISE and bool(symbols(node))
        case Root(radicand, _):
            return bool(symbols(radicand))
    return False


def _needs_whole_numbers(node: Node) -> bool:
    match node:
        case Call(name, _) if name in _OVER_WHOLE_NUMBERS:
            return bool(symbols(node))
        case Power(base, exponent):
            value = rational(base)
            return value is not None and value < 0 and bool(symbols(exponent))
    return False


def _magnitude(ball: Ball) -> float:
    """log2 of how large it may be, at least 0."""
    mantissa, exponent = abs(ball).upper().man_exp()
    return max(0.0, float(min(int(exponent) + int(mantissa).bit_length(), 10**12)))


def _bits(node: Node) -> float:
    """How much a number written in a tree may demand of the precision."""
    match node:
        case Number(value, _):
            return value.numerator.bit_length() + value.denominator.bit_length()
        case Power(_, exponent):
            raised = abs(rational(exponent) or Fraction(0))
            return float(raised) if raised < 1e9 else 1e9
    return 0.0


def _forget() -> None:
    """In a forked child the lock is free, whoever held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
