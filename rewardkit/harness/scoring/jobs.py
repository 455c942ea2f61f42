"""Judge one chunk, in this process or another: parse its rows, judge them, prepare their lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rewardkit.errors import DataError, RunMismatch
from rewardkit.harness.run.judging_thread import Generated, TaskVerifiers, judged_rows
from rewardkit.harness.scoring.sources import (
    Chunk,
    Columns,
    JsonLines,
    Source,
    completions,
    labels,
    reference,
    token_count,
)
from rewardkit.harness.scoring.tally import Agreement, Tally
from rewardkit.harness.store.data_files import field_value
from rewardkit.harness.store.sample_row import BriefVerdict, SampleRow, as_line
from rewardkit.harness.store.shard import SOURCE_ROW, Shard
from rewardkit.judging import LimitCounts, take_limit_counts
from rewardkit.protocols import Task
from rewardkit.records import Completion, Sample
from rewardkit.verifiers.by_row import needs_reference

INDEX = b"\0"
"""Placeholder for the index in an unnumbered line; JSON itself never contains this byte."""

_HEAD = ("key", "task", "id", "index")
_quoted = json.JSONEncoder(ensure_ascii=False).encode


@dataclass
class ChunkResult:
    """The judged rows of a chunk.

    Rows of a file have no keys yet: a completion's index depends on the chunks before. `number`
    completes them.
    """

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)
    lines: list[bytes] = field(default_factory=list)
    """The lines for samples.jsonl, if any are written; until numbered, they hold `INDEX`."""
    ids: list[str] = field(default_factory=list)
    """The id of each row of the file, until numbered."""
    limits: LimitCounts = field(default_factory=LimitCounts)

    def number(self, task: str, indices: Sequence[int]) -> None:
        """Give each completion its index and its key."""
        self.tally.number(indices)
        if self.lines:
            self.lines = [
                line.replace(INDEX, b"%d" % index, 2)
                for index, line in zip(indices, self.lines, strict=True)
            ]
        per_row = len(indices) // max(1, len(self.ids))
        self.agreement.shown = [
            replace(shown, key=f"{task}/{self.ids[at // per_row]}/{indices[at]}")
            for shown in self.agreement.shown
            for at in [shown.position]
        ]


def unnumbered_line(row: SampleRow) -> bytes:
    """A line of samples.jsonl with `INDEX` in both places of the index."""
    fields = row.as_json()
    for name in _HEAD:
        del fields[name]
    return _head(row.task, row.id) + as_line(fields).encode()[1:]


def _head(task: str, identifier: str) -> bytes:
    """The start of a line, up to the index."""
    try:
        return _quoted_head(_quoted, task, identifier).encode()
    except UnicodeEncodeError:  # half surrogates
        return _quoted_head(json.dumps, task, identifier).encode()


def _quoted_head(quoted: Callable[[str], str], task: str, identifier: str) -> str:
    start, index = quoted(f"{task}/{identifier}/")[:-1], INDEX.decode()
    return (
        f'{{"key": {start}{index}", "task": {quoted(task)}, "id": {quoted(identifier)}, '
        f'"index": {index}, '
    )


Job = Callable[[Chunk], ChunkResult]


@dataclass(frozen=True)
class FileJob:
    """Judge the completions of a file from any system.

    A row's sample comes from `samples` by the row's `id`, if there are any; else `task` reads it
    from the row, or it is the row's reference field. Raises DataError, which names the row and the
    missing field.
    """

    source: Source
    name: str
    verifiers: TaskVerifiers
    columns: Columns
    task: Task | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)
    keep_rows: bool = True
    """Whether to prepare the lines of the rows, or only to count the rows."""
    workers: int | None = None
    shard: Shard | None = None
    """The part of the problems to judge; None: all."""

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Judge the rows of a chunk."""
        ids = []
        batch: list[Generated] = []
        for number, row in enumerate(self.source.rows(chunk), chunk.first):
            sample = self._sample(row, number)
            if self.shard and not self.shard.takes(self.name, sample.id):
                continue
            ids.append(sample.id)
            batch += self._completions(row, number, sample)
        group_by = self.task.group_by if self.task else ()
        result = ChunkResult(ids=ids)
        for position, judged in enumerate(_judged(batch, self.workers, result)):
            result.tally.add(judged, group_by)
            result.agreement.add(judged, position)
            if self.keep_rows:
                result.lines.append(unnumbered_line(judged))
        return result

    def _completions(
        self, row: Mapping[str, Any], number: int, sample: Sample
    ) -> Iterator[Generated]:
        row_labels = labels(row, number, self.columns)
        reason = str(row.get("finish_reason") or "stop")
        prompt_tokens = token_count(row, "prompt_tokens")
        completion_tokens = token_count(row, "completion_tokens")
        for index, text in enumerate(completions(row, number, self.columns)):
            yield Generated(
                key="",
                task=self.name,
                index=index,
                sample=sample,
                completion=Completion(text, reason, prompt_tokens, completion_tokens),
                verifiers=self.verifiers,
                label=row_labels[index] if row_labels else None,
                others={SOURCE_ROW: number} if self.shard else {},
            )

    def _sample(self, row: Mapping[str, Any], number: int) -> Sample:
        identifier = str(row.get("id", number))
        if self.samples:
            if identifier not in self.samples:
                raise DataError(f"row {number + 1} has the id {identifier!r}, which --data lacks")
            return self.samples[identifier]
        if self.columns.reference is None and self.task is not None:
            return self.task.sample(row, number)
        return Sample(self._reference(row, number), id=identifier, columns=row)

    def _reference(self, row: Mapping[str, Any], number: int) -> str:
        required = self.columns.reference or needs_reference(self.verifiers.strict, row)
        if not required and field_value(row, "reference") is None:
            return ""
        return reference(row, number, self.columns)


@dataclass(frozen=True)
class RunJob:
    """Judge a run's completions again; each row stores its earlier verdict as `before`."""

    source: JsonLines
    verifiers: Mapping[str, TaskVerifiers]
    group_by: Mapping[str, tuple[str, ...]]
    dropped: frozenset[int] = frozenset()
    """Numbers of the rows that a later row with the same key replaces."""
    keep_rows: bool = True
    workers: int | None = None
    shard: Shard | None = None

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Judge the rows of a chunk again."""
        rows = [row for number, row in self._rows(chunk) if number not in self.dropped]
        result = ChunkResult()
        judged = _judged([self._generated(row) for row in rows], self.workers, result)
        by_key = {row.key: row for row in judged}
        for row in (by_key[earlier.key] for earlier in rows):
            result.tally.add(row, self.group_by[row.task])
            result.agreement.add(row)
            if self.keep_rows:
                result.lines.append(as_line(row.as_json()).encode())
        return result

    def _rows(self, chunk: Chunk) -> Iterable[tuple[int, SampleRow]]:
        for number, fields in enumerate(self.source.rows(chunk), chunk.first):
            place = f"{self.source.path}, line {number + 1}"
            row = SampleRow.from_json(fields, place)
            if row.task not in self.verifiers:
                raise RunMismatch(
                    f"{place} is of the task {row.task!r}, which the run's run.json lacks; "
                    "restore run.json, or remove the row"
                )
            if self.shard is None:
                yield number, row
            elif self.shard.takes(row.task, row.id):
                yield number, replace(row, others={**row.others, SOURCE_ROW: number})

    def _generated(self, row: SampleRow) -> Generated:
        completion = Completion(
            row.completion,
            row.finish_reason,
            row.prompt_tokens,
            row.completion_tokens,
            row.verdict.message.removeprefix("nothing was generated: "),
            reasoning=row.reasoning,
            thinking_tokens=row.thinking_tokens,
            cost=row.cost,
        )
        return Generated(
            key=row.key,
            task=row.task,
            index=row.index,
            sample=Sample(row.reference, id=row.id, columns=row.columns),
            completion=completion,
            verifiers=self.verifiers[row.task],
            prompt=row.prompt,
            prompt_ends=row.prompt_ends,
            label=row.label,
            before=BriefVerdict(row.verdict.correct, row.verdict.answer),
            others=row.others,
        )


def _judged(
    batch: Sequence[Generated], workers: int | None, result: ChunkResult
) -> Sequence[SampleRow]:
    """The judged rows of a batch; `result` gets the counts of verdicts that had more time."""
    rows = judged_rows(batch, workers)
    result.limits.add(take_limit_counts())
    return rows
