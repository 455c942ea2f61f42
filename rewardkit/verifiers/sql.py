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
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import answer_block, fenced_block

Row = tuple[object, ...]

ROWS = 100_000
"""How many rows a result may have."""

VALUE_BYTES = 10_000_000
"""How long a text, a blob or a query may be."""

RESULT_BYTES = 50_000_000
"""How long the texts and blobs of a result may be together."""

STEPS = 50_000_000
"""How many instructions of SQLite's machine a query may take."""

ORDERS = 1_000
"""How many orders of the columns are tried."""


@dataclass(frozen=True)
class Sql:
    """Right if the query's result equals that of the reference, a query; score 1 or 0.

    The query is the last `<answer>` block, else the last fenced block in SQL, else the last one
    without a language, else the whole completion. The column `database` holds the path of an SQLite
    file, or of a folder with several; or the column `schema` holds the statements that build a
    database. Either may be a list: the results must agree on all of them. A query only reads. Rows
    count in any order, unless the reference orders them: then rows that its order leaves tied may
    change places. Numbers are equal within a relative 1e-9. `columns="any"` lets columns come in
    any order.

    >>> row = {"schema": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);"}
    >>> Sql()("SELECT max(n) FROM t", Sample("SELECT n FROM t WHERE n > 1", columns=row)).correct
    True
    """

    thinking: ClassVar = "strip"
    reads: ClassVar = ("xml",)

    columns: Literal["ordered", "any"] = "ordered"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        try:
            expected = [_expected(one, sample.reference) for one in _databases(sample.columns)]
        except (ValueError, sqlite3.Error, sqlite3.Warning) as error:
            return Verdict.unjudged(f"the reference can't be run: {error}")
        query = _query(text)
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
            databases = _databases(sample.columns)
        except ValueError:
            return []
        return ["one database only: a constant result would pay"] * (len(databases) == 1)

    def _flaw(self, query: str, reference: _Expected) -> tuple[Failure, str] | None:
        """Why the query's result isn't the reference's on one database; None if it is."""
        try:
            result = _result(reference.database, query, reference)
        except _TooMuch as error:
            return Failure.TIMEOUT, str(error)
        except (ValueError, sqlite3.Error, sqlite3.Warning) as error:
            return Failure.WRONG, str(error)
        if reference.reads and not result.reads:
            return Failure.WRONG, "it reads no table"
        for order in self._orders(result, reference):
            if reference.accepts([tuple(row[i] for i in order) for row in result.rows]):
                return None
        return Failure.WRONG, "the result isn't the reference's"

    def _orders(self, result: _Result, reference: _Expected) -> Iterator[Sequence[int]]:
        """The orders of the result's columns in which it may be the reference's."""
        if len(result.names) != len(reference.names) or len(result.rows) != len(reference.rows):
            return iter(())
        if self.columns == "ordered":
            return iter([range(len(result.names))])
        fits = [
            [i for i in range(len(result.names)) if _same_rows(_column(result.rows, i), expected)]
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


@dataclass(frozen=True)
class _Expected(_Result):
    """The reference's result on one database; `ties` has how many rows share each place."""

    database: str
    ties: list[int] | None

    def accepts(self, rows: list[Row]) -> bool:
        """Whether rows are the reference's, in its order up to ties."""
        if self.ties is None:
            return _same_rows(rows, self.rows)
        given, expected = iter(rows), iter(self.rows)
        return all(_same_rows(list(islice(given, n)), list(islice(expected, n))) for n in self.ties)


def _query(text: str) -> str:
    """The query that a completion states, without a final semicolon."""
    answer = answer_block(text)
    query = fenced_block(text if answer is None else answer, "sql", "sqlite")
    return query.strip().rstrip(";").rstrip()


def _databases(columns: Mapping[str, object]) -> list[str]:
    """What opens each database: `file:` and a path, or the statements that build it."""
    paths, schemas = _texts(columns.get("database")), _texts(columns.get("schema"))
    found = []
    for path in map(Path, paths):
        files = sorted(path.glob("*.sqlite")) if path.is_dir() else [path]
        for file in files or [path]:
            if not file.is_file():
                raise ValueError(f"there is no database {str(file)!r}")
            if (log := Path(f"{file}-wal")).exists() and log.stat().st_size:
                raise ValueError(f"{log} isn't written back; run: PRAGMA wal_checkpoint(TRUNCATE)")
            changed = file.stat().st_mtime_ns  # a file that changes is opened again
            found.append(f"file:{quote(str(file.resolve()))}?mode=ro&immutable=1#{changed}")
    if not (found or schemas):
        raise ValueError("the row has neither a column 'database' nor a column 'schema'")
    return found + schemas


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return [str(text) for text in listed]


_LOCK = threading.Lock()  # a connection has one authoriser


@lru_cache(maxsize=16)
def _connection(database: str) -> sqlite3.Connection:
    """A connection that only reads, and whose values are bounded."""
    if database.startswith("file:"):
        connection = sqlite3.connect(database, uri=True, check_same_thread=False)
    else:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.executescript(database)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    connection.text_factory = lambda held: held.decode("utf-8", "surrogateescape")
    return connection


_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_FUNCTION,
)


def _result(database: str, query: str, reference: _Expected | None = None) -> _Result:
    """Run a query, within `reference`'s number of rows if there is one.

    sqlite3.Error or ValueError if it can't be run, _TooMuch if it passes a limit.
    """
    with _LOCK:
        return _read_only(_connection(database), query, reference)


def _read_only(connection: sqlite3.Connection, query: str, reference: _Expected | None) -> _Result:
    read = False

    def allow(action: int, *names: str | None) -> int:
        nonlocal read
        read = read or action == sqlite3.SQLITE_READ
        allowed = action in _READING and "load_extension" not in names
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    steps = iter(range(STEPS // 10_000))
    connection.set_authorizer(allow)
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    try:
        with contextlib.closing(connection.execute(query)) as cursor:
            if cursor.description is None:
                raise ValueError("it isn't a query")
            most = ROWS if reference is None else len(reference.rows) + 1
            names = [column[0] for column in cursor.description]
            return _Result(_bounded(cursor, most), names, read)
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            raise _TooMuch(f"it takes more than {STEPS:,} steps") from None
        raise
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)


def _bounded(cursor: sqlite3.Cursor, most: int) -> list[Row]:
    rows: list[Row] = []
    size = 0
    for row in islice(cursor, most):
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > RESULT_BYTES:
            raise ValueError(f"its result has more than {RESULT_BYTES:,} bytes")
        rows.append(row)
    return rows


@lru_cache(maxsize=256)
def _expected(database: str, query: str) -> _Expected:
    """The reference's result."""
    query = query.strip().rstrip(";")
    try:
        result = _result(database, query)
    except _TooMuch as error:
        raise ValueError(str(error)) from None
    if len(result.rows) == ROWS:
        raise ValueError(f"its result has {ROWS:,} rows or more")
    ties = _ties(database, query, result)
    return _Expected(result.rows, result.names, result.reads, database, ties)


_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)|\w+|\S",
    re.DOTALL,
)
_DIRECTION = re.compile(r"\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST)|COLLATE\s+\w+)\s*\Z", re.IGNORECASE)


def _ties(database: str, query: str, result: _Result) -> list[int] | None:
    """How many rows of an ordered result share each place; None if the query doesn't order.

    What the query orders by is a column of the result, or is run as a further column. Where that
    isn't possible, no rows are tied.
    """
    terms, source = _order(query)
    if not terms:
        return None
    names = [name.lower() for name in result.names]
    further = [term for term in terms if not term.isdecimal() and term.lower() not in names]
    rows = result.rows
    if further:
        keyed = f"{query[:source]}, {', '.join(further)} {query[source:]}"
        with contextlib.suppress(ValueError, sqlite3.Error, sqlite3.Warning, _TooMuch):
            rows = _result(database, keyed).rows
        if [row[: len(names)] for row in rows] != result.rows or len(rows[0]) == len(names):
            return [1] * len(result.rows)
    places = [
        int(term) - 1
        if term.isdecimal()
        else len(names) + further.index(term)
        if term in further
        else names.index(term.lower())
        for term in terms
    ]
    grouped = groupby(rows, key=lambda row: [row[place] for place in places])
    return [len(list(tied)) for _, tied in grouped]


def _order(query: str) -> tuple[list[str], int]:
    """The terms that the whole query is ordered by, and where its first FROM is."""
    depth, source, start, terms = 0, len(query), -1, []
    tokens = list(_TOKEN.finditer(query))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        word = token.group().lower()
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word == "from":
            source = min(source, token.start())
        elif word == "order" and after is not None and after.group().lower() == "by":
            start = after.end()
        elif start >= 0 and word in (",", "limit"):
            terms.append(query[start : token.start()])
            start = token.end() if word == "," else -1
    if start >= 0:
        terms.append(query[start:])
    return [_undirected(term) for term in terms], source


def _undirected(term: str) -> str:
    while match := _DIRECTION.search(term):
        term = term[: match.start()]
    return term.strip()


def _column(rows: list[Row], place: int) -> list[Row]:
    return [(row[place],) for row in rows]


def _same_rows(rows: list[Row], expected: list[Row]) -> bool:
    """Whether two lists hold the same rows in any order, each as often."""
    if rows == expected:
        return True
    counts = Counter(rows)
    counts.subtract(expected)
    given = sorted((+counts).elements(), key=_sort_key)
    wanted = sorted((-counts).elements(), key=_sort_key)
    return len(given) == len(wanted) and all(map(_same_row, given, wanted))


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
    """Each way to take one number from every list, none of them twice."""
    if not fits:
        yield ()
        return
    for first in fits[0]:
        rest = [[number for number in below if number != first] for below in fits[1:]]
        for selection in _selections(rest):
            yield (first, *selection)
