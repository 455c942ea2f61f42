"""The rows of all shards in the order in which the data or the file has them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rewardkit.cluster.shard_set import FinishedShard
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.store.samples_file import SAMPLES, read_samples
from rewardkit.harness.store.shard import SOURCE_ROW

_Numbered = tuple[int, int, SampleRow]
"""A row after the number of its source row and its own index."""


def evaluated_rows(shards: Sequence[FinishedShard], tasks: Sequence[str]) -> list[SampleRow]:
    """The rows of an evaluation's shards, by task and in the order of the data."""
    place = {task: number for number, task in enumerate(tasks)}
    numbered: list[_Numbered] = []
    for shard in shards:
        rows = RunFolder(shard.path).rows().values()
        numbered += [_numbered(shard, row, line) for line, row in enumerate(rows, 1)]
        shard.check_count(len(rows))
    numbered.sort(key=lambda one: (place[one[2].task], one[:2]))
    return [row for _, _, row in numbered]


def scored_rows(shards: Sequence[FinishedShard]) -> Iterator[SampleRow]:
    """The rows of a scoring's shards in the order of the file; none stays in memory."""
    streams = [_in_file_order(shard) for shard in shards]
    return (row for _, _, row in heapq.merge(*streams, key=lambda one: one[:2]))


def _in_file_order(shard: FinishedShard) -> Iterator[_Numbered]:
    before = (-1, -1)
    lines = 0
    for lines, row in enumerate(read_samples(shard.path), 1):
        numbered = _numbered(shard, row, lines)
        if numbered[:2] <= before:
            shard.refuse(f"line {lines} of its {SAMPLES}, {row.key!r}, is there twice or misplaced")
        before = numbered[:2]
        yield numbered
    shard.check_count(lines)


def _numbered(shard: FinishedShard, row: SampleRow, line: int) -> _Numbered:
    shard.check_row(row, line)
    number = row.others.get(SOURCE_ROW)
    if not isinstance(number, int):
        shard.refuse(f"line {line} of its {SAMPLES} has no {SOURCE_ROW}")
    return number, row.index, replace(row, others=_without_number(row.others))


def _without_number(others: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in others.items() if name != SOURCE_ROW}
