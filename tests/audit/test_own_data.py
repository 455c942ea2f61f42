"""The references of a data set, judged against themselves, rewritten and exchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rewardkit.audit.own_data import data_cases, read_data
from rewardkit.errors import DataError
from tests.support.rows import write_rows

ROWS = [
    {"question": "How many?", "answer": "3 + 4 = 7\n#### 7"},
    {"question": "And now?", "answer": "#### 1,250"},
    {"question": "And then?", "answer": "#### 7"},
]


def written(folder: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    return write_rows(folder / "rows.jsonl", rows)


def test_cases_of_a_row(tmp_path: Path) -> None:
    rows = read_data(written(tmp_path, ROWS), None)
    cases = [
        (case.family.removeprefix("data: "), case.completion, case.right)
        for case in data_cases(rows, "#### {}", "number", 0)
        if case.reference == "#### 1,250"
    ]
    assert cases == [
        ("its own reference", "#### 1,250", True),
        ("rewritten, white space", "####  1,250 ", True),
        ("rewritten, zeros after the point", "#### 1250.0", True),
        ("rewritten, thousands", "#### 1,250", True),
        ("rewritten, one more", "#### 1251", False),
        ("rewritten, another sign", "#### -1250", False),
        ("rewritten, tenfold", "#### 12500", False),
        ("the reference of another row", "#### 7", False),
    ]


def test_equal_references_of_other_rows_are_no_wrong_answers(tmp_path: Path) -> None:
    rows = read_data(written(tmp_path, [{"answer": "1/2"}, {"answer": "0.5"}]), None)
    families = {case.family for case in data_cases(rows, "{}", "math", 0)}
    assert "data: the reference of another row" not in families


def test_references_that_may_be_equal_are_not_taken_for_different(tmp_path: Path) -> None:
    rows = read_data(written(tmp_path, [{"answer": r"\sqrt{4}"}, {"answer": "2"}]), None)
    families = {case.family for case in data_cases(rows, "{}", "math", 0)}
    assert "data: the reference of another row" not in families


def test_columns_of_the_row_stay_without_the_reference(tmp_path: Path) -> None:
    (row, *_) = read_data(written(tmp_path, ROWS), "answer")
    assert row.columns == {"question": "How many?"}


def test_a_row_without_reference_says_which_fields_there_are(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1 has no reference in 'gold'; it has 'answer'"):
        read_data(written(tmp_path, [{"answer": "7"}]), "gold")


def test_tests_of_a_program_are_no_answer(tmp_path: Path) -> None:
    rows = read_data(written(tmp_path, [{"answer": '{"inputs": [], "outputs": []}'}]), None)
    assert list(data_cases(rows, "{}", "code", 0)) == []
