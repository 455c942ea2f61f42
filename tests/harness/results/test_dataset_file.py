"""`--data` reads back the samples that `rewardkit data` writes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rewardkit import load_task
from rewardkit.errors import DataError, MissingExtra, UsageError
from rewardkit.harness.results.data_files import problems, read_rows, rows_of, write_rows
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Sample

PLANE = {"kind": "periodic", "dimensions": 2}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("name", "settings", "split"),
    [
        ("motion", {}, None),
        ("motion", {}, "train"),
        ("motion", {"kind": "accelerated"}, "test_out"),
        ("motion", PLANE, None),
        ("motion", {"dimensions": 3}, "test_in"),
        ("game24", {}, "test"),
        ("game24", {"highest": 9, "test": 100}, "train"),
    ],
)
def test_a_file_gives_the_same_samples(
    name: str, settings: dict[str, object], split: str | None, suffix: str, tmp_path: Path
) -> None:
    task = load_task(name, **settings)
    samples = problems(task, split=split, seed=5, count=None)
    file = tmp_path / f"rows{suffix}"
    write_rows(rows_of(task, samples), file, overwrite=False)
    assert load_task(name).load(data=str(file), split=None, seed=0) == samples
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("name", "split", "count", "distributions"),
    [
        ("motion", "test_in", 200, {"in": 200}),
        ("motion", "train", 7, {"in": 7}),
        ("motion", "test", 10, {"in": 5, "out": 5}),
        ("motion", None, 5, {"in": 3, "out": 2}),
        ("motion", "test_out", 1, {"out": 1}),
        ("game24", "test", 3, {None: 3}),
    ],
)
def test_the_requested_number_of_problems_is_written(
    name: str, split: str | None, count: int, distributions: dict[object, int]
) -> None:
    found = [
        sample.columns.get("distribution")
        for sample in problems(load_task(name), split=split, seed=0, count=count)
    ]
    assert {one: found.count(one) for one in found} == distributions


def test_a_higher_count_only_appends_problems() -> None:
    few, many = (problems(load_task("motion"), split="test_in", seed=0, count=n) for n in (20, 90))
    assert many[:20] == few == load_task("motion").load(data=None, split="test_in", seed=0)


@pytest.mark.parametrize(
    ("split", "count", "said"),
    [
        ("test", 201, "has 200 problems in split 'test', not 201"),
        (None, 201, "in its default split"),
        ("test", 0, "it must be at least 1"),
    ],
)
def test_a_count_beyond_the_data_is_refused(split: str | None, count: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        problems(load_task("game24"), split=split, seed=0, count=count)


@dataclass(frozen=True)
class Guests(Task):
    """A task with nothing but columns; it drops the column `forgets` when it reads a row."""

    name: str = "guests"
    prompt: str = "boxed"
    max_tokens: int = 8
    group_by: tuple[str, ...] = ()
    forgets: str = ""
    columns: Mapping[str, object] = field(default_factory=lambda: {"guests": 3, "host": "Zoë"})

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        return [Sample(str(self.columns["guests"]), "", "0", self.columns)]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        kept = {name: value for name, value in row.items() if name != self.forgets}
        return Sample(str(kept.get("guests")), "", str(index), kept)

    def verifier(self, reading: str | None = None) -> Verifier:
        raise NotImplementedError

    def flexible(self) -> Verifier | None:
        raise NotImplementedError

    def perfect(self, sample: Sample) -> str:
        raise NotImplementedError


def test_the_columns_of_any_task_are_its_rows(tmp_path: Path) -> None:
    task = Guests()
    rows = rows_of(task, task.load(data=None, split=None, seed=0))
    write_rows(rows, tmp_path / "guests.jsonl", overwrite=False)
    assert read_rows(tmp_path / "guests.jsonl") == [{"guests": 3, "host": "Zoë"}]
    assert "Zoë" in (tmp_path / "guests.jsonl").read_text(encoding="utf-8")


def test_a_task_that_reads_back_another_problem_is_refused() -> None:
    task = Guests(forgets="host")
    with pytest.raises(DataError, match="'guests' reads another sample from the columns"):
        rows_of(task, task.load(data=None, split=None, seed=0))


def test_a_column_that_json_cannot_represent_is_refused() -> None:
    task = Guests(columns={"guests": {1, 2}})
    with pytest.raises(DataError, match="can't be written as JSON"):
        rows_of(task, task.load(data=None, split=None, seed=0))


def test_an_existing_file_needs_overwrite(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("mine\n")
    with pytest.raises(UsageError, match=r"rows\.jsonl exists; .* --overwrite"):
        write_rows([{"a": 1}], file, overwrite=False)
    assert file.read_text() == "mine\n"
    write_rows([{"a": 1}], file, overwrite=True)
    assert read_rows(file) == [{"a": 1}]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rows.csv", r"rows are written as \.jsonl or \.parquet"),
        ("rows", "not as ''"),
        ("nowhere/rows.jsonl", "name a file in a folder that exists"),
    ],
)
def test_an_unwritable_path_is_named(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        write_rows([{"a": 1}], tmp_path / name, overwrite=True)


def test_rows_that_dont_fit_a_table_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"don't fit a Parquet table: .*write \.jsonl"):
        write_rows([{"a": 1}, {"a": "b"}], tmp_path / "rows.parquet", overwrite=False)
    assert not list(tmp_path.iterdir())


def test_without_pyarrow_the_error_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rewardkit\[data\]'"):
        write_rows([{"a": 1}], tmp_path / "rows.parquet", overwrite=False)
