"""A run with too many errors ends with the first of them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rewardkit import Sample, hookimpl, registry
from rewardkit.registry import Plugin
from rewardkit.server.live_pages import create_view
from tests.support.commands import Result, rewardkit, run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow


def test_the_first_error_is_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": f"q{n}", "answer": "#### 1", "completion": "#### 1"} for n in range(6)]
    data, replies = tmp_path / "data.jsonl", tmp_path / "few.jsonl"
    write_rows(data, rows)
    replies.write_text("".join(json.dumps({**rows[n], "id": n}) + "\n" for n in range(2)))
    command = ["eval", "--task", "gsm8k", "--data", data, "--model", replies]
    command += ["--backend", "replay", "--quiet", "-o", tmp_path / "run"]
    assert [run_command(*command, "--shard", f"{number}/2") for number in (1, 2)] == [1, 1]
    capsys.readouterr()
    assert run_command("report", tmp_path / "run") == 0
    said = "the first error: gsm8k/2/0: nothing was generated: few.jsonl holds no "
    assert said in capsys.readouterr().err
    assert run_command(*command) == 1
    assert said in capsys.readouterr().err


def evaluated(folder: Path, url: str) -> Result:
    """Evaluate three problems on a server, as view shows it afterwards."""
    rows = [{"question": f"q{n}", "answer": "#### 1"} for n in range(3)]
    data = write_rows(folder / "data.jsonl", rows)
    command = ["eval", "--task", "gsm8k", "--data", data, "--model", "m", "--backend", "openai"]
    command += ["--backend-arg", "max_retries=1", "--quiet", "-o", folder / "run"]
    return rewardkit(*command, "--base-url", url)


def test_the_run_of_a_server_that_is_down_has_failed(tmp_path: Path) -> None:
    with socket.socket() as unused:  # bound, and nobody listens
        unused.bind(("127.0.0.1", 0))
        end = evaluated(tmp_path, f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
    assert end.status == 1
    assert "is the server running" in end.err
    page = TestClient(create_view(tmp_path), base_url="http://127.0.0.1:8001").get("/").text
    assert 'data-label="state">failed' in page
    assert "is the server running" in page
    assert ">done" not in page.partition("<tbody>")[2]


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:9/v1", "localhost:9/v1", "https://", "http://[", "http//h/v1", "ftp://h/v1", "h"],
)
def test_a_rejected_address_leaves_no_folder(tmp_path: Path, url: str) -> None:
    end = evaluated(tmp_path, url)
    assert end.status == 2
    assert f"--base-url {url} isn't an address" in end.err
    assert not (tmp_path / "run").exists()


class Broken:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"broken": broken, "brittle": brittle}


def broken(text: str, sample: Sample) -> bool:
    return bool(sample.columns["gone"])


def brittle(text: str, sample: Sample) -> bool:
    return float(text) == float(sample.reference)


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Score four completions, one of which has no reference that can be read."""
    offers = registry.with_plugins([Plugin("broken", Broken())])
    monkeypatch.setattr(registry, "installed", lambda: offers)
    file = tmp_path / "rows.jsonl"
    pairs = [("it is 4", "4"), ("it is 5", "4"), ("it is 4", "4"), ("it is 4", "")]
    rows = ({"completion": text, "reference": reference} for text, reference in pairs)
    write_rows(file, rows)
    return lambda *arguments: rewardkit("score", str(file), "--verifier", *arguments)


READS_ALL = ("exact", "--verifier-arg", 'pattern="[0-9]+"')


def test_a_scoring_with_many_errors_fails_as_an_evaluation_does(
    scored: Callable[..., Result],
) -> None:
    end = scored(*READS_ALL)
    assert end.status == 1
    assert "1 of 4 completions ended in errors, more than --max-errors 0.05 allows" in end.err
    assert "the first error: 3: the reference is blank" in end.err
    assert scored(*READS_ALL, "--max-errors", "0.25").status == 0


def test_a_metric_that_is_too_low_fails(scored: Callable[..., Result]) -> None:
    typed = (*READS_ALL, "--max-errors", "0.5", "--fail-under")
    assert scored(*typed, "accuracy=0.6").status == 0
    end = scored(*typed, "accuracy=0.7", "--json")
    assert end.status == 1
    assert "accuracy of exact is 0.6667, below --fail-under accuracy=0.7" in end.err
    assert json.loads(end.out)["tasks"]["exact"]["judged"] == 3
    end = scored(*typed, "acuracy=0.1")
    assert end.status == 1
    assert "no metric named 'acuracy'; did you mean 'accuracy'?" in end.err
    assert scored(*typed, "accuracy=high").status == 2


def test_a_verifier_that_crashes_on_everything_fails_with_its_first_exception(
    scored: Callable[..., Result],
) -> None:
    end = scored("broken")
    assert end.status == 1
    assert "nothing was judged" in end.err
    assert "the first error: 0: the verifier raised KeyError: 'gone'" in end.err
    end = scored("brittle", "--max-errors", "1")
    assert end.status == 1
    assert "could not convert string to float: 'it is 4'" in end.err
