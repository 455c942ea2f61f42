"""A run over rows with tools: from the request to the report, and again from its own folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rewardkit import Sample, Verdict, evaluate, load_run
from rewardkit.errors import UsageError
from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.report.samples import pack
from rewardkit.harness.results.completion_row import CompletionRow, read_samples
from rewardkit.harness.results.data_files import JsonLines, open_source
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.verified_completions import _reply
from rewardkit.harness.tasks.defined.definition import definition_of
from rewardkit.harness.tasks.defined.task import DefinedTask
from rewardkit.protocols import Bounded, Verifier
from tests.harness.engines.openai_server import Handler, running_server

pytestmark = pytest.mark.slow

FUNCTION = {"name": "math.factorial", "description": "n!", "parameters": {"type": "dict"}}
CALL = {"type": "function", "function": {"name": "math_factorial", "arguments": '{"n": 5}'}}


@dataclass(frozen=True)
class Called(Bounded):
    """Right if the function that the reference names is called."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        calls: Any = sample.columns.get("tool_calls", [])
        names = [call["function"]["name"] for call in calls]
        return Verdict.judged(sample.reference in names, answer=" ".join(names))


class Calls(DefinedTask):
    def verifier(self, reading: str | None = None) -> Verifier:
        return Called()

    def flexible(self) -> None:
        return None


def task(data: Path) -> Calls:
    contents = {
        "data": {"file": str(data)},
        "prompt": "question",
        "verifier": {"name": "exact"},
    }
    return Calls(definition_of(contents, "calls.toml", name="calls"))


def call(handler: Handler, reply: dict[str, Any]) -> None:
    reply["choices"][0]["message"] |= {"content": None, "tool_calls": [CALL]}
    handler.answer(200, reply)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calls")
    data = path / "data.jsonl"
    # the data's own calls are the reference's, not the model's
    row = {"function": [FUNCTION], "tool_calls": [CALL], "answer": "math_factorial"}
    questions = [[[{"role": "user", "content": text}]] for text in ("5!?", "hello?")]
    lines = [json.dumps({**row, "question": question}) for question in questions]
    data.write_text("\n".join(lines))
    with running_server() as server:
        server.behaviour = {"5!?": call}
        evaluate(
            task(data),
            "tiny",
            backend="openai",
            base_url=server.url,
            output_dir=str(path / "run"),
        )
        (tools,) = {json.dumps(received["tools"]) for received in server.received}
    assert json.loads(tools)[0]["function"]["name"] == "math_factorial"
    return path / "run"


def rows(folder: Path) -> list[CompletionRow]:
    """The rows in the order of the data; replies come in any order."""
    return sorted(read_samples(folder), key=lambda row: row.id)


def test_calls_are_judged_and_recorded(folder: Path) -> None:
    called, spoken = rows(folder)
    assert (called.verdict.correct, called.tool_calls) == (True, (CALL,))
    assert called.prompt is not None
    assert "math_factorial" in called.prompt
    assert (spoken.verdict.correct, spoken.tool_calls) == (False, ())


def test_scoring_the_run_again_and_replaying_it_give_the_same_verdicts(folder: Path) -> None:
    source = JsonLines(folder / "samples.jsonl")
    job = RunJob(source=source, verifiers={"calls": TaskVerifiers(Called(), None)})
    lines = [json.loads(line) for chunk in source.chunks(0) for line in job(chunk).lines]
    again = {row["id"]: row["verdict"]["correct"] for row in lines}
    assert again == {"0": True, "1": False}
    data = folder.parent / "data.jsonl"
    evaluate(task(data), str(folder), backend="replay", output_dir=str(folder.parent / "replayed"))
    replayed = rows(folder.parent / "replayed")
    assert [row.verdict.correct for row in replayed] == [True, False]


def test_the_report_shows_tools_and_calls(folder: Path) -> None:
    packed = pack([ReportRun("run", {"calls": {}}, rows(folder), {})])
    (called, spoken) = packed.blocks[0]
    assert called[-2] == ['math_factorial({"n": 5})']
    assert "math_factorial" in called[0]
    assert spoken[-2] == []


@pytest.mark.parametrize(
    ("field", "completion"),
    [
        ("messages", [{"role": "assistant", "content": None, "tool_calls": [CALL]}]),
        ("output", {"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}),
        ("choices", [{"message": {"content": "I call.", "tool_calls": [CALL]}}]),
    ],
)
def test_calls_in_a_file_s_messages_are_judged(
    tmp_path: Path, field: str, completion: object
) -> None:
    file = tmp_path / "replies.jsonl"
    row = {field: completion, "reference": "math_factorial"}
    file.write_text(json.dumps(row) + "\n")
    source = open_source(file)
    job = FileJob(source=source, name="calls", verifiers=TaskVerifiers(Called(), None)).checked()
    (line,) = [line for chunk in source.chunks(0) for line in job(chunk).lines]
    assert b'"correct": true' in line


def test_a_reply_with_separate_calls_is_no_text_to_train_on(folder: Path) -> None:
    called, _ = rows(folder)
    with pytest.raises(UsageError, match="calls/0/0 has tool calls that the server separated"):
        _reply(called, Sample(""), "keep", same_form=True)


def test_calls_are_a_column_of_the_frame(folder: Path) -> None:
    frame = load_run(folder).sort_values("id")
    calls = list(frame["tool_calls"].fillna("null"))
    assert list(map(json.loads, calls)) == [[CALL], None]
