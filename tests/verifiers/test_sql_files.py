"""`sql`: no row, whoever sent it, names a file or does more than build a database in memory."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.records import Sample
from rewardkit.server.app import ServerSettings, create_app
from rewardkit.verifiers.sql import Sql
from tests.support.commands import rewardkit as command

TABLE = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);"
REFERENCE = "SELECT a FROM t"

REFUSED_SCHEMAS = [
    "ATTACH 'new.sqlite' AS s; CREATE TABLE s.t (a); INSERT INTO s.t VALUES (1);",
    "ATTACH 'victim.sqlite' AS s; DROP TABLE s.secret; CREATE TABLE t (a);",
    "ATTACH 'file:victim.sqlite?mode=rw' AS s; CREATE TABLE t AS SELECT word AS a FROM s.secret;",
    f"{TABLE} /* */ attach database 'victim.sqlite' as s; INSERT INTO t SELECT word FROM s.secret;",
    f"{TABLE} ATTACH ':memory:' AS s;",
    f"{TABLE} VACUUM INTO 'new.sqlite';",
    f"{TABLE} VACUUM INTO 'fil' || 'e:victim.sqlite?mode=rwc';",
    f"{TABLE} VACUUM;",
    "file:victim.sqlite?mode=rw",
    "file:new.sqlite?mode=rwc",
    f"PRAGMA temp_store_directory = '.'; {TABLE}",
    f"PRAGMA journal_mode = WAL; {TABLE}",
    f"PRAGMA writable_schema = ON; {TABLE} UPDATE sqlite_master SET sql = 'CREATE TABLE t (b)';",
    f"PRAGMA case_sensitive_like = ON; {TABLE}",
    f"{TABLE} SELECT load_extension('./libevil.so');",
    f"{TABLE} CREATE TABLE u AS SELECT load_extension('./libevil.so');",
    f"{TABLE} CREATE TABLE u (a DEFAULT (load_extension('x'))); INSERT INTO u DEFAULT VALUES;",
    f"{TABLE} INSERT INTO t SELECT readfile('victim.sqlite');",
    f"{TABLE} SELECT writefile('new.sqlite', 'x');",
    "CREATE VIRTUAL TABLE t USING csv(filename='victim.sqlite');",
    "CREATE VIRTUAL TABLE t USING fileio('victim.sqlite');",
    "CREATE VIRTUAL TABLE t USING dbstat(main);",
    f"{TABLE} CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;"
    " INSERT INTO t VALUES (1);",
    f"{TABLE} CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT load_extension('x'); END;"
    " INSERT INTO t VALUES (1);",
    f"{TABLE} CREATE TEMP TABLE u (a);",
    f"{TABLE} CREATE TEMP VIEW u AS SELECT a FROM t;",
    f"{TABLE} DELETE FROM t WHERE a = 2;",
    f"{TABLE} UPDATE t SET a = 3;",
    f"{TABLE} INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING; DROP TABLE t;",
    f"{TABLE} ALTER TABLE t RENAME TO u;",
    f"{TABLE} ANALYZE;",
    f"{TABLE} SAVEPOINT s;",
]
REFUSED_PATHS: list[object] = [
    "victim.sqlite",
    "./victim.sqlite",
    "allowed/../victim.sqlite",
    "file:victim.sqlite",
    "file:victim.sqlite?mode=rw",
    ":memory:",
    "",
    "/etc/passwd",
    "/proc/self/mem",
    "/dev/zero",
    "a\0b",
    "a" * 5000,
    "~/victim.sqlite",
    ["victim.sqlite", "victim.sqlite"],
    {"path": "victim.sqlite"},
    ".",
]
RIGHT_SCHEMAS = [
    TABLE,
    "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE IF NOT EXISTS t (a);\n"
    "INSERT INTO t VALUES(1),(2);\nCOMMIT;\n",
    "DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE);"
    " DELETE FROM sqlite_sequence; INSERT INTO sqlite_sequence VALUES ('t', 7);"
    " INSERT INTO t (a) VALUES (1), (2);",
    "CREATE TABLE base (a); INSERT OR REPLACE INTO base VALUES (1), (2);"
    " CREATE INDEX i ON base (a); CREATE VIEW t AS SELECT a FROM base;",
    "CREATE TABLE base AS SELECT 1 AS a UNION SELECT 2; CREATE TABLE t AS SELECT a FROM base;",
    "CREATE VIRTUAL TABLE t USING fts5(a); INSERT INTO t VALUES ('x y'), ('z');"
    " INSERT INTO t (t) VALUES ('rebuild');",
    "CREATE VIRTUAL TABLE t USING FTS4(a); INSERT INTO t VALUES ('x y'), ('z');",
    "CREATE VIRTUAL TABLE t USING rtree(a, low, high); INSERT INTO t VALUES (1, 2, 3), (2, 3, 4);",
    "CREATE TABLE t (a); CREATE TABLE log (a);"
    " CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;"
    " INSERT INTO t VALUES (1), (2);",
    "CREATE TABLE t (a, b AS (a + 1), CHECK (a > 0)); INSERT INTO t (a) VALUES (1), (2);",
]


def database(path: Path, *rows: int) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
    connection.close()
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a database that no row may read, fill or empty."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("victim.sqlite") as victim:
        victim.executescript("CREATE TABLE secret (word); INSERT INTO secret VALUES ('s3cr3t');")
        victim.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    victim.close()
    return tmp_path


def by_verify(rows: list[dict[str, object]]) -> list[bool | None]:
    queries = [REFERENCE] * len(rows)
    return [one.correct for one in rewardkit.verify_batch("sql", queries, queries, columns=rows)]


def by_score(rows: list[dict[str, object]]) -> list[bool | None]:
    fields = {"completion": REFERENCE, "reference": REFERENCE}
    Path("rows.jsonl").write_text("".join(json.dumps({**row, **fields}) + "\n" for row in rows))
    status, _, err = command("score", "rows.jsonl", "--verifier", "sql", "-o", "out", "--quiet")
    assert status in (0, 1), err
    found = [json.loads(line) for line in Path("out/samples.jsonl").read_text().splitlines()]
    for name in ("rows.jsonl", *map(str, Path("out").iterdir())):
        os.remove(name)
    Path("out").rmdir()
    return [row["verdict"]["correct"] if "verdict" in row else row["correct"] for row in found]


def by_server(rows: list[dict[str, object]]) -> list[bool | None]:
    items = [{"completion": REFERENCE, "reference": REFERENCE, "columns": row} for row in rows]
    with TestClient(
        create_app(ServerSettings(verifiers=("sql",))), base_url="http://127.0.0.1:8000"
    ) as client:
        answer = client.post("/v1/score", json={"verifier": "sql", "items": items, "timeout": 60})
    return [verdict["correct"] for verdict in answer.json()["verdicts"]]


@pytest.mark.parametrize("judge", [by_verify, by_score, by_server])
def test_no_row_names_a_file(
    judge: Callable[[list[dict[str, object]]], list[bool | None]], folder: Path
) -> None:
    before = (folder / "victim.sqlite").read_bytes()
    rows: list[dict[str, object]] = [{"schema": schema} for schema in REFUSED_SCHEMAS]
    rows += [{"database": path} for path in REFUSED_PATHS]
    rows += [{"database": "victim.sqlite", "databases": str(folder)}]
    judged = dict(zip(map(str, rows), judge(rows), strict=True))
    assert [row for row, correct in judged.items() if correct is not None] == []
    assert (folder / "victim.sqlite").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["victim.sqlite"]


@pytest.mark.parametrize("judge", [by_verify, by_score, by_server])
def test_what_creates_and_inserts_builds_a_database(
    judge: Callable[[list[dict[str, object]]], list[bool | None]], folder: Path
) -> None:
    judged = judge([{"schema": schema} for schema in RIGHT_SCHEMAS])
    assert judged == [True] * len(RIGHT_SCHEMAS)
    assert [path.name for path in folder.iterdir()] == ["victim.sqlite"]


def test_a_request_cannot_set_the_folder(folder: Path) -> None:
    item = {
        "completion": REFERENCE,
        "reference": REFERENCE,
        "columns": {"database": "victim.sqlite"},
    }
    body = {"verifier": "sql", "items": [item], "parameters": {"databases": str(folder)}}
    with TestClient(
        create_app(ServerSettings(verifiers=("sql",))), base_url="http://127.0.0.1:8000"
    ) as client:
        assert client.post("/v1/score", json=body).status_code == 422


def test_only_files_below_the_folder_are_read(folder: Path) -> None:
    allowed = folder / "allowed"
    (allowed / "shop").mkdir(parents=True)
    inside = database(allowed / "shop" / "shop.sqlite", 1, 2)
    (allowed / "alias.sqlite").symlink_to(inside)
    (allowed / "leak.sqlite").symlink_to(folder / "victim.sqlite")
    (allowed / "up").symlink_to(folder)
    (allowed / "circle").symlink_to(allowed / "circle")
    (allowed / "mixed").mkdir()
    (allowed / "mixed" / "a.sqlite").symlink_to(folder / "victim.sqlite")
    (folder / "allowed-not").mkdir()
    database(folder / "allowed-not" / "a.sqlite", 1)
    outside = [
        "leak.sqlite",
        "up/victim.sqlite",
        "up",
        "mixed",
        "../victim.sqlite",
        "shop/../../victim.sqlite",
        "../missing.sqlite",
        "../allowed-not/a.sqlite",
        str(folder / "victim.sqlite"),
        str(folder / "allowed-not" / "a.sqlite"),
        "/etc/passwd",
        "/etc/missing",
    ]
    inner = ["shop/shop.sqlite", "shop", "alias.sqlite", str(inside), "shop/../shop"]
    unreadable = [*REFUSED_PATHS, "circle", "missing.sqlite"]
    for written in (str(allowed), "allowed", "allowed/../allowed/"):
        sql = Sql(databases=written)
        for path in outside:
            verdict = sql(REFERENCE, Sample(REFERENCE, columns={"database": path}))
            assert verdict.correct is None
            assert "isn't below databases=" in verdict.message, path
            assert sql.notes(Sample(REFERENCE, columns={"database": path})) == []
        for path in inner:
            assert sql(REFERENCE, Sample(REFERENCE, columns={"database": path})).correct, path
        for bad in unreadable:
            assert sql(REFERENCE, Sample(REFERENCE, columns={"database": bad})).correct is None, bad


def test_a_path_without_a_folder_names_the_parameter(folder: Path) -> None:
    columns = {"database": "victim.sqlite"}
    verdict = rewardkit.verify("sql", REFERENCE, REFERENCE, columns=columns)
    assert "databases=FOLDER" in verdict.message


def test_a_folder_that_is_missing_is_refused_at_once(folder: Path) -> None:
    with pytest.raises(UsageError, match="databases: there is no folder 'missing'"):
        rewardkit.load_verifier("sql", databases="missing")


@pytest.mark.parametrize("reference", ["ATTACH 'new.sqlite' AS s", "VACUUM INTO 'new.sqlite'"])
def test_the_reference_only_reads(reference: str, folder: Path) -> None:
    database(folder / "m.sqlite", 1)
    for columns in ({"schema": TABLE}, {"database": "m.sqlite"}):
        verdict = Sql(databases=".")(REFERENCE, Sample(reference, columns=columns))
        assert verdict.correct is None
    assert not (folder / "new.sqlite").exists()


def test_what_a_schema_defined_does_no_more_when_it_is_queried(folder: Path) -> None:
    schema = f"{TABLE} CREATE VIEW v AS SELECT load_extension('x') AS a FROM t;"
    for query in ("SELECT a FROM v", "SELECT a FROM t WHERE a IN (SELECT a FROM v)"):
        assert Sql()(query, Sample(REFERENCE, columns={"schema": schema})).correct is False


def test_a_schema_that_never_ends_is_unjudged() -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT i FROM n WHERE i > 1"
    )
    schema = f"{TABLE} INSERT INTO t {endless};"
    verdict = Sql()(REFERENCE, Sample(REFERENCE, columns={"schema": schema}))
    assert "the column 'schema': it takes more than 50,000,000 steps" in verdict.message


def test_a_schema_that_fills_the_memory_is_unjudged() -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)"
    schema = f"{TABLE} CREATE TABLE u AS {many} SELECT zeroblob(4000000) FROM n;"
    verdict = Sql()(REFERENCE, Sample(REFERENCE, columns={"schema": schema}))
    assert "the column 'schema': database or disk is full" in verdict.message


def test_messages_name_what_a_schema_may_not_do() -> None:
    for schema, named in [
        ("ATTACH 'x.sqlite' AS s", "may only CREATE and INSERT in memory, not ATTACH x.sqlite"),
        (f"{TABLE} DELETE FROM t", "not DELETE t"),
        (f"{TABLE} UPDATE sqlite_master SET sql = ''", "may not be modified"),
        (f"{TABLE} PRAGMA journal_mode = WAL", "not PRAGMA journal_mode"),
    ]:
        assert named in Sql()("SELECT 1", Sample("SELECT 1", columns={"schema": schema})).message
