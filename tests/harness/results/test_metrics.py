"""Runs compared by any metric of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rewardkit import registry
from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.comparison import compare, forecast
from rewardkit.harness.results.measure import Measure
from rewardkit.verifiers.motion import render_points
from tests.support.commands import run_command
from tests.support.runs import write_problems

TRUE = (1.0, 2.0, 3.0, 4.0, 5.0)


def write_run(
    folder: Path,
    verdicts: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    task: str = "motion",
    group_by: Sequence[str] = (),
) -> Path:
    """A run's folder; `verdicts` holds what each problem's verdicts have besides the defaults."""
    problems = {
        id: [
            {
                "reference": render_points(TRUE),
                "columns": {"distribution": "in" if id < "2" else "out"},
                "verdict": {"correct": True, "score": 1.0, "failure": None, **verdict},
            }
            for verdict in own
        ]
        for id, own in verdicts.items()
    }
    return write_problems(folder, problems, task=task, planned={"group_by": list(group_by)})


def off_by(*errors: float | None) -> dict[str, list[dict[str, Any]]]:
    """A problem for each error, whose predicted points are off by it; None: no five points."""
    return {str(place): [prediction(error)] for place, error in enumerate(errors)}


def prediction(error: float | None) -> dict[str, Any]:
    if error is None:
        return {"correct": False, "score": 0.0, "failure": "format", "answer": "(1.0)"}
    return {"answer": render_points([point + error for point in TRUE])}


@pytest.mark.parametrize(
    ("metric", "values", "kind", "lower"),
    [
        ("mse", ((1 + 4 + 9) / 3, (0.25 + 1 + 2.25) / 3), "amount", True),
        ("mae", (2.0, 1.0), "amount", True),
        ("error_6", (2.0, 1.0), "amount", True),
        ("error_10", (2.0, 1.0), "amount", True),
        ("within_0.1", (0.0, 0.0), "share", False),
    ],
)
def test_a_tasks_own_measures_are_compared(
    metric: str, values: tuple[float, float], kind: str, lower: bool, tmp_path: Path
) -> None:
    before = write_run(tmp_path / "a", off_by(1, 2, 3))
    after = write_run(tmp_path / "b", off_by(0.5, -1, 1.5))
    (found,) = compare(before, [after], metric=metric)
    assert (found.baseline_value.value, found.run_value.value) == pytest.approx(values)
    assert (found.kind, found.lower_is_better) == (kind, lower)
    assert found.difference.test == ("paired permutation" if lower else "McNemar, exact")


def test_lower_errors_are_better(tmp_path: Path) -> None:
    errors = [1 + place / 10 for place in range(12)]
    before = write_run(tmp_path / "a", off_by(*errors))
    after = write_run(tmp_path / "b", off_by(*(error / 2 for error in errors[1:]), 9))
    same = write_run(tmp_path / "c", off_by(*(error / 2 for error in errors)))
    (found,) = compare(before, [after], metric="mae")
    assert [flip.id for flip in found.worse] == ["11"]
    assert len(found.better) == 11
    (better,) = compare(before, [same], metric="mae")
    assert (better.is_better(), better.is_worse()) == (True, False)
    assert better.relative_change == pytest.approx(-0.5)
    (worse,) = compare(same, [before], metric="mae")
    assert (worse.is_better(), worse.is_worse(), worse.is_worse(margin=5)) == (False, True, False)


@pytest.mark.parametrize(
    ("metric", "values", "lower"),
    [
        ("unfinished_rate", (0.5, 0.25), True),
        ("error_rate", (0.25, 0.25), True),
        ("format_rate", (0.5, 0.75), False),
        ("part_process", (0.5, 0.25), False),
    ],
)
def test_rates_and_components_are_compared(
    metric: str, values: tuple[float, float], lower: bool, tmp_path: Path
) -> None:
    before = write_hands(tmp_path / "a", ["truncated", "truncated", "wrong", None], 0.5)
    after = write_hands(tmp_path / "b", ["truncated", None, "wrong", None], 0.25)
    (found,) = compare(before, [after], metric=metric)
    assert (found.baseline_value.value, found.run_value.value) == values
    assert found.lower_is_better is lower


def test_a_component_that_one_run_lacks_is_refused(tmp_path: Path) -> None:
    before = write_hands(tmp_path / "a", ["wrong", None], 0.5)
    after = write_run(tmp_path / "b", {"0": [{}], "1": [{}]}, task="game24")
    with pytest.raises(UsageError, match=r"b has no metric 'part_process'; .*game24 has accuracy"):
        compare(before, [after], metric="part_process")


def test_a_component_of_another_task_in_each_run_is_refused(tmp_path: Path) -> None:
    runs = []
    for name, parts in (("a", ["x", "y"]), ("b", ["y", "x"])):
        folder = write_hands(tmp_path / name, ["wrong"], 0.5)
        rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
        both = []
        for task, part in zip(("one", "other"), parts, strict=True):
            verdict = rows[0]["verdict"] | {"parts": {part: 0.5}}
            both.append(rows[0] | {"key": f"{task}/0/0", "task": task, "verdict": verdict})
        lines = "".join(json.dumps(row) + "\n" for row in both)
        (folder / "samples.jsonl").write_text(lines)
        planned = {"samples": 1, "num_samples": 1, "group_by": []}
        tasks = {"format": 1, "tasks": {"one": planned, "other": planned}}
        (folder / "run.json").write_text(json.dumps(tasks))
        runs.append(folder)
    with pytest.raises(RunMismatch, match="no task has the metric 'part_x' in both"):
        compare(runs[0], runs[1:], metric="part_x")


def write_hands(folder: Path, failures: Sequence[str | None], process: float) -> Path:
    """A run of game24 with these failures, None for a right one, and one score for the steps."""
    verdicts = [
        {
            "correct": failure is None,
            "score": float(failure is None),
            "failure": failure,
            "parts": {"process": process},
        }
        for failure in failures
    ]
    own = {str(place): [verdict] for place, verdict in enumerate(verdicts)}
    return write_run(folder, own, task="game24")


def test_completions_without_a_value_are_counted_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = {
        "a": (1, 2, 3, None),
        "b": (1, 2, None, None),
        "c": (1, 2, 3, 4),
        "d": (1, 2, 3, None),
    }
    runs = {
        name: write_run(tmp_path / name, off_by(*own), group_by=["distribution"])
        for name, own in errors.items()
    }
    (found,) = compare(runs["a"], [runs["b"]], metric="mse")
    assert (found.problems, found.left_out) == (2, 2)
    assert (found.completions, found.with_value) == ((4, 4), (3, 2))
    for names, said in {
        "ab": [
            "motion: MSE (lower is better) on 2 problems",
            "only judged completions with 5 points in the required form have a value: 3 of 4 in "
            "the baseline, 2 of 4 in the run; 2 problems are left out, without a value in one of "
            "the runs",
        ],
        "cd": ["3 of 4 in the run; 1 problem is left out, without a value in one of the runs"],
        "cdb": ["on 2 to 3 problems"],
    }.items():
        assert run_command("compare", *(runs[name] for name in names), "--metric", "mse") == 0
        output = " ".join(capsys.readouterr().out.split())
        assert all(text in output for text in said), output


def test_several_completions_weigh_by_problem(tmp_path: Path) -> None:
    before = write_run(
        tmp_path / "a",
        {"0": [prediction(1), prediction(3)], "1": [prediction(4), prediction(None)]},
    )
    (found,) = compare(before, [write_run(tmp_path / "b", off_by(1, 1))], metric="mae")
    assert found.baseline_value.value == pytest.approx(3.0)
    assert found.baseline_value.count == 3


def test_a_difference_that_only_the_test_finds_is_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = write_run(tmp_path / "a", off_by(*[0.1] * 9, 9))
    after = write_run(tmp_path / "b", off_by(*[0] * 9, 0))
    assert run_command("compare", before, after, "--metric", "mae") == 0
    assert "a difference by the test, but not by its interval" in capsys.readouterr().out


def outcomes(*patterns: str) -> dict[str, list[dict[str, Any]]]:
    """A problem for each pattern, with a completion for each letter, right, wrong or unjudged."""
    verdicts: dict[str, dict[str, Any]] = {
        "r": {},
        "w": {"correct": False, "score": 0.0, "failure": "wrong"},
        "u": {"correct": None, "score": None, "failure": "error"},
    }
    return {
        str(place): [verdicts[letter] for letter in pattern]
        for place, pattern in enumerate(patterns)
    }


@pytest.mark.parametrize(
    ("metric", "before", "after"),
    [("pass@2", (0 + 5 / 6 + 1) / 3, (1 / 2 + 1 + 1) / 3), ("pass^2", 7 / 18, (0 + 1 / 2 + 1) / 3)],
)
def test_runs_are_compared_by_metrics_of_k_completions(
    metric: str, before: float, after: float, tmp_path: Path
) -> None:
    first = write_run(tmp_path / "a", outcomes("wwww", "rrww", "rrrr", "ruuu"))
    second = write_run(tmp_path / "b", outcomes("rwww", "rrrw", "rrrr", "rrrr"))
    (found,) = compare(first, [second], metric=metric)
    assert (found.baseline_value.value, found.run_value.value) == pytest.approx((before, after))
    assert (found.problems, found.left_out, found.with_value) == (3, 1, (3, 4))
    assert found.defined_for == "problems with at least 2 judged completions"
    (alone,) = forecast(second, 0.1, task=None, metric=metric)
    assert (alone.problems, alone.completions) == (4, None)


def test_a_group_of_one_problem_has_no_interval_in_json(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, off_by(1, 2, 3), group_by=["distribution"]) for name in "ab"]
    (found,) = compare(runs[0], runs[1:], metric="mse")
    plain = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [group["low"] for group in plain["groups"] if group["group"] == "out"] == [None]


def test_too_few_predictions_are_refused(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", off_by(1, None))
    with pytest.raises(RunMismatch, match="1 problem of motion has a value of mse in both"):
        compare(before, [write_run(tmp_path / "b", off_by(1, 2))], metric="mse")


def test_a_prediction_beyond_a_float_is_refused_by_its_key(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", off_by(1, 2))
    after = write_run(tmp_path / "b", off_by(1, 1e308))
    with pytest.raises(UsageError, match=r"the mse of motion/1/0 in .*b is inf, .* accuracy"):
        compare(before, [after], metric="mse")
    (found,) = compare(before, [after], metric="within_0.2")
    assert found.problems == 2


def test_one_run_forecasts_by_an_amount_and_refuses_an_impossible_share(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", off_by(1, 2, 3, 4))
    (found,) = forecast(before, 5.0, task=None, metric="mae")
    assert found.power.detectable_difference > 1
    with pytest.raises(UsageError, match="shares differ by at most 1"):
        forecast(before, 5.0, task=None, metric="accuracy")


class Measured:
    measures: ClassVar = {"steps": Measure(lambda row: float(row.id), kind="amount")}


def test_a_plugins_measures_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Installed:
        def offers(self, kind: str) -> set[str]:
            return {"own"}

        def task(self, name: str) -> Measured:
            return Measured()

    monkeypatch.setattr(registry, "installed", Installed)
    runs = [write_run(tmp_path / name, off_by(1, 2, 3), task="own") for name in "ab"]
    (found,) = compare(runs[0], runs[1:], metric="steps")
    assert (found.run_value.value, found.lower_is_better) == (1.0, False)
