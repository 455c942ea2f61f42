"""Files in chunks: every row once, in order, from any row on."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from rewardkit.harness.results import data_files
from rewardkit.harness.results.data_files import open_source, open_sources, read_rows

ROWS = [
    {"number": str(number), "text": 'a "quoted"\nline, and ' + "x" * 40} for number in range(97)
]


def jsonl(path: Path) -> None:
    """With blank lines, which are no rows, and no newline at the end."""
    lines = [json.dumps(row) + "\n" * (1 + row["number"].endswith("5")) for row in ROWS]
    path.write_text("\n \n" + "".join(lines).rstrip("\n"))


def windows(path: Path) -> None:
    path.write_bytes("".join(json.dumps(row) + "\r\n" for row in ROWS).encode())


def table(path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["number", "text"])
        writer.writeheader()
        writer.writerows(ROWS)


def parquet(path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path, row_group_size=40)


FORMS = [("a.jsonl", jsonl), ("b.jsonl", windows), ("c.csv", table), ("d.parquet", parquet)]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "CHUNK_BYTES", 700)
    monkeypatch.setattr(data_files, "CHUNK_ROWS", 7)


@pytest.mark.parametrize(("name", "write"), FORMS)
def test_rows_come_once_in_order_from_any_row_on(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path / name)
    one, two = (open_sources([tmp_path / name] * count) for count in (1, 2))
    for source, rows in (one, ROWS), (two, ROWS * 2):
        for skip in (0, 1, 7, 40, 96, 97, 130, 200):
            found: list[dict[str, Any]] = []
            for chunk in source.chunks(skip):
                read = list(source.rows(chunk))
                assert (chunk.first, chunk.count) == (skip + len(found), len(read))
                assert 0 < chunk.count < 20
                assert 0 < chunk.end <= source.size
                found += read
            assert found == rows[skip:]
    *_, last = one.chunks(0)
    assert last.end == one.size


@pytest.mark.parametrize("content", [b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n', b'{"a": 1}\r\n{"a": 2}'])
def test_lines_as_windows_writes_them_are_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(content)
    source = open_source(path)
    assert [row for chunk in source.chunks(0) for row in source.rows(chunk)] == [{"a": 1}, {"a": 2}]
    assert read_rows(path) == [{"a": 1}, {"a": 2}]


def test_a_long_field_of_a_csv_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(f'completion\n"{"long, " * 50_000}"\n')
    source = open_source(path)
    (chunk,) = source.chunks(0)
    assert next(source.rows(chunk))["completion"] == "long, " * 50_000
