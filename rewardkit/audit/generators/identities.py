r"""Answers rewritten by random identities: pairs that are equal, and pairs that are not.

A rule gives one value in two spellings: `($a+$b)^2` and `$a^2+2$a$b+$b^2`. A mistake gives two
values that are easily confused: `($a+$b)^2` and `$a^2+$b^2`. Rules are put into each other
at random; an unequal pair has one mistake, or another number, somewhere. Every pair is worked out
in floating point, without the verifier, before it counts as equal or as unequal.
"""

from __future__ import annotations

import cmath
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import asin, cbrt, cos, exp, log, log2, log10, pi, sin, sqrt, tan
from operator import add, mul, neg, sub
from random import Random
from string import Template
from typing import NamedTuple

Pair = tuple[str, str]
Point = Mapping[str, float]
Number = complex | float

POINTS: Sequence[Point] = [
    dict(zip("xyz", values, strict=True))
    for values in ((1.37, 0.71, 2.13), (0.43, 1.91, 0.83), (-1.21, 0.57, -0.39), (2.7, -1.3, 1.1))
]
LARGEST, NEAR, FAR = 1e6, 1e-9, 1e-4


class Term(NamedTuple):
    """An expression as it is written, and its value at a point."""

    text: str
    value: Callable[[Point], Number]
    atom: bool = False

    @property
    def operand(self) -> str:
        """The text, in brackets where it may have several terms or factors."""
        return self.text if self.atom else f"({self.text})"


Twins = tuple[Term, Term]


class Rule(NamedTuple):
    """Two spellings of one value; with `other`, the value of the second one, a mistake.

    `$A` is the first operand, `$a` the same in brackets where it needs them.
    """

    one: str
    two: str
    value: Callable[..., Number]
    other: Callable[..., Number] | None = None

    def applied(self, operands: list[Twins]) -> Twins:
        """Both spellings with the operands' own spellings in them."""
        ones, twos = zip(*operands, strict=True)
        return _filled(self.one, self.value, ones), _filled(
            self.two, self.other or self.value, twos
        )


def _filled(text: str, value: Callable[..., Number], operands: Sequence[Term]) -> Term:
    texts = {name: term.operand for name, term in zip("abc", operands, strict=False)}
    plain = {name: term.text for name, term in zip("ABC", operands, strict=False)}
    return Term(
        Template(text).substitute(texts, **plain),
        lambda point: value(*(term.value(point) for term in operands)),
    )


def _values(terms: Twins) -> Iterator[tuple[Number, Number]]:
    """The values of both at the points where both have one."""
    for point in POINTS:
        try:
            first, other = (term.value(point) for term in terms)
        except (ArithmeticError, ValueError):
            continue
        if max(abs(first), abs(other)) < LARGEST:
            yield first, other


def equal(terms: Twins) -> bool | None:
    """Whether both have the same value wherever they have one; None where that isn't clear."""
    gaps = [abs(first - other) / max(1, abs(first), abs(other)) for first, other in _values(terms)]
    if not gaps or NEAR < max(gaps) < FAR:
        return None
    return max(gaps) <= NEAR


@dataclass(frozen=True)
class Grammar:
    """Expressions of one kind."""

    leaf: Callable[[Random], Twins]
    rules: Sequence[Rule]
    mistakes: Sequence[Rule]
    depth: int = 3

    def __call__(self, rng: Random, *, same: bool) -> Pair:
        """A pair that is equal, or one that is not, in any order."""
        first, other = self.twins(rng, same=same)
        return (first.text, other.text) if rng.random() < 0.5 else (other.text, first.text)

    def twins(self, rng: Random, *, same: bool) -> Twins:
        """The same with the values."""
        while True:
            terms = self._draw(rng, rng.randint(1, self.depth), same)
            if equal(terms) is same and terms[0].text != terms[1].text:
                return terms

    def _draw(self, rng: Random, depth: int, same: bool) -> Twins:
        if depth == 0:
            terms = self.leaf(rng)
            return terms if same else (terms[0], self.leaf(rng)[1])
        here = not same and rng.random() < 0.5
        rule = rng.choice(self.mistakes if here else self.rules)
        count = len(inspect.signature(rule.value).parameters)
        wrong = -1 if same or here else rng.randrange(count)
        depths = [rng.randrange(depth) for _ in range(count)]
        return rule.applied([self._draw(rng, d, place != wrong) for place, d in enumerate(depths)])


def spelled(rng: Random, value: Fraction) -> str:
    """A rational in one of its spellings."""
    over, under = value.numerator, value.denominator
    times = rng.choice((1, 1, 2, 3, 7))
    bars = rng.choice(
        (r"\frac{{{}}}{{{}}}", r"\dfrac{{{}}}{{{}}}", r"\tfrac {{{}}} {{{}}}", "{}/{}")
    )
    forms = [bars.format(over * times, under * times)]
    if under == 1:
        forms += [
            f"{over}",
            f"{over}",
            f"{over:,}".replace(",", "{,}"),
            f"{over}.0",
            rf"{over / 100:.2f}\cdot 10^2",
        ]
    if 10**6 % under == 0:
        forms.append(f"{float(value):.6f}".rstrip("0").rstrip("."))
    if under in (3, 9) and over > 0:
        forms.append(rf"{over // under}.\overline{{{over % under * 9 // under}}}")
    if over > under > 1:
        forms.append(rf"{over // under}\frac{{{over % under}}}{{{under}}}")
    return rng.choice(forms)


def _constant(rng: Random, value: Fraction) -> Twins:
    number = float(value)
    texts = (spelled(rng, value) for _ in range(2))
    return tuple(Term(text, lambda _: number, text.isdigit()) for text in texts)  # type: ignore[return-value]


def whole(rng: Random) -> Twins:
    """A whole number."""
    return _constant(rng, Fraction(rng.choice((rng.randint(1, 12), rng.randint(-20, 2000)))))


def rational(rng: Random) -> Twins:
    """A fraction."""
    return _constant(rng, Fraction(rng.randint(-30, 60), rng.randint(1, 12)))


def small(rng: Random) -> Twins:
    """A small positive whole number, always in digits."""
    value = rng.randint(1, 9)
    return (Term(str(value), lambda _: value, atom=True),) * 2


def letter(rng: Random) -> Twins:
    """A variable or, at times, a small number."""
    if rng.random() < 0.3:
        return small(rng)
    name = rng.choice("xyz")
    return (Term(name, lambda point: point[name], atom=True),) * 2


def _tangent(angle: float) -> float:
    if abs(cos(angle)) < NEAR:
        raise ZeroDivisionError
    return tan(angle)


def _exp(power: float) -> float:
    if abs(power) > 30:
        raise OverflowError
    return exp(power)


def _over(first: Number, other: Number) -> Number:
    if abs(other) < NEAR:
        raise ZeroDivisionError
    return first / other


def angle(rng: Random) -> Twins:
    """A variable, or a part of π."""
    if rng.random() < 0.6:
        return letter(rng)
    parts = rng.choice((2, 3, 4, 6))
    term, other = Term(rf"\frac{{\pi}}{{{parts}}}", lambda _: pi / parts), rf"\pi/{parts}"
    return term, term._replace(text=other)


def gaussian(rng: Random) -> Twins:
    """A complex number."""
    real, imaginary = rng.randint(-6, 6), rng.choice((-5, -3, -2, 2, 3, 4))
    sign = "+" if imaginary > 0 else "-"
    term = Term(f"{real}{sign}{abs(imaginary)}i", lambda _: complex(real, imaginary))
    other = f"{imaginary}i+{real}" if real >= 0 else f"{imaginary}i-{-real}"
    return term, term._replace(text=rng.choice((other, term.text)))


ARITHMETIC = [
    Rule("$a+$b", "$b+$a", add),
    Rule("$a-$b", "-$b+$a", sub),
    Rule("$a-$b", r"-\left($b-$a\right)", sub),
    Rule(r"$a\cdot $b", r"$b\times $a", mul),
    Rule("($a)($b)", "($b)*($a)", mul),
    Rule(r"$a\left($b+$c\right)", r"$a\cdot $b+$a\cdot $c", lambda a, b, c: a * (b + c)),
    Rule("($a+$b)^2", "$a^2+2($a)($b)+$b^{2}", lambda a, b: (a + b) ** 2),
    Rule("($a-$b)^2", r"$a^2-2\cdot $a\cdot $b+$b^2", lambda a, b: (a - b) ** 2),
    Rule("$a^2-$b^2", "($a-$b)($a+$b)", lambda a, b: a * a - b * b),
    Rule("$a^3", r"$a\cdot $a^{2}", lambda a: a**3),
    Rule("-$a", r"(-1)\cdot $a", neg),
    Rule("$a+$a", r"2\cdot $a", lambda a: 2 * a),
    Rule("($a+$b)+$c", "$a+($b+$c)", lambda a, b, c: a + b + c),
]
QUOTIENTS = [
    Rule(r"\frac{$A}{$B}", "$a/$b", _over),
    Rule(r"\frac{$A}{$B}", r"$a\div $b", _over),
    Rule(r"\dfrac{1}{$B}\cdot $a", r"\frac{$A}{$B}", _over),
    Rule(r"\frac{$A+$B}{$C}", r"\frac{$A}{$C}+\frac{$B}{$C}", lambda a, b, c: _over(a + b, c)),
    Rule(r"\frac{$A}{$b\cdot $c}", r"\frac{\frac{$A}{$B}}{$C}", lambda a, b, c: _over(a, b * c)),
    Rule(
        r"\frac{$A}{\frac{$B}{$C}}", r"\frac{$a\cdot $c}{$B}", lambda a, b, c: _over(a, _over(b, c))
    ),
    Rule(r"\frac{-$a}{$B}", r"-\frac{$A}{$B}", lambda a, b: _over(-a, b)),
    Rule("$a^{-1}", r"\frac1{$A}", lambda a: _over(1, a)),
    Rule(r"\frac{$A}{$B}+$c", r"\frac{$A+$b\cdot $c}{$B}", lambda a, b, c: _over(a, b) + c),
    Rule(r"\frac{$a^2-$b^2}{$A-$b}", "$a+$b", lambda a, b: _over(a * a - b * b, a - b)),
]
SLIPS = [
    Rule("$a-$b", "$b-$a", sub, lambda a, b: b - a),
    Rule("$a+$b", "$a-$b", add, sub),
    Rule("($a+$b)^2", "$a^2+$b^2", lambda a, b: (a + b) ** 2, lambda a, b: a * a + b * b),
    Rule("($a-$b)^2", "$a^2-$b^2", lambda a, b: (a - b) ** 2, lambda a, b: a * a - b * b),
    Rule("-($a-$b)", "-$a-$b", lambda a, b: b - a, lambda a, b: -a - b),
    Rule("$a($b+$c)", r"$a\cdot $b+$c", lambda a, b, c: a * (b + c), lambda a, b, c: a * b + c),
    Rule("$a^2", "2($a)", lambda a: a * a, lambda a: 2 * a),
    Rule("$a^3", "$a^2", lambda a: a**3, lambda a: a * a),
    Rule("-$a^2", "(-$a)^2", lambda a: -a * a, lambda a: a * a),
    Rule(r"$a\cdot $b", "$a+$b", mul, add),
]
FALSE_QUOTIENTS = [
    Rule(r"\frac{$A}{$B}", r"\frac{$B}{$A}", _over, lambda a, b: b / a),
    Rule(
        r"\frac{$A+$B}{$C}",
        r"$a+\frac{$B}{$C}",
        lambda a, b, c: _over(a + b, c),
        lambda a, b, c: a + b / c,
    ),
    Rule(
        r"\frac{1}{$A+$b}",
        r"\frac1{$A}+\frac1{$B}",
        lambda a, b: _over(1, a + b),
        lambda a, b: 1 / a + 1 / b,
    ),
    Rule("$a^{-1}", "-$a", lambda a: _over(1, a), neg),
    Rule(
        r"$a/($b\cdot $c)",
        r"$a/$b\cdot $c",
        lambda a, b, c: _over(a, b * c),
        lambda a, b, c: a / b * c,
    ),
]
ROOTS = [
    Rule(r"\sqrt{$a\cdot $b}", r"\sqrt{$A}\cdot\sqrt{$B}", lambda a, b: sqrt(a) * sqrt(b)),
    Rule(r"\sqrt{$A}", "$a^{1/2}", sqrt),
    Rule(r"\sqrt{$A}", "$a^{0.5}", sqrt),
    Rule(r"\frac{1}{\sqrt{$A}}", r"\frac{\sqrt{$A}}{$A}", lambda a: 1 / sqrt(a)),
    Rule(r"\sqrt{\frac{$A}{$B}}", r"\frac{\sqrt{$A}}{\sqrt{$B}}", lambda a, b: sqrt(a) / sqrt(b)),
    Rule(
        r"(\sqrt{$A}+\sqrt{$B})^2",
        r"$a+$b+2\sqrt{$a\cdot $b}",
        lambda a, b: (sqrt(a) + sqrt(b)) ** 2,
    ),
    Rule(
        r"\frac{1}{\sqrt{$A+1}+\sqrt{$A}}",
        r"\sqrt{$A+1}-\sqrt{$A}",
        lambda a: sqrt(a + 1) - sqrt(a),
    ),
    Rule(r"\sqrt[3]{$a^3\cdot $b}", r"$a\cdot\sqrt[3]{$B}", lambda a, b: a * cbrt(b)),
    Rule(r"\sqrt[3]{-$a}", r"-\sqrt[3]{$A}", lambda a: -cbrt(a)),
    Rule(r"\sqrt[4]{$A}", r"\sqrt{\sqrt{$A}}", lambda a: a**0.25 if a >= 0 else sqrt(a)),
]
FALSE_ROOTS = [
    Rule(
        r"\sqrt{$A+$B}",
        r"\sqrt{$A}+\sqrt{$B}",
        lambda a, b: sqrt(a + b),
        lambda a, b: sqrt(a) + sqrt(b),
    ),
    Rule(r"\sqrt{$a^2}", "$a", abs, lambda a: a),
    Rule(r"\sqrt[3]{$A}", r"3\sqrt{$A}", cbrt, lambda a: 3 * sqrt(a)),
    Rule(r"$a\sqrt{$B}", r"\sqrt{$a\cdot $b}", lambda a, b: a * sqrt(b), lambda a, b: sqrt(a * b)),
    Rule(r"\sqrt{$A}", "$a/2", sqrt, lambda a: a / 2),
    Rule(r"\sqrt{$A}", r"\sqrt[3]{$A}", sqrt, cbrt),
]
CIRCULAR = [
    Rule(r"\sin(2\cdot $a)", r"2\sin($A)\cos($A)", lambda a: sin(2 * a)),
    Rule(r"\cos(2\cdot $a)", r"1-2\sin^2($A)", lambda a: cos(2 * a)),
    Rule(r"\cos(2\cdot $a)", r"2\cos^{2}\left($A\right)-1", lambda a: cos(2 * a)),
    Rule(r"\tan($A)", r"\frac{\sin($A)}{\cos($A)}", _tangent),
    Rule(r"\sin(-$a)", r"-\sin $a", lambda a: -sin(a)),
    Rule(r"\cos(-$a)", r"\cos $a", cos),
    Rule(r"\sin($A+$b)", r"\sin($A)\cos($B)+\cos($A)\sin($B)", lambda a, b: sin(a + b)),
    Rule(r"\cos($A-$b)", r"\cos($A)\cos($B)+\sin($A)\sin($B)", lambda a, b: cos(a - b)),
    Rule(r"\sin\left(\frac{\pi}{2}-$a\right)", r"\cos($A)", cos),
    Rule(r"\sin(\pi-$a)", r"\sin($A)", sin),
    Rule(r"\sec^2($A)", r"1+\tan^2($A)", lambda a: 1 + _tangent(a) ** 2),
    Rule(r"$a\cdot(\sin^2($B)+\cos^2($B))", "$a", lambda a, b: a + 0 * b),
    Rule(r"\cot($A)", r"\frac{1}{\tan($A)}", lambda a: _over(1, _tangent(a))),
]
FALSE_CIRCULAR = [
    Rule(r"\sin(2\cdot $a)", r"2\sin($A)", lambda a: sin(2 * a), lambda a: 2 * sin(a)),
    Rule(r"\cos(-$a)", r"-\cos($A)", cos, lambda a: -cos(a)),
    Rule(
        r"\sin($A+$b)", r"\sin($A)+\sin($B)", lambda a, b: sin(a + b), lambda a, b: sin(a) + sin(b)
    ),
    Rule(r"\tan($A)", r"\frac{\cos($A)}{\sin($A)}", _tangent, lambda a: _over(1, _tangent(a))),
    Rule(r"\sin^2($A)", r"\sin($a^2)", lambda a: sin(a) ** 2, lambda a: sin(a * a)),
    Rule(r"\sin(\pi-$a)", r"-\sin($A)", sin, lambda a: -sin(a)),
    Rule(r"\arcsin($A)", r"\frac{1}{\sin($A)}", asin, lambda a: 1 / sin(a)),
    Rule(r"\cos(2\cdot $a)", r"2\sin^2($A)-1", lambda a: cos(2 * a), lambda a: -cos(2 * a)),
]
LOGARITHMS = [
    Rule(r"\ln($a\cdot $b)", r"\ln($A)+\ln($B)", lambda a, b: log(a) + log(b)),
    Rule(r"\ln\left(\frac{$A}{$B}\right)", r"\ln($A)-\ln($B)", lambda a, b: log(a) - log(b)),
    Rule(r"\ln($a^2)", r"2\ln($A)", lambda a: 2 * log(a)),
    Rule(r"\ln(e^{$A})", "$a", lambda a: a),
    Rule(r"e^{\ln($A)}", "$a", lambda a: _exp(log(a))),
    Rule("e^{$A+$b}", r"e^{$A}\cdot e^{$B}", lambda a, b: _exp(a + b)),
    Rule(r"\exp($A)", "e^{$A}", exp),
    Rule(r"\log_2($A)", r"\frac{\ln($A)}{\ln 2}", log2),
    Rule(r"\log_{3}(9\cdot $a)", r"2+\log_3($A)", lambda a: 2 + log(a, 3)),
    Rule("e^{-$a}", r"\frac1{e^{$A}}", lambda a: _exp(-a)),
    Rule(r"\log_{10}($A)", r"\lg($A)", log10),
    Rule(r"\ln\sqrt{$A}", r"\frac12\ln($A)", lambda a: log(a) / 2),
]
FALSE_LOGARITHMS = [
    Rule(r"\ln($A+$b)", r"\ln($A)+\ln($B)", lambda a, b: log(a + b), lambda a, b: log(a) + log(b)),
    Rule(
        r"\ln\left(\frac{$A}{$B}\right)",
        r"\frac{\ln($A)}{\ln($B)}",
        lambda a, b: log(a / b),
        lambda a, b: log(a) / log(b),
    ),
    Rule("e^{$A+$b}", "e^{$A}+e^{$B}", lambda a, b: _exp(a + b), lambda a, b: _exp(a) + _exp(b)),
    Rule(r"\ln^2($A)", r"2\ln($A)", lambda a: log(a) ** 2, lambda a: 2 * log(a)),
    Rule(r"\log_2($A)", r"\log_{10}($A)", log2, log10),
    Rule("e^{-$a}", "-e^{$A}", lambda a: _exp(-a), lambda a: -_exp(a)),
]
IMAGINARY = [
    Rule(r"$a\cdot\overline{$A}", "|$A|^2", lambda a: abs(a) ** 2),
    Rule(r"\frac{1}{$A}", r"\frac{\overline{$A}}{|$A|^2}", lambda a: _over(1, a)),
    Rule(r"\overline{$A+$b}", r"\overline{$A}+\overline{$B}", lambda a, b: (a + b).conjugate()),
    Rule(r"i\cdot $a", r"-\frac{$A}{i}", lambda a: 1j * a),
    Rule(r"$a\cdot i^7", r"-i\cdot $a", lambda a: -1j * a),
    Rule("-$a", r"e^{i\pi}\cdot $a", neg),
    Rule(
        r"$a\cdot e^{i\pi/3}",
        r"$a\left(\cos\frac{\pi}{3}+i\sin\frac{\pi}{3}\right)",
        lambda a: a * cmath.exp(1j * pi / 3),
    ),
]
FALSE_IMAGINARY = [
    Rule("$a", r"\overline{$A}", lambda a: a, lambda a: a.conjugate()),
    Rule("$a^2", "|$A|^2", lambda a: a * a, lambda a: abs(a) ** 2),
    Rule(r"i\cdot $a", r"\frac{$A}{i}", lambda a: 1j * a, lambda a: -1j * a),
]
MODULI = [
    Rule(r"|$a\cdot $b|", r"|$A|\cdot|$B|", lambda a, b: abs(a * b)),
    Rule(r"\sqrt{$a^2}", "|$A|", abs),
    Rule("|$A|^2", "|$a^2|", lambda a: abs(a) ** 2),
    Rule("|-$a|", "|$A|", abs),
    Rule(r"\left|\frac{$A}{$B}\right|", r"\frac{|$A|}{|$B|}", lambda a, b: abs(a / b)),
]
FALSE_MODULI = [
    Rule("|$A+$b|", "|$A|+|$B|", lambda a, b: abs(a + b), lambda a, b: abs(a) + abs(b)),
    Rule("|$A|", "$a", abs, lambda a: a),
]
SCALARS = {
    "moduli": Grammar(letter, ARITHMETIC[:5] + 2 * MODULI, SLIPS + 3 * FALSE_MODULI, depth=2),
    "numbers": Grammar(whole, ARITHMETIC, SLIPS),
    "fractions": Grammar(rational, ARITHMETIC + QUOTIENTS, SLIPS + FALSE_QUOTIENTS),
    "polynomials": Grammar(letter, ARITHMETIC, SLIPS),
    "quotients": Grammar(letter, ARITHMETIC + 2 * QUOTIENTS, SLIPS + FALSE_QUOTIENTS),
    "radicals": Grammar(small, ARITHMETIC + 2 * ROOTS + MODULI, SLIPS + 2 * FALSE_ROOTS),
    "roots": Grammar(letter, ARITHMETIC[:5] + 2 * ROOTS, SLIPS + 2 * FALSE_ROOTS, depth=2),
    "trigonometry": Grammar(angle, ARITHMETIC + 2 * CIRCULAR, SLIPS + 2 * FALSE_CIRCULAR),
    "logarithms": Grammar(letter, ARITHMETIC + 2 * LOGARITHMS, SLIPS + 2 * FALSE_LOGARITHMS),
    "complex": Grammar(
        gaussian,
        ARITHMETIC + QUOTIENTS + 3 * IMAGINARY + MODULI[:1],
        SLIPS + 3 * FALSE_IMAGINARY + FALSE_MODULI,
    ),
}


def equations(rng: Random, *, same: bool) -> Pair:
    """An equation, and the same one with both sides changed in the same way."""
    while True:
        left, right = SCALARS["polynomials"].twins(rng, same=same), letter(rng)
        gaps = [[_gap(left[n], right[n], point) for point in POINTS] for n in range(2)]
        pairs = pairwise(zip(*gaps, strict=True))
        crossed = [first * there - other * here for (first, other), (here, there) in pairs]
        certain = max(map(abs, crossed)) < NEAR if same else max(map(abs, crossed)) > FAR
        if certain and min(max(gap) - min(gap) for gap in gaps) > FAR:
            return _equation(rng, left[0].text, right[0].text), _equation(
                rng, left[1].text, right[1].text
            )


def _gap(first: Term, other: Term, point: Point) -> float:
    return (first.value(point) - other.value(point)).real


def _equation(rng: Random, left: str, right: str) -> str:
    if rng.random() < 0.5:
        left, right = right, left
    number = rng.randint(2, 9)
    return rng.choice(
        (
            f"{left}={right}",
            f"{number}({left})={number}({right})",
            f"{left}+{number}={number}+{right}",
            f"{left}-({right})=0",
            rf"0=\frac{{{left}-({right})}}{{{number}}}",
        )
    )


Interval = tuple[Fraction | None, bool, Fraction | None, bool]


def sets(rng: Random, *, same: bool) -> Pair:
    """Unions of intervals, as intervals, as inequalities, as a complement or in set-builder."""
    pieces = _pieces(rng)
    others = pieces
    while not same and others == pieces:
        place = rng.randrange(len(pieces))
        low, low_closed, high, high_closed = pieces[place]
        changed = rng.choice(
            (
                (low, low is not None and not low_closed, high, high_closed),
                (low, low_closed, high, high is not None and not high_closed),
                (low, low_closed, high and high - Fraction(1, 4), high_closed),
            )
        )
        others = [*pieces[:place], changed, *pieces[place + 1 :]]
    return _spelled_set(rng, pieces), _spelled_set(rng, others)


def _pieces(rng: Random) -> list[Interval]:
    """Disjoint intervals with a gap between each and the next one."""
    count = rng.randint(1, 3)
    ends: list[Fraction | None] = [
        Fraction(end, 2) for end in sorted(rng.sample(range(-18, 19), 2 * count))
    ]
    if rng.random() < 0.3:
        ends[0] = None
    if rng.random() < 0.3 and ends[0] is not None:
        ends[-1] = None
    closed = [end is not None and rng.random() < 0.5 for end in ends]
    return [(ends[n], closed[n], ends[n + 1], closed[n + 1]) for n in range(0, 2 * count, 2)]


def _spelled_set(rng: Random, pieces: list[Interval]) -> str:
    style = rng.randrange(5)
    if style == 4:
        return rf"\mathbb{{R}}\setminus\left({_union(rng, _outside(pieces))}\right)"
    if style < 2:
        return rng.choice(("", r"x\in ", r"x \in")) + _union(rng, pieces)
    conditions = [_inequality(rng, piece) for piece in pieces]
    rng.shuffle(conditions)
    joined = rng.choice((r"\text{ or }", " or ", r"\ \text{or}\ ")).join(conditions)
    builder = rng.choice(
        (r"\{{x \mid {}\}}", r"\left\{{x: {}\right\}}", r"\{{x\in\mathbb{{R}}|{}\}}")
    )
    return joined if style == 2 else builder.format(joined)


def _outside(pieces: list[Interval]) -> list[Interval]:
    """The complement of disjoint intervals in order."""
    found: list[Interval] = []
    low: Fraction | None = None
    closed = False
    for first, first_closed, last, last_closed in pieces:
        if first is not None:
            found.append((low, closed, first, not first_closed))
        low, closed = last, not last_closed
    return found if low is None and found else [*found, (low, closed, None, False)]


def _union(rng: Random, pieces: list[Interval]) -> str:
    parts: list[Interval] = []
    for low, low_closed, high, high_closed in pieces:
        if low is not None and high is not None and high - low > 1 and rng.random() < 0.3:
            cut = low + (high - low) / 2
            parts += [(low, low_closed, cut, True), (cut, rng.random() < 0.5, high, high_closed)]
        else:
            parts.append((low, low_closed, high, high_closed))
    rng.shuffle(parts)
    return rng.choice((r"\cup ", r" \cup", "∪")).join(_interval(rng, part) for part in parts)


def _interval(rng: Random, piece: Interval) -> str:
    low, low_closed, high, high_closed = piece
    size = rng.choice((("", ""), (r"\left", r"\right")))
    start = r"-\infty" if low is None else spelled(rng, low)
    end = r"\infty" if high is None else spelled(rng, high)
    return (
        f"{size[0]}{'[' if low_closed else '('}{start}, {end}{size[1]}{']' if high_closed else ')'}"
    )


def _inequality(rng: Random, piece: Interval) -> str:
    low, low_closed, high, high_closed = piece
    below, above = (r"\le" if closed else "<" for closed in (low_closed, high_closed))
    if low is None and high is None:
        return r"x\in\mathbb{R}"
    if low is None:
        return f"x{above} {spelled(rng, high or Fraction(0))}"
    if high is None:
        return f"{spelled(rng, low)}{below} x"
    if low_closed == high_closed and rng.random() < 0.3:
        middle, radius = (low + high) / 2, (high - low) / 2
        return rf"|x-({spelled(rng, middle)})|{above} {spelled(rng, radius)}"
    return f"{spelled(rng, low)}{below} x{above} {spelled(rng, high)}"


def lists(rng: Random, *, same: bool) -> Pair:
    """Several numbers in any order, as a list, a set, or the values of x."""
    values = [Fraction(n, rng.randint(1, 4)) for n in rng.sample(range(-40, 40), rng.randint(2, 5))]
    if len({*values}) < len(values):
        return lists(rng, same=same)
    others = rng.sample(values, len(values))
    if not same:
        others[0] += Fraction(rng.choice((-1, 1)), rng.randint(1, 3))
        if {*others} == {*values}:
            return lists(rng, same=same)
    return _spelled_list(rng, values), _spelled_list(rng, others)


def _spelled_list(rng: Random, values: list[Fraction]) -> str:
    items = [spelled(rng, value) for value in values]
    *most, last = items
    return rng.choice(
        (
            ", ".join(items),
            r"\{" + ", ".join(items) + r"\}",
            r"\left\{" + ",".join(items) + r"\right\}",
            rf"{', '.join(most)}\text{{ and }}{last}",
            r"\text{ or }".join(f"x={item}" for item in items),
            "x=" + ", ".join(items),
        )
    )


def _cells(rng: Random, count: int, *, same: bool) -> list[Twins]:
    grammar = rng.choice((SCALARS["fractions"], SCALARS["polynomials"]))
    shallow = Grammar(grammar.leaf, grammar.rules, grammar.mistakes, depth=1)
    wrong = -1 if same else rng.randrange(count)
    return [shallow.twins(rng, same=place != wrong) for place in range(count)]


def tuples(rng: Random, *, same: bool) -> Pair:
    """Coordinates, as a tuple, a vector or a column."""
    ones, others = zip(*_cells(rng, rng.randint(2, 3), same=same), strict=True)
    return _spelled_tuple(rng, ones), _spelled_tuple(rng, others)


def _spelled_tuple(rng: Random, cells: Sequence[Term]) -> str:
    texts = [cell.text for cell in cells]
    return rng.choice(
        (
            f"({', '.join(texts)})",
            rf"\left({','.join(texts)}\right)",
            rf"\langle {', '.join(texts)}\rangle",
            r"\begin{pmatrix}" + r"\\".join(texts) + r"\end{pmatrix}",
            r"\begin{bmatrix}" + r"\\ ".join(texts) + r"\end{bmatrix}",
        )
    )


def matrices(rng: Random, *, same: bool) -> Pair:
    """Matrices, also as a multiple, as a sum, or as a transpose."""
    size = rng.randint(2, 3)
    cells = _cells(rng, size * rng.randint(2, 3), same=same)
    first, other = ([row[n].text for row in cells] for n in range(2))
    return _spelled_matrix(rng, first, size), _spelled_matrix(rng, other, size)


def _spelled_matrix(rng: Random, cells: list[str], columns: int) -> str:
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    number = rng.randint(2, 9)
    return rng.choice(
        (
            _matrix(rng, rows),
            _matrix(rng, list(zip(*rows, strict=True))) + rng.choice(("^T", r"^{\top}", "^{T}")),
            rf"\frac1{number}"
            + _matrix(rng, [[f"{number}({cell})" for cell in row] for row in rows]),
            _matrix(rng, [[f"{cell}-{number}" for cell in row] for row in rows])
            + "+"
            + _matrix(rng, [[str(number)] * columns for _ in rows]),
        )
    )


def _matrix(rng: Random, rows: Sequence[Sequence[str]]) -> str:
    kind = rng.choice(("pmatrix", "bmatrix"))
    inside = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{{kind}}}{inside}\end{{{kind}}}"


GRAMMARS: dict[str, Callable[..., Pair]] = {
    **SCALARS,
    "equations": equations,
    "sets": sets,
    "lists": lists,
    "tuples": tuples,
    "matrices": matrices,
}
"""Each gives a pair for a source of random numbers, equal where `same`."""
