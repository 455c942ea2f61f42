"""Token counts that a server or a file states."""

from __future__ import annotations

LARGEST_COUNT = 2**31 - 1
"""More tokens than any completion has."""


def token_count(value: object) -> int | None:
    """The value where it is a number of tokens, else None."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST_COUNT else None
