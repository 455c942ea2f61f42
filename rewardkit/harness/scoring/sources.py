"""Files of rows by their format: JSONL, CSV and Parquet."""

from __future__ import annotations

import io
import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rewardkit.errors import DataError
from rewardkit.harness.scoring import chunks
from rewardkit.harness.scoring.chunks import Chunk, Row, Source
from rewardkit.harness.scoring.json_lines import JsonLines
from rewardkit.harness.store.data_files import csv_rows, open_parquet


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
class Csv:
    """A CSV file with a header. The reader parses it: a quoted field may hold newlines."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Chunks of pickled rows."""
        with self.path.open("rb") as file:
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            rows = itertools.islice(csv_rows(lines, self.path.name), skip, None)
            while batch := list(itertools.islice(rows, chunks.CHUNK_ROWS)):
                yield Chunk(skip, len(batch), pickle.dumps(batch), file.tell())
                skip += len(batch)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The unpickled rows."""
        return iter(pickle.loads(chunk.content))


@dataclass(frozen=True)
class Parquet:
    """A Parquet file, read as a stream: a row group may be larger than the memory."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes of its columns before compression."""
        metadata = open_parquet(self.path).metadata
        groups = range(metadata.num_row_groups)
        return sum(metadata.row_group(group).total_byte_size for group in groups)

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Chunks of Arrow record batches in Arrow's stream format."""
        import pyarrow

        file = open_parquet(self.path)
        size, total = self.size, file.metadata.num_rows
        row = 0
        for batch in file.iter_batches(batch_size=chunks.CHUNK_ROWS):
            start, row = row, row + batch.num_rows
            if row > skip:
                rest = batch.slice(max(0, skip - start))
                sink = pyarrow.BufferOutputStream()
                with pyarrow.ipc.new_stream(sink, rest.schema) as stream:
                    stream.write_batch(rest)
                content = sink.getvalue().to_pybytes()
                yield Chunk(row - rest.num_rows, rest.num_rows, content, size * row // total)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows as Python values."""
        import pyarrow

        with pyarrow.ipc.open_stream(chunk.content) as stream:
            for batch in stream:
                yield from batch.to_pylist()
