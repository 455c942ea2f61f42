"""Read and write the rows of a data set: JSONL, Parquet and CSV files, and the hub.

JSONL and CSV are read with the standard library: importing `datasets` costs more than a second,
which every evaluation of a local file would pay. Hub ids go through `datasets`.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from rewardkit.errors import DataError, MissingExtra, UsageError
from rewardkit.harness.store.files import check_target, replaced_file
from rewardkit.harness.store.hub import cache_alone_if_offline, hub_is_reachable
from rewardkit.protocols import SizedTask, Task
from rewardkit.records import Sample

Row = dict[str, Any]
IDENTIFIERS = ("id", "unique_id")
"""Columns that identify a row, by preference. A row without any is identified by its number."""

LONGEST_FIELD = 2**30
"""Characters of the longest field of a CSV file."""

ROWS_IN_GROUP = 2_000
"""Rows of a group in a Parquet file."""


def field_value(row: Mapping[str, Any], name: str) -> Any:
    """A field by its name or its dotted path, such as `choices.0.text`; None if there is none.

    >>> field_value({"turns": [{"text": "a"}, {"text": "b"}]}, "turns.-1.text")
    'b'
    """
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and (place := _place(part, len(value))) is not None:
            value = value[place]
        else:
            return None
    return value


def _place(part: str, length: int) -> int | None:
    """A list's index, negative from its end; None if the part of a path isn't one."""
    if not part.removeprefix("-").isdecimal():
        return None
    return int(part) if -length <= int(part) < length else None


def read_rows(path: str | Path) -> list[Row]:
    """Read all rows of a .jsonl, .parquet or .csv file. Raises DataError."""
    return list(iterate_rows(path))


def read_problems(path: str | Path) -> list[Row]:
    """Read rows of problems; of a run's samples.jsonl, each problem once. Raises DataError."""
    rows = read_rows(path)
    if not rows or not all(row.keys() >= _SAMPLE_FIELDS for row in rows):
        return rows
    by_problem: dict[tuple[Any, Any], Row] = {}
    for row in rows:
        by_problem.setdefault((row["task"], row["id"]), {"id": row["id"], **row["columns"]})
    return list(by_problem.values())


_SAMPLE_FIELDS = {"key", "task", "id", "index", "completion", "columns", "verdict"}
"""Fields by which the lines of a run's samples.jsonl are known."""


def iterate_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a file in bounded memory. Raises DataError."""
    source = open_source(Path(path))
    return (row for chunk in source.chunks(0) for row in source.rows(chunk))


def open_source(path: Path) -> Source:
    """The file, by its suffix. DataError if there is no file, or its suffix isn't known."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a .jsonl, .parquet or .csv file in it")
    if not path.is_file():
        raise DataError(f"there is no data file {str(path)!r}; give .jsonl, .parquet or .csv")
    kinds: Mapping[str, type[Source]] = {
        ".jsonl": JsonLines,
        ".json": JsonLines,
        ".csv": Csv,
        ".parquet": Parquet,
    }
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise DataError(
            f"{path.name}: the suffix {path.suffix!r} isn't one of .jsonl, .parquet, .csv"
        )
    return kind(path)


def hub_rows(
    repository: str, configuration: str | None, split: str, revision: str | None = None
) -> list[Row]:
    """Load a split of a data set from the hub or its local cache. Raises DataError."""
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra.needing("datasets", "data", f"the data set {repository}") from error
    datasets.disable_progress_bars()
    try:
        with cache_alone_if_offline():
            loaded = datasets.load_dataset(
                repository, configuration, split=split, revision=revision
            )
    except Exception as error:  # many exception types mean the same: unavailable
        reason = _first_line(error) if hub_is_reachable() else "the hub can't be reached"
        raise DataError(
            f"the data set {repository} ({split}) can't be loaded: {reason}; "
            "pass a local copy with --data FILE"
        ) from error
    return [dict(row) for row in loaded]


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
    """Where in the file it ends, in the units of the source's `size`."""
    line: int = 0
    """The number of its first line, from 1, in a file of lines."""


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
    return replace(
        chunk,
        first=chunk.first + surplus,
        count=chunk.count - surplus,
        content=b"\n".join(lines[start:]),
        line=chunk.line + start,
    )


def json_row(line: bytes, number: int, name: str) -> Row:
    """Parse a line of JSON as a row. DataError names the file and the line."""
    try:
        text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        row = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:  # bad UTF-8 is a ValueError, too
        raise DataError(f"{name}, line {number} isn't JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError(
            f"{name}, line {number} isn't a JSON object; JSONL has an object on each line"
        )
    return row


def _csv_rows(lines: TextIO, name: str) -> Iterator[Row]:
    """Yield the rows of an open CSV file. DataError names the file and the line."""
    # the csv module's default limit, 131,072 characters a field, is too low for long completions
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    reader = csv.DictReader(lines)
    try:
        for row in reader:
            if None in row:  # where the csv module puts what the header has no name for
                raise DataError(
                    f"{name}, line {reader.line_num} has more fields than the header; put fields "
                    "that hold commas in quotes"
                )
            yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{name}, after line {reader.line_num}, isn't CSV: {error}") from error


def load_pyarrow(use: str) -> tuple[Any, Any]:
    """Import `pyarrow` and `pyarrow.parquet`. MissingExtra says that `use` needs them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.needing("pyarrow", "data", use) from error
    return pyarrow, parquet


def _open_parquet(file: Path) -> Any:
    """Open a pyarrow.parquet.ParquetFile that streams its columns."""
    _, parquet = load_pyarrow(f"reading {file.name}")
    try:
        return parquet.ParquetFile(file, buffer_size=1 << 20)
    except Exception as error:  # pyarrow's errors share no base of their own
        raise DataError(f"{file.name} isn't a Parquet file: {_first_line(error)}") from error


def _undamaged(batches: Iterator[Any], path: Path) -> Iterator[Any]:
    try:
        yield from batches
    except Exception as error:  # pyarrow's errors share no base of their own
        raise DataError(f"{path.name} is a damaged Parquet file: {_first_line(error)}") from error


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
            rows = itertools.islice(_csv_rows(lines, self.path.name), skip, None)
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
        metadata = _open_parquet(self.path).metadata
        groups = range(metadata.num_row_groups)
        return sum(metadata.row_group(group).total_byte_size for group in groups)

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Chunks of Arrow record batches in Arrow's stream format."""
        import pyarrow

        file = _open_parquet(self.path)
        size, total = self.size, file.metadata.num_rows
        row = 0
        for batch in _undamaged(file.iter_batches(batch_size=CHUNK_ROWS), self.path):
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
            rows = (row for batch in stream for row in batch.to_pylist())
            yield from _undamaged(rows, self.path)


Source = JsonLines | Csv | Parquet
"""A file of rows."""


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def problems(
    task: Task, *, data: str | None = None, split: str | None, seed: int, count: int | None
) -> list[Sample]:
    """The samples of a split or of the file `data`, or the first `count` of them.

    UsageError if there are fewer.
    """
    if count is None:
        return task.load(data=data, split=split, seed=seed)
    if count < 1:
        raise UsageError(f"the count is {count}; it must be at least 1")
    if data is None and isinstance(task, SizedTask):
        task = task.sized(split, count)
    samples = task.load(data=data, split=split, seed=seed)
    if len(samples) < count:
        where = data or (f"split {split!r}" if split else "its default split")
        raise UsageError(f"task {task.name!r} has {len(samples)} problems in {where}, not {count}")
    return samples[:count]


def rows_of(task: Task, samples: Sequence[Sample]) -> list[Row]:
    """A row for each sample. DataError if the task would read another sample from the row."""
    return [_row(task, sample, index) for index, sample in enumerate(samples)]


def as_json(row: Row) -> str:
    """The row as a line of JSONL, without the newline."""
    try:
        return json.dumps(row, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"the row {str(row)[:80]} can't be written as JSON: {error}") from error


def write_rows(rows: Sequence[Row], path: Path, *, overwrite: bool) -> None:
    """Write rows as .jsonl or .parquet, by the file's suffix, atomically."""
    check_dataset_file(path, overwrite=overwrite)
    with replaced_file(path) as partial:
        WRITERS[path.suffix.lower()](rows, partial)


def check_dataset_file(path: Path, *, overwrite: bool) -> None:
    """Raise UsageError if rows can't be written to this file, or may not replace it."""
    if path.suffix.lower() not in WRITERS:
        raise UsageError(
            f"{path.name}: rows are written as {' or '.join(WRITERS)}, by the file's suffix, "
            f"not as {path.suffix!r}"
        )
    check_target(path, overwrite=overwrite)


def _row(task: Task, sample: Sample, index: int) -> Row:
    """The sample's columns, and its id if the task can't derive it from them."""
    plain = dict(sample.columns)
    candidates = (plain, {"id": sample.id, **plain})
    for row in candidates:
        if task.sample(json.loads(as_json(row)), index) == sample:
            return row
    raise DataError(
        f"task {task.name!r} reads another sample from the columns of its sample {sample.id!r}, so "
        "a file of them would hold other problems; its `sample` must read what its `load` gives"
    )


def _write_jsonl(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
        file.writelines(as_json(row) + "\n" for row in rows)


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    pyarrow, parquet = load_pyarrow("writing Parquet")
    try:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    except pyarrow.ArrowException as error:
        raise DataError(f"these rows don't fit a Parquet table: {error}; write .jsonl") from error


WRITERS = {".jsonl": _write_jsonl, ".parquet": _write_parquet}


def stream_to_parquet(rows: Iterable[Row], schema: Any, path: Path) -> int:
    """Write rows as they come, atomically, and return their number. Raises WriteError.

    Only the rows of one group are in memory. Without rows, the table is empty.
    """
    pyarrow, parquet = load_pyarrow(f"writing {path.name}")
    rows, count = iter(rows), 0
    with (
        replaced_file(path) as partial,
        parquet.ParquetWriter(partial, schema, compression="zstd") as writer,
    ):
        while group := list(itertools.islice(rows, ROWS_IN_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))
            count += len(group)
    return count


def storable(value: Any) -> Any:
    """The value with lone surrogates, which Parquet can't store, as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {name: storable(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(storable(inner) for inner in value)
    return value
