"""Accelerated and periodic motion, and points of two and three coordinates, through the task."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import rewardkit
from rewardkit.cli.main import app
from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.prompts.solutions import solve_samples
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.harness.tasks.motion.laws import (
    Law,
    Oscillation,
    draw_paths,
    motion_solution,
)
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.records import Verdict
from rewardkit.verifiers.motion import numbers

KINDS = ("uniform", "accelerated", "periodic")
DIMENSIONS = (1, 2, 3)
EVERY = pytest.mark.parametrize(
    ("kind", "dimensions"), [(kind, size) for kind in KINDS for size in DIMENSIONS]
)


@EVERY
def test_a_perfect_reply_is_right_in_each_kind_and_dimension(kind: str, dimensions: int) -> None:
    task = MotionTask(kind=kind, dimensions=dimensions)
    for sample in (
        sample
        for split in ("test", "train")
        for sample in task.load(data=None, split=split, seed=0)
    ):
        verdict = Verdict.of(task.verifier()(task.perfect(sample), sample))
        assert verdict.correct is True
        assert verdict.parts == {"accuracy": 1.0, "format": 1.0}
        assert verdict.answer == sample.reference
        assert Verdict.of(task.flexible()(task.perfect(sample), sample)).correct is True


@EVERY
def test_a_file_of_its_points_alone_gives_the_same_problems(
    kind: str, dimensions: int, tmp_path: Path
) -> None:
    task = MotionTask(kind=kind, dimensions=dimensions)
    samples = task.load(data=None, split="test_in", seed=0)
    file = tmp_path / "motions.jsonl"
    rows = [{name: sample.columns[name] for name in ("points", "targets")} for sample in samples]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = MotionTask().load(data=str(file), split=None, seed=0)
    assert [(one.question, one.reference) for one in read] == [
        (one.question, one.reference) for one in samples
    ]
    reply = MotionTask().perfect(read[0])
    assert Verdict.of(MotionTask().verifier()(reply, read[0])).score == 1.0


@EVERY
def test_the_prompt_shows_an_example_of_as_many_coordinates(kind: str, dimensions: int) -> None:
    task = MotionTask(kind=kind, dimensions=dimensions)
    sample = task.load(data=None, split=None, seed=0)[0]
    (message,) = resolve_prompt(task).messages(sample)
    assert message.content.endswith(f"Points: {sample.question}")
    first = {1: [2.0], 2: [2.0, 1.0], 3: [2.0, 1.0, 4.0]}[dimensions]
    step = [1.5, -0.5, 0.7]
    points = [[round(a + b * t, 1) for a, b in zip(first, step, strict=False)] for t in range(5)]
    assert motion_solution(points) in message.content
    assert ("acceleration" in message.content) is (kind == "accelerated")
    assert ("sine" in message.content) is (kind == "periodic")


@pytest.mark.parametrize(
    ("settings", "split", "column", "low", "high"),
    [
        ({}, "test_in", "speed", 0.5, 2.0),
        ({"dimensions": 3}, "test_out", "speed", 2.0, 3.0),
        ({"starts": [1, 2]}, "train", "start", 1, 2),
        ({"kind": "accelerated"}, "test_in", "acceleration", 0.1, 0.5),
        ({"kind": "accelerated"}, "test_out", "acceleration", 0.5, 1.0),
        ({"accelerations": [2, 3]}, "train", "acceleration", 2, 3),
        ({"accelerations": [2, 3]}, "test_out", "acceleration", 0.5, 1.0),
        ({"out_accelerations": [2, 3]}, "test_in", "acceleration", 0.1, 0.5),
        ({"amplitudes": [6, 7]}, "test_out", "amplitude", 3.0, 5.0),
        ({"kind": "periodic", "periods": [6, 7]}, "test_in", "period", 6, 7),
        ({"kind": "periodic", "dimensions": 2}, "test_in", "amplitude", 1.0, 3.0),
        ({"kind": "periodic"}, "test_out", "amplitude", 3.0, 5.0),
        ({"kind": "periodic"}, "test_out", "period", 12.0, 16.0),
    ],
)
def test_each_parameter_is_in_its_range(
    settings: dict[str, object], split: str, column: str, low: float, high: float
) -> None:
    samples = rewardkit.load_task("motion", **settings).load(data=None, split=split, seed=3)
    drawn: list[Any] = [sample.columns[column] for sample in samples]
    values = [float(value) for one in drawn for value in (one if isinstance(one, list) else [one])]
    assert len(values) == len(samples) * int(str(settings.get("dimensions", 1)))
    assert low <= min(values) < max(values) <= high


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"kind": "uniform", "accelerations": [0.1, 0.2]},
            "kind is uniform, which does not draw from accelerations; leave it out",
        ),
        ({"kind": "periodic", "speeds": [1, 2]}, "which does not draw from speeds"),
        (
            {"accelerations": [0.1, 0.2], "periods": [6, 7]},
            "no kind of motion draws from all of accelerations, periods; leave some",
        ),
    ],
)
def test_a_range_that_the_kind_does_not_draw_from_is_refused(
    settings: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        rewardkit.load_task("motion", **settings)


def test_the_kind_survives_another_count() -> None:
    task = MotionTask(accelerations=(2, 3)).sized("train", 60)
    assert (task.kind, task.train, MotionTask().kind) == ("accelerated", 60, "uniform")


def test_periodic_points_follow_the_formula() -> None:
    law = Law(Oscillation, ((-5, 5), (1, 3), (8, 12), (0, 6)))
    drawn = draw_paths(law, 20, dimensions=2, seed=1)
    for motion in (motion for path in drawn for motion in path):
        for t in range(10):
            assert isinstance(motion, Oscillation)
            angle = 2 * math.pi * t / motion.period + motion.phase
            exact = motion.start + motion.amplitude * math.sin(angle)
            assert motion.position(t) == pytest.approx(exact)


def test_uniform_points_of_one_coordinate_never_change() -> None:
    plain = MotionTask().load(data=None, split=None, seed=0)
    assert "kind" not in plain[0].columns
    assert [one.columns["acceleration"] for one in plain] == [0.0] * 40


@pytest.mark.parametrize(
    ("kind", "points", "following"),
    [
        ("accelerated", [0.0, 1.0, 3.0, 6.0, 10.0], [15.0, 21.0, 28.0, 36.0, 45.0]),
        (
            "accelerated",
            [[0.0, 0.0], [1.0, 1.0], [3.0, 2.0], [6.0, 3.0], [10.0, 4.0]],
            [[15.0, 5.0], [21.0, 6.0], [28.0, 7.0], [36.0, 8.0], [45.0, 9.0]],
        ),
        ("periodic", [0.0, 1.0, 1.0, 0.0, -1.0], [-1.0, 0.0, 1.0, 1.0, 0.0]),  # a period of 6
        ("periodic", [3.0, 5.0, 3.0, 1.0, 3.0], [5.0, 3.0, 1.0, 3.0, 5.0]),  # of 4, round 3
        ("periodic", [2.0, 2.0, 2.0, 2.0, 2.0], [2.0] * 5),
        ("periodic", [0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]),
    ],
)
def test_the_method_of_each_kind_is_exact_where_nothing_is_rounded(
    kind: str, points: list[object], following: list[object]
) -> None:
    reply = motion_solution(points, kind=kind)  # type: ignore[arg-type]
    assert numbers(reply.partition("[ANSWER]")[2]) == np.ravel(np.array(following)).tolist()


def test_a_worked_solution_says_how_it_accelerates_and_turns() -> None:
    lines = motion_solution([0.0, 1.0, 3.0, 6.0, 10.0], kind="accelerated").splitlines()
    assert "a = (Δx4 - Δx1) / 3 = (4.0 - 1.0) / 3 = 1.00" in lines
    assert "x6 = x5 + v + 2.5a = 15.00" in lines
    lines = motion_solution([0.0, 1.0, 1.0, 0.0, -1.0], kind="periodic").splitlines()
    assert "k = (Δx2(Δx1 + Δx3) + Δx3(Δx2 + Δx4)) / (Δx2Δx2 + Δx3Δx3) = 1.00" in lines
    assert "x6 = x5 + (kΔx4 - Δx3) = -1.00" in lines


def steps_and_answer(text: str) -> tuple[list[list[float]], list[list[float]], list[float]]:
    """The numbers after the last = of the notes on speed, and of the predictions; the answer."""
    steps, _, answer = text.partition("\n[ANSWER]\n")
    _, notes, predictions = re.split("S[23]: .*\n", steps)
    values = [
        [numbers(line.rpartition(" = ")[2]) for line in part.strip().splitlines()]
        for part in (notes, predictions)
    ]
    return values[0], values[1], numbers(answer)


def by_the_formulas(
    kind: str, given: list[float], notes: list[float], before: list[float]
) -> float:
    """The next coordinate by the formulas of the steps, from the numbers as they are written."""
    speed, *others = notes
    *_, third, second, last = (*given, *before)
    step = len(before) + 1
    if kind == "periodic":
        return last + others[0] * (last - second) - (second - third)
    return last + speed + sum(others) * (step + 1.5)


@EVERY
def test_a_worked_solution_answers_what_its_steps_compute(kind: str, dimensions: int) -> None:
    task = MotionTask(kind=kind, dimensions=dimensions, train=60)
    template, samples = resolve_prompt(task), task.load(data=None, split="train", seed=0)
    solutions = solve_samples(task, template, samples, long=0, seed=0)
    kept = [solution for solution in solutions if solution is not None]
    assert len(kept) == 60 if kind == "uniform" else 0 < len(kept) < 60
    for sample, text in ((one.sample, one.completion) for one in kept):
        assert Verdict.of(task.verifier()(text, sample)).correct
        notes, predictions, answer = steps_and_answer(text)
        points = np.array(sample.columns["points"]).reshape(5, dimensions)
        assert len(predictions) == 5
        for axis in range(dimensions):
            written = [point[axis] for point in predictions]
            stated, values = answer[axis::dimensions], [note[axis] for note in notes]
            for step, point in enumerate(written):
                computed = by_the_formulas(kind, list(points[:, axis]), values, written[:step])
                assert abs(computed - point) <= 0.005 + 1e-9, text
                assert abs(stated[step] - point) <= 0.05 + 1e-9, text


@pytest.mark.parametrize("kind", KINDS)
def test_the_solutions_of_a_command_that_the_noise_makes_wrong_are_counted(kind: str) -> None:
    arguments = ["data", "motion", "--set", f"kind={kind}", "--split", "train", "--solutions"]
    done = CliRunner().invoke(app(), arguments)
    kept = len(done.stdout.splitlines())
    assert done.exit_code == 0
    if kind == "uniform":
        assert (kept, done.stderr) == (50, "")
    else:
        assert f"{kept} problems in stdout; left out {50 - kept} whose" in done.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "peridic"}, "did you mean 'periodic'"),
        ({"dimensions": 4}, "1, 2 or 3"),
        ({"dimensions": "2"}, "it must be a whole number"),
        ({"test": 0}, "test is 0; it must be at least 1"),
        ({"train": 2.5}, "train is 2.5"),
        ({"speeds": 1}, "speeds is 1; it must be a list of 2 numbers"),
        ({"speeds": [2, 1]}, "the lower first"),
        ({"starts": [0, "1"]}, "a list of 2 numbers"),
        ({"starts": [0, float("inf")]}, "two numbers"),
        ({"periods": [0, 1]}, "above 0"),
        ({"noise": -0.1}, "it must be at least 0"),
        ({"noise": "much"}, "it must be a number"),
    ],
)
def test_a_parameter_out_of_bounds_is_named(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rewardkit.load_task("motion", **settings)


@EVERY
def test_noise_moves_the_given_points_alone_by_its_deviation(kind: str, dimensions: int) -> None:
    plain, noisy = (
        MotionTask(kind=kind, dimensions=dimensions, test=200, noise=noise).load(
            data=None, split="test_in", seed=0
        )
        for noise in (0.0, 0.5)
    )
    assert [one.reference for one in plain] == [one.reference for one in noisy]
    points = [np.array([one.columns["points"] for one in of], dtype=float) for of in (plain, noisy)]
    errors = (points[1] - points[0]).ravel()
    assert abs(errors.mean()) < 0.06
    assert errors.std() == pytest.approx(0.5, rel=0.1)


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(UnknownName, match="task 'motion' named 'speds'; did you mean 'speeds'"):
        rewardkit.load_task("motion", speds=[1, 2])


def test_points_and_targets_need_the_same_number_of_coordinates(tmp_path: Path) -> None:
    row = {"points": [[1, 2]] * 5, "targets": [1, 2, 3, 4, 5]}
    with pytest.raises(DataError, match="points have 2 coordinates each and its targets have 1"):
        MotionTask().sample(row, 0)
