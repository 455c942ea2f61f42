"""JSONL files in chunks of whole lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rewardkit.harness.scoring import chunks
from rewardkit.harness.scoring.chunks import Chunk, Row
from rewardkit.harness.store.data_files import json_row


@dataclass(frozen=True)
class JsonLines:
    """A file with a JSON object on every line that isn't blank."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Chunks of whole lines, not parsed."""
        row, line = 0, 1
        with self.path.open("rb") as file:
            while block := file.read(chunks.CHUNK_BYTES):
                block += file.readline()
                lines = block.split(b"\n")
                count = sum(1 for one in lines if one.strip())
                if row + count > skip:
                    yield _without(skip - row, Chunk(row, count, block, file.tell(), line))
                row, line = row + count, line + len(lines) - (not lines[-1])

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The parsed lines. DataError names the file and the line."""
        for number, line in enumerate(chunk.content.split(b"\n"), chunk.line):
            if line.strip():
                yield json_row(line, number, self.path.name)


def _without(surplus: int, chunk: Chunk) -> Chunk:
    """The chunk without its first `surplus` rows."""
    if surplus <= 0:
        return chunk
    lines = chunk.content.split(b"\n")
    filled = (index for index, line in enumerate(lines) if line.strip())
    start = next(itertools.islice(filled, surplus, None))
    return Chunk(
        chunk.first + surplus,
        chunk.count - surplus,
        b"\n".join(lines[start:]),
        chunk.end,
        chunk.line + start,
    )
