"""What is raised where a text is no mathematics that we read."""

from __future__ import annotations


class UnreadableError(Exception):
    """The text is not mathematics that we read. `foreign`: another reader may know it."""

    def __init__(self, reason: str, *, foreign: bool = False) -> None:
        super().__init__(reason)
        self.foreign = foreign
