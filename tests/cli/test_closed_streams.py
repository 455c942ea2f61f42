"""Whatever the shell closed, a command ends without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

PROGRAM = f"{sys.executable} -m rewardkit"
ROWS = [{"id": str(n), "completion": "4", "reference": "4"} for n in range(3)]
COMMANDS = ["list", "score rows.jsonl --verifier exact"]
CLOSINGS = ["| true", ">&-", "2>&- | true", "<&-", "<&- >&-", ">/dev/full"]


@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stream_gives_no_traceback(tmp_path: Path, command: str, closing: str) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    end = subprocess.run(
        ["sh", "-c", f"{PROGRAM} {command} {closing}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in end.stderr + end.stdout
    assert "Exception ignored" not in end.stderr
