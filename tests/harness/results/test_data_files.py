from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rewardkit.errors import DataError, MissingExtra
from rewardkit.harness.results import data_files
from rewardkit.harness.results.data_files import hub_rows, read_rows

ROWS = [{"question": "Wie viele, “x”?", "answer": "1"}, {"question": "a,b\nc", "answer": "2"}]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": \n', "a.jsonl, line 3 isn't JSON"),
        ("a.jsonl", "[1]\n", "line 1 isn't a JSON object"),
        ("a.xlsx", "", r"suffix '\.xlsx' isn't one of"),
        ("a.parquet", "no", "isn't a Parquet file"),
        ("a.csv", "a,b\n1,2\n3,4,5\n", r"a\.csv, line 3 has more fields than the header"),
    ],
)
def test_an_error_in_a_file_names_its_place(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=said):
        read_rows(tmp_path / name)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        read_rows("nowhere.jsonl")
    with pytest.raises(DataError, match="is a folder; name a"):
        read_rows(tmp_path)


def test_without_datasets_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rewardkit\[data\]'"):
        hub_rows("openai/gsm8k", "main", "test")


def test_an_unreachable_hub_suggests_data(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    def refuse(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no route to the hub\nand more")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    monkeypatch.setattr(data_files, "hub_is_reachable", lambda: True)
    with pytest.raises(DataError, match="no route to the hub; pass a local copy with --data"):
        hub_rows("openai/gsm8k", "main", "test")


def test_rows_of_the_hub_are_plain_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked: list[object] = []

    def load(*args: object, **kwargs: object) -> object:
        asked.append((args, kwargs))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert hub_rows("openai/gsm8k", "main", "test") == ROWS
    assert asked == [(("openai/gsm8k", "main"), {"split": "test", "revision": None})]
