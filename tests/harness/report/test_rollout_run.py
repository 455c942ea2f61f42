"""A training's completions in a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewardkit.errors import DataError
from rewardkit.harness.report import samples
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.report.runs import find_shown, read_runs
from rewardkit.harness.report.samples import pack
from tests.harness.results.rollouts.made import rollout, two_steps, write_training
from tests.support.runs import row, write_run

VERSION_0_2 = Path(__file__).parents[2] / "fixtures" / "version_0_2_0"


def test_a_training_is_a_run_with_steps_groups_and_signs(tmp_path: Path) -> None:
    (run,) = read_runs(find_shown([write_training(tmp_path / "learnt", two_steps())]))
    assert (run.name, run.model, list(run.tasks)) == ("completions", "learnt", ["math, training"])
    table = pack([run]).table
    columns = {
        name: [values[place] for place in places] for name, values, places in table["columns"]
    }
    assert columns == {
        "answer": ["7"] * 8,
        "step": ["1"] * 4 + ["2"] * 4,
        "group": ["0", "0", "1", "1"] * 2,
        "advantage": [
            *("positive", "negative", "zero", "zero"),
            *("negative", "positive", "positive", "negative"),
        ],
    }
    assert table["advantage"][0] == pytest.approx(0.7)
    assert [(name, values[:3]) for name, values in table["rewards"]] == [
        ("accuracy", [1.0, 0.0, 0.1])
    ]
    assert len({one.key for one in run.rows}) == len(run.rows) == 8
    assert {one.reference for one in run.rows} == {"7"}
    assert run.tasks["math, training"]["completions"] == 8


def test_the_reference_may_be_in_any_column_that_rewards_read(tmp_path: Path) -> None:
    batch = [rollout(1, index, 1.0, 0.0, columns={"label": "9"}) for index in range(2)]
    (run,) = read_runs(find_shown([write_training(tmp_path, [batch])]))
    assert {one.reference for one in run.rows} == {"9"}


def test_its_plots_are_over_the_steps(tmp_path: Path) -> None:
    (run,) = read_runs(find_shown([write_training(tmp_path, two_steps())]))
    rewards, silent = run.tasks["math, training"]["figures"]
    assert [list(point) for point in rewards["series"]["accuracy"]] == [
        [1.0, pytest.approx(0.3)],
        [2.0, pytest.approx(0.5)],
    ]
    assert [point[1] for point in silent["series"]["completions"]] == [0.5, 0.0]


def test_completions_of_version_0_2_are_shown() -> None:
    (run,) = read_runs([find_shown([VERSION_0_2 / "trained"])[-1]])
    assert (run.name, list(run.tasks), len(run.rows)) == ("rollouts", ["motion, training"], 16)
    rollouts = run.rollouts.values()
    assert [row.step for row in rollouts] == [1] * 8 + [2] * 8
    assert [int(row.group) for row in rollouts] == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4
    assert {tuple(row.verdict.parts) for row in run.rows} == {("accuracy", "format")}


@pytest.mark.parametrize("change", [{"math/verdict": "perhaps"}, {"math/columns": "{"}])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, change: dict[str, str]) -> None:
    folder = write_training(tmp_path, [[rollout(1, 0, 1.0, 0.7) | change]])
    with pytest.raises(DataError, match=r"completions_00001\.parquet can't be read as completions"):
        read_runs(find_shown([folder]))


def test_what_a_step_lacks_is_left_out(tmp_path: Path) -> None:
    """An unjudged reward, a conversation, a column of a function of the user's own."""
    turns = [{"role": "user", "content": "How much?"}]
    reply = [{"role": "assistant", "content": "It is 7."}]
    changes = {"prompt": turns, "completion": reply, "other": float("nan"), "mine/note": "x"}
    folder = write_training(tmp_path, [[rollout(1, 0, 1.0, 0.7, **changes)]])
    (run,) = read_runs(find_shown([folder]))
    assert [(row.prompt, row.completion) for row in run.rows] == [("How much?", "It is 7.")]
    assert next(iter(run.rollouts.values())).rewards == {"accuracy": 1.0, "other": None}


def test_a_conversation_keeps_its_system_message_and_its_calls(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How much?"}]
    reply = [
        {"role": "assistant", "content": "<call>"},
        {"role": "tool", "content": "7"},
        {"role": "assistant", "content": "It is 7."},
    ]
    step = [rollout(1, 0, 1.0, 0.7, prompt=turns, completion=reply)]
    (run,) = read_runs(find_shown([write_training(tmp_path, [step])]))
    (shown,) = run.rows
    assert shown.completion == "It is 7."
    contents = [turn["content"] for turn in json.loads(shown.prompt or "")]
    assert contents == ["Be brief.", "How much?", "<call>", "7"]


def test_evaluations_of_the_training_are_shown_before_it(tmp_path: Path) -> None:
    write_run(tmp_path / "evaluation" / "step-000010", [row("1")])
    write_training(tmp_path, two_steps())
    found = find_shown([tmp_path, tmp_path / "completions"])
    assert [one.name for one in found] == ["step-000010", "completions"]
    page = tmp_path / "report.html"
    render_runs([tmp_path], page)
    assert "math, training" in page.read_text()


def test_more_than_fits_is_thinned_by_groups_over_all_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [[rollout(step, 0, 1.0, 0.7), rollout(step, 1, 0.0, -0.7)] for step in range(1, 41)]
    (run,) = read_runs(find_shown([write_training(tmp_path, batches)]))
    monkeypatch.setattr(samples, "MOST_SAMPLES", 40)
    packed = pack([run])
    (values, places) = next(own for name, *own in packed.table["columns"] if name == "step")
    steps = [int(values[place]) for place in places]
    assert 0 < len(steps) <= 40
    assert max(steps) > 30
    assert all(steps.count(step) == 2 for step in steps)
    assert packed.left_out == 80 - len(steps)


def test_without_verdicts_completions_are_unjudged(tmp_path: Path) -> None:
    rows = [rollout(1, index, 1.0, 0.0, label=None) for index in range(2)]
    (run,) = read_runs(find_shown([write_training(tmp_path, [rows])]))
    assert list(run.tasks) == ["completions, training"]
    assert {one.verdict.correct for one in run.rows} == {None}
