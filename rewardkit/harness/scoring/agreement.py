"""How far verdicts agree with labels, or with the verdicts of an earlier scoring."""

from __future__ import annotations

from dataclasses import dataclass, field

from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.records import Verdict

MOST_SHOWN = 20
"""Maximum number of disagreements listed."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A verdict that differs from the label, or from the verdict of an earlier scoring."""

    key: str
    position: int
    """The number of its completion in its chunk."""
    earlier: bool | None
    verdict: Verdict
    reference: str


@dataclass
class Agreement:
    """How many verdicts were compared and differ, and the first that do."""

    compared: int = 0
    differing: int = 0
    shown: list[Disagreement] = field(default_factory=list)

    def add(self, row: SampleRow, position: int = 0) -> None:
        """Compare a row's verdict with the one it had `before`, else with its `label`, if any."""
        if row.before is not None:
            earlier = row.before.correct
        elif row.label is not None:
            earlier = row.label
        else:
            return
        self.compared += 1
        if row.verdict.correct != earlier:
            self.differing += 1
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(
                    Disagreement(row.key, position, earlier, row.verdict, row.reference)
                )

    def extend(self, other: Agreement) -> None:
        """Add the counts of another, and list its disagreements as far as they fit."""
        self.compared += other.compared
        self.differing += other.differing
        self.shown += other.shown[: MOST_SHOWN - len(self.shown)]
