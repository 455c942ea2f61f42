"""What a model thinks, from the server or the task file to the summary, and judged once more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit
from rewardkit.errors import UsageError
from tests.harness.engines.openai_server import Handler, OpenAIServer, running_server
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

ROWS = [{"question": name, "answer": "5"} for name in "abc"]
THOUGHTS = {"a": ("2 + 3", r"\boxed{5}"), "b": (r"\boxed{5}", "No idea."), "c": ("Hm, hm", None)}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A server that keeps thinking apart, and charges for it."""

    def thinks(handler: Handler, reply: dict[str, Any]) -> None:
        message = reply["choices"][0]["message"]
        reasoning, content = THOUGHTS[message["content"][0]]
        message |= {"content": content, "reasoning_content": reasoning}
        details = {"reasoning_tokens": 2}
        reply["usage"] |= {"cost": 0.25, "completion_tokens_details": details}
        handler.answer(200, reply)

    with running_server() as server:
        server.behaviour = dict.fromkeys(THOUGHTS, thinks)
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("rows.jsonl"), ROWS)
    return tmp_path


def evaluate(server: OpenAIServer, *more: str) -> int:
    arguments = ["--data", "rows.jsonl", "--reference-field", "answer", "--verifier", "math"]
    arguments += ["--model", "tiny", "--backend", "openai", "--base-url", server.url]
    return run_command("eval", *arguments, "--prompt", "question", "-o", "run", *more)


def document(path: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(path).read_text())
    return content


def rows(folder: str) -> dict[str, dict[str, Any]]:
    lines = (Path(folder) / "samples.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


@pytest.mark.usefixtures("folder")
def test_tokens_and_cost_are_summed_and_thinking_is_counted(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(server) == 0
    printed = "21 tokens in prompts, 9 in completions, 6 of them thinking, cost 0.75"
    assert printed in capsys.readouterr().out
    summary = document("run/summary.json")
    tokens = {"prompt_tokens": 21, "completion_tokens": 9, "thinking_tokens": 6}
    assert summary["usage"] == {**tokens, "cost": 0.75}
    task = summary["tasks"]["rows"]
    assert task["lengths"]["thinking"]["count"] == 3
    assert task["metrics"]["thinking_unclosed_rate"]["count"] == 3
    assert task["truncated"] == 1
    failures = {name: row["verdict"]["failure"] for name, row in rows("run").items()}
    assert failures == {"0": None, "1": "no_answer", "2": "no_answer"}


@pytest.mark.usefixtures("folder")
def test_a_run_scored_again_or_replayed_keeps_thinking(server: OpenAIServer) -> None:
    assert evaluate(server) == 0
    assert run_command("score", "run", "-o", "again") == 0
    kept = ("reasoning", "thinking_tokens", "cost", "verdict")
    for name, row in rows("again").items():
        assert {field: row[field] for field in kept} == {
            field: rows("run")[name][field] for field in kept
        }
    arguments = ["--data", "rows.jsonl", "--reference-field", "answer", "--verifier", "math"]
    command = ["eval", *arguments, "--backend", "replay", "--model", "run", "--prompt", "question"]
    assert run_command(*command, "-o", "replayed") == 0
    thoughts = [row["reasoning"] for row in rows("replayed").values()]
    assert thoughts == [reasoning for reasoning, _ in THOUGHTS.values()]
    first, again, replayed = (
        document(f"{folder}/summary.json")["tasks"]["rows"]
        for folder in ("run", "again", "replayed")
    )
    assert first["metrics"] == again["metrics"] == replayed["metrics"]
    assert again["lengths"] == first["lengths"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", ["--top-k", "--min-p", "--temperature", "--max-tokens"])
def test_a_replay_refuses_what_it_would_ignore(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("replies.jsonl").write_text('{"id": "0", "completion": "5"}\n')
    command = ["--task", "gsm8k", "--data", "rows.jsonl", "--backend", "replay"]
    assert run_command("eval", *command, "--model", "replies.jsonl", option, "1", "-o", "r") == 2
    assert f"{option} has no effect; leave it out" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_how_requests_are_sent_may_change_when_a_run_resumes(server: OpenAIServer) -> None:
    assert evaluate(server, "--backend-arg", "concurrency=2") == 0
    assert evaluate(server, "--backend-arg", "concurrency=3", "--backend-arg", "timeout=9") == 0
    assert evaluate(server, "--backend-arg", "foo=1") == 1
    assert len(server.received) == 3


@pytest.mark.usefixtures("folder")
def test_a_task_file_says_what_is_read_of_thinking(capsys: pytest.CaptureFixture[str]) -> None:
    Path("replies.jsonl").write_text(
        '{"question": "a", "answer": "5", "id": "0", "completion": "<think>\\\\boxed{5}"}\n'
    )
    for policy, right in (("keep", 1), ("strip", 0)):
        Path("mine.toml").write_text(
            f'thinking = "{policy}"\n[data]\nfile = "rows.jsonl"\n[verifier]\nname = "math"\n'
        )
        command = ["eval", "--task", "mine.toml", "--limit", "1", "--backend", "replay"]
        assert run_command(*command, "--model", "replies.jsonl", "-o", policy) == 0
        assert f"set by the task: --thinking {policy}" in capsys.readouterr().err
        accuracy = document(f"{policy}/summary.json")["tasks"]["mine"]["metrics"]["accuracy"]
        assert accuracy["value"] == right
        assert document(f"{policy}/run.json")["tasks"]["mine"]["thinking"] == policy
        assert run_command("score", "replies.jsonl", "--task", "mine.toml", "--json") == 0
        scored = json.loads(capsys.readouterr().out)["tasks"]["mine"]["metrics"]["accuracy"]
        assert scored["value"] == right


@pytest.mark.usefixtures("folder")
def test_scoring_reads_thinking_as_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("f.jsonl").write_text('{"answer": "5", "completion": "<think>\\\\boxed{5}"}\n')
    command = ["score", "f.jsonl", "--verifier", "math", "--reference-field", "answer"]
    command += ["--json"]
    for policy, right in (("keep", 1), ("strip", 0)):
        assert run_command(*command, "--thinking", policy) == 0
        found = json.loads(capsys.readouterr().out)["tasks"]["math"]["metrics"]["accuracy"]
        assert found["value"] == right
    assert run_command(*command, "--thinking", "drop") == 2
    assert "it must be one of strip, keep" in capsys.readouterr().err
    assert run_command(*command, "--thinking", "keep", "-o", "kept") == 0
    assert run_command(*command, "-o", "kept") == 1, "the folder is of another policy"
    assert "math.thinking" in capsys.readouterr().err
    assert run_command("score", "kept", "--thinking", "strip", "-o", "again") == 0
    assert rows("again")["0"]["verdict"]["correct"] is False
    assert document("again/run.json")["tasks"]["math"]["thinking"] == "strip"


@pytest.mark.usefixtures("folder")
def test_kept_thinking_is_read_where_a_server_returns_nothing_else(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    THOUGHTS["c"] = (r"So it is \boxed{5}", None)
    try:
        assert evaluate(server) == 0
        assert "read answers in the thinking: --thinking keep" in capsys.readouterr().err
        assert run_command("score", "run", "-o", "again", "--thinking", "keep") == 0
        assert evaluate(server, "--thinking", "keep", "--overwrite") == 0
    finally:
        THOUGHTS["c"] = ("Hm, hm", None)
    for folder in ("run", "again"):
        correct = {name: row["verdict"]["correct"] for name, row in rows(folder).items()}
        assert correct == {"0": True, "1": False, "2": True}


def _score(row: dict[str, Any], *more: str) -> bool | None:
    Path("one.jsonl").write_text(json.dumps(row) + "\n")
    command = ["score", "one.jsonl", "--verifier", "math", "-o", "scored", "--overwrite", *more]
    assert run_command(*command) == 0
    verdict: bool | None = next(iter(rows("scored").values()))["verdict"]["correct"]
    return verdict


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_a_file_s_messages_may_hold_only_thinking(field: str) -> None:
    message = {"role": "assistant", "content": None, field: r"\boxed{5}"}
    choices = {"body": {"choices": [{"message": message, "finish_reason": "stop"}]}}
    for row in (
        {"messages": [{"role": "user", "content": "?"}, message], "reference": "5"},
        {"completion": [message], "reference": "5"},
        {"custom_id": "1", "response": choices, "error": None, "reference": "5"},
    ):
        assert _score(row) is False
        assert _score(row, "--thinking", "keep") is True


@pytest.mark.usefixtures("folder")
def test_tags_of_one_s_own_mark_thinking_in_every_command(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    tags = ("--thinking-tags", "<reason>", "</reason>")
    guess = {"completion": r"<reason>\boxed{5}</reason> No idea.", "reference": "5"}
    answer = {"completion": r"<reason>\boxed{6}</reason> \boxed{5}", "reference": "5"}
    unclosed = {"completion": r"<reason>\boxed{5}", "reference": "5"}
    assert [_score(row) for row in (guess, unclosed)] == [True, True]
    assert [_score(row, *tags) for row in (guess, answer, unclosed)] == [False, True, False]
    Path("rows.jsonl").write_text('{"question": "a", "answer": "5"}\n')
    before, THOUGHTS["a"] = THOUGHTS["a"], ("", str(guess["completion"]))
    try:
        assert evaluate(server, *tags) == 0
    finally:
        THOUGHTS["a"] = before
    assert rows("run")["0"]["verdict"]["correct"] is False
    assert rows("run")["0"]["completion"] == guess["completion"]
    assert run_command("score", "run", "-o", "again") == 0  # the run's record has the tags
    assert rows("again")["0"]["verdict"]["correct"] is False
    assert evaluate(server) == 1
    assert "thinking_tags" in capsys.readouterr().err
    with pytest.raises(UsageError, match="thinking_tags is .*a list of 2 texts"):
        rewardkit.evaluate("game24", model="tiny", thinking_tags=("<reason>",))
