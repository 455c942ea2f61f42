"""Which runs a report shows: folders, folders of folders, names, steps, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewardkit.errors import RewardkitError, RunMismatch, UsageError
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.report.runs import ReportRun, read_runs
from rewardkit.harness.results.run_folder import find_runs, short_names
from tests.support.runs import row, write_run


def test_a_sweeps_folder_stands_for_its_runs_in_natural_order(tmp_path: Path) -> None:
    for name in ("checkpoint-100", "checkpoint-20"):
        write_run(tmp_path / "sweep" / name, [row("1")], f"out/{name}")
    write_run(tmp_path / "training" / "evaluation" / "step-000010", [row("1")])
    again = tmp_path / "training" / ".." / "sweep" / "checkpoint-20"
    found = find_runs([tmp_path / "sweep", tmp_path / "training", tmp_path / "sweep", again])
    assert [one.name for one in found] == ["checkpoint-20", "checkpoint-100", "step-000010"]
    assert [run.step for run in read_runs(found)] == [20, 100, 10]


def test_checkpoints_of_one_training_asked_alike_belong_together() -> None:
    def run(model: str, prompt: str) -> ReportRun:
        record = {"settings": {"model": model}, "tasks": {"t": {"prompt": prompt}}}
        return ReportRun("r", {}, [], record)

    here = run("out/checkpoint-1", "cot").training
    assert run("out/checkpoint-2", "cot").training == here
    assert run("out/checkpoint-2", "direct").training != here
    assert run("other/checkpoint-2", "cot").training != here


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/r/a", "/r/b"], ["a", "b"]),
        (["/r/a/x", "/r/b/x"], ["a/x", "b/x"]),
        (["/r/a"], ["a"]),
        (["/r/a/x", "/r/y"], ["x", "y"]),
    ],
)
def test_a_run_goes_by_the_shortest_name_that_tells_it(paths: list[str], names: list[str]) -> None:
    assert short_names([Path(path) for path in paths]) == names


def test_rows_stand_in_natural_order_of_their_ids(tmp_path: Path) -> None:
    write_run(tmp_path / "r", [row("10"), row("9", index=1), row("9")])
    (run,) = read_runs([tmp_path / "r"])
    assert [one.key for one in run.rows] == ["gsm8k/9/0", "gsm8k/9/1", "gsm8k/10/0"]


EARLIER: dict[str, object] = dict.fromkeys(
    ("problems", "completions", "judged", "unjudged", "truncated"), 9
) | {key: {} for key in ("metrics", "groups", "failures")}


@pytest.mark.parametrize("summary", [None, {"tasks": {"gsm8k": EARLIER}}, {"tasks": {}}])
def test_where_figures_are_missing_they_are_those_of_the_rows(
    tmp_path: Path, summary: dict[str, object] | None
) -> None:
    folder = write_run(tmp_path / "r", [row("1"), row("2", correct=False)])
    (folder / "summary.json").unlink()
    if summary is not None:
        (folder / "summary.json").write_text(json.dumps(summary))
    (run,) = read_runs([folder])
    assert run.tasks["gsm8k"]["metrics"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize("cut", ['{"key": "gsm8k/3/0", "ta', '{"key": "gsm8k/\u00f6'])
def test_a_last_line_that_a_kill_cut_short_is_left_out(tmp_path: Path, cut: str) -> None:
    folder = write_run(tmp_path / "r", [row("1"), row("2", correct=False)])
    (folder / "summary.json").unlink()
    with (folder / "samples.jsonl").open("ab") as file:
        file.write(cut.encode()[: len(cut)])
    (run,) = read_runs([folder])
    assert [one.id for one in run.rows] == ["1", "2"]


@pytest.mark.parametrize(
    ("files", "error", "says"),
    [
        ({}, UsageError, "holds no run"),
        ({"samples.jsonl": '{"doc_id": 1}\n'}, RunMismatch, "missing required field `key`"),
        ({"samples.jsonl": "{\n"}, RunMismatch, "isn't JSON"),
        ({"samples.jsonl": "", "summary.json": "[]"}, RunMismatch, "isn't a summary"),
        ({"samples.jsonl": "", "summary.json": "{"}, RunMismatch, "isn't a summary"),
    ],
)
def test_a_folder_that_is_no_run_is_refused_and_named(
    tmp_path: Path, files: dict[str, str], error: type[RewardkitError], says: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=says) as refused:
        render_runs([tmp_path], tmp_path / "report.html")
    assert str(tmp_path) in str(refused.value)


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [row("1")])
    render_runs([folder], folder / "report.html")
    assert (folder / "report.html").read_text().endswith("</html>")
    assert [one.name for one in folder.iterdir() if "part" in one.name] == []
