"""The events of a run, a scoring or a training, for displays of progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from rewardkit.harness.metrics.summary import TaskSummary
    from rewardkit.harness.store.sample_row import SampleRow


@runtime_checkable
class ShowsWaits(Protocol):
    """A backend that says what it waits for: rate limits, faults of a server."""

    def waits(self) -> str:
        """A few words, empty if it waits for nothing. Called from any thread."""


class Reporter:
    """Ignores every event; a subclass overrides the methods of those that it shows."""

    def note(self, text: str) -> None:
        """A sentence for the user."""

    def warned(self, text: str) -> None:
        """A warning of rewardkit, TRL or Python."""

    def started(self, total: int, done: int = 0) -> None:
        """Work begins: `total` completions (evaluation), steps (training) or bytes (scoring)
        planned, `done` already stored."""

    def ended(self) -> None:
        """The work is over; no other event follows."""

    def generating(self) -> None:
        """Evaluation: the engine is ready."""

    def watching(self, waits: Callable[[], str]) -> None:
        """Evaluation: a function that says what the engine waits for; it may be called often."""

    def written(self, rows: Sequence[SampleRow]) -> None:
        """Evaluation: these rows are judged and stored."""

    def resumed(self, completions: int) -> None:
        """Scoring: number of completions judged by an earlier call."""

    def judged(self, completions: int, end: int) -> None:
        """Scoring: number of further completions judged and stored, up to byte `end`."""

    def stepped(self, step: int) -> None:
        """Training: this step is done."""

    def logged(self, logs: Mapping[str, float]) -> None:
        """Training: TRL's figures by name, and `reward_share`, the rewards' share of the time."""

    def evaluated(self, step: int, summaries: Mapping[str, TaskSummary]) -> None:
        """Training: the model was evaluated at this step."""
