"""Judge one chunk of a file, in this process or another: parse, judge, make ready to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.run.judging_thread import Generated, TaskVerifiers, judged_rows, sample_row
from rewardkit.harness.scoring.chunk_result import ChunkResult, headless
from rewardkit.harness.scoring.chunks import Chunk, Source
from rewardkit.harness.scoring.columns import Columns, completions, labels, reference
from rewardkit.harness.store.run_folder import Row, as_line
from rewardkit.protocols import Task
from rewardkit.records import Completion, Sample

Job = Callable[[Chunk], ChunkResult]


@dataclass(frozen=True)
class FileJob:
    """Judge the completions of any system's file.

    A row's sample is read by `task`, or is its reference field; or, by its `id`, one of the
    `known` samples. Raises DataError naming the row and the field that's missing.
    """

    source: Source
    name: str
    judges: TaskVerifiers
    columns: Columns
    task: Task | None = None
    known: Mapping[str, Sample] = field(default_factory=dict)
    written: bool = True
    """Whether the rows are kept, or only counted."""
    workers: int | None = None

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """The rows of a chunk, judged."""
        samples = []
        batch: list[Generated] = []
        for number, row in enumerate(self.source.rows(chunk), chunk.first):
            sample = self._sample(row, number)
            samples.append(sample)
            batch += self._completions(row, number, sample)
        group_by = self.task.group_by if self.task else ()
        judged = ChunkResult(ids=[sample.id for sample in samples])
        for place, row in enumerate(judged_rows(batch, self.workers)):
            judged.tally.add(row, group_by)
            judged.agreement.add({**row, "place": place})
            if self.written:
                judged.lines.append(headless(row))
        return judged

    def _completions(self, row: Row, number: int, sample: Sample) -> Iterator[Generated]:
        marks = labels(row, number, self.columns)
        reason = str(row.get("finish_reason") or "stop")
        asked, answered = _count(row.get("prompt_tokens")), _count(row.get("completion_tokens"))
        for place, text in enumerate(completions(row, number, self.columns)):
            completion = Completion(text, reason, asked, answered)
            kept = sample_row("", self.name, sample, completion, index=place)
            if marks:
                kept["label"] = marks[place]
            yield Generated(kept, sample, completion, self.judges)

    def _sample(self, row: Mapping[str, Any], number: int) -> Sample:
        if self.known:
            identifier = str(row.get("id", number))
            if identifier not in self.known:
                raise DataError(
                    f"row {number + 1} has the id {identifier!r}, which --data doesn't hold"
                )
            return self.known[identifier]
        if self.columns.reference is None and self.task is not None:
            return self.task.sample(row, number)
        identifier = str(row.get("id", number))
        return Sample(reference(row, number, self.columns), id=identifier, columns=row)


@dataclass(frozen=True)
class RunJob:
    """Judge a run's completions again; each row keeps the verdict that it had `before`."""

    source: Source
    judges: Mapping[str, TaskVerifiers]
    group_by: Mapping[str, tuple[str, ...]]
    dropped: frozenset[int] = frozenset()
    """Numbers of the rows that a later one of the same key replaces."""
    written: bool = True
    workers: int | None = None

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """The rows of a chunk, judged again."""
        rows = [
            row
            for number, row in enumerate(self.source.rows(chunk), chunk.first)
            if number not in self.dropped
        ]
        again = judged_rows([self._generated(row) for row in rows], self.workers)
        by_key = {row["key"]: row for row in again}
        judged = ChunkResult()
        for before in rows:
            row = by_key[before["key"]]
            judged.tally.add(row, self.group_by[row["task"]])
            judged.agreement.add(row)
            if self.written:
                judged.lines.append(as_line(row).encode())
        return judged

    def _generated(self, row: Row) -> Generated:
        sample = Sample(row["reference"], id=row["id"], columns=row["columns"])
        completion = Completion(
            row["completion"],
            row["finish_reason"],
            row["prompt_tokens"],
            row["completion_tokens"],
            row["verdict"]["message"],
        )
        bare = {name: value for name, value in row.items() if name not in ("verdict", "flexible")}
        before = {name: row["verdict"][name] for name in ("correct", "answer")}
        return Generated({**bare, "before": before}, sample, completion, self.judges[row["task"]])


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None
