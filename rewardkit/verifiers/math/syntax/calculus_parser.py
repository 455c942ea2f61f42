"""Sums and products over an index, integrals, limits."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax.bracket_parser import BracketParser
from rewardkit.verifiers.math.syntax.tokens import Token
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    Product,
    Sum,
    Symbol,
    mapped,
    negative,
    reciprocal,
)
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

_ONE = Number(Fraction(1))
_I, _INDEX = Constant("i"), Symbol("index i")


class CalculusParser(BracketParser):
    """Reads what binds a variable."""

    def series(self, name: str) -> Node:
        r"""What \sum or \prod adds up or multiplies."""
        self.expect("_")
        self.expect("{")
        index = self.base()
        self.expect("=")
        low = self.sum()
        self.expect("}")
        self.expect("^")
        high = self.argument()
        if index == _I:
            return Call(name, (_with_index(self.product()), _INDEX, low, high))
        if not isinstance(index, Symbol):
            raise UnreadableError("a sum over no variable")
        return Call(name, (self.product(), index, low, high))

    def integral(self) -> Node:
        r"""What follows \int: two bounds, the integrand and dx."""
        if self.mark("_") is None:
            raise UnreadableError("an integral without bounds", foreign=True)
        low = self.argument()
        self.expect("^")
        high = self.argument()
        for place, token in enumerate(self.tokens[self.at :], self.at):
            if token.kind == "text" and token.text == "d":  # an upright d is no day here
                self.tokens[place] = Token("symbol", "d")
        integrand, variable = without_differential(self.sum())
        if variable is None:
            raise UnreadableError("an integral without a variable", foreign=True)
        return Call("integral", (integrand, variable, low, high))

    def limit(self) -> Node:
        r"""What follows \lim: the variable, where it goes, and the expression."""
        self.expect("_")
        self.expect("{")
        variable = self.base()
        self.expect("→")
        target = self._target_of_limit()
        side = self._side_of_limit()
        self.expect("}")
        if not isinstance(variable, Symbol):
            raise UnreadableError("a limit over no variable")
        return Call("limit", (self.product(), variable, target, side))

    def _target_of_limit(self) -> Node:
        """A value with a sign, or a quotient of two."""
        negated = self.mark("-") is not None
        target = self.base()
        if self.mark("/") is not None:
            target = Product((target, reciprocal(self.base())))
        return negative(target) if negated else target

    def _side_of_limit(self) -> Number:
        """1 or -1 for a limit from above or below, 0 from both sides."""
        if self.mark("^") is None:
            return Number(Fraction(0))
        braced = self.mark("{") is not None
        side = 1 if self.expect("+-") == "+" else -1
        if braced:
            self.expect("}")
        return Number(Fraction(side))


def _with_index(node: Node) -> Node:
    """The term of a sum over i, where i is no imaginary unit."""
    return _INDEX if node == _I else mapped(node, _with_index)


def without_differential(integrand: Node) -> tuple[Node, Symbol | None]:
    """The integrand without its dx, and x; None where there is no differential."""
    match integrand:
        case Product((*before, Symbol("d"), Symbol() as variable)):
            rest = tuple(before)
            return (rest[0] if len(rest) == 1 else Product(rest)) if rest else _ONE, variable
        case Product((Product() as over, *rest)):
            inner, name = without_differential(over)
            return Product((inner, *rest)), name
        case Sum((*terms, last)):
            inner, name = without_differential(last)
            return Sum((*terms, inner)), name
        case Product((*before, Call() as last)):
            inner, name = without_differential(last)
            return Product((*before, inner)), name
        case Call(function, (argument,)):  # \sin x dx reads as the sine of x dx
            inner, name = without_differential(argument)
            return Call(function, (inner,)), name
    return integrand, None
