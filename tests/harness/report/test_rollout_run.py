"""A training's completions in a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.report import samples
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.report.runs import find_shown, read_runs
from rewardkit.harness.report.samples import pack
from tests.harness.store.rollouts.made import rollout, two_steps, write_training
from tests.support.runs import row, write_run


def test_a_training_is_a_run_with_steps_groups_and_signs(tmp_path: Path) -> None:
    (run,) = read_runs(find_shown([write_training(tmp_path / "learnt", two_steps())]))
    assert (run.name, run.model, list(run.tasks)) == ("rollouts", "learnt", ["math, training"])
    table = pack([run]).table
    assert [entry[:3] for entry in table["rollouts"]] == [
        [1, "0", 1],
        [1, "0", -1],
        [1, "1", 0],
        [1, "1", 0],
        [2, "0", -1],
        [2, "0", 1],
        [2, "1.0", 1],
        [2, "1.0", -1],
    ]
    assert table["rollouts"][0][3:] == [pytest.approx(0.7), 1.0, [1.0]]
    assert len({one.key for one in run.rows}) == len(run.rows) == 8
    assert {one.reference for one in run.rows} == {"7"}
    assert run.tasks["math, training"]["completions"] == 8


def test_the_reference_may_be_in_any_column_that_rewards_read(tmp_path: Path) -> None:
    batch = [rollout(1, index, 1.0, 0.0, columns={"label": "9"}) for index in range(2)]
    (run,) = read_runs(find_shown([write_training(tmp_path, [batch])]))
    assert {one.reference for one in run.rows} == {"9"}


def test_its_plots_are_of_all_completions_over_the_steps(tmp_path: Path) -> None:
    folder = write_training(tmp_path, two_steps(), share=0.4)
    (run,) = read_runs(find_shown([folder]))
    assert 0 < len(run.rows) < 8
    rewards, silent, lengths = run.tasks["math, training"]["figures"]
    assert [list(point) for point in rewards["series"]["weighted sum"]] == [
        [1.0, pytest.approx(0.3)],
        [2.0, pytest.approx(0.5)],
    ]
    assert [point[1] for point in silent["series"]["completions"]] == [0.5, 0.0, 0.0]
    assert [point[1] for point in lengths["series"]["completions"]] == [11.5, 20.5]


def test_evaluations_of_the_training_are_shown_before_it(tmp_path: Path) -> None:
    write_run(tmp_path / "evaluation" / "step-000010", [row("1")])
    write_training(tmp_path, two_steps())
    found = find_shown([tmp_path, tmp_path / "rollouts"])
    assert [one.name for one in found] == ["step-000010", "rollouts"]
    page = tmp_path / "report.html"
    render_runs([tmp_path], page)
    assert "math, training" in page.read_text()


def test_a_folder_with_neither_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        find_shown([tmp_path])


def test_more_than_fits_is_thinned_by_groups_over_all_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [[rollout(step, 0, 1.0, 0.7), rollout(step, 1, 0.0, -0.7)] for step in range(1, 41)]
    (run,) = read_runs(find_shown([write_training(tmp_path, batches)]))
    monkeypatch.setattr(samples, "MOST_SAMPLES", 40)
    packed = pack([run])
    steps = [step for step, *_ in packed.table["rollouts"]]
    assert 0 < len(steps) <= 40
    assert max(steps) > 30
    assert all(steps.count(step) == 2 for step in steps)
    assert packed.left_out == 80 - len(steps)


def test_without_verdicts_completions_are_unjudged(tmp_path: Path) -> None:
    rows = [rollout(1, index, 1.0, 0.0, verdicts={}) for index in range(2)]
    (run,) = read_runs(find_shown([write_training(tmp_path, [rows])]))
    assert list(run.tasks) == ["completions, training"]
    assert {one.verdict.correct for one in run.rows} == {None}
