"""Functions, commands, roots, series and symbols."""

from __future__ import annotations

from fractions import Fraction

from rewardkit.verifiers.math.syntax.calculus_parser import CalculusParser
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Root,
    Sequence,
    Sum,
    Symbol,
    mapped,
    negative,
    nodes,
    reciprocal,
)
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError
from rewardkit.verifiers.math.syntax.words import BINOMIALS, FOREIGN, FRACTIONS, OVER, SUMS

_SEVERAL = range(1, 50)
ARITIES = {
    "log": range(1, 3),
    "mod": range(2, 3),
    "gcd": _SEVERAL,
    "lcm": _SEVERAL,
    "max": _SEVERAL,
    "min": _SEVERAL,
}
"""How many arguments functions of other than one take."""

HIGHEST_INDEX = 1000
"""Roots of a higher index are read as powers."""

FUNCTION_NAMES = frozenset("fghFGHPE")
"""Letters that mostly are functions before brackets."""
_I = Constant("i")


class FunctionParser(CalculusParser):
    """Reads what applies to arguments."""

    def symbol(self) -> Node:
        """A variable, a constant, or a function by a letter."""
        name = self.take().text
        if self.mark("_") is not None:
            name = f"{name}_{self.subscript()}"
        primes = 0
        while name.isidentifier() and self.peek.text == "'" and self.peek.kind == "mark":
            self.take()
            primes += 1
        if name in ("e", "i") and not primes:
            return Constant(name)
        if self.peek.text == "(" and not self.peek.spaced:
            if name in FUNCTION_NAMES and name != "E":
                return Call(f"{name}{chr(39) * primes}()", self.arguments())
            if name == "C":
                return self._choose()
            if (self.ahead(1).text, self.ahead(2).text) == ("0", ")"):
                return Call(f"{name}()", self.arguments())
        return Symbol(name + "'" * primes)

    def _choose(self) -> Node:
        """C(n, k); C before other brackets is a factor."""
        arguments = self.arguments()
        if len(arguments) == 2:
            return Call("binomial", arguments)
        return Product((Symbol("C"), *arguments))

    def command(self, command: str) -> Node:
        """A LaTeX command with its arguments."""
        if command in FRACTIONS:
            over = self.half()
            if isinstance(over, Symbol) and over.name in ("d", "partial"):
                raise UnreadableError("a derivative", foreign=True)
            return Product((over, reciprocal(self.half())))
        if command in SUMS:
            return self.series(SUMS[command])
        if command in (r"\int", r"\lim"):
            return self.integral() if command == r"\int" else self.limit()
        if command in BINOMIALS:
            over = self.half()
            return Call("binomial", (over, self.half()))
        if command in OVER:
            return self._accented(command)
        raise UnreadableError(f"the command {command}", foreign=command in FOREIGN)

    def _accented(self, command: str) -> Node:
        r"""A name with an accent, a segment \overline{AB}, or the conjugate of a number."""
        inner = self.argument()
        match inner:
            case Symbol(name) | Constant(("e" | "i") as name):
                return Symbol(f"{name}{command}")
            case Product(factors) if all(isinstance(factor, Symbol) for factor in factors):
                letters = "".join(factor.name for factor in factors if isinstance(factor, Symbol))
                return Symbol(f"{letters}{command}")
        if command == r"\overline" and _I in nodes(inner):
            return _conjugate(inner)
        raise UnreadableError(f"the command {command}")

    def root(self) -> Node:
        r"""What follows \sqrt, with its index."""
        index: Node = Number(Fraction(2))
        if self.mark("[") is not None:
            index = self.sum()
            self.expect("]")
        if isinstance(index, Number) and index.value in range(2, HIGHEST_INDEX):
            return Root(self.argument(), int(index.value))
        if isinstance(index, Number) and index.value < 1:
            raise UnreadableError("a root that is no whole number's")
        return Power(self.argument(), reciprocal(index))

    def function(self, name: str) -> Node:
        """A function with its power, its base and its argument."""
        if name in ("sqrt", "cbrt"):
            return self.root() if name == "sqrt" else Root(self.argument(), 3)
        base, power = None, None
        while (sign := self.mark("_^")) is not None:
            if sign == "_":
                base = self._base_of_logarithm()
            else:
                power = self.argument()
        return _applied(name, self._applied_to(), base, power)

    def _base_of_logarithm(self) -> Node:
        r"""A subscript: one digit where the others are the argument, as in \log_23."""
        if self.peek.kind != "number":
            return self.argument()
        following = self.ahead(1)
        applies = following.text in ("(", "{", r"\frac", "√", "[") or following.kind in (
            "number",
            "symbol",
        )
        return self.number() if applies or len(self.peek.text) == 1 else self.digit()

    def _applied_to(self) -> tuple[Node, ...]:
        if self.peek.text == "(" or (self.peek.text == "[" and self.peek.kind == "mark"):
            return self.arguments()
        if self.peek.text == "{":
            return (self.group(),)
        factors = [self.factor_after_operator()]
        while self.factor_follows() and self.peek.kind != "word" and self.peek.text != "(":
            if self.peek.kind == "number":
                raise UnreadableError("a number that follows without an operator")
            factors.append(self.factor())
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)

    def arguments(self) -> tuple[Node, ...]:
        """Arguments in brackets."""
        inner = self.enclosed(self.take().text)
        listed = isinstance(inner, Sequence) and inner.opening in ("(", "[")
        return inner.items if listed and isinstance(inner, Sequence) else (inner,)

    def subscript(self) -> str:
        """A variable's subscript, as written."""
        return self.take().text if self.mark("{") is None else self.until_brace()

    def until_brace(self) -> str:
        """Take everything up to and including the closing brace; return the text before it."""
        letters = []
        while self.peek.text not in ("}", ""):
            letters.append(self.take().text)
        self.expect("}")
        return "".join(letters)


def _applied(name: str, arguments: tuple[Node, ...], base: Node | None, power: Node | None) -> Node:
    if name == "cis":
        sine = Product((_I, Call("sin", arguments)))
        return Sum((Call("cos", arguments), sine))
    if base is not None:
        arguments = (*arguments, base)
    if len(arguments) not in ARITIES.get(name, range(1, 2)):
        raise UnreadableError(f"{len(arguments)} arguments of {name}")
    if isinstance(power, Number) and power.value == -1:
        return Call(f"arc{name}", arguments)
    call = Call(name, arguments)
    return call if power is None else Power(call, power)


def _conjugate(node: Node) -> Node:
    return negative(node) if node == _I else mapped(node, _conjugate)
