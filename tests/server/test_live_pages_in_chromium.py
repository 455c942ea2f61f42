"""`rewardkit view` in headless Chromium: a table that grows with the run, on a phone too."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.harness.store.run_folder import RunFolder
from tests.harness.report.chromium import Browser
from tests.support.runs import row, write_run

pytestmark = pytest.mark.browser


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path / "gsm8k-a-rather-long-name-of-a-model-0123abcd", [row("1"), row("2")])
    folder = tmp_path / "sums"
    folder.mkdir()
    RunFolder(folder).append([row("1", task="sums")])
    RunFolder(folder).write_record(
        {
            "tasks": {"sums": {"samples": 8, "num_samples": 1}},
            "sessions": [{"started": "2026-01-02T03:04:05+00:00", "ended": None}],
            "started": "2026-01-02T03:04:05+00:00",
            "settings": {"model": "<script>alert(1)</script>"},
        }
    )
    return tmp_path


@pytest.fixture
def address(runs: Path) -> Iterator[str]:
    """The address of `rewardkit view`, in a process of its own."""
    command = [sys.executable, "-m", "rewardkit", "view", str(runs), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = (line for line in process.stderr if "running on" in line)
        yield next(lines).partition("running on ")[2].split()[0]
        process.send_signal(signal.SIGTERM)


def test_the_table_grows_with_the_run_and_leads_to_its_report(runs: Path, address: str) -> None:
    with Browser() as browser:
        browser.send("Page.navigate", url=address)
        browser.wait_for("document.querySelectorAll('tbody tr').length === 2")
        for width in (360, 800, 1400):
            for scheme in ("light", "dark"):
                browser.screen(width, 700, scheme)
                assert browser.value("document.documentElement.scrollWidth") <= width
        RunFolder(runs / "sums").append([row("2", task="sums", correct=False)])
        browser.wait_for("document.body.innerText.includes('2 of 8')")  # it asks every 5 seconds
        browser.value("document.querySelector('a[href^=\"/runs/\"]').click()")
        browser.wait_for("performance.getEntriesByName('rewardkit:painted').length")
        assert browser.value("document.body.innerText.includes('100')")
        assert (browser.errors, browser.dialogs) == ([], [])
