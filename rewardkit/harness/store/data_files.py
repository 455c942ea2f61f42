"""Read and write the rows of a data set: JSONL, Parquet and CSV files, and the hub.

JSONL and CSV are read with the standard library: importing `datasets` costs more than a second,
which every evaluation of a local file would pay. Hub ids go through `datasets`.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

from rewardkit.errors import DataError, MissingExtra, UsageError
from rewardkit.harness.store.files import check_target, replaced_file
from rewardkit.harness.store.hub import cache_alone_if_offline, hub_is_reachable
from rewardkit.protocols import SizedTask, Task
from rewardkit.records import Sample

Row = dict[str, Any]
Reader = TypeVar("Reader")

IDENTIFIERS = ("id", "unique_id")
"""Columns that identify a row, by preference. A row without any is identified by its number."""

LONGEST_FIELD = 2**30
"""Characters of the longest field of a CSV file."""

ROWS_IN_GROUP = 2_000
"""Rows of a group in a Parquet file."""


def field_value(row: Mapping[str, Any], name: str) -> Any:
    """A field by its name or its dotted path, such as `choices.0.text`; None if there is none."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def read_rows(path: str | Path) -> list[Row]:
    """Read all rows of a .jsonl, .parquet or .csv file. Raises DataError."""
    return list(iterate_rows(path))


def iterate_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a file in bounded memory. Raises DataError."""
    file = Path(path)
    return by_suffix(file, jsonl=_jsonl, csv=_csv, parquet=_parquet)(file)


def by_suffix(file: Path, *, jsonl: Reader, csv: Reader, parquet: Reader) -> Reader:
    """The reader of the file's format. DataError if there is no file, or none for its suffix."""
    if file.is_dir():
        raise DataError(f"{file} is a folder; name a .jsonl, .parquet or .csv file in it")
    if not file.is_file():
        raise DataError(f"there is no data file {str(file)!r}; give .jsonl, .parquet or .csv")
    readers = {".jsonl": jsonl, ".json": jsonl, ".csv": csv, ".parquet": parquet}
    try:
        return readers[file.suffix.lower()]
    except KeyError:
        raise DataError(
            f"{file.name}: the suffix {file.suffix!r} isn't one of .jsonl, .parquet, .csv"
        ) from None


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


def _jsonl(file: Path) -> Iterator[Row]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield json_row(line, number, file.name)


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


def _csv(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        yield from csv_rows(lines, file.name)


def csv_rows(lines: TextIO, name: str) -> Iterator[Row]:
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


def _parquet(file: Path) -> Iterator[Row]:
    batches = open_parquet(file).iter_batches()
    try:
        for batch in batches:
            yield from batch.to_pylist()
    except Exception as error:  # pyarrow's errors share no base of their own
        raise DataError(f"{file.name} is a damaged Parquet file: {_first_line(error)}") from error


def load_pyarrow(use: str) -> tuple[Any, Any]:
    """Import `pyarrow` and `pyarrow.parquet`. MissingExtra says that `use` needs them."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.needing("pyarrow", "data", use) from error
    return pyarrow, parquet


def open_parquet(file: Path) -> Any:
    """Open a pyarrow.parquet.ParquetFile that streams its columns."""
    _, parquet = load_pyarrow(f"reading {file.name}")
    try:
        return parquet.ParquetFile(file, buffer_size=1 << 20)
    except Exception as error:  # pyarrow's errors share no base of their own
        raise DataError(f"{file.name} isn't a Parquet file: {_first_line(error)}") from error


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
