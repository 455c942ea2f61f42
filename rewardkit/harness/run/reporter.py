"""Who is told how a run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rewardkit.harness.store.sample_row import SampleRow


class Reporter(Protocol):
    """Who is told how a run goes on."""

    def note(self, text: str) -> None:
        """A sentence for the person who watches."""
        ...

    def started(self, total: int, done: int) -> None:
        """So many completions are to be had, so many were there before."""
        ...

    def generating(self) -> None:
        """The engine is up."""
        ...

    def written(self, rows: Sequence[SampleRow]) -> None:
        """These were judged and are safe."""
        ...

    def ended(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Nothing."""

    def started(self, total: int, done: int) -> None:
        """Nothing."""

    def generating(self) -> None:
        """Nothing."""

    def written(self, rows: Sequence[SampleRow]) -> None:
        """Nothing."""

    def ended(self) -> None:
        """Nothing."""
