"""Samples as a flat table: typed, whole, as they stand at the end of a run."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from datasets import Features
from pyarrow import parquet

import rewardkit
from rewardkit.errors import MissingExtra, RunMismatch, UsageError
from rewardkit.harness.report.flat_samples import write_csv, write_parquet
from tests.support.runs import row as stored_row


def row(number: int, **changes: Any) -> dict[str, Any]:
    one = stored_row(
        str(number),
        task="t",
        prompt=None,
        prompt_tokens=7,
        completion_tokens=None,
        reference="0.5",
        columns={"level": 3, "x": [1]},
        flexible={"correct": True, "answer": "½"},
    )
    parts = {"accuracy": 1.0, "format": 0.5}
    verdict = {**one.verdict.as_json(), "answer": "½", "parts": parts, "message": "by numbers"}
    return {**one.as_json(), "completion": "<script>ü\ud800", "verdict": verdict, **changes}


def run(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    (folder / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return folder


def test_every_field_has_its_type_and_comes_back(tmp_path: Path) -> None:
    unjudged: dict[str, object] = {
        "correct": None,
        "score": None,
        "answer": None,
        "failure": "error",
        "parts": {},
        "message": "?",
    }
    thinking = {"reasoning": "2 + 3", "thinking_tokens": 4, "cost": 0.5}
    rows = [row(0), row(1, verdict=unjudged, flexible=None, label=False, **thinking)]
    file = tmp_path / "s.parquet"
    assert write_parquet([run(tmp_path / "one", rows)], file, overwrite=False) == 2
    table = parquet.read_table(file)
    types = {field.name: str(field.type) for field in table.schema}
    assert types["index"] == "int32"
    assert types["label"] == "bool"
    assert types["verdict_correct"] == "bool"
    assert types["verdict_score"] == types["verdict_part_format"] == "double"
    first, second = table.to_pylist()
    assert {name: second[name] for name in thinking} == thinking
    assert (first["reasoning"], first["thinking_tokens"], first["cost"]) == ("", None, None)
    assert first["run"] == "one"
    assert first["completion"] == "<script>ü\\ud800"
    assert json.loads(first["columns"]) == {"level": 3, "x": [1]}
    verdict = {name: value for name, value in first.items() if name.startswith("verdict_")}
    assert verdict == {
        "verdict_correct": True,
        "verdict_score": 1.0,
        "verdict_spans": None,
        "verdict_answer": "½",
        "verdict_failure": None,
        "verdict_message": "by numbers",
        "verdict_part_accuracy": 1.0,
        "verdict_part_format": 0.5,
    }
    assert (second["verdict_part_format"], second["flexible_correct"]) == (None, None)
    assert (first["prompt"], first["completion_tokens"], first["label"]) == (None, None, None)
    assert (second["verdict_correct"], second["flexible_answer"], second["label"]) == (
        None,
        None,
        False,
    )


def test_a_csv_file_has_the_same_columns_and_text(tmp_path: Path) -> None:
    folder, table = run(tmp_path / "one", [row(0), row(1)]), tmp_path / "s.parquet"
    file = tmp_path / "s.csv"
    assert write_csv([folder], file, overwrite=False) == 2
    write_parquet([folder], table, overwrite=False)
    with file.open(newline="", encoding="utf-8") as lines:
        first, second = csv.DictReader(lines)
    assert list(first) == parquet.read_schema(table).names
    assert (first["verdict_correct"], first["prompt"], first["verdict_part_format"]) == (
        "True",
        "",
        "0.5",
    )
    assert (first["completion"], second["id"]) == ("<script>ü\\ud800", "1")
    with pytest.raises(UsageError, match="exists"):
        write_csv([folder], file, overwrite=False)


def test_a_run_is_a_frame_of_pandas(tmp_path: Path) -> None:
    unjudged = row(1)["verdict"] | {"correct": None, "score": None, "failure": "error"}
    folder = run(tmp_path / "one", [row(0), row(1, verdict=unjudged)])
    frame = rewardkit.load_run(folder)
    assert (len(frame), str(frame["verdict_correct"].dtype)) == (2, "boolean")
    assert frame["verdict_correct"].mean() == 1.0
    assert frame["verdict_part_format"].tolist() == [0.5, 0.5]


def test_a_folder_without_a_run_and_a_missing_pandas_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="holds no samples"):
        rewardkit.load_run(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"load_run needs pandas.*rewardkit\[data\]"):
        rewardkit.load_run(run(tmp_path / "one", [row(0)]))


def test_the_library_datasets_knows_every_type(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    write_parquet([run(tmp_path / "one", [row(0)])], file, overwrite=False)
    features = Features.from_arrow_schema(parquet.read_schema(file))
    assert features["verdict_correct"].dtype == "bool"


def test_a_row_that_was_generated_again_is_there_once(tmp_path: Path) -> None:
    rows = [row(0, finish_reason="error"), row(1), row(0, completion="again")]
    runs = [run(tmp_path / "a", rows), run(tmp_path / "b", [row(5)])]
    write_parquet(runs, tmp_path / "s.parquet", overwrite=False)
    table = parquet.read_table(tmp_path / "s.parquet").to_pylist()
    assert [(one["run"], one["id"]) for one in table] == [("a", "1"), ("a", "0"), ("b", "5")]
    assert table[1]["completion"] == "again"


def test_a_file_that_exists_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    file.write_text("mine")
    one = run(tmp_path / "a", [row(0)])
    with pytest.raises(UsageError, match="use --overwrite"):
        write_parquet([one], file, overwrite=False)
    assert file.read_text() == "mine"
    assert write_parquet([one], file, overwrite=True) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "s.parquet"]


def test_what_fails_leaves_no_file(tmp_path: Path) -> None:
    broken = run(tmp_path / "a", [row(0), row(1, index="many")])
    with pytest.raises(RunMismatch, match=r"line 2 isn't a row .* at `\$\.index`"):
        write_parquet([broken], tmp_path / "s.parquet", overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
