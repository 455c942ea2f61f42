"""The runs of a page beside its first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rewardkit.harness.report import page
from rewardkit.harness.report.page import compare_runs, render_runs
from rewardkit.harness.results.comparison import compare
from rewardkit.harness.results.comparison_tables import comparison_tables
from rewardkit.tables import Table
from tests.support.runs import row, write_run


def written(folder: Path, right: int, problems: int = 8) -> Path:
    return write_run(folder, [row(str(n), correct=n < right) for n in range(problems)])


def test_the_page_has_the_differences_that_compare_prints(tmp_path: Path) -> None:
    folders = [written(tmp_path / name, right) for name, right in (("a", 1), ("b", 8), ("c", 4))]
    shown = [
        (number, each.difference, each.p_adjusted) for number, each in compare_runs(folders).by_run
    ]
    expected = compare(folders[0], folders[1:])
    assert shown == [(n, each.difference, each.p_adjusted) for n, each in enumerate(expected, 1)]
    render_runs(folders, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    table = next(comparison_tables(expected))
    assert isinstance(table, Table)
    assert f'"p":"{table.rows[1][3]}"' in text


def test_a_run_that_cannot_be_compared_is_named_and_the_others_are(tmp_path: Path) -> None:
    folders = [
        written(tmp_path / "a", 1),
        written(tmp_path / "b", 8, 9),
        written(tmp_path / "c", 4),
    ]
    found = compare_runs(folders)
    assert [number for number, _ in found.by_run] == [2]
    assert "different problems" in found.left_out[0]


def test_of_many_runs_the_first_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_COMPARED", 1)
    folders = [written(tmp_path / name, 4) for name in "abc"]
    found = compare_runs(folders)
    assert (len(found.by_run), found.left_out) == (
        1,
        ["1 more run; rewardkit compare takes any number"],
    )


def test_one_run_has_nothing_beside_it(tmp_path: Path) -> None:
    assert compare_runs([written(tmp_path / "a", 4)]).by_run == ()


def test_an_unfinished_baseline_is_named_once(tmp_path: Path) -> None:
    folders = [written(tmp_path / name, 4) for name in "abc"]
    file = folders[0] / "run.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"tasks": {"gsm8k": {"samples": 9, "num_samples": 1}}}))
    found = compare_runs(folders)
    assert (found.by_run, len(found.left_out)) == ([], 1)
    assert "unfinished: 8 of 9" in found.left_out[0]


@pytest.mark.parametrize(
    ("before", "after", "problems", "sentence"),
    [
        (10, 60, 70, "b is better by 71 points (51 to 84), p < 0.0001, 70 problems"),
        (60, 10, 70, "b is worse by 71 points (51 to 84), p < 0.0001, 70 problems"),
        (20, 35, 40, "b is better by 38 points (N to N), p = 0.0041, 40 problems"),
        (10, 13, 20, "no difference shown; N problems would show 15 points"),
        (10, 10, 20, "no difference shown; 20 problems would show N points"),
        (0, 0, 20, "no difference: both have the same result on each problem"),
        (92, 93, 100, "no difference shown; N problems would show 1 points"),
    ],
)
def test_the_page_says_what_the_comparison_shows(
    tmp_path: Path, before: int, after: int, problems: int, sentence: str
) -> None:
    folders = [written(tmp_path / "a", before, problems), tmp_path / "b"]
    rows = [row(str(n), correct=problems - n <= after) for n in range(problems)]
    write_run(folders[1], rows)  # others are right than in the first run
    ((_, comparison),) = compare_runs(folders).by_run
    pattern = re.escape(sentence).replace("N", "[0-9,.]+")
    assert re.fullmatch(pattern, page.verdict(comparison, "b"))


def test_of_three_runs_the_verdict_names_both(tmp_path: Path) -> None:
    folders = [
        written(tmp_path / name, right, 40) for name, right in (("a", 1), ("b", 38), ("c", 2))
    ]
    render_runs(folders, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "b is better than a by 9" in text
    assert "c and a: no difference shown; " in text
