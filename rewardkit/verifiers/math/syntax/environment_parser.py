"""Environments: matrices, systems, piecewise functions, lines that are aligned."""

from __future__ import annotations

from itertools import chain

from rewardkit.verifiers.math.syntax.function_parser import FunctionParser
from rewardkit.verifiers.math.syntax.synonyms import words_as_answer
from rewardkit.verifiers.math.syntax.tokens import Token
from rewardkit.verifiers.math.syntax.tree import Call, Matrix, Node, Relation, Sequence
from rewardkit.verifiers.math.syntax.unreadable import UnreadableError
from rewardkit.verifiers.math.syntax.words import listed

_MOST_CELLS = 100
_CONDITION_WORDS = listed("if for when where while and")
_END_OF_ROW = "\\\\"


class EnvironmentParser(FunctionParser):
    """Reads rows of cells."""

    def environment(self) -> Node:
        """What an environment holds, as what it means."""
        kind = self.take().text
        rows = self._rows()
        if kind.endswith(("aligned", "align", "gathered", "gather", "split")):
            return _system([self._line([*chain.from_iterable(row)]) for row in rows])
        if kind.endswith("cases"):
            return self._cases(rows)
        cells = [[self._line(cell) for cell in row] for row in rows]
        if len({len(row) for row in cells}) != 1:
            raise UnreadableError("a matrix with rows of different lengths")
        if kind == "array" and all(isinstance(cell, Relation) for row in cells for cell in row):
            return _system([cell for row in cells for cell in row])
        if len(cells) == len(cells[0]) == 1 and kind in ("array", "matrix"):
            return cells[0][0]
        matrix = Matrix(tuple(map(tuple, cells)))
        return Call("det", (matrix,)) if kind == "vmatrix" else matrix

    def _rows(self) -> list[list[list[Token]]]:
        """The tokens of each cell of each row, up to the end of the environment."""
        rows: list[list[list[Token]]] = [[[]]]
        depth = cells = 0
        while depth or self.peek.kind != "end":
            token = self.take()
            if not token.text:
                raise UnreadableError("an environment without an end")
            depth += (token.kind == "begin") - (token.kind == "end")
            if depth or token.kind != "mark" or token.text not in ("&", _END_OF_ROW):
                rows[-1][-1].append(token)
                continue
            cells += 1
            if cells > _MOST_CELLS:
                raise UnreadableError("a matrix too large")
            if token.text == "&":
                rows[-1].append([])
            else:
                rows.append([[]])
        self.take()
        return [row for row in rows if any(row)]

    def _line(self, tokens: list[Token]) -> Node:
        """The list or clause that tokens of their own spell."""
        part = type(self)(tokens)
        part.level = self.level + 1
        return part.whole_listing()

    def _cases(self, rows: list[list[list[Token]]]) -> Node:
        """Equations one below the other as a system; values with conditions as pieces."""
        if all(len(row) == 1 for row in rows):
            return _system([self._line(row[0]) for row in rows])
        pieces: list[Node] = []
        for row in rows:
            if len(row) != 2:
                raise UnreadableError("a piece without a condition")
            value, condition = (list(cell) for cell in row)
            while value and value[-1].text in (",", ";"):
                value.pop()
            pieces.append(Sequence((self._line(value), self._condition(condition)), "(", ")"))
        return Call("cases", tuple(pieces))

    def _condition(self, tokens: list[Token]) -> Node:
        while tokens and tokens[-1].text in (",", ".", ";"):
            tokens.pop()
        while tokens and tokens[0].text.strip(" ,").lower() in _CONDITION_WORDS:
            del tokens[0]
        if all(token.kind == "text" for token in tokens):
            return words_as_answer(" ".join(token.text for token in tokens))
        try:
            return self._line(tokens)
        except UnreadableError:
            return words_as_answer(" ".join(token.text for token in tokens))

    def drop_end(self) -> None:
        """Drop a full stop, a comma or an empty line at the end, but no ellipsis."""
        while len(self.tokens) > 1 and self.tokens[-1].text in (".", ",", ";", _END_OF_ROW):
            if self.tokens[-2].text == self.tokens[-1].text == ".":
                return
            self.tokens.pop()

    def whole_listing(self) -> Node:
        """All of the tokens as one list or clause."""
        self.drop_end()
        node = self.listing()
        if self.at < len(self.tokens):
            raise UnreadableError(f"{self.peek.text!r} at a place where nothing should stand")
        return node


def _system(lines: list[Node]) -> Node:
    """Lines that hold together; one line alone is that line."""
    if not lines:
        raise UnreadableError("an environment that holds nothing")
    return lines[0] if len(lines) == 1 else Sequence(tuple(lines), joint="and")
