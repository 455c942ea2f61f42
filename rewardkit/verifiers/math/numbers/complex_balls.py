"""Trees evaluated over the complex numbers."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.numbers.balls import LARGEST, Ball, RealEvaluator, UndefinedError


class ComplexEvaluator(RealEvaluator):
    """Values over the complex numbers; roots and logarithms are the principal ones."""

    def number(self, value: Fraction) -> Ball:
        """The ball round a rational."""
        return self.flint.acb(super().number(value))

    def constant(self, name: str) -> Ball:
        """π, e or i."""
        return self.flint.acb(0, 1) if name == "i" else self.flint.acb(super().constant(name))

    def root(self, value: Ball, index: int) -> Ball:
        """The principal root; the real one of a negative number where the index is odd."""
        if value.imag.is_zero():
            if value.real >= 0 or index % 2:
                return self.flint.acb(super().root(value.real, index))
            if index == 2:
                return self.flint.acb(0, (-value.real).sqrt())
        return value.sqrt() if index == 2 else self.exp(self.log(value) / index)

    def exp(self, value: Ball) -> Ball:
        """e to the value."""
        if not abs(value) < LARGEST:
            raise UndefinedError("an exponential too large")
        return value.exp()

    def log(self, value: Ball) -> Ball:
        """The principal logarithm."""
        if value.contains(0):
            raise UndefinedError("the logarithm of zero")
        return value.log()

    def gamma(self, value: Ball) -> Ball:
        """(value - 1)!"""
        if not value.imag.is_zero():
            raise UndefinedError("a factorial of that number")
        return self.flint.acb(super().gamma(value.real))

    def whole(self, value: Ball, name: str) -> Ball:
        """The whole number below or above a real number."""
        if not value.imag.is_zero():
            raise UndefinedError("the whole part of a complex number")
        return self.flint.acb(super().whole(value.real, name))

    def matrix(self, rows: list[list[Ball]]) -> Ball:
        """The determinant."""
        return self.flint.acb_mat(rows).det()
