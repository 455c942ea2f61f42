"""The tests' own ground: lanes, signals, and a browser that is missed loudly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import lane_of_file
from tests.harness.report.chromium import chromium

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("path", "lane"),
    [
        ("harness/engines/test_local_engines.py", "engines"),
        ("harness/report/test_browser.py", "browser"),
        ("judging/test_crashes.py", "slow"),
        ("harness/report/test_page.py", None),
    ],
)
def test_the_lane_of_a_file_is_read_without_importing_it(path: str, lane: str | None) -> None:
    assert lane_of_file(TESTS / path) == lane


@pytest.mark.slow
def test_a_start_in_the_background_leaves_sigint_as_it_is_in_the_foreground() -> None:
    code = "import signal, tests.conftest; signal.raise_signal(signal.SIGINT)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in done.stderr


def test_a_missing_browser_fails_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(pytest.fail.Exception, match="run: sudo scripts/install-programs"):
        chromium()
