"""What can be wrong with a TOML file is said in a sentence that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.results.files import read_toml


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"a = ", "the task file .* isn't TOML"),
        (b"a = " + b"[" * 100_000, "the task file .* isn't TOML"),
        (b"a = '\xff'", "the task file .* can't be read"),
        (None, "there is no task file .*; see the guide"),
    ],
)
def test_a_file_that_is_no_toml(contents: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    if contents is not None:
        path.write_bytes(contents)
    with pytest.raises(UsageError, match=message):
        read_toml(path, "task", "the guide")
