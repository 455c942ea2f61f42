"""Files of rows by their format: JSONL, CSV and Parquet."""

from __future__ import annotations

import io
import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.store.data_files import (
    by_suffix,
    csv_rows,
    field_value,
    json_row,
    open_parquet,
)
from rewardkit.harness.store.sample_row import LARGEST_COUNT

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
    """Where in the file it ends, in the units of `Source.size`."""
    line: int = 0
    """The number of its first line, from 1, in a file of lines."""


class Source(Protocol):
    """A file of rows."""

    @property
    def size(self) -> int:
        """The size of its rows in bytes."""

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """The file's rows without the first `skip`."""

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of one of its chunks. DataError if they can't be read."""


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
            while block := file.read(CHUNK_BYTES):
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


COMPLETION_FIELDS = ("completion", "response", "output", "generation", "solution", "text")
"""Fields tried for the completion if none is named; the first that a row has is used."""


@dataclass(frozen=True)
class FileFields:
    """Which fields of a file's rows to read; dots reach into nested objects and lists.

    Each of `labels` tells whether the completion in the same place of `completions` is right; the
    verdicts are compared with them.
    """

    completions: Sequence[str] = ()
    reference: str | None = None
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != len(self.completions):
            raise UsageError(
                f"{len(self.labels)} label fields for {len(self.completions)} completion fields; "
                "name as many of each"
            )

    @property
    def completions_a_row(self) -> int:
        """The number of completions in each row."""
        return max(1, len(self.completions))


def completions(row: Mapping[str, Any], number: int, columns: FileFields) -> list[str]:
    """The texts of a row's completions. DataError names the row and the missing field."""
    fields = columns.completions or [_completion_field(row, number)]
    texts = [field_value(row, name) for name in fields]
    for name, text in zip(fields, texts, strict=True):
        if not isinstance(text, str):
            raise _missing(row, number, f"no text in {name!r}", "--completion-field")
    return texts


def reference(row: Mapping[str, Any], number: int, columns: FileFields) -> str:
    """A row's reference. DataError names the row and the missing field."""
    name = columns.reference or "reference"
    value = field_value(row, name)
    if value is None:
        raise _missing(row, number, f"nothing in {name!r}", "--reference-field")
    return str(value)


def labels(row: Mapping[str, Any], number: int, columns: FileFields) -> list[bool]:
    """The labels of a row's completions. DataError for a label that is neither true nor false."""
    return [_label(row, number, name) for name in columns.labels]


def token_count(row: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None if the field holds none."""
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST_COUNT else None


def _completion_field(row: Mapping[str, Any], number: int) -> str:
    for name in COMPLETION_FIELDS:
        if isinstance(row.get(name), str):
            return name
    tried = ", ".join(COMPLETION_FIELDS)
    raise _missing(row, number, f"no text in any of {tried}", "--completion-field")


def _missing(row: Mapping[str, Any], number: int, what: str, option: str) -> DataError:
    fields = ", ".join(_paths(row))
    return DataError(f"row {number + 1} has {what}; it has {fields}; name the field with {option}")


def _label(row: Mapping[str, Any], number: int, name: str) -> bool:
    label = field_value(row, name)
    if isinstance(label, bool) or label in (0, 1):
        return bool(label)
    raise DataError(f"row {number + 1}: the label {name!r} is {label!r:.60}, not true or false")


def _paths(row: Mapping[str, Any], levels: int = 6) -> Iterable[str]:
    """The names of a row's fields; of objects and the first in a list, dotted paths."""
    for name, value in row.items():
        inner = {"0": value[0]} if isinstance(value, list) and value else value
        if levels > 1 and isinstance(inner, Mapping) and inner:
            yield from (f"{name}.{path}" for path in _paths(inner, levels - 1))
        else:
            yield str(name)


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
            while batch := list(itertools.islice(rows, CHUNK_ROWS)):
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
        """The rows as Python values."""
        import pyarrow

        with pyarrow.ipc.open_stream(chunk.content) as stream:
            for batch in stream:
                yield from batch.to_pylist()


def open_source(path: Path) -> Source:
    """The file, by its suffix. Raises DataError."""
    kinds: dict[str, Callable[[Path], Source]] = {
        "jsonl": JsonLines,
        "csv": Csv,
        "parquet": Parquet,
    }
    return by_suffix(path, **kinds)(path)
