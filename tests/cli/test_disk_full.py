"""A full disk ends a command in one line and status 1; what was finished stays."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.commands import rewardkit
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

ROWS = [
    {"question": f"q{i}", "answer": f"#### {i}", "completion": f"#### {i} {'x' * 200}", "id": i}
    for i in range(200)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Completions, and a finished run over them."""
    folder = tmp_path_factory.mktemp("full")
    write_rows(folder / "rows.jsonl", ROWS)
    with contextlib.chdir(folder):
        assert rewardkit(*EVAL, "-o", "run").status == 0
    return folder


def limited(folder: Path, *arguments: str, most_bytes: int) -> subprocess.CompletedProcess[str]:
    """The command in `folder`, where no file may grow beyond `most_bytes`."""
    without_cache = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # a cut one ends every import
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    return subprocess.run(
        [sys.executable, "-m", "rewardkit", *arguments],
        cwd=folder,
        env=without_cache,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


EVAL: tuple[str, ...] = (
    *("eval", "--task", "gsm8k", "--data", "rows.jsonl", "--quiet"),
    *("--backend", "replay", "--model", "rows.jsonl"),
)
SCORE = ("score", "rows.jsonl", "--task", "gsm8k", "--quiet")


@pytest.mark.parametrize(
    ("command", "most_bytes", "file"),
    [
        ((*EVAL, "-o", "no-record"), 100, "no-record/run.json"),
        ((*EVAL, "-o", "no-samples"), 10_000, "no-samples/samples.jsonl"),
        ((*SCORE, "-o", "no-scores"), 10_000, "no-scores/samples.jsonl"),
        (("export", "run", "--parquet", "s.parquet"), 1000, "s.parquet"),
        (("export", "run", "--model-index", "card.md"), 100, "card.md"),
        (("report", "run", "-o", "page.html"), 10_000, "page.html"),
        (("data", "motion", "-o", "motion.jsonl"), 1000, "motion.jsonl"),
    ],
    ids=lambda value: "-".join(value[:1]) if isinstance(value, tuple) else "",
)
def test_the_file_is_named_and_the_same_command_carries_on(
    folder: Path, command: tuple[str, ...], most_bytes: int, file: str
) -> None:
    done = limited(folder, *command, most_bytes=most_bytes)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith(f"rewardkit: {file} can't be written: ")
    assert "File too large" in line
    assert line.endswith("the same command resumes")
    assert list(folder.glob("**/*.part")) == []
    with contextlib.chdir(folder):
        again = rewardkit(*command)
    assert (again.status, (folder / file).is_file()) == (0, True), again.err


@pytest.mark.parametrize("command", [("list", "tasks"), ("--help",), ("report", "run")])
def test_output_that_cannot_be_written_is_one_line(folder: Path, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rewardkit", *command],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("No space left on device")
    assert "Traceback" not in done.stderr
