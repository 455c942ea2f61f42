"""Where a scoring is: the totals of the rows so far, and the position in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.scoring.agreement import Agreement
from rewardkit.harness.scoring.chunk_result import ChunkResult
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.numbering import Numbering
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.samples_file import SAMPLES, read_samples
from rewardkit.harness.store.shard import SOURCE_ROW
from rewardkit.judging import LimitCounts


@dataclass
class Totals:
    """The counts of all chunks so far."""

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)
    limits: LimitCounts = field(default_factory=LimitCounts)

    def add(self, result: ChunkResult) -> None:
        """Add the counts of one more chunk."""
        self.tally.extend(result.tally)
        self.agreement.extend(result.agreement)
        self.limits.add(result.limits)


@dataclass(frozen=True)
class Position:
    """Where a scoring is in its file: the rows to skip, and the numbering of their completions."""

    skip: int
    numbering: Numbering


def completions_a_row(job: FileJob | RunJob) -> int:
    """The number of completions in each row of the job's file."""
    return job.columns.completions_a_row if isinstance(job, FileJob) else 1


def carry_on(plan: ScorePlan, folder: RunFolder, totals: Totals) -> Position:
    """Count the stored rows, and return the position after them."""
    per_row = completions_a_row(plan.job)
    numbering = Numbering(per_row)
    folder.keep(lambda rows: rows - rows % per_row)
    others: Mapping[str, Any] = {SOURCE_ROW: -1}
    for number, row in enumerate(read_samples(folder.path)):
        if row.task not in plan.group_by:
            raise RunMismatch(
                f"{folder.path / SAMPLES}, line {number + 1} is of the task {row.task!r}, which "
                "this scoring doesn't judge; use --overwrite to start anew"
            )
        if number % per_row == 0:
            numbering.first(row.id)
        totals.tally.add(row, plan.group_by[row.task])
        totals.agreement.add(row)
        others = row.others
    if plan.job.shard:
        return Position(_after(others, folder), numbering)
    skip = len(totals.tally) // per_row
    if isinstance(plan.job, RunJob):
        for dropped in sorted(plan.job.dropped):
            skip += dropped < skip
    return Position(skip, numbering)


def _after(others: Mapping[str, Any], folder: RunFolder) -> int:
    """The number of the source row after a shard's last."""
    number = others.get(SOURCE_ROW)
    if not isinstance(number, int):
        raise RunMismatch(
            f"the last line of {folder.path / SAMPLES} has no {SOURCE_ROW}; use --overwrite to "
            "start anew"
        )
    return number + 1
