"""SQL: a query whose result is the reference query's, on the databases of the row."""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import answer_block, fenced_block

Row = tuple[object, ...]

ROWS = 100_000
"""Maximum number of rows in a result."""

VALUE_BYTES = 10_000_000
"""Maximum length of a text, a blob or a query."""

PAGES = 65_536
"""Maximum number of pages, of 4 KiB, in the database of a schema."""

RESULT_BYTES = 50_000_000
"""Maximum length of all texts and blobs in a result."""

STEPS = 50_000_000
"""Maximum number of instructions of SQLite's machine for a query."""

ORDERS = 1_000
"""Maximum number of orders of the columns to try."""

TIED = 10_000
"""Maximum number of tied rows that the LIMIT of a reference leaves out."""

DIALECTS = (
    *("sql", "sqlite", "sqlite3", "mysql", "mariadb", "postgres", "postgresql", "pgsql", "psql"),
    *("plpgsql", "plsql", "pl/sql", "tsql", "t-sql", "mssql", "sqlserver", "bigquery"),
    *("googlesql", "snowflake", "duckdb", "oracle", "redshift", "sparksql", "spark-sql", "hiveql"),
)
"""The languages of fenced blocks that hold a query."""


@dataclass(frozen=True)
class Sql(Verifier):
    """Right if the query's result equals that of the reference, a query; score 1 or 0.

    The query is the last `<answer>` block, else the last fenced block in SQL, else the last fenced
    block without a language, else the whole completion. The column `database` holds the path of an
    SQLite file or of a folder with several files. The path is below `databases`, a folder that only
    the caller names. Or the column `schema` holds the CREATE and INSERT statements that build a
    database in memory. Both columns may hold lists: the results must agree on all databases. A
    query only reads. Rows count in any order, unless the reference orders the rows: then tied rows
    may change places, and a row that the LIMIT leaves out may replace a tied row. Numbers are equal
    within a relative 1e-9. `columns="any"` accepts columns in any order. `rules="bird"` and
    `"spider"` compare results by the execution accuracy published with BIRD and Spider.

    >>> row = {"schema": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);"}
    >>> Sql()("SELECT max(n) FROM t", Sample("SELECT n FROM t WHERE n > 1", columns=row)).correct
    True
    """

    thinking = "strip"
    reads = ("xml",)
    set_by_caller = ("databases",)
    deadline = 10.0  # the reference and the query may take STEPS each

    columns: Literal["ordered", "any"] = "ordered"
    databases: str = ""
    rules: Literal["ours", "bird", "spider"] = "ours"

    def __post_init__(self) -> None:
        if self.rules != "ours" and self.columns != "ordered":
            raise ValueError(f"columns: rules={self.rules!r} says itself how columns are compared")
        if self.databases and not Path(self.databases).is_dir():
            raise ValueError(f"databases: there is no folder {self.databases!r}")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        read = _read_by_spider if self.rules == "spider" else str
        try:
            sources = _sources(sample.columns, self.databases)
            expected = [_expected(source, read(sample.reference)) for source in sources]
        except (ValueError, OSError, sqlite3.Error, sqlite3.Warning) as error:
            return Verdict.unjudged(f"the reference can't be run: {error}")
        answer = answer_block(text)
        query = fenced_block(text if answer is None else answer, *DIALECTS)
        query = query.strip().rstrip(";").rstrip()
        if self.rules == "spider":
            query = read(query.replace("value", "1"))
        if not query:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no query")
        for reference in expected:
            flaw = self._flaw(query, reference)
            if flaw is not None:
                return Verdict.wrong(flaw[0], answer=query, message=flaw[1])
        return Verdict.right(answer=query)

    def notes(self, sample: Sample, /) -> list[str]:
        """Return a remark if a query could state the result as a constant."""
        try:
            sources = _sources(sample.columns, self.databases)
        except (ValueError, OSError):
            return []
        return ["one database only: a constant result would pay"] * (len(sources) == 1)

    def _flaw(self, query: str, reference: _Expected) -> tuple[Failure, str] | None:
        """The reason why the results differ on one database; None if they agree."""
        try:
            most = len(reference.rows) + 1 if self.rules == "ours" else ROWS
            result = _open(reference.source).result(query, most)
        except _TooMuch as error:
            return Failure.TIMEOUT, str(error)
        except (ValueError, sqlite3.Error, sqlite3.Warning) as error:
            return Failure.WRONG, str(error)
        if self.rules == "bird":
            is_same = set(result.rows) == set(reference.rows)
        elif self.rules == "spider":
            is_same = self._is_same_by_spider(result, reference)
        elif reference.reads and not result.reads:
            return Failure.WRONG, "it reads no table"
        else:
            is_same = any(map(reference.accepts, self._arranged(result, reference)))
        return None if is_same else (Failure.WRONG, "the result isn't the reference's")

    def _is_same_by_spider(self, result: _Result, reference: _Expected) -> bool:
        if not (result.rows or reference.rows):
            return True
        rows, given = (list(map(_sorted_by_spider, table.rows)) for table in (reference, result))
        if not (rows == given if reference.has_order else set(rows) == set(given)):
            return False
        counts = Counter(reference.rows)
        return any(
            arranged == reference.rows if reference.has_order else Counter(arranged) == counts
            for arranged in self._arranged(result, reference)
        )

    def _arranged(self, result: _Result, reference: _Expected) -> Iterator[list[Row]]:
        """The result's rows with the columns in each possible order."""
        for order in self._orders(result, reference):
            yield [tuple(row[i] for i in order) for row in result.rows]

    def _orders(self, result: _Result, reference: _Expected) -> Iterator[Sequence[int]]:
        """The possible orders of the result's columns."""
        if len(result.names) != len(reference.names) or len(result.rows) != len(reference.rows):
            return iter(())
        if self.columns == "ordered" and self.rules != "spider":
            return iter([range(len(result.names))])
        fits = [
            [i for i in range(len(result.names)) if _are_among(_column(result.rows, i), expected)]
            for expected in (_column(reference.rows, j) for j in range(len(reference.names)))
        ]
        return islice(_selections(fits), ORDERS)


class _TooMuch(Exception):
    """A query passes a limit."""


@dataclass(frozen=True)
class _Result:
    rows: list[Row]
    names: list[str]
    reads: bool


_Group = tuple[list[Row], int]
"""Rows that the reference's order leaves tied, and how many of them its result has."""


@dataclass(frozen=True)
class _Expected(_Result):
    """The reference's result on one database, in groups of tied rows."""

    source: _DatabaseSource
    groups: list[_Group]
    has_order: bool

    def accepts(self, rows: list[Row]) -> bool:
        """Whether the rows are the reference's rows, in its order except for ties."""
        return _in_order(rows, self.groups)


def _in_order(rows: list[Row], groups: list[_Group]) -> bool:
    given = iter(rows)
    return all(_are_among(list(islice(given, count)), group) for group, count in groups)


def _read_by_spider(query: str) -> str:
    """The query as Spider's evaluation runs it: without DISTINCT, with operators put together."""
    for operator in (">", "<", "!"):
        query = query.replace(f"{operator} =", f"{operator}=")
    query = _DISTINCT.sub(lambda found: found["text"] or "", query)
    return _THIS_YEAR.sub("2020", query)


def _sorted_by_spider(row: Row) -> Row:
    """The values in the order by which Spider's evaluation first compares rows."""
    return tuple(sorted(row, key=lambda value: f"{value}{type(value)}"))


@dataclass(frozen=True)
class _DatabaseSource:
    """What opens a database: a file as it was last changed, or the statements that build one."""

    path: str = ""
    changed: int = 0
    schema: str = ""


def _sources(columns: Mapping[str, object], folder: str) -> list[_DatabaseSource]:
    """The databases of a row. ValueError or OSError if it has none, or a file outside `folder`."""
    paths, schemas = _texts(columns.get("database")), _texts(columns.get("schema"))
    if not (paths or schemas):
        raise ValueError("the row has neither a column 'database' nor a column 'schema'")
    files = [_file_source(file) for path in paths for file in _files(path, folder)]
    return files + [_DatabaseSource(schema=schema) for schema in schemas]


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return [str(text) for text in listed]


def _files(path: str, folder: str) -> list[Path]:
    """The file at `path`, or those of the folder there, all below `folder`."""
    if not folder:
        raise ValueError(
            f"the column 'database' names {path!r}, but rows may name files only where the "
            "verifier has databases=FOLDER, the folder that holds them"
        )
    allowed = Path(folder).resolve()
    named = _below(allowed / path, allowed)
    files = sorted(named.glob("*.sqlite")) if named.is_dir() else []
    return [_below(file, allowed) for file in files or [named]]


def _below(path: Path, allowed: Path) -> Path:
    """The path without links and `..`. ValueError if it is outside `allowed`, found or not."""
    try:
        resolved = path.resolve()
    except RuntimeError as error:  # links in a circle, before Python 3.13
        raise ValueError(str(error)) from None
    if not resolved.is_relative_to(allowed):
        raise ValueError(f"{str(path)!r} isn't below databases={str(allowed)!r}")
    return resolved


def _file_source(file: Path) -> _DatabaseSource:
    if not file.is_file():
        raise ValueError(f"there is no database {str(file)!r}")
    if (log := Path(f"{file}-wal")).exists() and log.stat().st_size:
        raise ValueError(f"{log} isn't written back; run: PRAGMA wal_checkpoint(TRUNCATE)")
    return _DatabaseSource(str(file), changed=file.stat().st_mtime_ns)


_READING = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_FUNCTION,
    }
)
_BUILDING = _READING | {
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_REINDEX,  # a part of CREATE INDEX
    sqlite3.SQLITE_TRANSACTION,
}
_STATEMENTS = {
    getattr(sqlite3, f"SQLITE_{name.replace(' ', '_')}"): name
    for name in ("ALTER TABLE", "ANALYZE", "ATTACH", "DELETE", "DETACH", "PRAGMA", "UPDATE")
}
_TABLE_MODULES = frozenset({"fts3", "fts4", "fts5", "fts5vocab", "rtree"})
_MODULES_PRAGMAS = frozenset({"data_version", "page_size"})
_NO_TABLES = frozenset({"json_each", "json_tree", "sqlite_master"})
_HARMFUL_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})


class _Authoriser:
    """Allow a schema to create and insert, and a query to read; nothing names a file."""

    def __init__(self) -> None:
        self.is_building = False
        self.reads = False
        self.refused = ""
        self._virtual: tuple[str, ...] = ()

    def __call__(self, action: int, *names: str | None) -> int:
        first, second = (name or "" for name in names[:2])
        if self._allows(action, first, second):
            self.reads |= action == sqlite3.SQLITE_READ and first not in _NO_TABLES
            return sqlite3.SQLITE_OK
        self.refused = f"{_STATEMENTS.get(action, 'use')} {first or second}".strip()
        return sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str, second: str) -> bool:
        if action == sqlite3.SQLITE_FUNCTION:
            return second.lower() not in _HARMFUL_FUNCTIONS
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            return True  # a part of opening a virtual table; SQLite refuses the statement
        if action == sqlite3.SQLITE_PRAGMA:
            reads = first in _MODULES_PRAGMAS and not second
            return reads or (self.is_building and first.lower() == "foreign_keys")
        if not self.is_building:
            return action in _READING
        if action == sqlite3.SQLITE_CREATE_VTABLE:
            self._virtual += (f"{first}_",)
            return second.lower() in _TABLE_MODULES
        if action in (sqlite3.SQLITE_DELETE, sqlite3.SQLITE_UPDATE):  # in a module's own tables
            return first.startswith(("sqlite_sequence", *self._virtual))
        return action in _BUILDING


class _Database:
    """A connection whose authoriser is set before anything of a row runs; values are bounded."""

    def __init__(self, source: _DatabaseSource) -> None:
        self._lock = threading.Lock()  # a connection has one authoriser
        uri = f"file:{quote(source.path)}?mode=ro&immutable=1" if source.path else ":memory:"
        self._connection = sqlite3.connect(
            uri,
            uri=bool(source.path),
            check_same_thread=False,
            cached_statements=0,  # a statement from the cache would not be authorised again
        )
        self._connection.execute("PRAGMA temp_store = MEMORY")
        self._connection.execute(f"PRAGMA max_page_count = {PAGES}")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.text_factory = lambda held: held.decode("utf-8", "surrogateescape")
        self._authoriser = _Authoriser()
        self._connection.set_authorizer(self._authoriser)
        if not source.path:
            self._build(source.schema)

    def _build(self, schema: str) -> None:
        self._authoriser.is_building = True
        try:
            with self._limited():
                self._connection.executescript(schema)
        except (sqlite3.Error, sqlite3.Warning, _TooMuch) as error:
            self._connection.close()
            refused = self._authoriser.refused
            why = f"; it may only CREATE and INSERT in memory, not {refused}" if refused else ""
            raise ValueError(f"the column 'schema': {error}{why}") from None
        self._authoriser.is_building = False

    def result(self, query: str, most: int) -> _Result:
        """Run a query, and return at most `most` rows.

        sqlite3.Error or ValueError if it can't be run, _TooMuch if it passes a limit.
        """
        with self._lock, self._limited():
            self._authoriser.reads = False
            with contextlib.closing(self._connection.execute(query)) as cursor:
                if cursor.description is None:
                    raise ValueError("it isn't a query")
                names = [column[0] for column in cursor.description]
                return _Result(_bounded_rows(cursor, most), names, self._authoriser.reads)

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        steps = iter(range(STEPS // 10_000))
        self._connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
        try:
            yield
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":
                raise _TooMuch(f"it takes more than {STEPS:,} steps") from None
            raise
        finally:
            self._connection.set_progress_handler(None, 0)


_open = lru_cache(maxsize=16)(_Database)


def _bounded_rows(cursor: sqlite3.Cursor, most: int) -> list[Row]:
    rows: list[Row] = []
    size = 0
    for row in islice(cursor, most):
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > RESULT_BYTES:
            raise ValueError(f"its result has more than {RESULT_BYTES:,} bytes")
        rows.append(row)
    return rows


@lru_cache(maxsize=256)
def _expected(source: _DatabaseSource, query: str) -> _Expected:
    query = _COMMENT.sub(lambda token: token["text"] or " ", query).strip().rstrip(";").rstrip()
    try:
        result = _open(source).result(query, ROWS)
    except _TooMuch as error:
        raise ValueError(str(error)) from None
    if len(result.rows) == ROWS:
        raise ValueError(f"its result has {ROWS:,} rows or more")
    groups = _groups(source, query, result)
    has_order = "order by" in query.lower()
    return _Expected(result.rows, result.names, result.reads, source, groups, has_order)


_QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]"
_COMMENT = re.compile(rf"(?P<text>{_QUOTED})|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DISTINCT = re.compile(
    rf"(?P<text>{_QUOTED}|--[^\n]*|/\*.*?(?:\*/|\Z))|\bDISTINCT\b", re.DOTALL | re.IGNORECASE
)
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)
_TOKEN = re.compile(rf"{_QUOTED}|\w+|\S")
_LIMIT = re.compile(
    r"LIMIT\s+(?:(?P<skipped>\d+)\s*,\s*\d+|\d+(?:\s+OFFSET\s+(?P<offset>\d+))?)\Z", re.IGNORECASE
)
_IDENTIFIER = re.compile(r'"([^"]*)"|`([^`]*)`|\[([^\]]*)\]|(\w+)')
_DIRECTIONS = re.compile(
    r"(?:\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST)|COLLATE\s+\w+))+\s*\Z", re.IGNORECASE
)


@dataclass(frozen=True)
class _Clauses:
    """The ORDER BY terms of a query, and the places of its first FROM and its LIMIT."""

    terms: list[str]
    first_from: int
    limit: int


def _groups(source: _DatabaseSource, query: str, result: _Result) -> list[_Group]:
    """The groups of tied rows of a reference's result, with the rows that the LIMIT leaves out.

    What the query orders by is a column of the result, or is run as a further column. Where that
    isn't possible, or too many rows are tied, the result's own rows alone count, in their order.
    """
    clauses = _clauses(query)
    cut = _LIMIT.match(query, clauses.limit)
    single: list[_Group] = [(result.rows, len(result.rows))]
    if clauses.terms:
        single = [([row], 1) for row in result.rows]
    elif not cut:
        return single
    start = int(cut["skipped"] or cut["offset"] or 0) if cut else 0
    with contextlib.suppress(ValueError, sqlite3.Error, sqlite3.Warning, _TooMuch):
        tied = _tied(source, query[: clauses.limit if cut else None], clauses, result.names)
        groups = _overlap(tied, start, len(result.rows))
        if _in_order(result.rows, groups):
            return groups
    return single


def _tied(
    source: _DatabaseSource, query: str, clauses: _Clauses, columns: list[str]
) -> list[list[Row]]:
    """The rows of a query in groups of ties. ValueError if the ties are unknown."""
    names = [name.lower() for name in columns]
    places: list[int] = []
    further: list[str] = []
    for term in clauses.terms:
        if term.isdecimal():
            places.append(int(term) - 1)
        elif _name(term) in names:
            places.append(names.index(_name(term)))
        else:
            places.append(len(names) + len(further))
            further.append(term)
    if any(f'"{name}"' in term.lower() for term in further for name in names):
        raise ValueError("a column of the result would be read as a text")
    place = clauses.first_from
    keyed = "".join([query[:place], *(f", {term}" for term in further), " ", query[place:]])
    rows = _open(source).result(keyed, ROWS).rows
    grouped = groupby(rows, key=lambda row: [row[place] for place in places])
    return [[row[: len(names)] for row in group] for _, group in grouped]


def _name(term: str) -> str:
    identifier = _IDENTIFIER.fullmatch(term)
    return identifier[identifier.lastindex or 0].lower() if identifier else term


def _overlap(groups: list[list[Row]], start: int, length: int) -> list[_Group]:
    """The groups of `length` rows from `start` on. ValueError if they are other or too many."""
    found: list[_Group] = []
    end = start + length
    for group in groups:
        count = min(end, len(group)) - max(start, 0)
        if count > 0 and start < len(group):
            found.append((group, count))
        start, end = start - len(group), end - len(group)
    if sum(count for _, count in found) < length:
        raise ValueError("the query has fewer rows")
    if sum(len(group) for group, _ in found) > length + TIED:
        raise ValueError("too many rows are tied")
    return found


def _clauses(query: str) -> _Clauses:
    depth, first_from, limit, start, terms = 0, len(query), len(query), -1, []
    tokens = list(_TOKEN.finditer(query))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        word = token.group().lower()
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word == "from":
            first_from = min(first_from, token.start())
        elif word == "order" and after is not None and after.group().lower() == "by":
            start = after.end()
        elif word == "limit":
            limit = token.start()
        elif start >= 0 and word == "," and limit == len(query):
            terms.append(query[start : token.start()])
            start = token.end()
    if start >= 0:
        terms.append(query[start:limit])
    return _Clauses([_DIRECTIONS.sub("", term).strip() for term in terms], first_from, limit)


def _column(rows: list[Row], place: int) -> list[Row]:
    return [(row[place],) for row in rows]


def _are_among(rows: list[Row], expected: list[Row]) -> bool:
    """Whether the second list holds all rows of the first, each at least as often."""
    if rows == expected:
        return True
    counts = Counter(rows)
    counts.subtract(expected)
    given = sorted((+counts).elements(), key=_sort_key)
    wanted = iter(sorted((-counts).elements(), key=_sort_key))
    return all(any(_same_row(row, other) for other in wanted) for row in given)


def _sort_key(row: Row) -> list[tuple[str, object]]:
    """A key by which rows whose numbers are nearly equal come to the same place."""
    return [
        ("number", float(f"{value:.8g}"))
        if isinstance(value, int | float)
        else (type(value).__name__, 0 if value is None else value)
        for value in row
    ]


def _same_row(row: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    """Whether values are equal, or nearly equal numbers of which one is a float."""
    return all(
        value == other
        or (
            {float} <= {type(value), type(other)} <= {int, float}
            and math.isclose(value, other, rel_tol=1e-9)
        )
        for value, other in zip(row, expected, strict=True)
    )


def _selections(fits: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All selections of a number from every list, without repetition."""
    if not fits:
        yield ()
        return
    for first in fits[0]:
        rest = [[number for number in below if number != first] for below in fits[1:]]
        for selection in _selections(rest):
            yield (first, *selection)
