"""No secret reaches what a command prints or writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.engines.openai_server import OpenAIServer, running_server, status
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

IN_ENVIRONMENT = "sk-environment-5e1f7a"
IN_ARGUMENT = "sk-argument-8c2d4b"
IN_URL = "url-password-3a9e6c"
SECRETS = (IN_ENVIRONMENT, IN_ARGUMENT, IN_URL)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that repeats every secret in its errors."""
    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    monkeypatch.setenv("HF_TOKEN", IN_ENVIRONMENT)
    with running_server() as server:
        server.behaviour["b"] = status(400, f"no {' '.join(SECRETS)} here")
        yield server


def eval_arguments(server: OpenAIServer, folder: Path) -> list[object]:
    data = folder / "data.jsonl"
    rows = [{"question": question, "answer": "#### 1"} for question in "ab"]
    write_rows(data, rows)
    (folder / "prompt.jinja").write_text("{{ question }}")
    url = server.url.replace("://", f"://user:{IN_URL}@")
    return [
        *("eval", "--task", "gsm8k", "--data", data, "--prompt", folder / "prompt.jinja"),
        *("--backend", "openai", "--base-url", f"{url}?api_key={IN_URL}"),
        *("--backend-arg", f"api_key={IN_ARGUMENT}", f"--backend-arg=hf_token={IN_ARGUMENT}"),
        *("--max-errors", "1"),
    ]


def assert_no_secret(folder: Path, capsys: pytest.CaptureFixture[str], *files: str) -> str:
    """What was printed, once neither it nor any file holds a secret."""
    out, err = capsys.readouterr()
    written = {path.name for path in folder.rglob("*") if path.is_file()}
    assert written >= set(files)
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_text()
            assert [secret for secret in SECRETS if secret in content] == [], path
    assert [secret for secret in SECRETS if secret in out + err] == []
    return out + err


def test_an_evaluation_shows_and_stores_no_secret(
    server: OpenAIServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = [*eval_arguments(server, tmp_path), "--model", "tiny", "-o", run]
    assert run_command(*command) == 0
    files = ("run.json", "samples.jsonl", "summary.json", "report.html")
    assert_no_secret(run, capsys, *files)
    assert "no *** *** *** here" in (run / "samples.jsonl").read_text()
    record = json.loads((run / "run.json").read_text())
    assert "api_key=***" in record["command"]
    assert record["settings"]["backend_args"] == {"api_key": "***", "hf_token": "***"}
    assert "://***@127.0.0.1" in record["backend"]["base_url"]
    assert run_command(*command, "--json") == 0, "a redacted record carries on"
    assert_no_secret(run, capsys, *files)
    assert run_command("report", run, "-o", tmp_path) == 0
    assert run_command("score", run, "-o", tmp_path / "again", "--max-errors", 1) == 0
    assert run_command("export", run, "--model-index", tmp_path / "index.yaml") == 0
    (tmp_path / "data.jsonl").unlink()
    assert_no_secret(tmp_path, capsys, *files, "index.yaml")


def test_a_refused_key_is_not_printed(
    server: OpenAIServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.models_status = 401
    command = [*eval_arguments(server, tmp_path), "--model", "tiny", "-o", tmp_path / "run"]
    assert run_command(*command) == 2
    assert "refuses the key" in assert_no_secret(tmp_path, capsys, "run.json")


@pytest.mark.parametrize("address", ["htp:/bob:P:W@h/v1", "http://bob:P/W@h/v1", "bob:P W@h/v1"])
def test_a_password_in_a_mistyped_address_is_not_shown(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"question": "a", "answer": "#### 1"}) + "\n")
    command = ["eval", "--task", "gsm8k", "--data", data, "--backend", "openai", "--model", "tiny"]
    assert run_command(*command, "--base-url", address, "-o", tmp_path / "run") == 2
    shown = "".join(capsys.readouterr())
    assert "***@h/v1 isn't an address" in shown
    assert not (tmp_path / "run").exists()
    password = address.partition("bob:")[2].partition("@")[0]
    assert password not in shown


def test_a_sweep_shows_and_stores_no_secret(
    server: OpenAIServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*eval_arguments(server, tmp_path), "--model", "tiny", "--model", "huge"]
    assert run_command(*command, "-o", tmp_path / "sweep", "--json") == 1
    printed = assert_no_secret(tmp_path, capsys, "run.json", "report.html")
    assert "no model 'huge'" in printed


def test_scoring_shows_and_stores_no_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUDGE_TOKEN", IN_ENVIRONMENT)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"reference": "5", "completion": "5"}) + "\n")
    command = ["score", file, "--verifier", "math", "-o", tmp_path / "run"]
    secret = ["--verifier-arg", f"api_key={IN_ARGUMENT}"]
    assert run_command(*command, *secret) == 2
    assert_no_secret(tmp_path, capsys)
    assert run_command(*command, "--completion-field", IN_ENVIRONMENT) == 2
    assert_no_secret(tmp_path, capsys)
    assert run_command(*command) == 0
    assert_no_secret(tmp_path, capsys, "run.json", "samples.jsonl")


def test_an_unexpected_error_shows_its_traceback_without_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError(f"with {IN_ENVIRONMENT}")

    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    monkeypatch.setattr("rewardkit.api.load_verifier", broken)
    assert run_command("verify", "math", "1", "--reference", "1") == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "ZeroDivisionError: with ***" in err
