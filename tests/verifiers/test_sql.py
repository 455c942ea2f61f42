import sqlite3
from pathlib import Path

import pytest

import rewardkit
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.sql import Sql

Case = tuple[str, str, list[str], list[str]]


def _cases(file: str) -> tuple[dict[str, str], list[Case], list[tuple[str, str, str]]]:
    """The databases by name; for each reference its database, equal and different queries; and
    queries with their reference and the verdicts of three rules."""
    schemas: dict[str, str] = {}
    pairs: list[Case] = []
    published = []
    for line in Path(__file__).with_name(file).read_text("utf-8").splitlines():
        mark, query = line[:1], line[2:].replace("\\n", "\n")
        if mark == "[":
            name = line.strip("[]")
            schemas[name] = ""
        elif mark == "?":
            pairs.append((name, query, [], []))
        elif mark in ("=", "!"):
            pairs[-1]["=!".index(mark) + 2].append(query)  # type: ignore[union-attr]
        elif mark == "%":
            published.append((pairs[-1][1], query[4:], query[:3]))
        elif schemas:
            schemas[name] += f"{line}\n"
    return schemas, pairs, published


SCHEMAS, PAIRS, _ = _cases("sql_pairs.txt")
SCHOOL = SCHEMAS["school"]
STOCK, TIES, PUBLISHED = _cases("sql_ties.txt")
SHOP = STOCK["item"]


def _judged(query: str, reference: str, schema: object, **parameters: str) -> Verdict:
    return Sql(**parameters)(query, Sample(reference, columns={"schema": schema}))  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [*PAIRS, *TIES], ids=[case[1] for case in (*PAIRS, *TIES)])
def test_query_pairs(case: Case) -> None:
    name, reference, equal, different = case
    schema = {**SCHEMAS, **STOCK}[name]
    for query in [reference, *equal]:
        assert _judged(query, reference, schema).correct, query
    for query in different:
        assert _judged(query, reference, schema).failure is Failure.WRONG, query


def test_there_are_two_hundred_pairs() -> None:
    assert sum(len(equal) + len(different) for _, _, equal, different in PAIRS) >= 200
    assert len(SCHEMAS) == 5


ATTACKS = [
    "DROP TABLE pupil",
    "DELETE FROM pupil",
    "DELETE FROM pupil RETURNING name",
    "INSERT INTO pupil VALUES (9, 'X', 1, '') RETURNING name",
    "UPDATE pupil SET name = 'X' RETURNING name",
    "REPLACE INTO pupil VALUES (1, 'X', 1, '') RETURNING name",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t AS SELECT name FROM pupil",
    "CREATE VIEW v AS SELECT name FROM pupil",
    "CREATE TRIGGER g AFTER INSERT ON pupil BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE t USING fts5(a)",
    "ALTER TABLE pupil RENAME TO p",
    "SELECT name FROM pupil WHERE class = 1; DROP TABLE pupil",
    "SELECT name FROM pupil WHERE class = 1; SELECT name FROM pupil WHERE class = 1",
    "ATTACH DATABASE 'stolen.sqlite' AS s",
    "ATTACH ':memory:' AS s",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'copy.sqlite'",
    "PRAGMA writable_schema = ON",
    "PRAGMA table_info(pupil)",
    "SELECT * FROM pragma_database_list",
    "BEGIN",
    "COMMIT",
    "REINDEX",
    "ANALYZE",
    "SELECT load_extension('libm.so.6')",
    "SELECT writefile('stolen', name) FROM pupil",
    "SELECT readfile('/etc/passwd') FROM pupil",
    "SELECT edit(name) FROM pupil",
    "SELECT zeroblob(1000000000) FROM pupil",
    "SELECT hex(randomblob(900000000)) FROM pupil",
    "SELECT replace(hex(zeroblob(4000000)), '00', hex(zeroblob(4000))) FROM pupil",
    "SELECT 'Ida' UNION SELECT 'Bo'",
    "VALUES ('Ida'), ('Bo')",
    "SELECT name FROM pupil WHERE class = ?",
    "SELECT name FROM pupil WHERE class = :one",
    "SELECT * FROM missing",
    "SELEC name FROM pupil",
    "name",
    "EXPLAIN SELECT name FROM pupil WHERE class = 1",
    "SELECT" + " (" * 3000 + "1" + ")" * 3000,
    "SELECT " + "1," * 3000 + "1 FROM pupil",
    "SELECT name FROM pupil WHERE name LIKE '" + "%a" * 50_000 + "'",
]


@pytest.mark.parametrize("query", ATTACKS, ids=[attack[:40] for attack in ATTACKS])
def test_attacks_pay_nothing_and_write_nothing(
    query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reference = "SELECT name FROM pupil WHERE class = 1"
    verdict = _judged(query, reference, SCHOOL)
    assert verdict.correct is False, verdict
    assert list(tmp_path.iterdir()) == []
    assert _judged(reference, reference, SCHOOL).correct


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n ORDER BY 1",
        "SELECT count(*) FROM pupil a, pupil b, pupil c, pupil d, pupil e, pupil f, pupil g,"
        " pupil h, pupil i, pupil j, pupil k, pupil l, pupil m",
        "WITH RECURSIVE t(a) AS (SELECT hex(zeroblob(2000000)) UNION ALL SELECT a || '' FROM t)"
        " SELECT count(DISTINCT a || random()) FROM t",
        "SELECT printf('%.*c', 900000000, 'x') FROM pupil",
        "SELECT name FROM pupil WHERE '" + "a" * 9_000 + "' LIKE '" + "%a" * 4_000 + "b'",
    ],
)
def test_endless_queries_end_in_time(query: str) -> None:
    columns = {"schema": SCHOOL}
    verdict = rewardkit.verify("sql", query, "SELECT id FROM pupil", columns=columns, timeout=1)
    assert verdict.correct is False, verdict


def test_a_database_file_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "a db#1.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(SCHOOL)
    database.close()
    before = path.read_bytes()
    columns = {"database": str(path)}
    sample = Sample("SELECT max(points) FROM mark", columns=columns)
    sql = Sql(databases=str(tmp_path))
    assert sql("SELECT 10.0 FROM mark LIMIT 1", sample).correct
    assert sql("UPDATE mark SET points = 1 RETURNING 10", sample).correct is False
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert sql.notes(sample) == ["one database only: a constant result would pay"]


def test_all_databases_must_agree(tmp_path: Path) -> None:
    for name, points in (("a", 10), ("b", 7)):
        with sqlite3.connect(tmp_path / f"{name}.sqlite") as database:
            database.executescript(
                f"CREATE TABLE mark (points); INSERT INTO mark VALUES ({points})"
            )
        database.close()
    for columns in (
        {"database": str(tmp_path)},
        {"database": [str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]},
    ):
        sample = Sample("SELECT max(points) FROM mark", columns=columns)
        sql = Sql(databases=str(tmp_path))
        assert sql("SELECT points FROM mark", sample).correct
        assert sql("SELECT 10 FROM mark", sample).correct is False
        assert sql.notes(sample) == []


def test_a_database_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    for points in (1, 2):
        with sqlite3.connect(path) as database:
            database.executescript(
                f"DROP TABLE IF EXISTS mark; CREATE TABLE mark AS SELECT {points} AS n"
            )
        database.close()
        sample = Sample("SELECT n FROM mark", columns={"database": str(path)})
        assert Sql(databases=str(tmp_path))(f"SELECT {points} FROM mark", sample).correct


@pytest.mark.parametrize(
    ("columns", "reference", "message"),
    [
        ({}, "SELECT 1", "neither a column 'database' nor a column 'schema'"),
        ({"database": "a.sqlite"}, "SELECT 1", "the verifier has databases=FOLDER"),
        ({"schema": "CREATE"}, "SELECT 1", "incomplete input"),
        ({"schema": SCHOOL}, "SELECT size FROM pupil", "no such column"),
        ({"schema": SCHOOL}, "", "it isn't a query"),
        ({"schema": SCHOOL}, "DELETE FROM pupil", "not authorized"),
    ],
)
def test_a_reference_that_cant_be_run_is_unjudged(
    columns: dict[str, object], reference: str, message: str
) -> None:
    verdict = rewardkit.verify("sql", "SELECT 1", reference, columns=columns)
    assert verdict.correct is None
    assert message in verdict.message


def test_a_log_that_is_not_written_back_is_unjudged(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE t (a)")
    sample = Sample("SELECT a FROM t", columns={"database": "m.sqlite"})
    verdict = Sql(databases=str(tmp_path))("SELECT a FROM t", sample)
    database.close()
    assert "isn't written back" in verdict.message


@pytest.mark.parametrize(
    "text",
    [
        "```sql\nSELECT name FROM pupil WHERE class = 1;\n```",
        "Two.\n```py\n1\n```\n```sql\nSELECT name FROM pupil WHERE class = 1 -- owls\n```\n.",
        "```sql\nSELECT name FROM pupil WHERE class = 1\n```\ngives\n```\nIda, Bo\n```",
        "<answer>SELECT name FROM pupil WHERE class = 1</answer>",
        "<think>DROP TABLE pupil</think> SELECT name FROM pupil WHERE class = 1 /* owls */ ;\n",
    ],
)
def test_how_a_query_is_stated(text: str) -> None:
    reference = "SELECT name FROM pupil WHERE class = 1;"
    assert rewardkit.verify("sql", text, reference, columns={"schema": SCHOOL}).correct


def test_no_query_is_no_answer() -> None:
    verdict = rewardkit.verify("sql", "```sql\n```", "SELECT 1", columns={"schema": SCHOOL})
    assert verdict.failure is Failure.NO_ANSWER


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("SELECT points, name FROM pupil JOIN mark ON id = pupil", True),
        ("SELECT name, points FROM pupil JOIN mark ON id = pupil", True),
        ("SELECT name, name FROM pupil JOIN mark ON id = pupil", False),
        (
            "SELECT points, name FROM pupil JOIN (SELECT pupil + 1 p, points FROM mark) ON id = p",
            False,
        ),
        ("SELECT points FROM mark", False),
    ],
)
def test_columns_in_any_order(query: str, right: bool) -> None:
    reference = "SELECT name, points FROM pupil JOIN mark ON id = pupil"
    assert _judged(query, reference, SCHOOL, columns="any").correct is right


def test_columns_that_are_alike_are_tried_in_each_order() -> None:
    schema = "CREATE TABLE t (a, b, c); INSERT INTO t VALUES (1, 2, 3), (2, 3, 1), (3, 1, 2);"
    reference = "SELECT a, b, c FROM t"
    assert _judged("SELECT c, a, b FROM t", reference, schema, columns="any").correct
    assert not _judged("SELECT c, b, b FROM t", reference, schema, columns="any").correct


def test_of_very_many_tied_rows_the_references_own_count() -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10050)"
    schema = f"CREATE TABLE t AS {many} SELECT i FROM n"
    for reference in ("SELECT i FROM t LIMIT 2", "SELECT i FROM t ORDER BY i < 0, i > 2 LIMIT 2"):
        assert _judged("SELECT i FROM t WHERE i < 3 ORDER BY i DESC", reference, schema).correct
    reference = "SELECT i FROM t LIMIT 2"
    assert not _judged("SELECT i FROM t WHERE i IN (3, 4)", reference, schema).correct


def test_values_of_a_function_are_no_table() -> None:
    for query in ("SELECT value FROM json_each('[9]')", "SELECT 9 FROM sqlite_master LIMIT 1"):
        for _ in range(2):  # SQLite reads its own tables at the first use
            verdict = _judged(query, "SELECT max(price) FROM item", SHOP)
            assert verdict.message == "it reads no table"


SQL_LABELS = "sql sqlite sqlite3 SQL mysql mariadb postgres postgresql pgsql plpgsql plsql PL/SQL"
SQL_LABELS += " tsql T-SQL mssql bigquery googlesql snowflake duckdb oracle redshift spark-sql"


@pytest.mark.parametrize(
    "text",
    [f"It is\n```{label}\nQUERY;\n```\nwhich gives\n```\n2\n```" for label in SQL_LABELS.split()]
    + [f"<answer>\n```{label}\nQUERY\n```\n</answer>" for label in ("mysql", "bigquery")]
    + ["QUERY;\n```", "QUERY\n~~~\n", "QUERY\n   ````\n\n", "<answer>QUERY\n```</answer>"],
)
def test_fences_of_any_dialect(text: str) -> None:
    query = "SELECT name FROM pupil WHERE class = 1"
    assert _judged(text.replace("QUERY", query), query, SCHOOL).correct
    assert not _judged(text.replace("QUERY", "SELECT name FROM pupil"), query, SCHOOL).correct


@pytest.mark.parametrize(("reference", "query", "right"), PUBLISHED)
def test_published_rules(reference: str, query: str, right: str) -> None:
    verdicts = [
        _judged(query, reference, SHOP, rules=rules).correct for rules in ("ours", "bird", "spider")
    ]
    assert verdicts == [letter == "T" for letter in right]


def test_published_rules_leave_no_choice_of_columns() -> None:
    with pytest.raises(ValueError, match="says itself how columns are compared"):
        Sql(rules="bird", columns="any")
