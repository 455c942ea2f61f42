"""The error for texts that the parser can't read."""

from __future__ import annotations


class UnreadableError(Exception):
    """The text isn't mathematics that the parser reads. `foreign`: math-verify may read it."""

    def __init__(self, reason: str, *, foreign: bool = False) -> None:
        super().__init__(reason)
        self.foreign = foreign
