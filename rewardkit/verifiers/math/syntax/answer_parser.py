"""Whole answers: lists, sets, ratios, relations, and the labels before them."""

from __future__ import annotations

import re
from fractions import Fraction

from rewardkit.verifiers.math.syntax.ellipsis import ELLIPSIS, in_full
from rewardkit.verifiers.math.syntax.environment_parser import EnvironmentParser
from rewardkit.verifiers.math.syntax.function_parser import FUNCTION_NAMES
from rewardkit.verifiers.math.syntax.nouns import refuses
from rewardkit.verifiers.math.syntax.synonyms import POSITIVE_REALS, SYNONYMS, words_as_answer
from rewardkit.verifiers.math.syntax.tokens import tokens
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Number,
    NumberSet,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    Text,
    negative,
)
from rewardkit.verifiers.math.syntax.units import known
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError
from rewardkit.verifiers.math.syntax.words import MODULO, listed

RELATIONS = "=≠<>≤≥∈∉≈≡⊂→"
_LABEL = re.compile(
    r"(?:so |thus |hence |therefore |and )?(?:the |my |our )?(?:final |correct |exact )?"
    r"(?:answer|result|solution|value)s?(?: is| are)?(?: is)?"
    r"|so|thus|hence|therefore|finally|exactly|precisely"
)
_STATES = re.compile(
    r"(?:\Awe (?:get|find|obtain)|(?:\A|\s)(?:is|are|equals?|(?:is|are) equal to|diverges to"
    r"|tends to|has|have|needs?|costs?|weighs?|takes?|gets?|earns?|pays?|ans))\Z"
)
"""How words end that say what follows: `the vertex is`, `there are`."""

_BOUND = re.compile(r"(?:all )?(?:the )?(?:real )?numbers (greater|less) than( or equal to)?")
_OPERATORS = {"greater": (">", "≥"), "less": ("<", "≤")}
_CURRENCY = listed(
    "money euro sterling yen yuan rupee ruble won lira peso shekel dong naira baht franc"
)
_ZERO, _INFINITY = Number(Fraction(0)), Constant("∞")
_ONLY_ZERO = Sequence((_ZERO,), "⦃", "⦄")
_PARTS_OF_REALS: dict[str, Node] = {
    "+": POSITIVE_REALS,
    ">0": POSITIVE_REALS,
    "-": Sequence((negative(_INFINITY), _ZERO), "(", ")"),
    "<0": Sequence((negative(_INFINITY), _ZERO), "(", ")"),
    "≥0": Sequence((_ZERO, _INFINITY), "[", ")"),
    "≤0": Sequence((negative(_INFINITY), _ZERO), "(", "]"),
    "*": SetOperation("∖", NumberSet("R"), _ONLY_ZERO),
    "·": SetOperation("∖", NumberSet("R"), _ONLY_ZERO),
}
"""What a sign behind ℝ leaves of the real numbers."""


def read(text: str) -> Node:
    """The answer `text` as a tree; raises UnreadableError where it is none that we read."""
    return AnswerParser(tokens(text)).answer()


class AnswerParser(EnvironmentParser):
    """Parses relations, sets and lists."""

    def answer(self) -> Node:
        """All of the tokens as one answer."""
        self.drop_end()
        if self.peek.kind == "text" and not self._named():
            return self._labelled(self.texts())
        if self.at == len(self.tokens):
            raise UnreadableError("nothing")
        return self.whole_listing()

    def _labelled(self, words: str) -> Node:
        """What follows words that only say that an answer comes; the words where nothing does."""
        self.mark(".")
        if self.at == len(self.tokens):
            return words_as_answer(words)
        plain = " ".join(words.lower().split()).strip(".,:;! ")
        meant = self._by_first_words(plain)
        if meant is not None:
            return meant
        colon = words.rstrip().endswith(":") or self.mark(":") is not None
        subject = _STATES.sub("", plain)
        refused = any(map(refuses, re.split(r"[\s,]+", subject)))
        if refused or not (colon or subject != plain or _LABEL.fullmatch(plain)):
            raise UnreadableError(f"the words {plain!r}")
        return self.whole_listing()

    def _by_first_words(self, plain: str) -> Node | None:
        """What a currency, a sign, a bound or `all real numbers except` makes of what follows."""
        unit = known(plain.removesuffix(".").upper()) or known(plain.capitalize())
        if unit is not None and unit[0][0][0] in _CURRENCY:
            return Quantity(self.whole_listing(), *unit)
        every = SYNONYMS.get(plain.removesuffix(" except for").removesuffix(" except"))
        if every is not None and "except" in plain:
            left_out = self.whole_listing()
            if isinstance(left_out, Relation) and left_out.operators == ("=",):
                left_out = left_out.sides[1] or left_out
            items = left_out.items if isinstance(left_out, Sequence) else (left_out,)
            return SetOperation("∖", every, Sequence(items, "⦃", "⦄"))
        if plain in ("minus", "negative"):
            return negative(self._one_value())
        bound = _BOUND.fullmatch(plain)
        if bound is not None:
            operator = _OPERATORS[bound[1]][bound[2] is not None]
            return Relation((None, self._one_value()), (operator,))
        return None

    def _one_value(self) -> Node:
        """All of the remaining tokens as one value."""
        value = self.whole_listing()
        if isinstance(value, (Sequence, Relation)):
            raise UnreadableError("several values after words about one")
        return value

    def _named(self) -> bool:
        """Whether the words that come next are the name of what follows an equals sign."""
        count = 0
        while self.ahead(count).kind == "text":
            count += 1
        if count and self.ahead(count).text == "(":
            count = self._closing(self.at + count) + 1 - self.at
        return count > 0 and self.ahead(count).text in ("=", "≈")

    def listing(self) -> Node:
        """Clauses with commas, and, or between."""
        items = [self.clause()]
        joint = ","
        while (separator := self.separator()) is not None:
            joint = separator if joint == "," else joint
            items.append(ELLIPSIS if self.mark("…") is not None else self.clause())
        items = in_full(items)
        return items[0] if len(items) == 1 else Sequence(tuple(items), joint=joint)

    def clause(self) -> Node:
        """A set, sum or ratio, or several of them with relations between."""
        first = None if self.peek.text in RELATIONS and self.peek.text else self._first_side()
        sides, operators = [first], []
        while (operator := self.mark(RELATIONS)) is not None:
            operators.append(operator)
            sides.append(self._sets())
        if operators:
            return Relation(tuple(sides), tuple(operators))
        assert first is not None
        return first

    def _first_side(self) -> Node:
        if self.peek.kind == "text":
            if self._named():
                words = self.texts()
                if self.peek.text == "(":
                    self.at = self._closing(self.at) + 1
                return Text(" ".join(words.lower().split()))
            raise UnreadableError(f"the word {self.peek.text!r} where a value should stand")
        return self._function_named() or self._sets()

    def _function_named(self) -> Node | None:
        """What is defined in `u(x,t) = …` or `P(X=1) = …`; None where nothing is."""
        bracket = 1
        inverse = [self.ahead(place).text for place in range(1, 6)]
        if inverse == ["^", "{", "-", "1", "}"]:
            bracket += 5
        while self.ahead(bracket).text in ("_", "'") and bracket < 4:
            bracket += 1 + (self.ahead(bracket).text == "_")
        if self.peek.kind != "symbol" or self.ahead(bracket).text not in ("(", "["):
            return None
        end = self._closing(self.at + bracket)
        if end < 0 or self.ahead(end + 1 - self.at).text not in ("=", "≈", "≡"):
            return None
        name = "".join(token.text for token in self.tokens[self.at : self.at + bracket])
        inner = AnswerParser(self.tokens[self.at + bracket : end + 1])
        try:
            arguments = inner.arguments()
        except UnreadableError:
            words = (token.text for token in self.tokens[self.at + bracket : end + 1])
            arguments = (Text("".join(words)),)
        plain = all(isinstance(argument, (Symbol, Text)) for argument in arguments)
        if not plain and self.peek.text not in FUNCTION_NAMES:
            return None
        self.at = end + 1
        return Call(f"{name}()", arguments)

    def _closing(self, start: int) -> int:
        """Where the bracket at `start` closes; -1 where it does not."""
        depth = 0
        for place in range(start, len(self.tokens)):
            text = self.tokens[place].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0:
                return place
        return -1

    def _sets(self) -> Node:
        node = self._ratio()
        while (operator := self.mark("∪∩∖" if not _is_set(node) else "∪∩∖-")) is not None:
            node = SetOperation("∖" if operator == "-" else operator, node, self._ratio())
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
            return self._number_set(self.take().text)
        if self.peek.text in ("∅", "ℝ") and self.peek.kind == "mark":
            return self._number_set(self.take().text.replace("ℝ", "R"))
        terms = [self.sum()]
        while self.peek.text == ":" and "⦃" not in self.open_brackets:
            self.take()
            terms.append(self.sum())
        return terms[0] if len(terms) == 1 else Ratio(tuple(terms))

    def _number_set(self, name: str) -> Node:
        """A set of numbers, or the part of it that a sign behind it leaves: ℝ⁺, ℤ_{>0}."""
        if self.mark("^_") is None:
            return NumberSet(name)
        part = self.subscript()
        if name == "R" and part in _PARTS_OF_REALS:
            return _PARTS_OF_REALS[part]
        if name in ("Z", "N") and part in ("+", ">0", "*", "≥1"):
            return NumberSet("Z+")
        return NumberSet(f"{name}{part}")


def _is_set(node: Node) -> bool:
    """Whether a minus sign after it takes members away."""
    return isinstance(node, (NumberSet, SetOperation))
