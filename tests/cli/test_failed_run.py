"""A run with too many errors ends with the first of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_command


def test_the_first_error_is_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": f"q{n}", "answer": "#### 1", "completion": "#### 1"} for n in range(6)]
    data, replies = tmp_path / "data.jsonl", tmp_path / "few.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replies.write_text("".join(json.dumps({**rows[n], "id": n}) + "\n" for n in range(2)))
    command = ["eval", "--task", "gsm8k", "--data", data, "--model", replies]
    command += ["--backend", "replay", "--quiet", "-o", tmp_path / "run"]
    assert [run_command(*command, "--shard", f"{number}/2") for number in (1, 2)] == [1, 1]
    capsys.readouterr()
    assert run_command("merge", tmp_path / "run") == 1
    said = "ended in errors, such as gsm8k/2/0: nothing was generated: few.jsonl holds no "
    assert said in capsys.readouterr().err
    assert run_command(*command) == 1
    assert said in capsys.readouterr().err
