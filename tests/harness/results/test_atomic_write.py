from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.errors import WriteError
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.results.data_files import write_rows
from rewardkit.harness.results.files import append_bytes, replace_text, replaced_file
from rewardkit.harness.results.run_folder import RunFolder


@contextlib.contextmanager
def small_disk() -> Iterator[None]:
    """Limit files to 1,000 bytes, as on a full disk; pytest's own output may go to a file, too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_replaced_atomically(tmp_path: Path) -> None:
    replace_text(tmp_path / "a.json", "earlier")
    with replaced_file(tmp_path / "a.json") as partial:
        partial.write_text("later")
        assert (tmp_path / "a.json").read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "later"


def test_a_block_that_raises_leaves_the_earlier_file(tmp_path: Path) -> None:
    replace_text(tmp_path / "a.json", "earlier")
    with pytest.raises(ZeroDivisionError), replaced_file(tmp_path / "a.json") as partial:
        partial.write_text(f"half {1 / 0}")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "earlier"


def test_half_surrogates_are_escaped(tmp_path: Path) -> None:
    replace_text(tmp_path / "a.json", "\ud800")
    assert (tmp_path / "a.json").read_text() == "\\ud800"


def test_a_full_disk_is_one_error_with_the_file_and_the_remedy(tmp_path: Path) -> None:
    replace_text(tmp_path / "a.json", "earlier")
    with (
        small_disk(),
        pytest.raises(WriteError, match=r"a\.json can't be written: .*\(2,000 bytes are needed\)"),
    ):
        replace_text(tmp_path / "a.json", "x" * 2000)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    with small_disk(), pytest.raises(WriteError, match="the same command resumes"):
        append_bytes(tmp_path / "a.json", b"x" * 2000)
    with small_disk(), pytest.raises(WriteError, match=r"rows\.jsonl can't be written"):
        write_rows([{"a": "x" * 2000}], tmp_path / "rows.jsonl", overwrite=False)


def test_a_row_cut_short_by_a_full_disk_is_dropped_on_resume(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.opened({}, overwrite=False):
        folder.write_record({"fingerprint": {}})
        folder.append_lines([b'{"key": "kept"}\n'])
        with small_disk(), pytest.raises(WriteError, match=r"samples\.jsonl"):
            folder.append_lines([b'{"key": "%s"}\n' % (b"x" * 2000)])
    with folder.opened({}, overwrite=False):
        assert (folder.path / "samples.jsonl").read_bytes() == b'{"key": "kept"}\n'


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"page\.html can't be written: Not a directory"):
        replace_text(tmp_path / "file" / "page.html", "")
    with pytest.raises(WriteError, match=r"file/run can't be written"):
        RunFolder(tmp_path / "file" / "run").opened({}, overwrite=False).__enter__()


def test_an_error_of_another_file_is_not_attributed_to_this_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replaced_file(tmp_path / "a"):
        os.stat(tmp_path / "absent")


def test_a_report_in_a_folder_that_is_absent(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[2] / "fixtures" / "version_0_2_0" / "whole"
    with pytest.raises(WriteError, match=r"page\.html can't be written: .*; make the folder"):
        render_runs([fixture], tmp_path / "absent" / "page.html")
