"""Whole answers: lists, tuples, sets, intervals, relations, functions, matrices."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax import units
from rewardkit.verifiers.math.syntax.expression_parser import ExpressionParser
from rewardkit.verifiers.math.syntax.tokens import UnreadableError, tokens
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Matrix,
    Node,
    Number,
    NumberSet,
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
)
from rewardkit.verifiers.math.syntax.words import HEDGES, MODULO

RELATIONS = "=≠<>≤≥∈∉≈≡⊂→"
_CLOSERS = {"(": ")]", "[": "])", "⦃": "⦄", "{": "}", "⟨": "⟩>"}
_SYNONYMS = {
    "all real numbers": NumberSet("R"),
    "all reals": NumberSet("R"),
    "no solution": NumberSet("∅"),
    "no solutions": NumberSet("∅"),
    "no real solutions": NumberSet("∅"),
    "reals": NumberSet("R"),
    "empty set": NumberSet("∅"),
}
_MOST_CELLS = 100
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


def read(text: str) -> Node:
    """The answer `text` as a tree; raises UnreadableError where it is none that we read."""
    return AnswerParser(tokens(text)).answer()


class AnswerParser(ExpressionParser):
    """Reads what stands above sums: relations, sets, sequences."""

    def answer(self) -> Node:
        """All of the tokens as one answer."""
        if len(self.tokens) > 1 and self.tokens[-1].text in (".", ",", ";"):
            self.tokens.pop()
        words = self._leading_words()
        if self.at == len(self.tokens):
            if not words:
                raise UnreadableError("nothing")
            return _SYNONYMS.get(words, Text(words))
        node = self.listing()
        if self.at < len(self.tokens):
            raise UnreadableError(f"{self.peek.text!r} at a place where nothing should stand")
        return node

    def _leading_words(self) -> str:
        """The words that stand first: a label where mathematics follows."""
        words = " ".join(self._texts()).lower()
        plain = " ".join(words.split()).strip(".,:;!")
        if self.at < len(self.tokens):
            if not set(plain.replace(",", " ").split()).isdisjoint(HEDGES):
                raise UnreadableError(f"the words {plain!r}")
            if plain:
                self.mark("=:")
        return plain

    def _texts(self) -> list[str]:
        found = []
        while self.peek.kind == "text":
            found.append(self.take().text)
        return found

    def listing(self) -> Node:
        """Clauses with commas, and, or between."""
        items = [self.clause()]
        joint = ","
        while (separator := self._separator()) is not None:
            joint = separator if joint == "," else joint
            items.append(self.clause())
        return items[0] if len(items) == 1 else Sequence(tuple(items), joint=joint)

    def _separator(self) -> str | None:
        found = None
        while self.peek.kind == "mark" and self.peek.text in (
            ",",
            ";",
            "and",
            "or",
            "∧",
            "∨",
            "\\\\",
        ):
            mark = {"∧": "and", "∨": "or"}.get(self.peek.text, self.peek.text)
            if found is not None and (found in ("and", "or") or mark not in ("and", "or")):
                raise UnreadableError("an empty place in a list")
            found = mark if mark in ("and", "or") else ","
            self.take()
        return found

    def clause(self) -> Node:
        """A set, sum or ratio, or several of them with relations between."""
        first = None if self.peek.text in RELATIONS and self.peek.text else self._sets()
        sides, operators = [first], []
        while (operator := self.mark(RELATIONS)) is not None:
            operators.append(operator)
            sides.append(self._sets())
        if operators:
            return Relation(tuple(sides), tuple(operators))
        assert first is not None
        return first

    def _sets(self) -> Node:
        node = self._ratio()
        while (operator := self.mark("∪∩∖")) is not None:
            node = SetOperation(operator, node, self._ratio())
        if self.peek.kind == "command" and self.peek.text in MODULO:
            return self._residue(node)
        if self.peek.text == r"\choose":
            self.take()
            return Call("binomial", (node, self.sum()))
        return node

    def _residue(self, node: Node) -> Node:
        self.take()
        if self.peek.text == "(":
            return Call("residue", (node, *self.arguments()))
        return Call("residue", (node, self.argument()))

    def _ratio(self) -> Node:
        if self.peek.kind == "set":
            return NumberSet(self.take().text)
        if self.peek.text in ("∅", "ℝ") and self.peek.kind == "mark":
            return NumberSet(self.take().text.replace("ℝ", "R"))
        terms = [self.sum()]
        while self.peek.text == ":" and "⦃" not in self.open_brackets:
            self.take()
            terms.append(self.sum())
        return terms[0] if len(terms) == 1 else Ratio(tuple(terms))

    open_brackets = ""

    @property
    def inside_set(self) -> bool:
        """Whether a bar parts a set's members from their condition."""
        return self.open_brackets.endswith("⦃")

    def group(self) -> Node:
        """What stands in braces."""
        return self._enclosed(self.expect("{"))

    def _enclosed(self, opening: str) -> Node:
        before, bars = self.open_brackets, self.inside_bars
        self.open_brackets, self.inside_bars = before + opening, 0
        with self.deeper():
            items: list[Node] = []
            if self.peek.text not in _CLOSERS[opening]:
                items = self._items(opening)
            closing = self.expect(_CLOSERS[opening])
        self.open_brackets, self.inside_bars = before, bars
        if len(items) == 1 and opening not in "⦃⟨" and closing == _CLOSERS[opening][0]:
            return items[0]
        if opening == "{":
            return Sequence(tuple(items))
        return Sequence(tuple(items), opening, closing)

    def _items(self, opening: str) -> list[Node]:
        if self.peek.kind == "text" and opening != "⦃":
            items = [self._words_only()]
        else:
            items = [self.clause()]
        if opening == "⦃" and self.mark("|:") is not None:
            return [Relation((items[0], self.listing()), ("|",))]
        while self._separator() is not None:
            items.append(self.clause())
        return items

    def _words_only(self) -> Node:
        words = " ".join(" ".join(self._texts()).lower().split()).strip(".,:;")
        return _SYNONYMS.get(words, Text(words))

    def bracketed(self) -> Node:
        """What starts with a sign: brackets, bars, roots, constants, currency."""
        sign = self.take().text
        if sign in _CLOSERS:
            return self._enclosed(sign)
        match sign:
            case "√":
                return self.root()
            case "π" | "∞":
                return Constant(sign)
            case "|" | "‖":
                return self._bars(sign)
            case "⌊" | "⌈":
                return self._rounded(sign)
            case "¤":
                return Quantity(self.factor(), *units.UNITS["dollar"])
            case "∠":
                return self._angle()
            case _:
                raise UnreadableError(f"the sign {sign!r}")

    def _bars(self, sign: str) -> Node:
        self.inside_bars += 1
        inner = self.sum()
        self.inside_bars -= 1
        self.expect(sign)
        return Call("abs", (inner,))

    def _rounded(self, sign: str) -> Node:
        inner = self.sum()
        self.expect("⌋" if sign == "⌊" else "⌉")
        return Call("floor" if sign == "⌊" else "ceil", (inner,))

    def _angle(self) -> Node:
        letters = ""
        while self.peek.kind == "symbol":
            letters += self.take().text
        return Symbol(f"∠{letters}")

    def function(self, name: str) -> Node:
        """A function with its power, its base and its argument."""
        if name in ("sqrt", "cbrt"):
            return self.root() if name == "sqrt" else Root(self.argument(), 3)
        base, power = None, None
        while (sign := self.mark("_^")) is not None:
            if sign == "_":
                base = self.argument()
            else:
                power = self.argument()
        arguments = self._applied_to()
        if name == "cis":
            sine = Product((Constant("i"), Call("sin", arguments)))
            return Sum((Call("cos", arguments), sine))
        if base is not None:
            arguments = (*arguments, base)
        if len(arguments) not in ARITIES.get(name, range(1, 2)):
            raise UnreadableError(f"{len(arguments)} arguments of {name}")
        if isinstance(power, Number) and power.value == -1:
            return Call(f"arc{name}", arguments)
        call = Call(name, arguments)
        return call if power is None else Power(call, power)

    def _applied_to(self) -> tuple[Node, ...]:
        if self.peek.text == "(" or (self.peek.text == "[" and self.peek.kind == "mark"):
            return self.arguments()
        if self.peek.text == "{":
            return (self.group(),)
        factors = [self._after_operator()]
        while self._factor_follows() and self.peek.kind != "word" and self.peek.text != "(":
            if self.peek.kind == "number":
                raise UnreadableError("a number that follows without an operator")
            factors.append(self.factor())
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)

    def arguments(self) -> tuple[Node, ...]:
        """Arguments in brackets."""
        inner = self._enclosed(self.take().text)
        listed = isinstance(inner, Sequence) and inner.opening in ("(", "[")
        return inner.items if listed and isinstance(inner, Sequence) else (inner,)

    def subscript(self) -> str:
        """A variable's subscript, as written."""
        if self.mark("{") is None:
            return self.take().text
        letters = []
        while self.peek.text not in ("}", ""):
            letters.append(self.take().text)
        self.expect("}")
        return "".join(letters)

    def matrix(self) -> Node:
        """A matrix, or the determinant that vmatrix writes."""
        kind = self.take().text
        if not kind.endswith(("matrix", "array")):
            raise UnreadableError(f"the environment {kind}", foreign=True)
        rows: list[list[Node]] = [[]]
        while self.peek.kind != "end":
            rows[-1].append(self.clause())
            if self.mark("&") is None and self.peek.kind != "end":
                self._end_row()
                rows.append([])
            if sum(map(len, rows)) > _MOST_CELLS:
                raise UnreadableError("a matrix too large")
        self.take()
        whole = tuple(tuple(row) for row in rows if row)
        if len({len(row) for row in whole}) != 1:
            raise UnreadableError("a matrix with rows of different lengths")
        return Call("det", (Matrix(whole),)) if kind == "vmatrix" else Matrix(whole)

    def _end_row(self) -> None:
        if not self.named("\\\\"):
            raise UnreadableError("a matrix's row without an end")
