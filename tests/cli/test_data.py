"""`rewardkit data`, as users type it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rewardkit import evaluate, load_task
from rewardkit.cli.main import app
from rewardkit.errors import RewardkitError
from rewardkit.harness.results.data_files import read_rows

GAME = ["game24", "--set", "highest=9", "--split", "train"]


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app(), ["data", *arguments], catch_exceptions=True)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_rows_go_to_standard_output() -> None:
    rows = [json.loads(line) for line in run("motion", "--count", "4", "--seed", "3").splitlines()]
    assert [row["id"] for row in rows] == [
        f"test_{group}-000{n}" for group in ("in", "out") for n in (0, 1)
    ]
    assert len(rows[0]["points"]) == len(rows[0]["targets"]) == 5


def test_the_samples_of_a_run_are_its_problems_each_once(tmp_path: Path) -> None:
    file, replies = tmp_path / "points.jsonl", tmp_path / "replies.jsonl"
    run("motion", "--count", "2", "-o", str(file))
    ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    replies.write_text(
        "".join(json.dumps({"id": name, "completion": "?"}) + "\n" for name in ids * 2)
    )
    replayed: dict[str, Any] = {"backend": "replay", "data": str(file)}
    out = str(tmp_path / "run")
    evaluate("motion", str(replies), output_dir=out, num_samples=2, temperature=1.0, **replayed)
    samples = tmp_path / "run" / "samples.jsonl"
    assert len(samples.read_text().splitlines()) == 4
    assert run("motion", "--data", str(samples)) == file.read_text()


@pytest.mark.parametrize("suffix", ["jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_an_evaluation_reads_the_file(tmp_path: Path, suffix: str) -> None:
    file, replies = tmp_path / f"plane.{suffix}", tmp_path / "replies.jsonl"
    plane = ["--set", "kind=periodic", "--set", "dimensions=2"]
    run("motion", *plane, "--count", "6", "-o", str(file))
    task = load_task("motion")
    samples = task.load(data=str(file), split=None, seed=0)
    replies.write_text(
        "".join(
            json.dumps({"id": sample.id, "completion": task.perfect(sample)}) + "\n"
            for sample in samples
        )
    )
    replayed: dict[str, Any] = {"backend": "replay", "data": str(file)}
    out = str(tmp_path / "run")
    summary = evaluate("motion", str(replies), output_dir=out, **replayed).tasks["motion"]
    assert (summary.problems, summary.metrics["accuracy"].value) == (6, 1.0)
    groups = {group: figure.value for group, figure in summary.groups["distribution"].items()}
    assert groups == {"in": 1.0, "out": 1.0}


def test_the_largest_number_is_a_parameter() -> None:
    rows = [json.loads(line) for line in run(*GAME).splitlines()]
    assert len(rows) == 204
    assert max(number for row in rows for number in row["numbers"]) == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["motoin"], "did you mean 'motion'"),
        (["motion", "--split", "tests"], "did you mean 'test'"),
        (["motion", "--set", "speeds"], "--set 'speeds' isn't KEY=VALUE"),
        (["motion", "--set", "speds=[1,2]"], "did you mean 'speeds'"),
        (["motion", "--set", "kind=spiral"], "accelerated, periodic, uniform"),
        (["game24", "--set", "highest=14"], "1 to 13"),
        (["game24", "--set", "highest=5"], "leave some to train on"),
        (["motion", "-o", "rows.csv"], r"\.jsonl or \.parquet"),
        (["motion", "--long", "0.5"], "--long needs --solutions"),
        (["motion", "--prompt", "cot"], "--prompt needs --solutions"),
        (["motion", "--solutions", "--prompt", "xml"], "prompt 'xml' doesn't fit task 'motion'"),
        (["motion", "--solutions", "--long", "0.5"], "no long solutions"),
    ],
)
def test_a_bad_argument_says_what_was_meant(arguments: list[str], said: str) -> None:
    with pytest.raises(RewardkitError, match=said):
        run(*arguments)


def test_a_file_there_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.touch()
    with pytest.raises(RewardkitError, match="--overwrite"):
        run("no such task", "-o", str(file))
    run("motion", "-o", str(file), "--overwrite")
    assert len(file.read_text().splitlines()) == 40


def test_solutions_are_conversations_and_text(tmp_path: Path) -> None:
    arguments = ["--count", "4", "--solutions", "--long", "0.5", "--prompt", "game24_short"]
    rows = [json.loads(line) for line in run("game24", *arguments).splitlines()]
    assert [row["long"] for row in rows].count(True) == 2
    for row in rows:
        (question,), (reply,) = row["prompt"], row["completion"]
        assert (question["role"], reply["role"]) == ("user", "assistant")
        assert question["content"] == " ".join(map(str, row["numbers"])) + " =>"
        assert row["text"] == f"{question['content']}\n{reply['content']}"
        assert row["long"] == ("Back to" in reply["content"])


def test_the_solutions_of_a_file_are_its_own(tmp_path: Path) -> None:
    file, out = tmp_path / "gsm8k.jsonl", tmp_path / "out.parquet"
    file.write_text(json.dumps({"question": "2 + 2?", "answer": "It is <<2+2=4>>4.\n#### 4"}))
    run("gsm8k", "--data", str(file), "--solutions", "-o", str(out))
    (row,) = read_rows(out)
    assert row["completion"] == [{"role": "assistant", "content": "It is 4.\n#### 4"}]
    (sample,) = load_task("gsm8k").load(data=str(out), split=None, seed=0)
    assert (sample.question, sample.reference) == ("2 + 2?", "4")
    with pytest.raises(RewardkitError, match="a column 'prompt'"):
        run("gsm8k", "--data", str(out), "--solutions")
