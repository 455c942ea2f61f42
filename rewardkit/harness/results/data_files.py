"""Read and write the rows of a data set: JSONL, JSON, Parquet and CSV files, and the hub.

JSONL and CSV are read with the standard library: importing `datasets` costs more than a second,
which every evaluation of a local file would pay. Hub ids go through `datasets`.
"""

from __future__ import annotations

import ast
import codecs
import contextlib
import csv
import glob
import gzip
import io
import itertools
import json
import pickle
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from rewardkit.config import PositiveInt, read_value
from rewardkit.errors import DataError, UsageError, needs_extra
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.files import check_target, replaced_file
from rewardkit.harness.results.model_folder import (
    cache_alone_if_offline,
    first_line,
    hub_is_reachable,
)
from rewardkit.protocols import Task, extras
from rewardkit.records import Sample

Row = dict[str, Any]
IDENTIFIERS = ("id", "unique_id")
"""Columns that identify a row, by preference. The row's number identifies any other row."""

CURATED = "kept.parquet"
"""The problems that `rewardkit curate` keeps. You can name the folder in place of the file."""

LONGEST_FIELD = 2**30
"""Characters of the longest field of a CSV file."""

MOST_LISTED = 10
"""Damaged lines whose numbers are listed."""

FREE_BYTES = 2**26
"""Bytes that a compressed file may always unpack to."""

MOST_RATIO = 100
"""A compressed file may unpack to this many times its size, if that is more than FREE_BYTES."""

MOST_VALUES = 10_000_000
"""Values of a JSON document in a compressed file; each takes tens of bytes when parsed."""


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
        elif (
            isinstance(value, list)
            and part.removeprefix("-").isdecimal()
            and -len(value) <= int(part) < len(value)
        ):
            value = value[int(part)]
        else:
            return None
    return value


def read_rows(path: str | Path) -> list[Row]:
    """Read all rows of a .jsonl, .json, .parquet or .csv file. Raises DataError."""
    return list(iterate_rows(path))


def read_problems(path: str | Path) -> list[Row]:
    """Read rows of problems; of a run's samples.jsonl, each problem once. Raises DataError."""
    rows = read_rows(path)
    by_problem: dict[tuple[str, str], Row] = {}
    for line in rows:
        if (row := CompletionRow.in_line(line)) is None:
            return rows
        by_problem.setdefault((row.task, row.id), {"id": row.id, **row.columns})
    return list(by_problem.values())


def iterate_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a file in bounded memory. Raises DataError."""
    return all_rows(open_source(Path(path)))


def all_rows(source: Source) -> Iterator[Row]:
    """Yield the rows of a source in bounded memory."""
    return (row for chunk in source.chunks(0) for row in source.rows(chunk))


def open_source(path: Path) -> _File:
    """The file, by its suffix. DataError if there is no file, or its suffix isn't known."""
    if (path / CURATED).is_file():
        path /= CURATED
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a .jsonl, .parquet or .csv file in it")
    if not path.is_file():
        raise DataError(f"there is no data file {str(path)!r}; give .jsonl, .parquet or .csv")
    kinds: Mapping[str, Callable[[Path], _File]] = {
        ".jsonl": JsonLines,
        ".json": _open_json,
        ".csv": Csv,
        ".parquet": Parquet,
        ".eval": InspectArchive,
    }
    name = path.name.lower()
    suffix = Path(name.removesuffix(path.suffix.lower()) if is_compressed(path) else name).suffix
    kind = kinds.get(suffix)
    if kind is None or (is_compressed(path) and suffix not in (".jsonl", ".json", ".csv")):
        raise DataError(
            f"{path.name}: the suffix {path.suffix!r} isn't one of .jsonl, .json, .csv (each also "
            "with .gz or .zst), .parquet, .eval"
        )
    return kind(path)


def open_sources(paths: Sequence[Path]) -> Source:
    """The file, or several files as a single source."""
    sources = tuple(map(open_source, paths))
    return sources[0] if len(sources) == 1 else Files(sources)


def matching_files(paths: Iterable[Path]) -> list[Path]:
    """The paths, and the files that a pattern such as `runs/*.jsonl` matches, sorted. DataError if
    a pattern matches no file."""
    found: list[Path] = []
    for path in paths:
        if path.exists() or not glob.has_magic(str(path)):
            found.append(path)
        elif matches := sorted(glob.glob(str(path), recursive=True)):
            found += map(Path, matches)
        else:
            raise DataError(f"no file matches {str(path)!r}")
    return found


def is_compressed(path: Path) -> bool:
    """Whether the suffix is that of a compressed file."""
    return path.suffix.lower() in (".gz", ".zst")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file's content, decompressed, and the file itself, whose position is the progress."""
    with path.open("rb") as file:
        if not is_compressed(path):
            yield file, file
            return
        try:
            unpacked: Any
            if path.suffix.lower() == ".gz":
                unpacked = gzip.GzipFile(fileobj=file)
            else:
                pyarrow, _ = load_pyarrow(f"reading {path.name}")
                unpacked = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
                unpacked = io.BufferedReader(unpacked)
            yield cast("BinaryIO", io.BufferedReader(_Limited(unpacked, path))), file
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path.name} is damaged: {first_line(error)}") from error


def most_bytes(path: Path) -> int:
    """Bytes that a compressed file may unpack to."""
    return max(FREE_BYTES, MOST_RATIO * path.stat().st_size)


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path.name} unpacks to more than {most_bytes(path):,} bytes, {MOST_RATIO} times its "
        "size; such a file may be made to fill the memory. If you trust the file, unpack it first"
    )


class _Limited(io.RawIOBase):
    """The start of an unpacked file, up to the limit; DataError beyond it."""

    def __init__(self, content: BinaryIO, path: Path) -> None:
        self._content = content
        self._path = path
        self._left = most_bytes(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._content.read(len(buffer))
        self._left -= len(read)
        if self._left < 0:
            raise _too_large(self._path)
        buffer[: len(read)] = read
        return len(read)


def _open_json(path: Path) -> _File:
    """A .json file: rows on lines, or a document, such as an array."""
    with _opened(path) as (content, _):
        first = next((line for line in content if line.strip()), b"")
    try:
        row = json.loads(first.removeprefix(codecs.BOM_UTF8) or b"{}")
    except (ValueError, RecursionError):
        return JsonDocument(path)
    is_row = isinstance(row, dict) and not isinstance(row.get("samples"), list)
    return JsonLines(path) if is_row else JsonDocument(path)


def hub_rows(
    repository: str, configuration: str | None, split: str, revision: str | None = None
) -> list[Row]:
    """Load a split of a data set from the hub or its local cache. Raises DataError."""
    with needs_extra("data", f"the data set {repository}"):
        import datasets
    datasets.disable_progress_bars()
    try:
        with cache_alone_if_offline():
            loaded = datasets.load_dataset(
                repository, configuration, split=split, revision=revision
            )
    except Exception as error:  # many exception types mean the same: unavailable
        reason = first_line(error) if hub_is_reachable() else "the hub can't be reached"
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
    """The number of the content's first line, from 1, in a file of lines."""
    skipped: int = 0
    """How many rows of the content are before the first."""
    file: int = 0
    """The number of its file, of several."""


@dataclass(frozen=True)
class _File:
    """A file that the reader parses; chunks hold pickled rows."""

    path: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """Chunks of rows, without the first `skip` rows."""
        rows = itertools.islice(self._parsed(), skip, None)
        while batch := list(itertools.islice(rows, CHUNK_ROWS)):
            content = pickle.dumps([row for row, _ in batch])
            yield Chunk(skip, len(batch), content, batch[-1][1])
            skip += len(batch)

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of a chunk."""
        return iter(pickle.loads(chunk.content))

    def without_damaged(self, most: int) -> tuple[_File, list[str]]:
        """The file without its damaged lines, and a remark that names them. DataError if there are
        more than `most`; only JSON lines can be skipped one by one."""
        return self, []

    def _parsed(self) -> Iterator[tuple[Row, int]]:
        """Each row, and the last place in the file where the row may end."""
        raise NotImplementedError


@dataclass(frozen=True)
class JsonLines(_File):
    """A file with a JSON object on every line that isn't blank; chunks hold whole lines."""

    damaged: frozenset[int] = field(default=frozenset(), kw_only=True)
    """The numbers of the lines to leave out."""

    def chunks(self, skip: int) -> Iterator[Chunk]:
        row, line = 0, 1
        with _opened(self.path) as (content, file):
            while block := content.read(CHUNK_BYTES):
                block += content.readline()
                lines = block.split(b"\n")
                count = sum(1 for _ in self._filled(lines, line))
                skipped = max(0, skip - row)
                if count > skipped:
                    first, end = row + skipped, file.tell()
                    yield Chunk(first, count - skipped, block, end, line, skipped)
                row, line = row + count, line + len(lines) - (not lines[-1])

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        filled = self._filled(chunk.content.split(b"\n"), chunk.line)
        for number, line in itertools.islice(filled, chunk.skipped, None):
            yield json_row(line, number, self.path.name)

    def _filled(self, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, bytes]]:
        """The lines that hold rows, with their numbers."""
        numbered = enumerate(lines, first)
        return (line for line in numbered if line[1].strip() and line[0] not in self.damaged)

    def without_damaged(self, most: int) -> tuple[_File, list[str]]:
        damaged: list[int] = []
        for chunk in self.chunks(0):
            for number, line in self._filled(chunk.content.split(b"\n"), chunk.line):
                try:
                    json_row(line, number, self.path.name)
                except DataError as error:
                    damaged.append(number)
                    if len(damaged) > most:
                        why = f"more than {most:,} lines are damaged, the last: {error}"
                        raise DataError(f"{why}; raise --skip-bad") from error
        listed = ", ".join(map(str, damaged[:MOST_LISTED]))
        more = ", …" if len(damaged) > MOST_LISTED else ""
        remark = f"{self.path.name}: left out {len(damaged):,} damaged lines ({listed}{more})"
        return replace(self, damaged=frozenset(damaged)), [remark] if damaged else []


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


def load_pyarrow(use: str) -> tuple[Any, Any]:
    """Import `pyarrow` and `pyarrow.parquet`. MissingExtra says that `use` needs them."""
    with needs_extra("data", use):
        import pyarrow
        from pyarrow import parquet
    return pyarrow, parquet


def _open_parquet(file: Path) -> Any:
    """Open a pyarrow.parquet.ParquetFile that streams its columns."""
    _, parquet = load_pyarrow(f"reading {file.name}")
    try:
        return parquet.ParquetFile(file, buffer_size=1 << 20)
    except Exception as error:  # pyarrow's errors share no base of their own
        raise DataError(f"{file.name} isn't a Parquet file: {first_line(error)}") from error


class Csv(_File):
    """A CSV file with a header. A quoted field may hold newlines, and a chat as JSON or as
    Python shows it."""

    def _parsed(self) -> Iterator[tuple[Row, int]]:
        # the csv module's default limit, 131,072 characters, is too low for long completions
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        name = self.path.name
        with _opened(self.path) as (content, file):
            reader = csv.DictReader(io.TextIOWrapper(content, encoding="utf-8-sig", newline=""))
            try:
                for row in reader:
                    if None in row:  # where the csv module puts what the header has no name for
                        raise DataError(
                            f"{name}, line {reader.line_num} has more fields than the header; put "
                            "fields that hold commas in quotes"
                        )
                    line = f"{name}, line {reader.line_num}, column"
                    yield (
                        {
                            field: chat_in_text(text, f"{line} {field!r}")
                            for field, text in row.items()
                        },
                        file.tell(),
                    )
            except (csv.Error, UnicodeDecodeError) as error:
                raise DataError(
                    f"{name}, after line {reader.line_num}, isn't CSV: {error}"
                ) from error


PYTHON_CHAT = re.compile(r"\s*(?:array\()?\[?\s*\{'(?:role|content)':")
"""The start of messages as Python shows them."""

JSON_CHAT = re.compile(r"\s*\[(?:\{|null).*\"role\"", re.DOTALL)
LONGEST_LITERAL = 2**22
"""Characters of the longest text that is read as Python's notation."""


def chat_in_text(field: Any, place: str) -> Any:
    """The messages of a field that holds them as JSON, or as Python shows them; else the field.

    DataError names the place where what Python shows can't be read: it would be judged as a text.
    """
    if not isinstance(field, str):
        return field
    if JSON_CHAT.match(field):
        with contextlib.suppress(ValueError, RecursionError):
            messages = json.loads(field)
            if all(
                message is None or (isinstance(message, dict) and "role" in message)
                for message in messages
            ):
                return messages
    if not PYTHON_CHAT.match(field):
        return field
    try:
        if len(field) > LONGEST_LITERAL:
            raise ValueError("it is too long")
        return ast.literal_eval(field.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise DataError(
            f"{place} holds messages as Python shows them, which can't be read back "
            f"({first_line(error)}); write JSON: df.to_json(…, orient='records', lines=True)"
        ) from error


class JsonDocument(_File):
    """A file with a single JSON document: an array of rows, an object with the array `samples`, or
    a row. The document is parsed as a whole, in memory."""

    def _parsed(self) -> Iterator[tuple[Row, int]]:
        with _opened(self.path) as (content, _):
            text = content.read().removeprefix(codecs.BOM_UTF8)
        if is_compressed(self.path):
            _check_values(text, self.path.name)
        value = _json_value(text, self.path.name)
        rows = value.get("samples") if isinstance(value, dict) else value
        rows = rows if isinstance(rows, list) else [value]
        return _with_ends(rows, self.path.name, self.size, len(rows))


class InspectArchive(_File):
    """A log of Inspect as a .eval file: a zip archive with a JSON file for each sample."""

    def _parsed(self) -> Iterator[tuple[Row, int]]:
        name = self.path.name
        try:
            with self.path.open("rb") as file, zipfile.ZipFile(file) as archive:
                members = [
                    member
                    for member in archive.infolist()
                    if member.filename.startswith("samples/")
                ]
                if sum(member.file_size for member in members) > most_bytes(self.path):
                    raise _too_large(self.path)
                contents = (self._content(archive, file, member) for member in members)
                rows = (_json_value(content, f"{name}, a sample") for content in contents)
                yield from _with_ends(rows, name, self.size, len(members))
        except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{name} can't be read: {first_line(error)}; write it as .json with "
                "`inspect log convert --to json`"
            ) from error

    def _content(self, archive: zipfile.ZipFile, file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
        if member.compress_type != ZSTD:
            content = archive.read(member)
        else:
            # zipfile reads no Zstandard before Python 3.14: skip the member's own header
            file.seek(member.header_offset + 26)
            lengths = int.from_bytes(file.read(2), "little"), int.from_bytes(file.read(2), "little")
            file.seek(sum(lengths), io.SEEK_CUR)
            pyarrow, _ = load_pyarrow(f"reading {self.path.name}")
            packed = pyarrow.py_buffer(file.read(member.compress_size))
            content = pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd").read(
                member.file_size + 1
            )
            if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
                raise zipfile.BadZipFile(f"the sample {member.filename} is damaged")
        _check_values(content, f"{self.path.name}, {member.filename}")
        return content


ZSTD = 93
"""The number of Zstandard in a zip archive."""


def _check_values(content: bytes, name: str) -> None:
    """DataError for a packed document whose values would fill the memory."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise DataError(
            f"{name} has more than {MOST_VALUES:,} values in one document; unpack it first, and "
            "write a row on each line"
        )


def _json_value(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} isn't JSON: {error}") from error


def _with_ends(rows: Iterable[Any], name: str, size: int, count: int) -> Iterator[tuple[Row, int]]:
    """Each of `count` rows of a file, and where the row would end if all rows had one length."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"{name}, row {number} isn't a JSON object")
        yield row, -(-size * number // count)


class Parquet(_File):
    """A Parquet file, read as a stream: a row group may be larger than the memory."""

    @property
    def size(self) -> int:  # the bytes of its columns before compression
        metadata = _open_parquet(self.path).metadata
        groups = range(metadata.num_row_groups)
        return sum(metadata.row_group(group).total_byte_size for group in groups)

    def _parsed(self) -> Iterator[tuple[Row, int]]:
        file, name = _open_parquet(self.path), self.path.name
        try:
            yield from _with_ends(self._rows(file), name, self.size, file.metadata.num_rows)
        except DataError:
            raise
        except Exception as error:  # pyarrow's errors share no base of their own
            raise DataError(f"{name} is a damaged Parquet file: {first_line(error)}") from error

    def _rows(self, file: Any) -> Iterator[Row]:
        """The rows. DataError for a file whose repeated values would fill the memory."""
        left = most_bytes(self.path)
        if self.size > left:
            raise _too_large(self.path)
        # no value is larger than its column: a small file may repeat one in each row
        columns, groups = range(file.metadata.num_columns), range(file.metadata.num_row_groups)
        sizes = (
            file.metadata.row_group(group).column(column).total_uncompressed_size
            for group in groups
            for column in columns
        )
        fitting = MOST_IN_BATCH // max(1, *sizes, 1)
        small = self.path.stat().st_size < FREE_BYTES
        batch_size = max(FEWEST_ROWS, min(fitting, CHUNK_ROWS)) if small else CHUNK_ROWS
        for batch in file.iter_batches(batch_size=batch_size):
            left -= batch.nbytes + BYTES_OF_VALUE * batch.num_rows * batch.num_columns
            if left < 0:
                raise _too_large(self.path)
            yield from batch.to_pylist()


MOST_IN_BATCH = 2**30
"""Bytes that a batch of a Parquet file may hold if each row has the largest value."""

FEWEST_ROWS = 8
"""Rows in a batch of a Parquet file, at least: fewer are slow to read."""

BYTES_OF_VALUE = 16
"""Bytes of a value besides its content, at least."""


@dataclass(frozen=True)
class Files:
    """Several files, one after the other."""

    sources: tuple[_File, ...]

    @property
    def size(self) -> int:
        """The sum of the files' sizes."""
        return sum(source.size for source in self.sources)

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """The chunks of all files, with rows numbered over all."""
        row = before = 0
        for number, source in enumerate(self.sources):
            start = row
            if start < skip:
                row += sum(chunk.count for chunk in source.chunks(0))
            for chunk in source.chunks(max(0, skip - start)):
                row = start + chunk.first + chunk.count
                first, end = start + chunk.first, before + chunk.end
                yield replace(chunk, first=first, end=end, file=number)
            before += source.size

    def without_damaged(self, most: int) -> tuple[Files, list[str]]:
        """The files without their damaged lines, at most so many in each, and remarks on them."""
        found = [source.without_damaged(most) for source in self.sources]
        remarks = [remark for _, remarks in found for remark in remarks]
        return Files(tuple(source for source, _ in found)), remarks

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of a chunk, as its file parses them."""
        return self.sources[chunk.file].rows(chunk)


Source = _File | Files
"""A file of rows, or several."""


def problems(
    task: Task, *, data: str | None = None, split: str | None, seed: int, count: int | None
) -> list[Sample]:
    """The samples of a split or of the file `data`, or the first `count` of them.

    UsageError if there are fewer.
    """
    if count is None:
        return task.load(data=data, split=split, seed=seed)
    read_value(PositiveInt, count, "the count")
    if data is None and (sized := extras(task).sized):
        task = sized(split, count)
    samples = task.load(data=data, split=split, seed=seed)
    if len(samples) < count:
        where = data or (f"split {split!r}" if split else "its default split")
        raise UsageError(f"task {task.name!r} has {len(samples)} problems in {where}, not {count}")
    return samples[:count]


def rows_of(task: Task, samples: Sequence[Sample]) -> list[Row]:
    """A row for each sample. DataError if the task would read another sample from the row."""
    rows = []
    for index, sample in enumerate(samples):
        plain = dict(sample.columns)
        candidates = (plain, {"id": sample.id, **plain})  # with its id if the task can't derive it
        same = (row for row in candidates if task.sample(json.loads(as_json(row)), index) == sample)
        if (row := next(same, None)) is None:
            raise DataError(
                f"task {task.name!r} reads another sample from the columns of its sample "
                f"{sample.id!r}, so a file of them would hold other problems; its `sample` must "
                "read what its `load` gives"
            )
        rows.append(row)
    return rows


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


def storable(text: str) -> str:
    """The text with lone surrogates, which Parquet can't store, as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
