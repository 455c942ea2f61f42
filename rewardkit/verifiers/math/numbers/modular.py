"""Identities of polynomials and rational functions, decided modulo large primes.

A polynomial that is zero at random points modulo primes of 127 and 107 bits is zero, but for a
chance of its degree in 2^234 (Schwartz 1980, Zippel 1979); powers cost their exponent's length.
So (x - a)^6000 is compared with (a - x)^6000 without being multiplied out.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

from rewardkit.verifiers.math.numbers.rational import rational
from rewardkit.verifiers.math.syntax.tree import Constant, Node, Number, Power, Product, Sum, Symbol

PRIMES = (2**127 - 1, 2**107 - 1)

LONGEST_EXPONENT = 64
"""Bits of the highest exponent, far from the primes' order."""


class OpaqueError(Exception):
    """A part that is no rational function of others, where the two sides differ."""


def same_rational_function(one: Node, other: Node) -> bool | None:
    """Whether two expressions are one rational function of their variables; None: undecided.

    Parts of other kinds (roots, functions, π) count as variables of their own: equal is then
    proven, unequal is not.
    """
    opaque = False
    try:
        for prime in PRIMES:
            evaluate = _Residues(prime)
            if evaluate(one) != evaluate(other):
                return None if opaque or evaluate.opaque else False
            opaque = opaque or evaluate.opaque
    except (ArithmeticError, ValueError, OpaqueError):
        return None
    return True


class _Residues:
    """Values modulo a prime, variables drawn at random by their names."""

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.opaque = False

    def __call__(self, node: Node) -> int:
        match node:
            case Number(value, _):
                return self._fraction(value)
            case Symbol(name):
                return self._drawn(f"symbol {name}")
            case Sum(terms):
                return sum(map(self, terms)) % self.prime
            case Product(factors):
                product = 1
                for factor in factors:
                    product = product * self(factor) % self.prime
                return product
            case Power(base, exponent):
                return self._power(base, exponent)
        return self._part(node)

    def _power(self, base: Node, exponent: Node) -> int:
        value = rational(exponent)
        if value is None or value.denominator != 1:
            return self._part(Power(base, exponent))
        if value.numerator.bit_length() > LONGEST_EXPONENT:
            raise OpaqueError
        residue = self(base)
        if value < 0 and residue == 0:
            raise ZeroDivisionError
        return pow(residue, int(value), self.prime)

    def _part(self, node: Node) -> int:
        if node == Constant("i"):
            raise OpaqueError  # its square is a number
        self.opaque = True
        return self._drawn(repr(node))

    def _fraction(self, value: Fraction) -> int:
        if value.denominator == 1:
            return value.numerator % self.prime
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

    def _drawn(self, name: str) -> int:
        digest = hashlib.blake2b(f"{self.prime} {name}".encode(errors="replace")).digest()
        return int.from_bytes(digest[:32]) % self.prime
