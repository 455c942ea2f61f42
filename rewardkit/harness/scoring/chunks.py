"""A large file, cut into chunks small enough to hand round, and a chunk read back as rows.

Whoever reads the file only moves bytes; who judges a chunk parses it.
"""

from __future__ import annotations

import io
import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rewardkit.errors import DataError
from rewardkit.harness.store.data_files import csv_rows, json_row, open_parquet

Row = dict[str, Any]

CHUNK_BYTES = 256 * 2**10
"""Bytes of JSON in a chunk: a few hundred completions."""

CHUNK_ROWS = 500
"""Rows in a chunk of CSV or Parquet."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some successive rows of a file, not parsed yet."""

    first: int
    """The number of its first row, from 0."""
    count: int
    content: bytes
    end: int
    """How far into the file it reaches, in the units of `Source.size`."""
    line: int = 0
    """The number of its first line in a file of lines, from 1."""


class Source(Protocol):
    """A file of rows."""

    @property
    def size(self) -> int:
        """What there is to read, in bytes of the rows."""
        ...

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """The file's rows but for the first `skip`."""
        ...

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of one of its chunks. DataError where they can't be read."""
        ...


def open_source(path: Path) -> Source:
    """The file, by its suffix. Raises DataError."""
    if not path.is_file():
        raise DataError(f"there is no data file {str(path)!r}; give .jsonl, .parquet or .csv")
    sources: dict[str, Callable[[Path], Source]] = {
        ".jsonl": JsonLines,
        ".json": JsonLines,
        ".csv": Csv,
        ".parquet": Parquet,
    }
    try:
        return sources[path.suffix.lower()](path)
    except KeyError:
        raise DataError(
            f"{path.name}: the suffix {path.suffix!r} isn't one of .jsonl, .parquet, .csv"
        ) from None


@dataclass(frozen=True)
class JsonLines:
    """A file with a JSON object on every line that isn't blank."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Whole lines, never parsed."""
        row, line = 0, 1
        with self.path.open("rb") as file:
            while block := file.read(CHUNK_BYTES):
                block += file.readline()
                lines = block.split(b"\n")
                count = sum(1 for one in lines if one.strip())
                if row + count > skip:
                    yield _without(skip - row, Chunk(row, count, block, file.tell(), line))
                row, line = row + count, line + len(lines) - (not lines[-1])

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """Parsed; an error names the line."""
        for number, line in enumerate(chunk.content.split(b"\n"), chunk.line):
            if line.strip():
                yield json_row(line, number, self.path.name)


@dataclass(frozen=True)
class Csv:
    """A CSV file with a header. Its rows are cut by a parser: a quoted field may hold newlines."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Pickled rows."""
        with self.path.open("rb") as file:
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            rows = itertools.islice(csv_rows(lines, self.path.name), skip, None)
            while some := list(itertools.islice(rows, CHUNK_ROWS)):
                yield Chunk(skip, len(some), pickle.dumps(some), file.tell())
                skip += len(some)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """As they were pickled."""
        return iter(pickle.loads(chunk.content))


@dataclass(frozen=True)
class Parquet:
    """A Parquet file, read as a stream: a row group may be larger than the memory."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes of its columns before compression."""
        told = open_parquet(self.path).metadata
        return sum(told.row_group(index).total_byte_size for index in range(told.num_row_groups))

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Arrow record batches, as they go over a wire."""
        import pyarrow

        file = open_parquet(self.path)
        size, total = self.size, file.metadata.num_rows
        row = 0
        for batch in file.iter_batches(batch_size=CHUNK_ROWS):
            start, row = row, row + batch.num_rows
            if row > skip:
                rest = batch.slice(max(0, skip - start))
                sink = pyarrow.BufferOutputStream()
                with pyarrow.ipc.new_stream(sink, rest.schema) as stream:
                    stream.write_batch(rest)
                content = sink.getvalue().to_pybytes()
                yield Chunk(row - rest.num_rows, rest.num_rows, content, size * row // total)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """As Python values."""
        import pyarrow

        with pyarrow.ipc.open_stream(chunk.content) as stream:
            for batch in stream:
                yield from batch.to_pylist()


def _without(surplus: int, chunk: Chunk) -> Chunk:
    """The chunk of lines but for its first `surplus` rows."""
    if surplus <= 0:
        return chunk
    lines = chunk.content.split(b"\n")
    full = (index for index, line in enumerate(lines) if line.strip())
    start = next(itertools.islice(full, surplus, None))
    return Chunk(
        chunk.first + surplus,
        chunk.count - surplus,
        b"\n".join(lines[start:]),
        chunk.end,
        chunk.line + start,
    )
