"""Whatever foreign text holds, no control character of it reaches the terminal."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import rewardkit
from rewardkit.errors import BackendError
from rewardkit.harness.runs.progress import ProgressReporter
from rewardkit.text.console import PrintableConsole
from rewardkit.text.printable import get_logger, printable
from rewardkit.trainers.training.training_plan import WarningReporter
from tests.harness.engines.openai_server import running_server, status
from tests.support.commands import rewardkit as run
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

CONTROLS = "\x1b]0;t\x07\x1b[2J\x9b31m\x90q\x7f\x08\r\t\u202ex\u2066\u2028"
"""Escape sequences, C0, C1, DEL, overrides of direction, a separator of lines."""
HOSTILE = f"a{CONTROLS}[/b][link=http://x]z"
"""Together with rich's markup."""
MODEL = "a\x1b]0;t\x07\x9b31m\u202ez"
"""The name of a model, without the brackets of a pattern."""
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def assert_printable(*words: object) -> str:
    """What the command printed, all of it printable."""
    result = run(*words)
    for text in (result.out, result.err):
        assert ascii(UNSAFE.findall(text)) == "[]", words
        assert "Traceback" not in text, text
    assert result.out + result.err, words
    return result.out + result.err


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A data set that is hostile in every column, in a file with a hostile name."""
    file = tmp_path / f"rows{CONTROLS}.jsonl"
    row = {"question": HOSTILE, "answer": f"{HOSTILE} #### 1", "level": HOSTILE}
    rows = [{**row, "id": f"{HOSTILE}{i}", "completion": f"{HOSTILE} #### {i}"} for i in range(3)]
    write_rows(file, rows)
    return file


def eval_command(rows: Path, folder: Path) -> Sequence[object]:
    return (
        *("eval", "--task", "gsm8k", "--data", rows, "--backend", "replay", "--model", rows),
        *("-o", folder, "--max-errors", "1"),
    )


def test_commands_that_read_and_write_runs(rows: Path, tmp_path: Path) -> None:
    first, second = (tmp_path / f"{name}{CONTROLS}" for name in "ab")
    assert_printable(*eval_command(rows, first))
    assert_printable(*eval_command(rows, first), "--limit", "2")  # refused: another run's folder
    assert_printable(*eval_command(rows, second), "--json")
    for end in ((), ("--json",)):
        assert_printable("compare", first, second, *end)
        assert_printable("score", first, *end)
    assert_printable("report", first, second, "-o", tmp_path / f"page{CONTROLS}.html")
    assert_printable("export", first, "--parquet", tmp_path / f"rows{CONTROLS}.parquet")
    assert_printable("export", first, "--model-index", tmp_path / f"index{CONTROLS}.yaml")
    assert_printable("compare", tmp_path / f"shards{CONTROLS}")
    assert_printable("data", "--task", "gsm8k", "--data", rows)
    assert_printable(
        "data", "--task", "gsm8k", "--data", rows, "-o", tmp_path / f"{CONTROLS}.jsonl"
    )


def test_commands_that_read_a_file(rows: Path, tmp_path: Path) -> None:
    assert_printable("score", rows, "--task", "gsm8k")
    assert_printable("score", rows, "--verifier", "math", "--reference-field", "answer")
    assert_printable("score", rows, "--verifier", "math", "--reference-field", HOSTILE)
    assert_printable("check", "--task", "gsm8k", "--data", rows)
    shown = assert_printable("verify", "exact", HOSTILE, "--reference", HOSTILE)
    assert r"\u001b]0;t\u0007" in shown
    out = run("verify", "exact", HOSTILE, "--reference", HOSTILE, "--json").out
    assert json.loads(out)["correct"] is True
    for suffix in ("toml", "jinja"):
        (tmp_path / f"x{CONTROLS}.{suffix}").write_bytes(HOSTILE.encode())
    task, prompt = (tmp_path / f"x{CONTROLS}.{suffix}" for suffix in ("toml", "jinja"))
    assert_printable("check", "--task", task)
    assert_printable(*eval_command(rows, tmp_path / "run"), "--prompt", prompt)


@pytest.mark.parametrize(
    "words",
    [
        (f"--{HOSTILE}",),
        (HOSTILE,),
        ("eval", f"--{HOSTILE}"),
        ("eval", "--task", HOSTILE, "--model", HOSTILE),
        ("eval", "--limit", HOSTILE),
        ("list", HOSTILE),
        ("check", "--plugin", HOSTILE),
        ("serve", "--verifier", HOSTILE),
        ("score", HOSTILE),
    ],
)
def test_words_of_the_command_line(words: Sequence[str]) -> None:
    assert_printable(*words)


def test_a_server_and_the_name_of_a_model(rows: Path, tmp_path: Path) -> None:
    with running_server() as server:
        command = [*("eval", "--task", "gsm8k", "--data", rows, "--prompt", tmp_path / "p.jinja")]
        command += ["--backend", "openai", "--base-url", server.url, "--max-errors"]
        (tmp_path / "p.jinja").write_text("{{ question }}")
        server.behaviour[HOSTILE.strip()] = status(400, HOSTILE)
        assert_printable(*command, "1", "--model", MODEL, "-o", tmp_path / "one")
        shown = assert_printable(*command, "0", "--model", MODEL, "-o", tmp_path / "two")
        assert r"\x1b]0;t" in shown
        models = ("--model", "tiny", "--model", f"huge{MODEL}")
        assert_printable(*command, "1", *models, "-o", tmp_path / "sweep")
        server.behaviour[HOSTILE.strip()] = status(404, HOSTILE)
        assert_printable(*command, "1", "--model", "tiny", "-o", tmp_path / "three")


def test_the_line_of_progress_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    console = PrintableConsole(file=terminal, force_terminal=True, width=200, color_system=None)
    monkeypatch.setattr("rewardkit.harness.runs.progress.PrintableConsole", lambda **_: console)
    reporter = ProgressReporter()
    reporter._start(HOSTILE, 5)
    reporter._advance(1, HOSTILE)
    reporter.warned(HOSTILE)
    reporter.ended()
    written = re.sub(r"\x1b\[(\?25[hl]|[0-9]*[AKm]|2K)|\r", "", terminal.getvalue())
    assert r"warning: a\u001b]0;t" in written
    assert "[/b][link=http://x]z" in written
    assert ascii(UNSAFE.findall(written)) == "[]"


def test_logs_and_errors_of_the_library(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    get_logger("rewardkit.tests").warning("a row says %s", HOSTILE)
    WarningReporter().warned(HOSTILE)
    shown = f"{caplog.text}{capsys.readouterr().err}{BackendError(HOSTILE)}"
    assert shown.count(r"\u001b]0;t") == 3
    assert ascii(UNSAFE.findall(shown)) == "[]"


def test_a_json_document_keeps_its_values() -> None:
    values = {HOSTILE: [HOSTILE]}
    for ascii_only in (True, False):
        assert json.loads(printable(json.dumps(values, ensure_ascii=ascii_only))) == values


PRINTERS = re.compile(
    r"(?<![\w.])(print|typer\.s?echo|sys\.std(out|err)\.write|Console)\(|logging\.getLogger\(__name__"
)
PRINT_PLACES = {
    "audit/generators/code.py",  # programs to judge
    "cli/arguments.py",
    "confinement/program.py",  # in its jail, to a pipe
    "server/connection.py",  # its own address
    "trainers/training/training_plan.py",  # made printable there
    "verifiers/code/runner.py",  # a program in an example
}


def test_everything_is_printed_through_echo_or_a_printable_console_or_a_printable_logger() -> None:
    root = Path(rewardkit.__file__).parent
    places = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py")}
    printing = {name for name, code in places.items() if PRINTERS.search(code)}
    assert printing == PRINT_PLACES
