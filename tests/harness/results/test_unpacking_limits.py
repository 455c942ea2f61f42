"""Files that are packed: Inspect's archives, and what is made to fill the memory."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from rewardkit import Sample
from rewardkit.errors import DataError, MissingExtra
from rewardkit.harness.results import data_files
from rewardkit.harness.results.data_files import iterate_rows, read_rows
from rewardkit.verifiers.code import formats
from rewardkit.verifiers.code.formats import read_tests


def gz(path: Path, blocks: Iterator[bytes]) -> None:
    with gzip.open(path, "wb") as file:
        file.writelines(blocks)


def zst(path: Path, blocks: Iterator[bytes]) -> None:
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        for block in blocks:
            file.write(block)


def repeated(block: bytes, times: int) -> Iterator[bytes]:
    return (block for _ in range(times))


def one_line(path: Path) -> None:
    gz(path, repeated(b"a" * 2**20, 20))


def one_line_zst(path: Path) -> None:
    zst(path, repeated(b"a" * 2**20, 20))


def many_rows(path: Path) -> None:
    gz(path, repeated(b'{"a": "%s"}\n' % (b"x" * 990) * 100, 60))


def many_values(path: Path) -> None:
    gz(path, repeated(b"[" + b"0," * 10**6, 3))


def a_table(path: Path) -> None:
    gz(path, repeated(b"a,%s\n" % (b"b" * 997) * 100, 80))


def repeated_text(path: Path) -> None:
    table = pyarrow.table({"completion": pyarrow.array(["x" * 10**5]).take(_zeros(400))})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def repeated_in_messages(path: Path) -> None:
    chats = pyarrow.array([[{"role": "user", "content": "x" * 10**5}]]).take(_zeros(400))
    pyarrow.parquet.write_table(pyarrow.table({"m": chats}), path, compression="zstd")


def repeated_nulls(path: Path) -> None:
    columns = {f"c{number}": pyarrow.nulls(10**5, pyarrow.int32()) for number in range(8)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("samples/1_epoch_1.json", b"[" + b"0" * 10**7)


def archive_of_values(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("samples/1_epoch_1.json", b"[" + b"0," * 3 * 10**5 + b"0]")


def _zeros(count: int) -> Any:
    return pyarrow.array([0] * count)


BOMBS: list[tuple[str, Callable[[Path], None]]] = [
    *(("b.jsonl.gz", one_line), ("b.jsonl.zst", one_line_zst), ("b.jsonl.gz", many_rows)),
    *(("b.json.gz", many_values), ("b.csv.gz", a_table), ("b.parquet", repeated_text)),
    *(("b.parquet", repeated_in_messages), ("b.parquet", repeated_nulls)),
    *(("b.eval", archive), ("b.eval", archive_of_values)),
]


@pytest.fixture(autouse=True)
def _lower_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "FREE_BYTES", 2**20)
    monkeypatch.setattr(data_files, "MOST_VALUES", 10**5)
    monkeypatch.setattr(formats, "FREE_BYTES", 2**20)
    monkeypatch.setattr(formats, "MOST_CASES", 1_000)


@pytest.mark.parametrize(("name", "write"), BOMBS, ids=[write.__name__ for _, write in BOMBS])
def test_a_file_that_would_fill_the_memory_is_refused(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 2**21
    with pytest.raises(DataError, match="unpack"):
        for _ in iterate_rows(path):
            pass


def test_a_file_of_like_rows_is_still_read(tmp_path: Path) -> None:
    rows = [{"completion": f"{number}: {number**40} " * 9, "id": "4"} for number in range(5_000)]
    gz(tmp_path / "rows.jsonl.gz", (json.dumps(row).encode() + b"\n" for row in rows))
    assert read_rows(tmp_path / "rows.jsonl.gz") == rows
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    assert read_rows(tmp_path / "rows.parquet") == rows


SAMPLES: list[dict[str, Any]] = [
    {"id": number, "epoch": 1, "input": "?", "target": "4", "output": {"choices": []}}
    for number in range(3)
]


def write_eval(path: Path, *, damage: Callable[[bytes], bytes] = lambda packed: packed) -> None:
    """An archive as Inspect writes it: members with Zstandard, which zipfile can't write."""
    entries, body = b"", b""
    for sample in [{"version": 2}, *SAMPLES]:
        name = f"samples/{sample['id']}_epoch_1.json" if "id" in sample else "header.json"
        content = json.dumps(sample).encode()
        packed = pyarrow.compress(content, "zstd", asbytes=True)
        sizes = (zlib.crc32(content), len(packed), len(content), len(name))
        start = len(body)
        body += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 63, 0, 93, 0, 0, *sizes, 4)
        body += name.encode() + b"\xfe\xca\0\0" + damage(packed)
        entries += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 63, 63, 0, 93, 0, 0, *sizes, 0, 0, 0, 0, 0, start
        )
        entries += name.encode()
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 4, 4, len(entries), len(body), 0)
    path.write_bytes(body + entries + end)


def test_an_archive_with_zstandard_is_read(tmp_path: Path) -> None:
    write_eval(tmp_path / "log.eval")
    assert read_rows(tmp_path / "log.eval") == SAMPLES


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-5] + b"\0" * 5, lambda packed: b"\0" * len(packed)]
)
def test_a_damaged_member_is_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    write_eval(tmp_path / "log.eval", damage=damage)
    with pytest.raises(DataError, match=r"log\.eval can't be read"):
        read_rows(tmp_path / "log.eval")


def test_a_missing_library_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_eval(tmp_path / "log.eval")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"rewardkit\[data\]"):
        read_rows(tmp_path / "log.eval")


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


CASE = {"input": "1\n", "output": "1\n", "testtype": "stdin"}
TESTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "zeros": (lambda: b"\0" * 10**7, "unpack to more than"),
    "a text of zeros": (lambda: pickle.dumps("0" * 10**7), "unpack to more than"),
    "values": (lambda: pickle.dumps("[" + "0," * 4 * 10**5 + "0]"), "packed tests can't be"),
    "lists": (lambda: b"]" * 10**6 + b".", "only text is read"),
    "a class": (lambda: pickle.dumps(Path), "only text is read"),
    "small cases": (
        lambda: pickle.dumps("[" + '{"input":"","output":""},' * 2_000 + "]"),
        "more than 1,000",
    ),
    "tests": (lambda: pickle.dumps(json.dumps([CASE] * 50)), ""),
    "old pickles": (lambda: pickle.dumps(json.dumps([CASE] * 50), protocol=0), ""),
    "large tests": (lambda: pickle.dumps(json.dumps([{**CASE, "input": "1 2\n" * 10**5}])), ""),
}


@pytest.mark.parametrize("kind", TESTS)
def test_packed_tests_are_read_up_to_a_limit(kind: str) -> None:
    make, message = TESTS[kind]
    row = {"public_test_cases": "[]", "private_test_cases": packed(make())}
    sample = Sample(row["private_test_cases"], columns=row)
    if not message:
        assert read_tests(sample).cases[0].expected == ("1\n",)
        return
    with pytest.raises(ValueError, match=message):
        read_tests(sample)
