"""Brackets and bars: groups, tuples, sets, intervals, absolute values."""

from __future__ import annotations

from rewardkit.verifiers.math.syntax.ellipsis import ELLIPSIS, in_full
from rewardkit.verifiers.math.syntax.expression_parser import ExpressionParser
from rewardkit.verifiers.math.syntax.quantity_parser import CURRENCIES, currency
from rewardkit.verifiers.math.syntax.synonyms import words_as_answer
from rewardkit.verifiers.math.syntax.tree import (
    Call,
    Constant,
    Node,
    Quantity,
    Relation,
    Sequence,
    Symbol,
)
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError

_CLOSERS = {"(": ")][", "[": "])[", "]": "])[", "⦃": "⦄", "{": "}", "⟨": "⟩>"}
"""Opening brackets and what may close them, their own partner first."""
_SEPARATORS = (",", ";", "and", "or", "∧", "∨", "\\\\")
_JOINTS = {"∧": "and", "∨": "or"}


class BracketParser(ExpressionParser):
    """Reads brackets and bars; a subclass reads the clauses in them."""

    open_brackets = ""

    @property
    def inside_set(self) -> bool:
        """Whether a bar parts a set's members from their condition."""
        return self.open_brackets.endswith("⦃")

    def group(self) -> Node:
        """The content of braces."""
        return self.enclosed(self.expect("{"))

    def enclosed(self, opening: str) -> Node:
        """Parse the content of brackets whose opening one is already taken."""
        before, bars = self.open_brackets, self.inside_bars
        self.open_brackets, self.inside_bars = before + opening, 0
        with self.deeper():
            items: list[Node] = []
            if self.peek.text not in _CLOSERS[opening].removesuffix("["):
                items = self._items(opening)
            closing = self.expect(_CLOSERS[opening])
        self.open_brackets, self.inside_bars = before, bars
        items = in_full(items)
        if opening == "]" or closing == "[":
            opening, closing = _turned(opening, closing)
        if len(items) == 1 and opening not in "⦃⟨" and closing == _CLOSERS[opening][0]:
            return items[0]
        if opening == "{":
            return Sequence(tuple(items))
        return Sequence(tuple(items), opening, closing)

    def _items(self, opening: str) -> list[Node]:
        if self.peek.kind == "text" and opening != "⦃":
            items: list[Node] = [words_as_answer(self.texts())]
        else:
            items = [self._item(opening)]
        if opening == "⦃" and self.mark("|:") is not None:
            return [Relation((items[0], self.listing()), ("|",))]
        while self.separator() is not None:
            items.append(self._item(opening))
        return items

    def _item(self, opening: str) -> Node:
        """A clause; in bare braces, one in braces of its own is a set: {{1},2}."""
        if self.mark("…") is not None:
            return ELLIPSIS
        braced, start = opening == "{" and self.peek.text == "{", self.at
        item = self.clause()
        if braced and self.closing_brace(start) == self.at - 1 and self.peek.text in (",", "}"):
            listed = isinstance(item, Sequence) and not item.opening
            items = item.items if listed and isinstance(item, Sequence) else (item,)
            whole = self.peek.text == "}" and self.tokens[start - 1].text == "{"
            return item if whole else Sequence(items, "⦃", "⦄")
        return item

    def closing_brace(self, start: int) -> int:
        """Where the brace that opens at `start` closes; -1 where it does not."""
        depth = 0
        for place in range(start, len(self.tokens)):
            text = self.tokens[place].text
            depth += (text == "{") - (text == "}")
            if depth == 0:
                return place
        return -1

    def texts(self) -> str:
        """Take the words that follow."""
        found = []
        while self.peek.kind == "text":
            found.append(self.take().text)
        return " ".join(found)

    def separator(self) -> str | None:
        """Take what separates two items: `,`, `and` or `or`; None if nothing does."""
        found = None
        while self.peek.kind == "mark" and self.peek.text in _SEPARATORS:
            mark = _JOINTS.get(self.peek.text, self.peek.text)
            if found is not None and (found in ("and", "or") or mark not in ("and", "or")):
                raise UnreadableError("an empty place in a list")
            found = mark if mark in ("and", "or") else ","
            self.take()
        return found

    def bracketed(self) -> Node:
        """What starts with a sign: brackets, bars, roots, constants, currency."""
        sign = self.take().text
        if sign == "⦃" and self.peek.kind == "begin":
            return self._braced_environment()
        if sign in _CLOSERS:
            return self.enclosed(sign)
        if sign in CURRENCIES:
            return Quantity(self.factor(), *currency(sign))
        return self._signed_value(sign)

    def _signed_value(self, sign: str) -> Node:
        match sign:
            case "√":
                return self.root()
            case "π" | "∞":
                return Constant(sign)
            case "|" | "‖":
                return self._bars(sign)
            case "⌊" | "⌈":
                return self._rounded(sign)
            case "∠" | "△":
                return self._figure(sign)
        raise UnreadableError(f"the sign {sign!r}")

    def _braced_environment(self) -> Node:
        r"""\left\{\begin{array} … \end{array}\right., whose brace may have no partner."""
        node = self.environment()
        self.mark("⦄")
        return node

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

    def _figure(self, sign: str) -> Node:
        letters = ""
        while self.peek.kind == "symbol":
            letters += self.take().text
        return Symbol(f"{sign}{letters}")

    # what subclasses read
    def clause(self) -> Node:
        """A relation, a set or an expression."""
        raise NotImplementedError

    def listing(self) -> Node:
        """Clauses with separators between."""
        raise NotImplementedError

    def root(self) -> Node:
        """A root's argument."""
        raise NotImplementedError


def _turned(opening: str, closing: str) -> tuple[str, str]:
    """]0,1[ as (0,1)."""
    return "(" if opening == "]" else opening, ")" if closing == "[" else closing
