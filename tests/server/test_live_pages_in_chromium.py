"""`rewardkit view` in headless Chromium: a table that grows with the run, on a phone too."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewardkit.harness.report.page import render_runs
from rewardkit.harness.results.documents import read_notes
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.server import live_pages
from tests.harness.report.chromium import Browser
from tests.server.process import served
from tests.server.test_live_pages import running_run
from tests.support.runs import row, write_run

pytestmark = pytest.mark.browser


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path / "gsm8k-a-rather-long-name-of-a-model-0123abcd", [row("1"), row("2")])
    running_run(tmp_path / "sums", model="<script>alert(1)</script>", wrong=0)
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


def test_the_table_grows_with_the_run_and_leads_to_its_report(
    runs: Path, address: str, browser: Browser
) -> None:
    browser.send("Page.navigate", url=address)
    browser.wait_for("document.querySelectorAll('tbody tr').length === 2")
    for width in (360, 800, 1400):
        for scheme in ("light", "dark"):
            browser.screen(width, 700, scheme)
            assert browser.value("document.documentElement.scrollWidth") <= width
    focused = "document.activeElement?.getAttribute('href')"
    browser.value("document.querySelector('#filter').focus()")
    second = browser.value("document.querySelectorAll('td a')[1].getAttribute('href')")
    for _ in range(30):
        browser.press("Tab")
        if browser.value(focused) == second:
            break
    RunFolder(runs / "sums").append([row("2", task="sums", correct=False)])
    browser.wait_for("document.body?.innerText.includes('2 of 8')")  # it asks every 5 seconds
    browser.wait_for(f"{focused} === {second!r}")
    browser.value("document.querySelector('a[href^=\"/runs/\"]').click()")
    browser.wait_for("performance.getEntriesByName('rewardkit:painted').length")
    assert browser.value("document.body.innerText.includes('100')")
    for _ in range(2):
        browser.click("#theme")
    browser.value("document.querySelector('.bar nav a').click()")
    browser.wait_for("document.title.startsWith('Runs in')")
    browser.wait_for("document.documentElement.dataset.theme === 'dark'")
    assert (browser.errors, browser.dialogs) == ([], [])


def names(browser: Browser) -> list[str]:
    """The runs in the table, in its order, without hidden ones."""
    rows = "[...document.querySelectorAll('tbody tr:not([hidden]) td:first-child')]"
    return [name.strip()[:5] for name in browser.value(f"{rows}.map(cell => cell.textContent)")]


def test_runs_are_sorted_filtered_ticked_and_compared(address: str, browser: Browser) -> None:
    browser.send("Page.navigate", url=address)
    browser.wait_for("document.querySelectorAll('tbody tr').length === 2")
    browser.value("sessionStorage.clear()")
    assert names(browser) == ["gsm8k", "sums"]
    for order in (["gsm8k", "sums"], ["sums", "gsm8k"]):
        browser.click("#sort-1")
        assert names(browser) == order
    browser.click("#filter")
    browser.send("Input.insertText", text="GSM8K")
    assert names(browser) == ["gsm8k"]
    browser.value("location.reload()")  # it stays as the reader left it
    browser.wait_for("document.querySelector('#filter')?.value === 'GSM8K'")
    assert names(browser) == ["gsm8k"]
    browser.value("document.querySelector('#filter').value = ''")
    browser.value("document.querySelector('#filter').dispatchEvent(new Event('input'))")
    assert browser.value("document.querySelector('#compare').href") == ""
    for place in (0, 1):
        browser.value(f"document.querySelectorAll('td input')[{place}].click()")
    assert browser.value("document.querySelector('#compare').textContent") == "Compare 2 runs"
    browser.click("#compare")
    browser.wait_for("performance.getEntriesByName('rewardkit:painted').length")
    assert browser.value("document.querySelector('.lead').textContent").startswith("2 runs")
    assert (browser.errors, browser.dialogs) == ([], [])


@pytest.fixture
def report(runs: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the running run's report, from a server in a thread."""
    monkeypatch.setattr(live_pages, "REPORT_SECONDS", 0.2)
    monkeypatch.setattr(live_pages, "LOOK_SECONDS", -1.0)
    run = next(run for run in live_pages.LivePages(runs).runs() if run.name == "sums")
    with served(live_pages.create_view(runs)) as address:
        yield f"{address}/runs/{run.identifier}"
        browser.send("Page.navigate", url="about:blank")  # or the page asks on


def open_report(browser: Browser, address: str) -> None:
    browser.screen(1280, 800)
    browser.send("Page.navigate", url="about:blank")
    browser.errors.clear()
    browser.send("Page.navigate", url=address)
    browser.wait_for("performance.getEntriesByName('rewardkit:texts').length")


def test_notes_and_tags_are_written_by_keyboard_and_shown_by_a_file(
    runs: Path, report: str, browser: Browser, tmp_path: Path
) -> None:
    open_report(browser, f"{report}#samples")
    drawn = "document.querySelectorAll('#detail .typeset').length > 0"
    assert browser.value(drawn) is True  # Markdown, without being asked
    browser.press("m")
    browser.wait_for(f"!({drawn})")
    for key, words in (("n", "<b>look</b> here"), ("t", "odd, format , odd")):
        browser.press(key)
        browser.send("Input.insertText", text=words)
        browser.press("Escape")
        browser.wait_for("document.querySelector('.notes [role=status]')?.textContent === 'saved'")
        browser.value("document.querySelector('.notes [role=status]').textContent = ''")
    for width in (360, 800, 1400):
        browser.screen(width, 800)
        assert browser.value("document.documentElement.scrollWidth") <= width
    note = read_notes(runs / "sums")["sums/1/0"]
    assert (note.note, note.tags) == ("<b>look</b> here", ["odd", "format"])
    assert "✎ odd format" in browser.value("document.querySelector('.row .under').textContent")
    assert browser.errors == []
    page = tmp_path / "report.html"
    render_runs([runs / "sums"], page)
    browser.open(page, "#samples?noted=%23odd")
    browser.wait_for("document.querySelector('.notes .written')?.textContent.startsWith('<b>look')")
    assert browser.value("document.querySelector('.status').textContent") == "1 sample"
    assert browser.value(drawn) is False
    browser.press("n")
    assert "rewardkit view" in browser.value("document.querySelector('.status').textContent")
    assert browser.errors == []


def test_a_note_that_is_not_stored_says_why(
    runs: Path, report: str, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(live_pages, "write_note", full)
    open_report(browser, f"{report}#samples")
    browser.press("n")
    browser.send("Input.insertText", text="kept on the page")
    browser.press("Escape")
    status = "document.querySelector('.notes [role=status]')?.textContent"
    browser.wait_for(f"{status}.includes('not saved: ')")
    assert "No space left" in browser.value(status)
    assert browser.value("document.querySelector('.notes textarea').value") == "kept on the page"
    browser.errors.clear()  # the browser reports the refusal itself


def test_a_report_loads_new_rows_but_not_while_a_note_is_written(
    runs: Path, report: str, browser: Browser
) -> None:
    open_report(browser, f"{report}#samples")
    browser.press("n")
    browser.send("Input.insertText", text="in the middle of")
    RunFolder(runs / "sums").append([row("2", task="sums", correct=False)])
    asked = len(browser.requests)
    while len(browser.requests) < asked + 3:  # it asks, and stays
        browser.value("new Promise(done => setTimeout(done, 50))")
    assert browser.value("document.querySelector('.notes textarea').value") == "in the middle of"
    browser.press("Escape")
    browser.wait_for("document.querySelector('.status')?.textContent === '2 samples'")
    browser.wait_for("document.querySelector('.notes textarea')?.value === 'in the middle of'")
    assert browser.errors == []
