"""Rows as servers, harnesses and notebooks write them: nulls, chats and several samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import DataError
from rewardkit.harness.results.completion_row import CompletionRow, read_samples
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.score import ScoreResult, score
from rewardkit.harness.scoring.scoring_plan import ScoreOutput, VerifierChoice, plan_scoring
from rewardkit.harness.scoring.sources import FileFields
from rewardkit.judging import JudgingOptions
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.records import Failure
from rewardkit.registry import installed

pytestmark = pytest.mark.slow

RIGHT: dict[str, Any] = {"reference": "4", "completion": r"\boxed{4}"}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(
    folder: Path, rows: list[dict[str, Any]], fields: FileFields | None = None, **choice: Any
) -> tuple[ScoreResult, list[CompletionRow]]:
    choice = choice or {"verifier": "math"}
    file = write(folder / "f.jsonl", rows)
    output = ScoreOutput(output_dir=folder / "out")
    plan = plan_scoring([file], VerifierChoice(**choice), fields or FileFields(), output)
    return score(plan, Reporter()), list(read_samples(folder / "out"))


@pytest.mark.parametrize(
    "row",
    [
        {"reference": "4", "completion": None},
        {"reference": "4"},
        {"reference": "4", "completion": float("nan")},
        {"reference": "4", "completion": []},
        {"reference": "4", "completion": [{"role": "user", "content": r"\boxed{4}"}]},
        {"reference": "4", "completion": [None, {"role": "assistant", "content": None}]},
        {"reference": "4", "completion": None, "text": r"\boxed{4}"},
    ],
)
def test_a_row_without_a_completion_is_no_answer_and_counted(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    result, rows = scored(tmp_path, [RIGHT, row, RIGHT])
    assert [one.verdict.correct for one in rows] == [True, False, True]
    assert rows[1].verdict.failure is Failure.NO_ANSWER
    assert dict(result.gaps.counts) == {"there is no completion": 1}
    assert result.gaps.ids == {"there is no completion": ["1"]}


@pytest.mark.parametrize("missing", [{"reference": None}, {}, {"reference": []}])
def test_a_row_without_a_reference_is_unjudged_and_counted(
    tmp_path: Path, missing: dict[str, Any]
) -> None:
    result, rows = scored(tmp_path, [RIGHT, {"completion": r"\boxed{4}"} | missing, RIGHT])
    assert [one.verdict.correct for one in rows] == [True, None, True]
    columns = "reference, answer, solution, ground_truth, label, target"
    assert rows[1].verdict.message == f"there is no reference: row 2 has nothing in {columns}"
    assert dict(result.gaps.counts) == {"there is no reference": 1}


def test_a_row_that_a_task_can_not_read_is_unjudged(tmp_path: Path) -> None:
    row: dict[str, Any] = {"question": "2+2", "answer": "#### 4", "completion": "#### 4"}
    result, rows = scored(tmp_path, [row, row | {"answer": None}], task="gsm8k")
    assert [one.verdict.correct for one in rows] == [True, None]
    assert "row 2 has no column 'answer'" in rows[1].verdict.message
    assert dict(result.gaps.counts) == {"there is no reference": 1}


@pytest.mark.parametrize("missing", ["reference", "completion"])
def test_a_field_that_no_row_has_is_an_error(tmp_path: Path, missing: str) -> None:
    with pytest.raises(DataError, match="row 1 has no"):
        scored(tmp_path, [{**RIGHT, missing: None}] * 3)


def test_gaps_are_counted_again_after_an_interruption(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        RIGHT,
        {**RIGHT, "completion": None},
        {**RIGHT, "reference": None},
        RIGHT,
    ]
    whole, _ = scored(tmp_path, rows)
    samples = tmp_path / "out" / "samples.jsonl"
    content = samples.read_bytes()
    samples.write_bytes(b"".join(content.splitlines(keepends=True)[:2]))
    resumed, _ = scored(tmp_path, rows)
    assert samples.read_bytes() == content
    assert resumed.gaps == whole.gaps


SAMPLES: list[Any] = [r"\boxed{4}", r"\boxed{5}", None]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("outputs", SAMPLES),
        ("responses", [[{"role": "assistant", "content": text}] for text in SAMPLES]),
        ("choices", [{"message": {"role": "assistant", "content": text}} for text in SAMPLES]),
        ("choices", [{"index": 0, "text": text} for text in SAMPLES]),
    ],
)
def test_a_list_holds_several_completions_of_its_problem(
    tmp_path: Path, name: str, value: list[Any]
) -> None:
    rows: list[dict[str, Any]] = [
        {"reference": "4", name: value},
        {"reference": "5", name: value[:2]},
    ]
    _, stored = scored(tmp_path, rows)
    verdicts = [(one.id, one.index, one.verdict.correct) for one in stored]
    assert verdicts == [
        ("0", 0, True),
        ("0", 1, False),
        ("0", 2, False),
        ("1", 0, False),
        ("1", 1, True),
    ]


@pytest.mark.parametrize("kept", range(8))
def test_lists_of_any_length_resume_with_the_same_bytes(tmp_path: Path, kept: int) -> None:
    rows = [{"id": "a", "reference": "4", "outputs": SAMPLES[:count]} for count in (3, 1, 2, 0, 1)]
    scored(tmp_path, rows)
    samples = tmp_path / "out" / "samples.jsonl"
    content = samples.read_bytes()
    samples.write_bytes(b"".join(content.splitlines(keepends=True)[:kept]))
    scored(tmp_path, rows)
    assert samples.read_bytes() == content


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"reply": r"\boxed{4}", "finish_reason": "length"}, "reply"),
        ({"reply": {"text": r"\boxed{4}", "stop_reason": "max_tokens"}}, "reply.text"),
        (
            {"choices": [{"message": {"content": "hm"}, "finish_reason": "length"}]},
            "choices.0.message.content",
        ),
        ({"choices": [{"message": {"content": "hm"}, "finish_reason": "length"}]}, "choices"),
        ({"raw": {"outputs": ["a", "b"], "finish_reason": ["length", "length"]}}, "raw.outputs"),
        (
            {"choices": [{"text": "hm"}, {"message": {"content": "a"}, "finish_reason": "length"}]},
            "choices.-1.message.content",
        ),
    ],
)
def test_the_finish_reason_nearest_to_the_text_counts(
    tmp_path: Path, row: dict[str, Any], field: str
) -> None:
    _, rows = scored(tmp_path, [{"reference": "4", **row}], FileFields((field,)))
    assert {one.finish_reason for one in rows} == {"length"}


def test_token_counts_are_read_from_the_usage_beside_the_choices(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    body = {"choices": [{"message": {"content": "4"}}], "usage": usage}
    row = {"reference": "4", "response": {"body": body}}
    _, rows = scored(tmp_path, [row], FileFields(("response.body.choices",)))
    assert (rows[0].prompt_tokens, rows[0].completion_tokens) == (7, 3)


def test_labels_may_be_a_list_beside_the_completions_or_missing(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"reference": "4", "outputs": SAMPLES[:2], "right": [True, True]},
        {"reference": "4", "outputs": SAMPLES[:1], "right": None},
    ]
    result, _ = scored(tmp_path, rows, FileFields(("outputs",), None, ("right",)))
    assert (result.agreement.compared, result.agreement.differing) == (2, 1)
    with pytest.raises(DataError, match="not 2 of true and false"):
        scored(
            tmp_path / "..",
            [rows[0] | {"right": [True]}],
            FileFields(("outputs",), None, ("right",)),
        )


def test_a_reward_and_a_scored_file_agree_on_what_is_missing(tmp_path: Path) -> None:
    null: list[dict[str, Any]] = [{**RIGHT, "completion": None}, {**RIGHT, "reference": None}]
    _, rows = scored(tmp_path, [RIGHT, *null])
    samples = [SampleReader()(row) for row in null]
    said = [row["completion"] for row in null]
    rewarded = judge_samples(installed().verifier("math"), said, samples, JudgingOptions())
    for row, verdict in zip(rows[1:], rewarded, strict=True):
        assert (row.verdict.correct, row.verdict.failure) == (verdict.correct, verdict.failure)
    assert rows[1].verdict == rewarded[0]
