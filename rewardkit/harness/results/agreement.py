"""How far two verdicts on the same completions agree: counts, Cohen's kappa, rows that differ."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TypeVar

from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow
from rewardkit.harness.results.metric import CONFIDENCE, Metric, wilson
from rewardkit.records import Verdict
from rewardkit.tables import WORD, Table, short_text

Category = TypeVar("Category", bound=Hashable)

MOST_SHOWN = 20
"""Maximum number of disagreements listed."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A verdict that differs from another on the same completion."""

    key: str
    position: int
    """The number of its completion in its chunk."""
    other: BriefVerdict
    verdict: Verdict
    reference: str


@dataclass
class Agreement:
    """How many verdicts were compared, by both outcomes, and the first that differ."""

    counts: Counter[tuple[bool | None, bool | None]] = field(default_factory=Counter)
    """By the verdict's `correct` and the other's."""
    shown: list[Disagreement] = field(default_factory=list)
    left_out: int = 0
    """Number of labelled rows that are unjudged."""

    @property
    def compared(self) -> int:
        """Number of rows with both verdicts."""
        return self.counts.total()

    @property
    def differing(self) -> int:
        """Number of rows whose verdicts differ."""
        return sum(count for (outcome, other), count in self.counts.items() if outcome is not other)

    def add(self, row: CompletionRow, other: BriefVerdict | None, position: int = 0) -> None:
        """Compare a row's verdict with another, if there is one."""
        if other is None:
            return
        self.counts[row.verdict.correct, other.correct] += 1
        if row.verdict.correct is not other.correct and len(self.shown) < MOST_SHOWN:
            self.shown.append(Disagreement(row.key, position, other, row.verdict, row.reference))

    def add_labelled(self, row: CompletionRow, position: int = 0) -> None:
        """Compare a row's verdict with its label, if it has one and is judged."""
        if row.before is None and row.label is not None and row.verdict.correct is None:
            self.left_out += 1
        else:
            self.add(row, row.earlier, position)

    def extend(self, other: Agreement) -> None:
        """Add the counts of another, and list its disagreements as far as they fit."""
        self.counts += other.counts
        self.left_out += other.left_out
        self.shown += other.shown[: MOST_SHOWN - len(self.shown)]

    def tables(self, first: str, second: str) -> Iterator[Table]:
        """The counts, kappa over the rows that both judged, and the rows that differ."""
        yield Table(
            f"agreement with {second}: {self.compared - self.differing:,} of {self.compared:,}",
            (f"{first} ↓ {second} →", *WORD.values()),
            [
                (word, *(self.counts[outcome, other] for other in WORD))
                for outcome, word in WORD.items()
            ],
        )
        judged = {pair: count for pair, count in self.counts.items() if None not in pair}
        if found := kappa(judged):
            cells = (found.value, found.low, found.high, found.count)
            columns = ("", "value", "low", "high", "judged by both")
            yield Table(f"agreement with {second} beyond chance", columns, [("kappa", *cells)])
        if self.shown:
            more = self.differing - len(self.shown)
            yield Table(
                f"differences from {second}",
                ("completion", first, "it read", second, "it read", "reference"),
                [
                    (
                        *(row.key, WORD[row.verdict.correct], short_text(row.verdict.answer)),
                        *(WORD[row.other.correct], short_text(row.other.answer)),
                        short_text(row.reference),
                    )
                    for row in self.shown
                ],
                f"and {more:,} more" if more else "",
                keys=6,
            )


def kappa(counts: Mapping[tuple[Category, Category], int]) -> Metric | None:
    """Cohen's kappa of two raters' categories with its 95% interval; None if kappa is undefined.

    `counts` holds the number of items by both raters' categories. The standard error is a formula
    for large samples: J. L. Fleiss, J. Cohen and B. S. Everitt, Psychol. Bull. 72 (1969) 323. If no
    item differs, the error is 0; the lower bound is then the kappa of Wilson's lower bound of
    agreement.
    Kappa is undefined without items, or if both raters gave all items the same category.
    """
    total = sum(counts.values())
    shares = {pair: count / total for pair, count in counts.items()} if total else {}
    rows: dict[Category, float] = defaultdict(float)
    columns: dict[Category, float] = defaultdict(float)
    for (row, column), share in shares.items():
        rows[row] += share
        columns[column] += share
    chance = math.fsum(share * columns[name] for name, share in rows.items())
    if not total or chance >= 1 - 1e-12:
        return None
    observed = math.fsum(share for (row, column), share in shares.items() if row == column)
    value = (observed - chance) / (1 - chance)
    if len({row == column for (row, column), share in shares.items() if share}) == 1 and observed:
        return Metric(1.0, (wilson(1.0, total)[0] - chance) / (1 - chance), 1.0, total)
    variance = -((value - chance * (1 - value)) ** 2)
    for (row, column), share in shares.items():
        if row == column:
            variance += share * (1 - (rows[row] + columns[row]) * (1 - value)) ** 2
        else:
            variance += share * (columns[row] + rows[column]) ** 2 * (1 - value) ** 2
    error = math.sqrt(max(0.0, variance) / total) / (1 - chance)
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    return Metric(value, max(-1.0, value - reach), min(1.0, value + reach), total)
