"""Progress goes to stderr: a bar that fits the terminal, or lines where stderr is no terminal."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.harness.runs import progress
from rewardkit.harness.runs.progress import ProgressReporter
from rewardkit.text.console import PrintableConsole
from tests.harness.results.making import row

ROWS = [row(1, None, completion_tokens=50)] * 5


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_lines_where_stderr_is_no_terminal(clock: Clock, capsys: Any) -> None:
    reporter = ProgressReporter()
    reporter.started(20, 5)
    clock.now += 60  # the engine starts: no rate counts it
    reporter.generating()
    clock.now += 40
    reporter.written(ROWS)
    reporter.watching(lambda: "12 waiting 30 s (429), 4 retried")
    clock.now += 40
    reporter.written(ROWS)
    reporter.ended()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "5 of 20 completions are stored already; resuming",
        "10 of 20: 0.1/s, 100.0% right, 0:01:20 left",
        "15 of 20: 0.1/s, 100.0% right, 12 waiting 30 s (429), 4 retried, 0:00:40 left",
    ]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Show progress as at a terminal, of 120 columns unless the test sets another width."""
    width = getattr(request, "param", 120)

    def console(file: Any) -> PrintableConsole:
        return PrintableConsole(file=file, force_terminal=True, width=width, color_system=None)

    monkeypatch.setattr(progress, "PrintableConsole", console)


@pytest.mark.usefixtures("terminal")
def test_the_bar_says_what_the_engine_waits_for_while_no_row_comes(
    clock: Clock, capsys: Any
) -> None:
    reporter = ProgressReporter()
    reporter.started(20)
    reporter.generating()
    reporter.watching(lambda: "12 waiting 30 s (429)")
    reporter.ended()  # paints once more
    assert "12 waiting 30 s (429)" in capsys.readouterr().err


@pytest.mark.parametrize(("terminal", "tokens"), [(60, False), (120, True)], indirect=["terminal"])
@pytest.mark.usefixtures("terminal")
def test_a_bar_fits_the_terminal(clock: Clock, capsys: Any, tokens: bool) -> None:
    reporter = ProgressReporter()
    reporter.started(20, 0)
    reporter.generating()
    clock.now += 2
    reporter.written(ROWS)
    reporter.ended()
    last = capsys.readouterr().err.split("\n")[-2].split("\r")[-1]
    assert "5/20" in last
    assert "2.5/s" in last
    assert "100.0% right" in last
    assert ("125 tokens/s" in last) is tokens
