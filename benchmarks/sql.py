"""The speed of `sql` beside plain sqlite3, which runs both queries and compares their rows.

python benchmarks/sql.py tests/verifiers/sql_pairs.txt

With two folders more, `rules="bird"` and `"spider"` beside the published scripts on 1,000 pairs of
queries: the folder of BIRD's `evaluation_ex.py` (github.com/bird-bench/mini_dev) and that of
Spider's `exec_eval.py` (github.com/taoyds/test-suite-sql-eval). They need func_timeout, sqlparse
and tqdm.

python benchmarks/sql.py tests/verifiers/sql_pairs.txt BIRD SPIDER
"""

from __future__ import annotations

import re
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from rewardkit.records import Sample
from rewardkit.verifiers.sql import Sql

Case = tuple[str, str, str, bool]
"""The statements that build a database, a reference, a query, and whether they are equal."""

ROUNDS = 40


def main() -> None:
    """Print each judge's verdicts a CPU-second, and how many of them are wrong."""
    cases = read_cases(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        compare_with_published(cases, *sys.argv[2:])
        return
    ours, verifier = {database: {"schema": database} for database, *_ in cases}, Sql()
    open_databases = {database: opened(database) for database in ours}

    def sql(database: str, reference: str, query: str) -> bool:
        return bool(verifier(query, Sample(reference, columns=ours[database])).correct)

    def plain(database: str, reference: str, query: str) -> bool:
        return same_rows(open_databases[database], reference, query)

    print(f"{len(cases)} pairs, {ROUNDS} rounds")
    for name, judge in (("sql", sql), ("sqlite3", plain)):
        wrong, seconds = timed(judge, cases)
        print(f"{name}: {ROUNDS * len(cases) / seconds:,.0f} a CPU-second, {wrong} wrong")


def read_cases(path: Path) -> list[Case]:
    """Each query of the file with its reference and its database."""
    cases: list[Case] = []
    for section in path.read_text("utf-8").split("\n[")[1:]:
        statements, _, pairs = section.partition("]\n")[2].partition("\n? ")
        for group in pairs.split("\n? "):
            reference, *queries = group.strip().splitlines()
            marked = [line for line in queries if line[:2] in ("= ", "! ")]
            cases += [(statements, reference, line[2:], line[0] == "=") for line in marked]
    return cases


def compare_with_published(cases: list[Case], bird: str, spider: str) -> None:
    """Print how many verdicts differ from those of the published scripts, and which."""
    sys.path[:0] = [bird, spider]
    for driver in ("psycopg2", "pymysql"):  # BIRD's script imports them; SQLite needs none
        sys.modules.setdefault(driver, ModuleType(driver))
    published: Mapping[str, Callable[[str, str, str], bool]] = {
        "bird": bird_judge(import_module("evaluation_ex")),
        "spider": spider_judge(import_module("exec_eval")),
    }
    pairs = generated_pairs(cases)
    for rules, judge in published.items():
        different, right = [], 0
        for database, reference, query in pairs:
            with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
                path = Path(folder) / "d.sqlite"
                with closing(sqlite3.connect(path)) as connection:
                    connection.executescript(database)
                theirs = judge(str(path), reference, query)
            sample = Sample(reference, columns={"schema": database})
            ours = Sql(rules=rules)(query, sample).correct  # type: ignore[arg-type]
            right += theirs
            different += [(reference, query, theirs, ours)] * (ours is not theirs)
        print(f"{rules}: {len(pairs)} pairs, {right} right, {len(different)} verdicts differ")
        for row in different:
            print(*row, sep="\n    ")


def bird_judge(script: Any) -> Callable[[str, str, str], bool]:
    """BIRD's execution accuracy of one pair."""

    def judge(path: str, reference: str, query: str) -> bool:
        return bool(script.execute_model(query, reference, path, 0, 30.0, "SQLite")["res"])

    return judge


def spider_judge(script: Any) -> Callable[[str, str, str], bool]:
    """Spider's execution accuracy of one pair, as its `evaluation.py` calls it."""

    def judge(path: str, reference: str, query: str) -> bool:
        query = query.replace("value", "1")
        return bool(script.eval_exec_match(path, query, reference, False, False, False))

    return judge


CHANGES: Sequence[tuple[str, str]] = (
    (r"SELECT (?!DISTINCT)", "SELECT DISTINCT "),
    (r" ORDER BY [^()]*$", ""),
    (r"^SELECT (\w+), (\w+) FROM", r"SELECT \2, \1 FROM"),
    (r"$", " LIMIT 1"),
    (r"^SELECT (\w+)(?= FROM|,)", r"SELECT \1 + 0.0"),
    (r" ASC| DESC", ""),
    (r">=", "> ="),
    (r"\b1\b", "value"),
    (r"WHERE", "WHERE 0 AND"),
    (r"^SELECT .*? FROM", "SELECT 1, 2 FROM"),
)
"""How a query is changed: a pattern and what replaces its first place."""


def generated_pairs(cases: list[Case]) -> list[tuple[str, str, str]]:
    """1,000 pairs of a reference and a query, with the statements that build their database."""
    found = {(database, reference, query) for database, reference, query, _ in cases}
    for database, reference, query, _ in cases:
        for pattern, replacement in CHANGES:
            for one in (reference, query):
                found.add((database, reference, re.sub(pattern, replacement, one, count=1)))
                found.add((database, re.sub(pattern, replacement, reference, count=1), one))
    with_result = [pair for pair in sorted(found) if runs(*pair[:2])]
    return Random(0).sample(with_result, 1_000)


def runs(database: str, reference: str) -> bool:
    """Whether a reference gives a result."""
    with closing(opened(database)) as connection, suppress(sqlite3.Error):
        return connection.execute(reference).description is not None
    return False


def opened(statements: str) -> sqlite3.Connection:
    """A database in memory."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(statements)
    return connection


def same_rows(connection: sqlite3.Connection, reference: str, query: str) -> bool:
    """Whether both queries give the same rows, in order if the reference has one.

    No limit of steps or rows holds the query up, and nothing keeps it from writing.
    """
    try:
        expected, rows = (connection.execute(one).fetchall() for one in (reference, query))
    except (sqlite3.Error, sqlite3.Warning):
        return False
    if "order by" in reference.lower():
        return expected == rows
    return sorted(map(repr, expected)) == sorted(map(repr, rows))


def timed(judge: Callable[[str, str, str], bool], cases: list[Case]) -> tuple[int, float]:
    """The wrong verdicts of one round, and the CPU-seconds of all."""
    wrong = sum(judge(*pair) is not equal for *pair, equal in cases)
    started = time.process_time()
    for _ in range(ROUNDS):
        for *pair, _equal in cases:
            judge(*pair)
    return wrong, time.process_time() - started


if __name__ == "__main__":
    main()
