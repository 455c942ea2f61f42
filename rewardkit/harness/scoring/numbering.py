"""Which of its problem's completions each row is, counted over a whole file."""

from __future__ import annotations


class Numbering:
    """Counts the completions of each id, in the order of the rows.

    A row that is called by its own number, as rows without an id are, costs one byte; each other
    id some hundred.
    """

    def __init__(self, completions_a_row: int) -> None:
        self._each = completions_a_row
        self._own = bytearray()
        self._seen: dict[str, int] = {}

    def first(self, identifier: str) -> int:
        """The index of the first completion of the next row, which has this id."""
        row = len(self._own)
        before = self._seen.get(identifier, 0) + self._as_own(identifier)
        own = identifier == str(row)
        self._own.append(own)
        if not own:
            self._seen[identifier] = self._seen.get(identifier, 0) + self._each
        return before

    def _as_own(self, identifier: str) -> int:
        """How many completions the row has that is called by this id, its own number."""
        if not identifier.isdecimal() or len(identifier) > 18:
            return 0
        row = int(identifier)
        if row >= len(self._own) or str(row) != identifier:
            return 0
        return self._each if self._own[row] else 0
