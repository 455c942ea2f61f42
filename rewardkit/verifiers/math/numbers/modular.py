"""Identities of polynomials and rational functions, decided modulo large primes.

A rational function that is zero at random points modulo primes of 127 and 107 bits is zero, but
for a chance of its degree in 2^234 (Schwartz 1980, Zippel 1979); one that is not is not. Powers
cost the length of their exponent, so (x - a)^6000 is never multiplied out.
"""

from __future__ import annotations

import random
from fractions import Fraction

from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.tree import Constant, Node, Number, Power, Product, Sum, Symbol

PRIMES = (2**127 - 1, 2**107 - 1)

LONGEST_EXPONENT = 64
"""Bits of the highest exponent, far from the primes' order."""

_draw = random.SystemRandom().getrandbits  # no text can be made to meet these points


class OpaqueError(Exception):
    """A part without a residue."""


def same_rational_function(one: Node, other: Node) -> bool | None:
    """Whether two expressions are one rational function of their variables; None: undecided.

    Parts of other kinds (roots, functions, π) count as variables of their own: equal is then
    proven, unequal is not.
    """
    opaque = False
    try:
        for prime in PRIMES:
            residue = _Residues(prime)
            if residue(one) != residue(other):
                return None if opaque or residue.opaque else False
            opaque = opaque or residue.opaque
    except (ArithmeticError, ValueError, OpaqueError):
        return None
    return True


class _Residues:
    """Values modulo a prime, variables and opaque parts drawn at random."""

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.opaque = False
        self.drawn: dict[Node, int] = {}

    def __call__(self, node: Node) -> int:
        match node:
            case Number(value, _):
                return self._fraction(value)
            case Symbol():
                return self._random(node)
            case Sum(terms):
                return sum(map(self, terms)) % self.prime
            case Product(factors):
                product = 1
                for factor in factors:
                    product = product * self(factor) % self.prime
                return product
            case Power(base, exponent):
                return self._power(node, base, exponent)
        return self._part(node)

    def _power(self, node: Node, base: Node, exponent: Node) -> int:
        value = rational(exponent)
        if value is None or value.denominator != 1:
            return self._part(node)
        if value.numerator.bit_length() > LONGEST_EXPONENT:
            raise OpaqueError
        residue = self(base)
        if residue == 0 and value <= 0:
            raise ZeroDivisionError
        return pow(residue, value.numerator, self.prime)

    def _part(self, node: Node) -> int:
        if node == Constant("i") or node == Constant("∞"):
            raise OpaqueError  # neither is independent of the numbers
        self.opaque = True
        return self._random(node)

    def _fraction(self, value: Fraction) -> int:
        if value.denominator == 1:
            return value.numerator % self.prime
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

    def _random(self, node: Node) -> int:
        if node not in self.drawn:
            self.drawn[node] = _draw(128) % self.prime
        return self.drawn[node]
