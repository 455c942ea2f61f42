from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.engines.replay import ReplayBackend
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.results.completion_row import read_samples
from rewardkit.records import Completion, Sampling
from tests.harness.engines.sample_requests import complete, requests
from tests.support.commands import rewardkit
from tests.support.rows import write_rows

QUESTIONS = ("a", "b")


def replay(path: Path, rows: list[Mapping[str, object]]) -> dict[str, Completion]:
    write_rows(path, rows)
    backend = ReplayBackend(str(path), EngineOptions())
    backend.start(4, 0)
    return complete(backend, requests(backend, questions=QUESTIONS, samples=2), Sampling())


@pytest.mark.parametrize(
    "rows",
    [
        [{"key": f"test/{n}/{i}", "completion": f"{n}{i}"} for n in range(2) for i in range(2)],
        [{"id": str(n), "index": i, "text": f"{n}{i}"} for n in range(2) for i in range(2)],
        [{"task": "test", "id": n, "text": f"{n}{i}"} for n in range(2) for i in range(2)],
        [{"sample": n, "completion": f"{n}{i}"} for i in range(2) for n in range(2)],
    ],
    ids=["keys", "ids", "tasks", "in-order"],
)
def test_rows_answer_the_requests_that_they_name(
    tmp_path: Path, rows: list[Mapping[str, object]]
) -> None:
    answers = replay(tmp_path / "rows.jsonl", rows)
    assert {key: one.text for key, one in answers.items()} == {
        f"test/{n}/{i}": f"{n}{i}" for n in range(2) for i in range(2)
    }


def test_of_messages_the_assistant_s_last_is_taken(tmp_path: Path) -> None:
    turns = [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "y"}]
    answers = replay(tmp_path / "rows.jsonl", [{"id": "0", "completion": turns}])
    assert answers["test/0/0"].text == "x"


def test_a_missing_row_is_an_error_that_says_which(tmp_path: Path) -> None:
    answers = replay(tmp_path / "rows.jsonl", [{"id": "0", "completion": "x"}])
    assert answers["test/0/0"].text == "x"
    assert answers["test/1/1"].finish_reason == "error"
    assert "test/1/1" in answers["test/1/1"].message


def test_another_task_s_row_is_not_taken(tmp_path: Path) -> None:
    answers = replay(tmp_path / "rows.jsonl", [{"task": "other", "id": "0", "completion": "x"}])
    assert answers["test/0/0"].finish_reason == "error"


def test_a_run_s_folder_is_read_with_its_reasons_and_counts(tmp_path: Path) -> None:
    row = {
        "key": "test/0/0",
        "completion": "x",
        "finish_reason": "length",
        "prompt_tokens": 5,
        "completion_tokens": 9,
    }
    (tmp_path / "samples.jsonl").write_text(json.dumps(row), encoding="utf-8")
    backend = ReplayBackend(str(tmp_path), EngineOptions())
    backend.start(1, 0)
    answers = complete(backend, requests(backend, questions=["a"]), Sampling())
    assert answers["test/0/0"] == Completion("x", "length", 5, 9)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "line 2 isn't JSON"),
        (b"[1]", "line 2 isn't a JSON object"),
        (b'{"id": 1, "reply": "x"}', 'no text in "completion" .*; it has id, reply'),
        (b'{"text": "x"}', "names no problem"),
        (b"\xff", "line 2 isn't JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": 0, "text": "x"}\n' + line + b"\n")
    with pytest.raises(DataError, match=said):
        ReplayBackend(str(path), EngineOptions()).start(1, 0)


def test_a_file_without_completions_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n")
    with pytest.raises(DataError, match=r"rows\.jsonl holds no completions"):
        ReplayBackend(str(path), EngineOptions()).start(1, 0)


def test_the_fingerprint_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("a", encoding="utf-8")
    before = ReplayBackend(str(path), EngineOptions()).fingerprint()
    path.write_text("b", encoding="utf-8")
    assert ReplayBackend(str(path), EngineOptions()).fingerprint() != before


def test_no_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="JSONL"):
        ReplayBackend(str(tmp_path / "none.jsonl"), EngineOptions())


def rows_of(*ids: object, **others: object) -> list[Mapping[str, object]]:
    return [{"id": one, "completion": "x", **others} for one in ids]


IN_FULL: dict[str, tuple[list[Mapping[str, object]], int, str]] = {
    "four of each, one read": (rows_of(*"0000", *"1111"), 1, "give -n 4 --temperature 1"),
    "numbers as ids": (rows_of(0, 0, 1), 1, "2 completions of the problem '0'"),
    "keys": ([{"key": f"test/0/{at}", "text": "x"} for at in range(3)], 2, "give -n 3"),
    "indices": ([{"id": "0", "index": at, "text": "x"} for at in (0, 5)], 1, "give -n 6"),
    "one index twice": (rows_of("0", "0", index=0), 1, "already has a completion 0"),
    "no id is a problem's": (rows_of("a", "b"), 1, "has completions of a, b, and none of the"),
    "only another task's": (rows_of("0", task="other"), 1, "other tasks"),
    "as many as asked for": (rows_of(*"0011"), 2, ""),
    "fewer than asked for": (rows_of("0"), 2, ""),
    "another task's beside": (rows_of("0") + rows_of("0", "0", task="other"), 1, ""),
    "a key again": ([{"key": "test/0/0", "text": one} for one in "ab"], 1, ""),
}


@pytest.mark.parametrize("kind", IN_FULL)
def test_all_completions_are_read_or_the_evaluation_is_refused(kind: str, tmp_path: Path) -> None:
    rows, samples, message = IN_FULL[kind]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    backend = ReplayBackend(str(path), EngineOptions())
    if message:
        with pytest.raises(DataError, match=message):
            backend.check({"test": {"0", "1"}}, samples)
    else:
        backend.check({"test": {"0", "1"}}, samples)
        assert "warnings" not in backend.describe()


@pytest.mark.slow
def test_an_evaluation_refuses_a_part_and_names_ids_of_no_problem(tmp_path: Path) -> None:
    data, replies = tmp_path / "data.jsonl", tmp_path / "replies.jsonl"
    data.write_text(json.dumps({"question": "2 + 2?", "answer": "4", "id": "p"}))
    write_rows(replies, rows_of("p", "p", "q"))
    command = (
        *("eval", "--data", str(data), "--verifier", "math", "--backend", "replay"),
        *("--model", str(replies)),
    )
    status, _, err = rewardkit(*command, "-o", str(tmp_path / "one"))
    assert (status, "give -n 2 --temperature 1" in err) == (2, True)
    both = ("-n", "2", "--temperature", "1", "-o", str(tmp_path / "two"))
    status, out, err = rewardkit(*command, *both, "--json")
    assert status == 0, err
    assert json.loads(out)["tasks"]["data"]["completions"] == 2
    assert "completions of q; no problem has such an id" in err


@pytest.mark.slow
def test_a_run_that_is_replayed_or_judged_again_ends_as_before(tmp_path: Path) -> None:
    rows = [{"id": str(number), "question": "q", "answer": "#### 4"} for number in range(5)]
    data = write_rows(tmp_path / "data.jsonl", rows)
    replies: list[dict[str, object]] = [
        {"id": "0", "completion": "#### 4"},
        {"id": "1", "completion": "", "finish_reason": "length"},
        {"id": "2", "completion": "", "reasoning": "hm"},
        {"id": "3", "completion": "", "finish_reason": "error"},
    ]  # and none for the problem 4
    given = write_rows(tmp_path / "replies.jsonl", replies)
    run, replayed, again = (tmp_path / name for name in ("run", "replayed", "again"))
    options = ("--task", "gsm8k", "--data", data, "--backend", "replay", "--max-errors", 1)
    assert rewardkit("eval", *options, "--model", given, "-o", run).status == 0
    assert rewardkit("eval", *options, "--model", run, "-o", replayed).status == 0
    assert rewardkit("score", run, "--max-errors", 1, "-o", again).status == 0
    verdicts = [
        [row.verdict.as_json() for row in read_samples(folder)] for folder in (run, replayed, again)
    ]
    failures = [verdict["failure"] for verdict in verdicts[0]]
    assert failures == [None, "truncated", "no_answer", "error", "error"]
    assert "holds no completion for gsm8k/4/0" in verdicts[0][4]["message"]
    assert verdicts[1] == verdicts[0]
    assert verdicts[2] == verdicts[0]
