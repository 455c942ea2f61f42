"""Judge one chunk of a file, in this process or another: parse, judge, make ready to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.run.judging_thread import Generated, TaskVerifiers, judged_rows
from rewardkit.harness.scoring.chunk_result import ChunkResult, headless
from rewardkit.harness.scoring.chunks import Chunk, JsonLines, Source
from rewardkit.harness.scoring.columns import Columns, completions, labels, reference
from rewardkit.harness.store.run_folder import as_line
from rewardkit.harness.store.sample_row import BriefVerdict, SampleRow
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
        for place, judged_row in enumerate(judged_rows(batch, self.workers)):
            judged.tally.add(judged_row, group_by)
            judged.agreement.add(judged_row, place)
            if self.written:
                judged.lines.append(headless(judged_row))
        return judged

    def _completions(
        self, row: Mapping[str, Any], number: int, sample: Sample
    ) -> Iterator[Generated]:
        known = labels(row, number, self.columns)
        reason = str(row.get("finish_reason") or "stop")
        asked, answered = _count(row.get("prompt_tokens")), _count(row.get("completion_tokens"))
        for place, text in enumerate(completions(row, number, self.columns)):
            completion = Completion(text, reason, asked, answered)
            yield Generated(
                key="",
                task=self.name,
                index=place,
                sample=sample,
                completion=completion,
                verifiers=self.judges,
                label=known[place] if known else None,
            )

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

    source: JsonLines
    judges: Mapping[str, TaskVerifiers]
    group_by: Mapping[str, tuple[str, ...]]
    dropped: frozenset[int] = frozenset()
    """Numbers of the rows that a later one of the same key replaces."""
    written: bool = True
    workers: int | None = None

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """The rows of a chunk, judged again."""
        rows = [
            SampleRow.from_json(row, f"{self.source.path}, row {number + 1}")
            for number, row in enumerate(self.source.rows(chunk), chunk.first)
            if number not in self.dropped
        ]
        again = judged_rows([self._generated(row) for row in rows], self.workers)
        by_key = {row.key: row for row in again}
        judged = ChunkResult()
        for before in rows:
            row = by_key[before.key]
            judged.tally.add(row, self.group_by[row.task])
            judged.agreement.add(row)
            if self.written:
                judged.lines.append(as_line(row.as_json()).encode())
        return judged

    def _generated(self, row: SampleRow) -> Generated:
        completion = Completion(
            row.completion,
            row.finish_reason,
            row.prompt_tokens,
            row.completion_tokens,
            row.verdict.message,
        )
        return Generated(
            key=row.key,
            task=row.task,
            index=row.index,
            sample=Sample(row.reference, id=row.id, columns=row.columns),
            completion=completion,
            verifiers=self.judges[row.task],
            prompt=row.prompt,
            label=row.label,
            before=BriefVerdict(row.verdict.correct, row.verdict.answer),
            others=row.others,
        )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None
