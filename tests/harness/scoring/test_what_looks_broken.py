"""What a log holds besides replies: chats as text, failed requests, several models, bad lines."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import rewardkit

pytestmark = pytest.mark.slow

Row = dict[str, Any]


def lines(path: Path, rows: list[Row]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def accuracy(out: str, name: str = "math") -> float:
    value: float = json.loads(out)["tasks"][name]["metrics"]["accuracy"]["value"]
    return value


CHAT = [
    {"role": "user", "content": 'It\'s "2 + 2"?\n'},
    {"role": "assistant", "content": "So it's \\boxed{4}"},
]
WRITTEN: dict[str, tuple[str, str, bool]] = {
    "repr of a list": ("messages", str(CHAT), True),
    "repr of one message": ("response", str(CHAT[-1]), True),
    "repr in another column": ("completion", str(CHAT), True),
    "repr with the content first": (
        *("messages", str([{"content": r"\boxed{4}", "role": "assistant"}])),
        True,
    ),
    "JSON": ("messages", json.dumps(CHAT), True),
    "JSON over lines": ("messages", json.dumps(CHAT, indent=1), True),
    "repr of a numpy array": ("messages", str(CHAT).replace("}, {", "}\n {"), False),
    "repr of an array": ("messages", f"array({CHAT}, dtype=object)", False),
    "cut off": ("messages", str(CHAT)[:-9], False),
    "not a literal": ("messages", str(CHAT).replace("'user'", "Role.USER"), False),
    "a text": ("completion", r"{'a': 1} is a dict, and \boxed{4}", True),
}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_chat_as_text_is_read_or_refused(kind: str, suffix: str, tmp_path: Path) -> None:
    name, text, is_read = WRITTEN[kind]
    file = tmp_path / f"log.{suffix}"
    if suffix == "csv":
        with file.open("w", newline="") as out_file:
            csv.writer(out_file).writerows([[name, "answer"], [text, "4"]])
    else:
        lines(file, [{name: text, "answer": "4"}])
    status, out, err = rewardkit("score", str(file), "--verifier", "math", "--json")
    if is_read:
        assert (status, accuracy(out)) == (0, 1.0), err
    else:
        assert status == 2
        assert "as Python shows them" in err
        assert name in err


BODY = {"choices": [{"message": {"role": "assistant", "content": r"\boxed{4}"}}]}
ERROR = {"code": "batch_expired", "message": "it expired"}
GEMINI = {"candidates": [{"content": {"parts": [{"text": r"\boxed{4}"}]}, "finishReason": "STOP"}]}
THOUGHT = {"parts": [{"text": r"\boxed{9}", "thought": True}, {"text": r"\boxed{4}"}]}
CLAUDE = {"type": "message", "content": [{"type": "text", "text": r"\boxed{4}"}]}
# for each kind of log a row that succeeded and rows that failed, with what their messages say
BATCHES: dict[str, tuple[Row, list[tuple[Row, str]]]] = {
    "OpenAI": (
        {"response": {"status_code": 200, "body": BODY}, "error": None},
        [
            ({"response": None, "error": ERROR}, "batch_expired: it expired"),
            (
                {"response": {"status_code": 500, "body": {"error": ERROR}}, "error": None},
                "status 500: batch_expired",
            ),
            ({"response": {"status_code": 429, "body": None}, "error": None}, "status 429"),
        ],
    ),
    "vLLM": (
        {"id": "v", "response": {"status_code": 200, "body": BODY}, "error": None},
        [
            (
                {
                    "id": "v",
                    "response": {"status_code": 400, "body": {"message": "too long"}},
                    "error": {"message": "too long"},
                },
                "status 400: too long",
            ),
            ({"id": "v", "response": {"status_code": 200}, "error": "timeout"}, "timeout"),
        ],
    ),
    "Anthropic": (
        {"result": {"type": "succeeded", "message": CLAUDE}},
        [
            (
                {"result": {"type": "errored", "error": {"error": {"message": "overloaded"}}}},
                "errored: overloaded",
            ),
            ({"result": {"type": "expired"}}, "expired"),
            ({"result": {"type": "canceled"}}, "canceled"),
        ],
    ),
    "Gemini": (
        {"key": "k", "response": GEMINI},
        [({"key": "k", "error": {"code": 503, "message": "unavailable"}}, "503: unavailable")],
    ),
    "Vertex": (
        {
            "request": {},
            "status": "",
            "response": {"candidates": [{"content": THOUGHT, "finishReason": "STOP"}]},
        },
        [
            (
                {"request": {}, "status": "Bad Request: 400", "response": {}},
                "Bad Request: 400",
            )
        ],
    ),
    "one's own": (
        {"completion": r"\boxed{4}", "error": None},
        [({"completion": None, "error": "ReadTimeout"}, "ReadTimeout")],
    ),
}


@pytest.mark.parametrize("kind", BATCHES)
def test_a_failed_request_is_unjudged_and_has_no_finish_reason(kind: str, tmp_path: Path) -> None:
    right, failed = BATCHES[kind]
    rows = [{**row, "answer": "4"} for row in (right, *(row for row, _ in failed))]
    if kind in ("OpenAI", "vLLM", "Anthropic"):
        rows = [{**row, "custom_id": str(number)} for number, row in enumerate(rows)]
    file = lines(tmp_path / "log.jsonl", rows)
    status, out, err = rewardkit(
        *("score", file, "--verifier", "math", "--max-errors", "1", "--json"),
        *("-o", str(tmp_path / "run")),
    )
    assert status == 0, err
    task = json.loads(out)["tasks"]["math"]
    assert (task["judged"], task["unjudged"]) == (1, len(failed))
    assert accuracy(out) == 1.0
    written = (tmp_path / "run/samples.jsonl").read_text().splitlines()
    stored = list(map(json.loads, written))
    for row, (_, message) in zip(stored[1:], failed, strict=True):
        assert (row["finish_reason"], row["verdict"]["correct"]) == ("error", None)
        assert message in row["verdict"]["message"]


def test_an_empty_reply_of_a_request_that_succeeded_is_still_wrong(tmp_path: Path) -> None:
    rows = [{"completion": text, "error": None, "answer": "4"} for text in (r"\boxed{4}", None)]
    status, out, err = rewardkit(
        "score", lines(tmp_path / "f.jsonl", rows), "--verifier", "math", "--json"
    )
    assert (status, accuracy(out)) == (0, 0.5)
    assert "1 completion is missing and wrong (ids 1)" in err


UNREAD: dict[str, tuple[str, Row, list[str]]] = {
    "no box": ("math", {"response": "The result is 4."}, ["The result is 4.", "reading=flexible"]),
    "an object": (
        *("math", {"response": '{"text": "4"}'}),
        ['{"text": "4"}', "--completion-field"],
    ),
    "the wrong field": (
        *("math", {"output": "stop", "reply": r"So \boxed{4}"}),
        ["stop", "--completion-field reply"],
    ),
    "another verifier's form": (
        *("math", {"response": "so\n#### 4"}),
        ["so #### 4", "--verifier gsm8k"],
    ),
    "a box for GSM8K's form": ("gsm8k", {"response": r"\boxed{4}"}, ["--verifier math"]),
    "no option": ("choice", {"response": "It's Rome.", "answer": "A"}, ["It's Rome."]),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_a_format_rate_of_zero_shows_a_reply_and_what_to_try(kind: str, tmp_path: Path) -> None:
    verifier, row, shown = UNREAD[kind]
    file = lines(tmp_path / "f.jsonl", [{"answer": "4", **row}] * 2)
    folder = tmp_path / "run"
    status, out, _ = rewardkit("score", file, "--verifier", verifier, "-o", str(folder))
    assert status == 0
    told = " ".join(out.split())
    assert "format rate 0.0%: no answer is read from 2 completions" in told
    assert all(text in told for text in shown)
    remark = json.loads((folder / "summary.json").read_text())["tasks"][verifier]["broken"]
    rewardkit("report", str(folder), "-o", str(tmp_path / "page.html"))
    assert json.dumps(remark)[1:40] in (tmp_path / "page.html").read_text()


def test_equal_rewards_below_one_show_what_was_read(tmp_path: Path) -> None:
    rows = [{"response": rf"\boxed{{{n}}}", "answer": f"{n + 100}"} for n in range(10)]
    status, out, _ = rewardkit("score", lines(tmp_path / "f.jsonl", rows), "--verifier", "math")
    printed = " ".join(out.split())
    assert status == 0
    assert "all 10 rewards are 0" in printed
    assert "its reference is 100" in printed


def test_good_figures_have_no_remark(tmp_path: Path) -> None:
    rows = [{"response": rf"\boxed{{{one % 3}}}", "answer": "1"} for one in range(12)]
    _, out, err = rewardkit("score", lines(tmp_path / "f.jsonl", rows), "--verifier", "math")
    assert "!" not in out + err


@pytest.mark.parametrize(
    "names", [("model", "model"), ("model_name", "model"), ("model_id", "model_id")]
)
def test_several_models_in_one_figure_are_said(names: tuple[str, str], tmp_path: Path) -> None:
    files = [
        lines(tmp_path / f"{model}.jsonl", [{name: model, "response": "", "answer": "4"}] * 2)
        for name, model in zip(names, ("small", "large"), strict=True)
    ]
    _, _, err = rewardkit("score", *files, "--verifier", "math")
    assert "2 models (small, large)" in err
    assert "--each" in err
    _, _, err = rewardkit("score", files[0], files[0], "--verifier", "math")
    assert "models" not in err


def test_damaged_lines_are_left_out_up_to_a_limit(tmp_path: Path) -> None:
    good = json.dumps({"response": r"\boxed{4}", "answer": "4"})
    file = tmp_path / "f.jsonl"
    file.write_text("\n".join([good, good[:20], "", good, "[1]", '{"response": NaN', good]) + "\n")
    command = ("score", str(file), "--verifier", "math", "--json")
    status, _, err = rewardkit(*command)
    assert (status, "line 2 isn't JSON" in err) == (2, True)
    status, _, err = rewardkit(*command, "--skip-bad", "2")
    assert status == 2
    assert "more than 2 lines are damaged" in err
    folder = str(tmp_path / "run")
    for _ in range(2):  # the second call finds all rows done
        status, out, err = rewardkit(*command, "--skip-bad", "3", "-o", folder)
        assert (status, accuracy(out)) == (0, 1.0)
        assert "left out 3 damaged lines (2, 5, 6)" in err
        assert json.loads(out)["tasks"]["math"]["completions"] == 3


def test_labels_find_the_completion_and_leave_unjudged_rows_out(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"response": r"\boxed{4}", "answer": "4", "ok": True},
        {"response": r"\boxed{5}", "answer": "4", "ok": True},
        {"response": r"\boxed{4}", "answer": None, "ok": True},
    ]
    status, out, err = rewardkit(
        *("score", lines(tmp_path / "f.jsonl", rows), "--verifier", "math", "--label-field", "ok"),
        *("--max-errors", "1"),
    )
    assert status == 0, err
    assert "1 of 2 verdicts agree with the labels; 1 unjudged left out" in out
    assert re.search(r"read 5, reference 4$", out, re.MULTILINE)
